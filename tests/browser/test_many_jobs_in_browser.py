"""The first page of a home with 60 jobs and 500 runs in a headless Chromium."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.browser.chromium import IN_CHROMIUM, PICTURES
from tests.servers import free_port, is_listening
from tests.tidemark.report.live.many_runs import fill
from tests.waiting import wait_until
from tidemark.app import find_node

HERE = Path(__file__).parent
JOBS, RUNS = 60, 500
SCREEN = 900  # pixels
NOUNS = ["Overview", "Attention", "Running", "Jobs", "Freshness", "Graph"]

pytestmark = IN_CHROMIUM


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("many")
    app = fill(folder, JOBS, RUNS)
    port = free_port()
    up = [sys.executable, "-m", "tidemark", "serve", "--jvms", "0"]
    served = subprocess.Popen(
        [*up, "--port", str(port), "--app", str(app)],
        env={**os.environ, "TIDEMARK_HOME": str(folder / "home")},
    )
    try:
        wait_until(lambda: is_listening(port))
        words = [find_node(None), str(HERE / "many.mjs"), f"http://127.0.0.1:{port}"]
        done = subprocess.run(
            [*words, *filter(None, [PICTURES])], capture_output=True, text=True, timeout=300
        )
    finally:
        served.terminate()
        served.wait(30)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_the_first_screen_has_a_failure_and_headings_are_nouns(seen) -> None:
    assert len(seen["looks"]) == 4
    assert all(look["failureAt"] < SCREEN / 2 for look in seen["looks"])
    assert all(look["headings"] == NOUNS for look in seen["looks"])


def test_the_page_is_short_small_and_soon_there(seen) -> None:
    assert all(look["overflow"] == 0 for look in seen["looks"])
    assert all(look["screens"] < 3 for look in seen["looks"]), json.dumps(seen["looks"])
    assert all(look["sentBytes"] < 60_000 for look in seen["looks"])
    assert min(look["interactiveMs"] for look in seen["looks"]) < 150


def test_axe_finds_no_violation(seen) -> None:
    assert [look["violations"] for look in seen["looks"]] == [[]] * 4, json.dumps(seen["looks"])


def test_jobs_are_searched_filtered_and_ordered(seen) -> None:
    used = seen["used"]

    assert len(used["all"]) == JOBS
    assert used["failed"] == used["all"][:2] == ["job-1", f"job-{JOBS - 1}"]
    assert set(used["searched"]) == {name for name in used["all"] if "job-1" in name}
    assert f"{len(used['searched'])} of {JOBS}" in used["count"]
    assert used["failedOfThese"] == ["job-1"]
    assert used["byName"] == sorted(used["all"])


def test_a_cell_of_the_grid_opens_its_run_by_keyboard(seen) -> None:
    used = seen["used"]

    assert used["to"] == used["from"] - 1
    assert "/_tidemark/run?name=jr_" in used["opened"]
    assert used["isOfCell"]


def test_a_link_of_another_page_opens_a_page_that_works(seen) -> None:
    assert seen["linked"]["heading"] == "Overview"
    assert seen["linked"]["buttons"] > JOBS


def test_times_are_relative_utc_and_of_the_browser(seen) -> None:
    apia = seen["apia"]
    at = datetime.fromisoformat(apia["at"])

    assert "UTC+13" in apia["zone"]
    assert f"{at:%Y-%m-%d %H:%M} UTC" in apia["says"]
    assert f"{at.astimezone(ZoneInfo('Pacific/Apia')):%M}" in apia["says"].split("UTC, ")[1]
    assert apia["ago"].endswith(" ago")
