"""The warnings of job runs in the state database: which are unseen, and which are still open."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tidemark.local_state.store.database import Store
from tidemark.model.assembly.definitions import ENABLE
from tidemark.model.clock import now_ms


@dataclass(frozen=True)
class StoredWarning:
    """One warning of one job run.

    Attributes:
        run_id: the run.
        job_name: its job.
        started_at_ms: when it was started, epoch milliseconds.
        text: the problem, and the remedy.
    """

    run_id: str
    job_name: str
    started_at_ms: int
    text: str


ShowWarnings: TypeAlias = Callable[[Sequence[StoredWarning]], None]
"""Shows warnings to somebody; after a return without an error they count as seen.

A BrokenPipeError means that no one reads any more: they stay unseen, and nothing else happens.
"""


def keep_warnings(store: Store, run_id: str, texts: Iterable[str]) -> None:
    """Store warnings of a run; one that it has already is stored once."""
    with store.transaction():
        for text in texts:
            store.query("INSERT OR IGNORE INTO run_warning VALUES (?, ?, NULL)", (run_id, text))


def texts_of_run(store: Store, run_id: str) -> list[str]:
    """Return the warnings of a run, seen or not, oldest first."""
    query = "SELECT text FROM run_warning WHERE run_id = ? ORDER BY rowid"
    return [row["text"] for row in store.query(query, (run_id,))]


def unseen_warnings(store: Store) -> list[StoredWarning]:
    """Return the warnings that no one has been shown, oldest first."""
    rows = store.query(
        "SELECT warning.run_id, job_name, started_at_ms, text FROM run_warning AS warning "
        "JOIN job_run ON job_run.run_id = warning.run_id WHERE seen_at_ms IS NULL "
        "ORDER BY started_at_ms, warning.rowid"
    )
    return [StoredWarning(**dict(row)) for row in rows]


def open_warnings(store: Store) -> list[StoredWarning]:
    """Return the warnings that no later run of their job has resolved, oldest first.

    A later run resolves them if it has committed, or if it SUCCEEDED without Glue's bookmark. A
    message that several runs of a job have is returned once, of the newest of them.
    """
    resolved_at = {
        row["job_name"]: row["at_ms"]
        for row in store.query(
            "SELECT job_name, max(started_at_ms) AS at_ms FROM job_run "
            "LEFT JOIN (SELECT run_id AS id, document FROM checkpoint) ON id = job_run.run_id "
            "WHERE coalesce(json_extract(document, '$.is_committed'), document IS NOT NULL) "
            "OR (state = 'SUCCEEDED' AND bookmark_option <> ?) GROUP BY job_name",
            (ENABLE,),
        )
    }
    rows = store.query(
        "SELECT warning.run_id, job_name, started_at_ms, text FROM run_warning AS warning "
        "JOIN job_run ON job_run.run_id = warning.run_id ORDER BY started_at_ms, warning.rowid"
    )
    still_open: dict[tuple[str, str], StoredWarning] = {}
    for warning in (StoredWarning(**dict(row)) for row in rows):
        if warning.started_at_ms >= resolved_at.get(warning.job_name, 0):
            still_open.pop((warning.job_name, warning.text), None)
            still_open[warning.job_name, warning.text] = warning
    return list(still_open.values())


def without_those(
    warnings: Sequence[StoredWarning], shown: Sequence[StoredWarning]
) -> list[StoredWarning]:
    """Return the warnings without those whose job and message are among others."""
    seen = {(warning.job_name, warning.text) for warning in shown}
    return [warning for warning in warnings if (warning.job_name, warning.text) not in seen]


def show_unseen(store: Store, show: ShowWarnings | None) -> None:
    """Show the warnings that no one has been shown, and then record that they were.

    A process that is killed in between shows them once more, never once less.
    """
    unseen = unseen_warnings(store) if show else []
    if show is None or not unseen:
        return
    try:
        show(unseen)
    except BrokenPipeError:  # such as `| head`: a later command shows them
        return
    with store.transaction():
        for warning in unseen:
            store.query(
                "UPDATE run_warning SET seen_at_ms = ? WHERE run_id = ? AND text = ?",
                (now_ms(), warning.run_id, warning.text),
            )
