"""The positions of a test's jobs, by bookmarks and watermarks: kept, reset, restored.

With them a job runs once more over everything that landed, and all of that is undone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidemark.glue_service.commands import region
from tidemark.local_state.dynamodb import dynamodb_client
from tidemark.local_state.store.database import Store
from tidemark.testing.comparison import WINDOW_FOLDERS, RowsOf
from tidemark.testing.kit import WATERMARKS
from tidemark.testing.lake_files import Row
from tidemark.testing.state_of_test import current_test

if TYPE_CHECKING:
    from tidemark.testing.kit import GlueTest
    from tidemark.testing.lake import Lake
    from tidemark.testing.run import GlueRun

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
        table, committed = Watermarks(WATERMARKS, client), set()
        for job, row in keys:
            if row.startswith(HEADS):
                source = row.removeprefix(HEADS[1]) if row != HEADS[0] else ""
                windows = table.committed_windows(job, source=source)
                committed |= {(window, str(attempt)) for window, attempt in windows}
        return committed


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


def rows_of(lake: Lake, places: Sequence[str]) -> RowsOf:
    """Return the present rows, by place; of windows, those of committed ones."""
    rows_by_place = {place: lake.rows(place) for place in places}
    if not any(row.keys() >= WINDOW_FOLDERS for rows in rows_by_place.values() for row in rows):
        return rows_by_place
    committed = committed_windows(current_test())
    return {
        place: [row for row in rows if committed is None or _counts(row, committed)]
        for place, rows in rows_by_place.items()
    }


def _counts(row: Row, committed: set[tuple[str, str]]) -> bool:
    is_of_window = row.keys() >= WINDOW_FOLDERS
    return not is_of_window or (str(row["window"]), str(row["attempt"])) in committed


def recomputed(lake: Lake, run: Callable[[], GlueRun], places: Sequence[str]) -> RowsOf:
    """Return the rows of one run over everything, into empty targets, by place."""
    test = current_test()
    folders = [(place, lake.path(place)) for place in places]
    moved_aside = [
        (place, folder, folder.with_name(f"_{folder.name}.kept")) for place, folder in folders
    ]
    job_name = test.runs[-1].job_name
    positions = positions_of(test)
    try:
        for _, folder, aside in moved_aside:
            if folder.exists():
                folder.rename(aside)
            if folder.parent == test.home.lake:
                folder.mkdir()  # a bucket stays
        put_positions(test, job_name, Positions())
        run().check()
        return rows_of(lake, places)
    finally:
        for place, folder, aside in moved_aside:
            lake.delete(place)
            if aside.exists():
                if folder.exists():
                    folder.rmdir()
                aside.rename(folder)
        put_positions(test, job_name, positions)
