"""Finds htmx, which updates the pages: a package of npm, as what draws the report is.

Source: https://htmx.org
"""

from tidemark.local_state.machine.node_packages import check_owner, project_folders

PACKAGE = "htmx.org"
FILES = ("dist/htmx.min.js", "dist/ext/hx-sse.min.js")
NAME = "htmx.js"
HINT = f"`npm install --save-dev {PACKAGE}` in this folder lets this page update by itself"


def find_library() -> bytes:
    """Return the script of a page; empty if the project and Tidemark have no such package.

    It is one script: htmx may look at the page before a second one has been loaded.

    Raises:
        UsageError: other users can write the package.
    """
    for folder in project_folders():
        files = [folder / "node_modules" / PACKAGE / file for file in FILES]
        if all(file.is_file() for file in files):
            for file in files:
                check_owner(file, folder, "the script of the live page")
            return b"\n".join(file.read_bytes() for file in files)
    return b""
