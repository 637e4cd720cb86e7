"""The site of the documentation: every page is in it, and it needs nothing from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml

from tests.pages import PROJECT

CONFIG = PROJECT / "mkdocs.yml"
LOADING = {"script": "src", "img": "src", "iframe": "src"}


class Loaded(HTMLParser):
    """Collects what a browser loads for a page, and the targets of its links."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "link" and "stylesheet" in (given.get("rel") or ""):
            self.loaded.append(given.get("href") or "")
        elif tag in LOADING and given.get(LOADING[tag]):
            self.loaded.append(given[LOADING[tag]] or "")
        elif tag == "a" and given.get("href"):
            self.links.append(given["href"] or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    run = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)],
        cwd=PROJECT,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return folder


def pages_of(nav: object) -> list[str]:
    """Return the pages of a navigation, in its order."""
    if isinstance(nav, str):
        return [nav]
    parts = nav.values() if isinstance(nav, dict) else nav
    return [page for part in parts for page in pages_of(part)]  # type: ignore[union-attr]


def test_every_page_is_in_the_navigation_once() -> None:
    shown = pages_of(yaml.safe_load(CONFIG.read_text(encoding="utf-8"))["nav"])

    docs = PROJECT / "docs"
    assert sorted(shown) == sorted(str(page.relative_to(docs)) for page in docs.rglob("*.md"))


@pytest.mark.nightly
def test_the_site_loads_nothing_from_elsewhere(site: Path) -> None:
    loaded = {url for page in site.rglob("*.html") for url in Loaded(page).loaded}

    assert [url for url in loaded if re.match(r"(https?:)?//", url)] == []
    assert any(url.endswith(".js") for url in loaded)


def test_every_link_of_the_site_leads_to_a_page_or_a_file(site: Path) -> None:
    broken = [
        (page.name, link)
        for page in site.rglob("*.html")
        if page.name != "404.html"  # its links begin at the root of a server
        for link in Loaded(page).links
        if not re.match(r"https?:|mailto:|#", link)
        and not (page.parent / link.partition("#")[0]).resolve().exists()
    ]

    assert broken == []


def test_the_search_finds_pages_without_a_server(site: Path) -> None:
    index = (site / "search" / "search_index.js").read_text(encoding="utf-8")

    assert "tidemark prove" in index
    assert "<!-- test" not in index
    words = set(re.findall(r"\w+", index.lower()))
    assert {"jupyter", "debug", "accessdenied", "proxy", "macos", "postgres"} <= words
