"""Lists the files of a bucket folder, fast: a plain directory walk, never through Spark."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from local_glue.bookmarks import FileVersion

NANOSECONDS_PER_MS = 1_000_000


def list_files(folder: Path, uri: str, recurse: bool) -> list[FileVersion]:
    """Return every data file under ``folder``, its path given as a URI under ``uri``.

    Names that Spark hides are left out, such as ``_SUCCESS`` and ``.part-0.crc``. Without
    ``recurse`` only ``key=value`` partition folders are entered.

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
            if _is_hidden(name):
                continue
            if entry.is_dir():
                if recurse or "=" in name:
                    yield from _walk(entry.path, f"{uri}/{name}", recurse)
                continue
            with contextlib.suppress(FileNotFoundError):  # deleted since the folder was read
                stat = entry.stat()
                modified_ms = stat.st_mtime_ns // NANOSECONDS_PER_MS
                yield FileVersion(f"{uri}/{name}", modified_ms, stat.st_size)


def _is_hidden(name: str) -> bool:
    """Decide as Spark's HadoopFSUtils: a partition column may begin with an underscore."""
    if name.startswith("_"):
        return "=" not in name
    return name.startswith(".") or name.endswith("._COPYING_")
