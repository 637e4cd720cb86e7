"""Shows what the next run of a job would read of the snapshots of tables of Iceberg."""

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from tidemark.cli.views.listing import Listing, Sentence
from tidemark.local_state.bookmarks.verdicts import moment
from tidemark.model.messages import plural
from tidemark.operate.snapshot_plan import NewSnapshot, SnapshotPlan
from tidemark.operate.snapshot_reads import SnapshotCursor, SnapshotRead
from watermarks import WatermarksError
from watermarks.windows.snapshot_cursors import Snapshot

SHOWN_COMMITS = 20


def snapshots_json(reads: Sequence[SnapshotRead]) -> list[dict[str, Any]]:
    """Return what is read as plain JSON values: every snapshot with its rows."""
    return [
        {
            "source": read.cursor.source,
            "cursor": read.cursor.name,
            "table": read.table or None,
            "table_uuid": read.cursor.table_uuid,
            "read_to": _snapshot_json(read.cursor.read_to),
            "open_window_to": _snapshot_json(read.cursor.until),
            "unknown": read.unknown or None,
            "refused": _refusal_json(read.plan.refused),
            "refused_for_appends": _refusal_json(read.plan.refused_appends),
            "rows_added": sum(commit.added for commit in _changing(read.plan)),
            "rows_deleted": sum(commit.deleted for commit in _changing(read.plan)),
            "snapshots": [
                {
                    "snapshot": str(commit.id),
                    "at": moment(commit.at_ms),
                    "operation": commit.operation,
                    "rows_added": commit.added,
                    "rows_deleted": commit.deleted,
                }
                for commit in read.plan.commits
            ],
        }
        for read in reads
    ]


def _snapshot_json(snapshot: Snapshot | None) -> dict[str, Any] | None:
    # A string: an id has more digits than a number of JavaScript.
    return {"snapshot": str(snapshot.id), "sequence": snapshot.sequence} if snapshot else None


def _refusal_json(refused: WatermarksError | None) -> dict[str, str] | None:
    return {"error": type(refused).__name__, "text": str(refused)} if refused else None


def snapshot_lines(job: str, reads: Sequence[SnapshotRead]) -> Iterator[RenderableType]:
    """Yield what `tidemark explain` prints of them."""
    for read in reads:
        plan, cursor = read.plan, read.cursor
        source = f", source {cursor.source}" if cursor.source else ""
        subject = f"{job}, the next run{source}, cursor {cursor.name}"
        if read.unknown:
            yield Sentence(Text(f"{subject}: {read.unknown}", style="bold"))
        elif plan.refused:
            yield Sentence(Text(f"{subject}: would be refused, {read.table}", style="bold"))
            yield Sentence(_refusal(plan.refused))
        else:
            yield Sentence(Text(f"{subject}: would read {_counts(plan)} of {read.table}", "bold"))
        yield Sentence(_reach(cursor))
        yield from _commits(plan.commits)
        if plan.refused_appends:
            yield Sentence(f'with read="appends": {_refusal(plan.refused_appends)}')


def _changing(plan: SnapshotPlan) -> list[NewSnapshot]:
    return [commit for commit in plan.commits if commit.changes_rows]


def _counts(plan: SnapshotPlan) -> str:
    if not plan.commits:
        return "nothing new"
    added = sum(commit.added for commit in _changing(plan))
    deleted = sum(commit.deleted for commit in _changing(plan))
    counted = plural(len(plan.commits), "snapshot")
    return f"{counted} ({plural(added, 'row')} added, {deleted:,} deleted)"


def _refusal(refused: WatermarksError) -> str:
    return f"{type(refused).__name__}: {refused}"


def _reach(cursor: SnapshotCursor) -> str:
    begin = f"after snapshot {cursor.read_to.id}" if cursor.read_to else "from the first row"
    if cursor.until is None:
        return begin
    return f"{begin}; first the window that a run has left open, up to snapshot {cursor.until.id}"


def _commits(commits: Sequence[NewSnapshot]) -> Iterator[RenderableType]:
    if not commits:
        return
    shown = commits[: -SHOWN_COMMITS - 1 : -1]
    rows = []
    for commit in shown:
        added, deleted = f"{commit.added:,}", f"{commit.deleted:,}"
        rows.append((str(commit.id), moment(commit.at_ms), commit.operation, added, deleted))
    yield Listing(("snapshot", "at", "operation", "rows added", "rows deleted"), rows)
    if more := len(commits) - len(shown):
        yield Text(f"and {plural(more, 'more snapshot')}; --format json lists all")
