"""Lists the files of a bucket folder, fast: a plain directory walk, never through Spark."""

import os
from collections.abc import Iterator
from pathlib import Path

from local_glue.bookmarks import FileVersion

NANOSECONDS_PER_MS = 1_000_000


def list_files(folder: Path, uri: str, recurse: bool) -> list[FileVersion]:
    """Return every data file under ``folder``, its path given as a URI under ``uri``.

    Names that begin with ``_`` or ``.`` are left out, as Spark does. Without ``recurse`` only
    ``key=value`` partition folders are entered.

    Returns:
        One FileVersion per file in no particular order; nothing if the folder does not exist.
    """
    if folder.is_file():
        stat = folder.stat()
        return [FileVersion(uri, stat.st_mtime_ns // NANOSECONDS_PER_MS, stat.st_size)]
    if not folder.is_dir():
        return []
    return list(_walk(str(folder), uri.rstrip("/"), recurse))


def _walk(folder: str, uri: str, recurse: bool) -> Iterator[FileVersion]:
    with os.scandir(folder) as entries:
        for entry in entries:
            name = entry.name
            if name.startswith(("_", ".")):
                continue
            if entry.is_dir():
                if recurse or "=" in name:
                    yield from _walk(entry.path, f"{uri}/{name}", recurse)
            else:
                stat = entry.stat()
                modified_ms = stat.st_mtime_ns // NANOSECONDS_PER_MS
                yield FileVersion(f"{uri}/{name}", modified_ms, stat.st_size)
