"""A report in a headless Chromium, as people see it: three widths, light and dark."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.browser.chromium import IN_CHROMIUM, PICTURES
from tests.tidemark.report.made_up import STATES, report, shop
from tidemark.app import find_node
from tidemark.report.page import page_of

HERE = Path(__file__).parent
PICTURE = Path(__file__).parents[2] / "docs" / "report.webp"

pytestmark = IN_CHROMIUM


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(page_of(report()), encoding="utf-8")
    found: dict[str, Any] = json.loads(look(file, *filter(None, [PICTURES])))
    return found


def look(file: Path, *pictures: str) -> str:
    words = [find_node(None), str(HERE / "look.mjs"), str(file), *pictures]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def looks(seen: dict[str, Any], what: str) -> dict[str, Any]:
    return {f"{look['width']} {look['scheme']}": look[what] for look in seen["looks"]}


def test_nothing_is_said_on_the_console_and_nothing_is_asked_for(seen) -> None:
    assert len(seen["looks"]) == 6
    assert not any(looks(seen, "messages").values()), looks(seen, "messages")


def test_nothing_is_wider_than_the_window(seen) -> None:
    assert set(looks(seen, "overflow").values()) == {0}
    assert not any(looks(seen, "outside").values()), looks(seen, "outside")


def test_axe_finds_no_violation(seen) -> None:
    assert not any(looks(seen, "violations").values()), looks(seen, "violations")


def test_every_state_is_seen_in_the_graph(seen) -> None:
    for look, texts in looks(seen, "texts").items():
        lacking = [it for it in (*STATES, "never ran") if not any(it in text for text in texts)]
        assert not lacking, look


def test_the_keyboard_reaches_everything(seen) -> None:
    assert looks(seen, "reached") == looks(seen, "focusable")


def test_dark_is_dark(seen) -> None:
    grounds = looks(seen, "background")

    assert grounds["800 light"] != grounds["800 dark"]


def test_it_prints_and_nothing_is_beside_the_paper(seen) -> None:
    assert seen["pdf"] > 10_000
    assert seen["lost"] == []


def test_the_picture_of_the_readme_is_small(tmp_path) -> None:
    """With TIDEMARK_PICTURES it is taken anew."""
    if PICTURES:
        file = tmp_path / "report.html"
        file.write_text(page_of(shop()), encoding="utf-8")
        look(file, str(PICTURE))

    assert 10_000 < PICTURE.stat().st_size < 150_000
