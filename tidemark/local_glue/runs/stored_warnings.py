"""The warnings of job runs in the state database: kept until somebody has seen them."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tidemark.local_glue.store.database import Store


@dataclass(frozen=True)
class RunWarning:
    """One warning of one job run.

    Attributes:
        run_id: the run.
        job_name: its job.
        started_at_ms: when it was started, epoch milliseconds.
        text: what is wrong, and what to do.
    """

    run_id: str
    job_name: str
    started_at_ms: int
    text: str


ShowWarnings: TypeAlias = Callable[[Sequence[RunWarning]], None]
"""Shows warnings to somebody; what it returns from without an error counts as seen.

A BrokenPipeError says that no one reads any more: they stay unseen, and nothing else happens.
"""


def keep_warnings(store: Store, run_id: str, texts: Iterable[str]) -> None:
    """Store warnings of a run; one that it has already is stored once."""
    with store.transaction():
        for text in texts:
            store.query("INSERT OR IGNORE INTO run_warning VALUES (?, ?, NULL)", (run_id, text))


def unseen_warnings(store: Store) -> list[RunWarning]:
    """Return the warnings that no one has been shown, oldest first."""
    rows = store.query(
        "SELECT warning.run_id, job_name, started_at_ms, text FROM run_warning AS warning "
        "JOIN job_run ON job_run.run_id = warning.run_id WHERE seen_at_ms IS NULL "
        "ORDER BY started_at_ms, warning.rowid"
    )
    return [RunWarning(**dict(row)) for row in rows]


def show_unseen(store: Store, show: ShowWarnings | None) -> None:
    """Show the warnings that no one has been shown, and then record that they were.

    A process that is killed in between shows them once more, never once less.

    Args:
        store: the state of a home.
        show: shows them; None leaves them to be shown later.
    """
    unseen = unseen_warnings(store) if show else []
    if show is None or not unseen:
        return
    try:
        show(unseen)
    except BrokenPipeError:  # such as `| head`: a later command shows them
        return
    now_ms = time.time_ns() // 1_000_000
    with store.transaction():
        for warning in unseen:
            store.query(
                "UPDATE run_warning SET seen_at_ms = ? WHERE run_id = ? AND text = ?",
                (now_ms, warning.run_id, warning.text),
            )
