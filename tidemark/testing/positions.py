"""The positions of a test's jobs, by bookmarks and watermarks: kept, reset, restored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidemark.glue_service.commands import region
from tidemark.local_state.dynamodb import dynamodb_client
from tidemark.local_state.store.database import Store
from tidemark.testing.kit import WATERMARKS

if TYPE_CHECKING:
    from tidemark.testing.kit import GlueTest

KEYS = ("jobName", "runId")  # of the table of watermarks
HEADS = ("~HEAD", "~CURSOR#")  # rows that hold watermarks: of a job, of a source of it
OTHER_ROWS = ("~BACKFILL#", "~CURSOR$")  # of windows that the list of committed ones leaves out


@dataclass(frozen=True)
class Positions:
    """How far each job has read: every version of every bookmark, and the table of watermarks."""

    bookmarks: Sequence[Any] = ()
    watermarks: Sequence[dict[str, Any]] = ()


def positions_of(test: GlueTest) -> Positions:
    """Return how far the jobs of a test have read."""
    with Store(test.home.database) as store:
        bookmarks = store.query("SELECT * FROM bookmark")
    with _watermarks(test) as client:
        return Positions(bookmarks, _rows(client) if client else ())


def put_positions(test: GlueTest, job_name: str, positions: Positions) -> None:
    """Let one job have read that far; ``Positions()`` is nothing."""
    with Store(test.home.database) as store, store.transaction():
        store.query("DELETE FROM bookmark WHERE job_name = ?", (job_name,))
        for row in positions.bookmarks:
            if row["job_name"] == job_name:
                marks = ", ".join("?" for _ in tuple(row))
                store.query(f"INSERT INTO bookmark VALUES ({marks})", tuple(row))  # noqa: S608
    with _watermarks(test) as client:
        if client is None:
            return
        for item in _of_job(job_name, _rows(client)):
            client.delete_item(TableName=WATERMARKS, Key={name: item[name] for name in KEYS})
        for item in _of_job(job_name, positions.watermarks):
            client.put_item(TableName=WATERMARKS, Item=item)


def committed_windows(test: GlueTest) -> set[tuple[str, str]] | None:
    """Return id and attempt of the windows that jobs have committed; None if that is not known."""
    from watermarks import Watermarks

    with _watermarks(test) as client:
        keys = [[row[name]["S"] for name in KEYS] for row in _rows(client)] if client else []
        if not keys or any(row.startswith(OTHER_ROWS) for _, row in keys):
            return None
        table, found = Watermarks(WATERMARKS, client), set()
        for job, row in keys:
            if row.startswith(HEADS):
                source = row.removeprefix(HEADS[1]) if row != HEADS[0] else ""
                windows = table.committed_windows(job, source=source)
                found |= {(window, str(attempt)) for window, attempt in windows}
        return found


@contextmanager
def _watermarks(test: GlueTest) -> Iterator[Any]:
    if not test.has_dynamodb:
        yield None
        return
    with dynamodb_client(test.dynamodb(), region()) as client:
        yield client


def _rows(client: Any) -> list[dict[str, Any]]:
    pages = client.get_paginator("scan").paginate(TableName=WATERMARKS, ConsistentRead=True)
    return [item for page in pages for item in page["Items"]]


def _of_job(job_name: str, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if row[KEYS[0]]["S"] == job_name]
