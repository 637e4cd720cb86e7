"""The keys of a bucket in S3's order, from one walk over its folders for all pages of a listing."""

import base64
import binascii
import hashlib
import os
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from errno import ENAMETOOLONG, ENOENT, ENOTDIR
from pathlib import Path

from tidemark.glue_service.s3.xml import S3Error

SNAPSHOTS = 16  # listings whose pages are being fetched
OLDEST_S = 5  # maximum age of a walk for a marker
CHECK = 12  # bytes
PURPOSE = b"continuation-token"


def walk(bucket: Path, prefix: str, delimiter: str, folders: list[str]) -> list[str]:
    """Return the keys and common prefixes below a prefix, in the order of their bytes."""
    start, _, _ = prefix.rpartition("/")
    if "\0" in prefix or (start and any(part in ("", ".", "..") for part in start.split("/"))):
        return []  # no file has such a key
    root = bucket / start if start else bucket
    begin = f"{start}/" if start else ""
    keys = list(folders)
    if delimiter == "/":
        keys += _one_level(root, begin, prefix)
    else:
        keys += [key for key in _files(root, begin) if key.startswith(prefix)]
    if delimiter:
        keys = [rolled_up(key, prefix, delimiter) for key in keys]
    return sorted({key for key in keys if key.isascii() or _is_utf_8(key)}, key=str.encode)


def _is_utf_8(name: str) -> bool:
    # Every key is UTF-8; a file of another name has none.
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def rolled_up(key: str, prefix: str, delimiter: str) -> str:
    """Return the common prefix that stands for a key, or the key itself."""
    place = key.find(delimiter, len(prefix))
    return key if place < 0 else key[: place + len(delimiter)]


def _one_level(folder: Path, begin: str, prefix: str) -> Iterator[str]:
    for entry in _entries(folder):
        key = begin + entry.name
        if entry.is_dir():
            if f"{key}/".startswith(prefix) and any(_files(Path(entry.path), "")):
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
            # A link to a folder may leave the lake or make a circle.
            return [entry for entry in entries if not (entry.is_symlink() and entry.is_dir())]
    except OSError as error:
        if error.errno not in (ENOENT, ENOTDIR, ENAMETOOLONG):  # no key is there
            raise
        return []


class Snapshots:
    """Keeps the walk of a listing for its next pages; used by any thread.

    A continuation token continues one listing, and gets its walk. A marker of version 1 may
    be any key, from a client that looks for new ones: it gets no walk from before the last upload,
    and no old one, because files also arrive without an upload.
    """

    def __init__(self) -> None:
        self._walks: OrderedDict[tuple[str, ...], Walk] = OrderedDict()
        self._uploads: Counter[str] = Counter()  # by bucket
        self._lock = threading.Lock()

    def uploads(self, bucket: str) -> int:
        """Return the number of uploads so far; ask before the walk of a bucket."""
        with self._lock:
            return self._uploads[bucket]

    def note_upload(self, bucket: str) -> None:
        """Note that a key of a bucket is new."""
        with self._lock:
            self._uploads[bucket] += 1

    def take(self, key: tuple[str, ...], *, is_continued: bool) -> "Walk | None":
        """Return the walk that a page left for the next page."""
        with self._lock:
            walk = self._walks.pop(key, None)
            if walk is None or is_continued:
                return walk
            is_young = time.monotonic() - walk.at_s < OLDEST_S
            return walk if is_young and walk.uploads == self._uploads[key[0]] else None

    def leave(self, key: tuple[str, ...], walk: "Walk") -> None:
        """Keep a walk for the next page."""
        with self._lock:
            self._walks[key] = walk
            while len(self._walks) > SNAPSHOTS:
                self._walks.popitem(last=False)


@dataclass(frozen=True)
class Walk:
    """The keys of a walk, when it began, and the number of uploads to its bucket by then."""

    items: list[str]
    at_s: float
    uploads: int


def written_token(key: str) -> str:
    """Return the token for the keys after a key; equal for equal keys, even after a restart."""
    text = key.encode()
    return base64.urlsafe_b64encode(_check(text) + text).decode()


def read_token(token: str) -> str:
    """Return the key of a token."""
    try:
        content = base64.b64decode(token.encode(), altchars=b"-_", validate=True)
        key = content[CHECK:].decode()
    except (binascii.Error, UnicodeError):
        raise _incorrect() from None
    if written_token(key) != token:
        raise _incorrect()
    return key


def _check(text: bytes) -> bytes:
    return hashlib.blake2b(text, digest_size=CHECK, person=PURPOSE[:16]).digest()


def _incorrect() -> S3Error:
    return S3Error("InvalidArgument", "The continuation token provided is incorrect")
