"""Runs a job once more over everything that landed, and undoes its changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tidemark.testing.comparison import WINDOW_FOLDERS, RowsOf
from tidemark.testing.lake_files import Row
from tidemark.testing.positions import Positions, committed_windows, positions_of, put_positions
from tidemark.testing.state_of_test import current_test

if TYPE_CHECKING:
    from tidemark.testing.lake import Lake
    from tidemark.testing.run import GlueRun


def rows_of(lake: Lake, places: Sequence[str]) -> RowsOf:
    """Return the present rows, by place; of windows, those of committed ones."""
    found = {place: lake.rows(place) for place in places}
    if not any(row.keys() >= WINDOW_FOLDERS for rows in found.values() for row in rows):
        return found
    committed = committed_windows(current_test())
    return {
        place: [row for row in rows if committed is None or _counts(row, committed)]
        for place, rows in found.items()
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
