"""Runs a job once more over everything that landed, and puts back what that changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tidemark.local_glue.store.database import Store
from tidemark.testing.comparison import names_of
from tidemark.testing.current import current_test
from tidemark.testing.lake_files import Row

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.testing.kit import GlueTest
    from tidemark.testing.lake import Lake
    from tidemark.testing.run import GlueRun


def targets_of(target: str | Sequence[str] | None) -> list[str]:
    """Return where jobs of this test write: what is given, or folders among their arguments."""
    if target is not None:
        return names_of(target)
    found = set()
    for run in current_test().runs:
        for value in run.arguments.values():
            place = value.partition("://")[2].rstrip("/")
            is_written = any(name.startswith(f"{place}/") for name in run.files_written)
            if place and is_written and not any(n.startswith(f"{place}/") for n in run.files_read):
                found.add(f"{place}/")
    return sorted(
        place for place in found if not any(place != it and place.startswith(it) for it in found)
    )


def recomputed(
    lake: Lake, run: Callable[[], GlueRun], places: Sequence[str]
) -> tuple[list[Row], list[Row]]:
    """Return the rows that are there, and those of one run over everything, into empty targets."""
    test = current_test()
    found = [row for place in places for row in lake.rows(place)]
    folders = [(place, lake.path(place)) for place in places]
    kept = [(place, it, it.with_name(f"_{it.name}.kept")) for place, it in folders]
    last = test.runs[-1]
    bookmarks = bookmarks_of_test(test)
    try:
        for _, folder, aside in kept:
            if folder.exists():
                folder.rename(aside)
        forget(test, last.job_name)
        run().check()
        wanted = [row for place in places for row in lake.rows(place)]
    finally:
        for place, folder, aside in kept:
            lake.delete(place)
            if aside.exists():
                if folder.exists():
                    folder.rmdir()
                aside.rename(folder)
        put_back(test, last, bookmarks)
    return found, wanted


def bookmarks_of_test(test: GlueTest) -> list[Any]:
    """Return every version of every bookmark of a test."""
    with Store(test.home.database) as store:
        return store.query("SELECT * FROM bookmark")


def forget(test: GlueTest, job_name: str) -> None:
    """Forget the bookmark of a job."""
    with Store(test.home.database) as store, store.transaction():
        store.query("DELETE FROM bookmark WHERE job_name = ?", (job_name,))


def put_back(test: GlueTest, run: GlueRun, rows: Sequence[Any]) -> None:
    """Make the bookmark of a job what it was."""
    forget(test, run.job_name)
    with Store(test.home.database) as store, store.transaction():
        for row in rows:
            if row["job_name"] == run.job_name:
                marks = ", ".join("?" for _ in tuple(row))
                store.query(f"INSERT INTO bookmark VALUES ({marks})", tuple(row))  # noqa: S608
