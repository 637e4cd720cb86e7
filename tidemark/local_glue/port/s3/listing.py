"""The keys of a bucket in S3's order, by one walk over its folders for all pages of a listing."""

import os
import threading
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path

SNAPSHOTS = 16  # listings whose pages are being fetched


def walk(bucket: Path, prefix: str, delimiter: str, folders: list[str]) -> list[str]:
    """Return the keys and common prefixes below a prefix, in the order of their bytes.

    Args:
        bucket: its folder.
        prefix: with which they begin.
        delimiter: behind the prefix it ends a common prefix; empty for none.
        folders: the keys ending with / that clients have put.
    """
    start, _, _ = prefix.rpartition("/")
    if "\0" in prefix or (start and any(part in ("", ".", "..") for part in start.split("/"))):
        return []  # no file has such a key
    root = bucket / start if start else bucket
    begin = f"{start}/" if start else ""
    found = list(folders)
    if delimiter == "/":
        found += _one_level(root, begin, prefix)
    else:
        found += [key for key in _files(root, begin) if key.startswith(prefix)]
    if delimiter:
        found = [_rolled_up(key, prefix, delimiter) for key in found]
    return sorted({key for key in found if key.isascii() or _is_text(key)}, key=str.encode)


def _is_text(name: str) -> bool:
    """Return whether a name is UTF-8, as every key is; other files have none."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _rolled_up(key: str, prefix: str, delimiter: str) -> str:
    place = key.find(delimiter, len(prefix))
    return key if place < 0 else key[: place + len(delimiter)]


def _one_level(folder: Path, begin: str, prefix: str) -> Iterator[str]:
    for entry in _entries(folder):
        key = begin + entry.name
        if entry.is_dir():
            if f"{key}/".startswith(prefix) and _has_file(Path(entry.path)):
                yield f"{key}/"
        elif key.startswith(prefix):
            yield key


def _files(folder: Path, begin: str) -> Iterator[str]:
    todo = [(str(folder), begin)]
    while todo:
        path, start = todo.pop()
        for entry in _entries(path):
            if entry.is_dir():
                todo.append((entry.path, f"{start}{entry.name}/"))
            else:
                yield start + entry.name


def _entries(folder: Path | str) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if not _is_linked_folder(entry)]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _is_linked_folder(entry: "os.DirEntry[str]") -> bool:
    """Return whether an entry is a link to a folder, which may lead out of the lake or around."""
    return entry.is_symlink() and entry.is_dir()


def _has_file(folder: Path) -> bool:
    return next(_files(folder, ""), None) is not None


class Snapshots:
    """Keeps the walk of a listing for its next pages; used by any thread."""

    def __init__(self) -> None:
        self._walks: OrderedDict[tuple[str, ...], list[str]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, key: tuple[str, ...]) -> list[str] | None:
        """Return the walk that a page left for the next one."""
        with self._lock:
            return self._walks.pop(key, None)

    def leave(self, key: tuple[str, ...], walk: list[str]) -> None:
        """Keep a walk for the next page."""
        with self._lock:
            self._walks[key] = walk
            while len(self._walks) > SNAPSHOTS:
                self._walks.popitem(last=False)
