"""Makes pages of the repository pages of the site: mkdocs calls its functions.

Source: https://www.mkdocs.org/user-guide/configuration/#hooks
"""

import re
import shutil
from pathlib import Path
from typing import Any

UPWARDS = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+)[^)]+\)")
# Lets the search work from a disk, where a browser starts no worker; mkdocs.yml names it.
SHIM = Path(__file__).parents[1] / "node_modules/iframe-worker/shim/index.js"
COPIED = "assets/javascripts/iframe-worker.js"
COMMENT = re.compile(r"<!-- (?:test|bench|output): [^>]*-->\n?")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Return the text of a page without links that lead out of the site, and without marks."""
    depth = page.file.src_uri.count("/")

    def kept(link: re.Match[str]) -> str:
        # A file of the repository beside docs/, such as the test that proves a rule, is no page.
        return link[1] if link[2].count("/") > depth else link[0]

    return COMMENT.sub("", UPWARDS.sub(kept, markdown))


def on_post_build(config: Any, **_: Any) -> None:
    """Copy that script into the site."""
    shutil.copyfile(SHIM, Path(config["site_dir"]) / COPIED)
