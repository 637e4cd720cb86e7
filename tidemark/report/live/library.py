"""Finds htmx, which updates the pages: a package of npm, as what draws the report is.

Source: https://htmx.org
"""

from pathlib import Path

PACKAGE = "htmx.org"
FILES = ("dist/htmx.min.js", "dist/ext/hx-sse.min.js")
NAME = "htmx.js"
TIDEMARK = Path(__file__).parents[2]
HINT = f"`npm install --save-dev {PACKAGE}` in this folder lets this page update by itself"


def find_library() -> bytes:
    """Return the script of a page; empty if the package is in no folder from here upwards.

    It is one script: htmx may look at the page before a second one has been loaded.
    """
    here = Path.cwd()
    for folder in (here, *here.parents, *TIDEMARK.parents):
        files = [folder / "node_modules" / PACKAGE / file for file in FILES]
        if all(file.is_file() for file in files):
            return b"\n".join(file.read_bytes() for file in files)
    return b""
