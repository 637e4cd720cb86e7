"""An object at one moment: its file, and the record of that file.

A writer stores the record first, then moves the file to its place, then deletes older records.
So a file without a record was not written by an S3 client, or was replaced meanwhile.
"""

import io
import os
import stat as modes
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from tidemark.glue_service.s3.calls import Lake, bucket_folder, key_problem, object_path
from tidemark.glue_service.s3.records import EMPTY, Record, etag_of_file
from tidemark.glue_service.s3.xml import no_such_key


@dataclass(frozen=True)
class SeenObject:
    """An object: its file, its time and size, and its record."""

    path: Path
    stat: os.stat_result
    record: Record

    @property
    def size(self) -> int:
        """The number of its bytes; 0 for a folder."""
        return 0 if modes.S_ISDIR(self.stat.st_mode) else self.stat.st_size


def see(lake: Lake, bucket: str, key: str) -> SeenObject:
    """Return an object, with the record of exactly its current file."""
    while True:
        path, stat = _stat_of(lake, bucket, key)
        record = lake.records.find(bucket, key, stat)
        if record is not None:
            return SeenObject(path, stat, record)
        if key.endswith("/"):
            return SeenObject(path, stat, Record(EMPTY))
        if _is_same(stat, _stat_of(lake, bucket, key)[1]):  # else it was replaced meanwhile
            return SeenObject(path, stat, Record(etag_of_file(str(path), stat)))


def open_object(lake: Lake, bucket: str, key: str) -> tuple[SeenObject, BinaryIO]:
    """Return an object and its bytes, which a later writer does not change."""
    while True:
        seen = see(lake, bucket, key)
        if key.endswith("/"):
            return seen, io.BytesIO()
        try:
            file = seen.path.open("rb")
        except FileNotFoundError:
            raise no_such_key(key) from None
        if _is_same(seen.stat, os.fstat(file.fileno())):
            return seen, file
        file.close()


def _stat_of(lake: Lake, bucket: str, key: str) -> tuple[Path, os.stat_result]:
    bucket_folder(lake.home, bucket)
    if key_problem(key):
        raise no_such_key(key)
    path = object_path(lake.home, bucket, key)
    try:
        stat = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise no_such_key(key) from None
    is_folder = modes.S_ISDIR(stat.st_mode)
    if is_folder != key.endswith("/") or (
        is_folder and key not in lake.records.folders(bucket, key)
    ):
        raise no_such_key(key)
    return path, stat


def _is_same(one: os.stat_result, other: os.stat_result) -> bool:
    known = [(stat.st_ino, stat.st_mtime_ns, stat.st_size) for stat in (one, other)]
    return known[0] == known[1]
