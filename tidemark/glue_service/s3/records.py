"""S3's record of an object, in addition to its bytes: ETag, headers, user metadata, tags.

A record belongs to one file, identified by time and size: a file that Spark has written has none.
While a writer replaces an object, both files have their records.
"""

import hashlib
import json
import os
import sqlite3
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from tidemark.local_state.store.sqlite_files import log_ahead
from tidemark.local_state.store.state_record import note_use, refuse_loss
from tidemark.local_state.store.store_errors import check_database

TABLE = """
CREATE TABLE IF NOT EXISTS object_file (
    bucket TEXT NOT NULL, key TEXT NOT NULL, mtime_ns INTEGER NOT NULL, size INTEGER NOT NULL,
    etag TEXT NOT NULL, headers TEXT NOT NULL, tags TEXT NOT NULL,
    PRIMARY KEY (bucket, key, mtime_ns, size)
)
"""
TAGS_TABLE = "CREATE TABLE IF NOT EXISTS bucket_tags (bucket TEXT PRIMARY KEY, tags TEXT NOT NULL)"
OLDER = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'object'"
FROM_OLDER = """
INSERT OR IGNORE INTO object_file
SELECT bucket, key, iif(key LIKE '%/', 0, mtime_ns), iif(key LIKE '%/', 0, size),
    etag, headers, tags FROM object
"""
BUSY_TIMEOUT_S = 30
ONE_PART = 8 * 1024 * 1024  # bytes: boto3 and the AWS CLI upload what is larger in parts
_md5 = partial(hashlib.md5, usedforsecurity=False)
EMPTY = _md5().hexdigest()  # ETag of a folder that a client put


@dataclass(frozen=True)
class Record:
    """The record of an object; `headers` are those of an answer, including user metadata."""

    etag: str
    headers: Mapping[str, str] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)


def etag_of_file(path: str, stat: os.stat_result) -> str:
    """Return the ETag of a file that no S3 client wrote: its MD5, as of an upload in one part.

    A file that clients would upload in parts has one of its time and size, with a hyphen as theirs:
    to list it must not take as long as to read it.
    """
    identity = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
    if stat.st_size <= ONE_PART:
        # The file may have been deleted or replaced meanwhile.
        with suppress(OSError):
            return _md5_of(path, *identity)
    return f"{_md5(' '.join(map(str, identity)).encode()).hexdigest()}-1"


@lru_cache(maxsize=100_000)
def _md5_of(path: str, *identity: int) -> str:
    """Return the MD5 of a file with a time, a size and an inode."""
    with open(path, "rb") as file:  # noqa: PTH123 (100,000 of them)
        now = os.fstat(file.fileno())
        if (now.st_mtime_ns, now.st_size, now.st_ino) != identity:
            raise FileNotFoundError(path)
        return hashlib.file_digest(file, _md5).hexdigest()


def _identity(key: str, stat: os.stat_result) -> tuple[int, int]:
    # The time of a folder changes with its files.
    return (0, 0) if key.endswith("/") else (stat.st_mtime_ns, stat.st_size)


class Records:
    """The records of all objects, in one SQLite file; used by any thread."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._of_thread = threading.local()

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._of_thread, "connection", None)
        if connection is None:
            home, name = self._database.parent, self._database.name
            refuse_loss(home, name)
            check_database(self._database)
            connection = sqlite3.connect(
                self._database, timeout=BUSY_TIMEOUT_S, isolation_level=None
            )
            log_ahead(connection, BUSY_TIMEOUT_S)
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(TABLE)
            connection.execute(TAGS_TABLE)
            # The older table had one record per key.
            if connection.execute(OLDER).fetchone():
                connection.execute("BEGIN IMMEDIATE")
                if connection.execute(OLDER).fetchone():  # no other thread has done it
                    connection.execute(FROM_OLDER)
                    connection.execute("DROP TABLE object")
                connection.execute("COMMIT")
            note_use(home, name)
            self._of_thread.connection = connection
        return connection

    def _rows(self, statement: str, values: tuple[Any, ...]) -> list[Any]:
        return self._connection().execute(statement, values).fetchall()

    def put(self, bucket: str, key: str, stat: os.stat_result, record: Record) -> None:
        """Store the record of a file, next to those of other files of the key."""
        texts = (record.etag, json.dumps(dict(record.headers)), json.dumps(dict(record.tags)))
        row = (bucket, key, *_identity(key, stat), *texts)
        self._rows("INSERT OR REPLACE INTO object_file VALUES (?, ?, ?, ?, ?, ?, ?)", row)

    def delete_others(self, bucket: str, key: str, stat: os.stat_result) -> None:
        """Delete the records of a key's files except the current one."""
        self._rows(
            "DELETE FROM object_file "
            "WHERE bucket = ? AND key = ? AND NOT (mtime_ns = ? AND size = ?)",
            (bucket, key, *_identity(key, stat)),
        )

    def delete(self, bucket: str, key: str) -> None:
        """Delete the records of all files of a key."""
        self._rows("DELETE FROM object_file WHERE bucket = ? AND key = ?", (bucket, key))

    def find(self, bucket: str, key: str, stat: os.stat_result) -> Record | None:
        """Return the record of a file; None if S3 did not write it."""
        rows = self._rows(
            "SELECT etag, headers, tags FROM object_file "
            "WHERE bucket = ? AND key = ? AND mtime_ns = ? AND size = ?",
            (bucket, key, *_identity(key, stat)),
        )
        return Record(rows[0][0], *map(json.loads, rows[0][1:])) if rows else None

    def etags(self, bucket: str, keys: Iterable[str]) -> dict[tuple[str, int, int], str]:
        """Return the ETags of files that S3 wrote, by key, time and size."""
        rows = self._rows(
            "SELECT key, mtime_ns, size, etag FROM object_file WHERE bucket = ? AND key IN "
            "(SELECT value FROM json_each(?))",
            (bucket, json.dumps(list(keys))),
        )
        return {(row[0], row[1], row[2]): row[3] for row in rows}

    def folders(self, bucket: str, prefix: str) -> list[str]:
        """Return the keys ending with / that clients have put, such as `landing/`."""
        rows = self._rows(
            "SELECT key FROM object_file "
            "WHERE bucket = ? AND key LIKE '%/' AND substr(key, 1, ?) = ?",
            (bucket, len(prefix), prefix),
        )
        return [row[0] for row in rows]

    def tag_bucket(self, bucket: str, tags: Mapping[str, str]) -> None:
        """Replace the tags of a bucket."""
        if tags:
            row = (bucket, json.dumps(dict(tags)))
            self._rows("INSERT OR REPLACE INTO bucket_tags VALUES (?, ?)", row)
        else:
            self._rows("DELETE FROM bucket_tags WHERE bucket = ?", (bucket,))

    def bucket_tags(self, bucket: str) -> dict[str, str]:
        """Return the tags of a bucket."""
        rows = self._rows("SELECT tags FROM bucket_tags WHERE bucket = ?", (bucket,))
        return json.loads(rows[0][0]) if rows else {}
