"""Shows what `tidemark status` found: last run, bookmark and watermark of every job."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from tidemark.cli.progress import grouped, render_state
from tidemark.cli.views.listing import Listing
from tidemark.cli.views.runs import moment, run_json, took
from tidemark.cli.views.watermarks import summary
from tidemark.errors import TidemarkError
from tidemark.local_state.store.database import NOTHING_NEW
from tidemark.local_state.store.stored_warnings import StoredWarning
from tidemark.model.checkpoints.checkpoint import NOTHING_COMMITTED
from tidemark.model.clock import time_of
from tidemark.model.messages import plural
from tidemark.operate.job_runs import Run
from tidemark.operate.statuses import Status
from tidemark.operate.target import Target
from tidemark.report.freshness import Freshness
from tidemark.report.words import age
from watermarks import WatermarkTableError

MS = 1000


def read_watermarks(target: Target, statuses: Sequence[Status]) -> dict[str, str]:
    """Return, per job that has one, its current watermark as a string."""
    tables: dict[str, list[str]] = {}
    for status in statuses:
        if status.watermark_table:
            tables.setdefault(status.watermark_table, []).append(status.job)
    by_job: dict[str, str] = {}
    for table, jobs in tables.items():
        try:
            with target.watermarks(table) as admin:
                by_job |= {job: summary(admin, job) for job in jobs}
        except WatermarkTableError as error:
            if error.reason != "not_found":  # nothing has run yet
                raise TidemarkError(f"watermarks of {', '.join(jobs)}: {error}") from error
    return {job: text for job, text in by_job.items() if text}


def render_bookmark(status: Status) -> str:
    """Return a bookmark's version and the moment up to which it has read, or why it is missing."""
    head = status.bookmark
    if status.unknown and status.has_bookmark:
        return "not known"
    if head is None:
        return "not set" if status.has_bookmark else "off"
    if head.until_ms is None:
        return f"v{head.version}"
    return f"v{head.version} to {moment(time_of(head.until_ms))}"


def sessions_line(ended: Sequence[Status]) -> str:
    """Return the line for sessions that are over: how many, and when the last one began."""
    last = max(status.last_run.started_at for status in ended if status.last_run)
    return f"{plural(len(ended), 'session')} ended well, the last of {moment(last)}: tidemark runs"


def status_table(
    statuses: Sequence[Status], watermarks: Mapping[str, str], now_ms: int, *, has_rows: bool
) -> Listing:
    """Return the list of `tidemark status`, one row per job."""
    table: list[list[str | Text]] = [
        ["job", "last run", "state, duration", "rows in → out", "bookmark", "watermark"]
    ]
    for status in statuses:
        state = (
            (render_bookmark(status), watermarks.get(status.job, "-"))
            if status.is_there
            else ("-", "-")
        )
        table.append([status.job, *_run_cells(status, now_ms), *state])
    if not has_rows:
        table = [[*row[:3], *row[4:]] for row in table]
    headings, *rows = table
    return Listing([str(heading) for heading in headings], rows)


def _run_cells(status: Status, now_ms: int) -> tuple[str | Text, str | Text, str]:
    run = status.last_run
    if run is None:
        return ("never" if status.is_there else "not deployed", "-", "-")
    goes_on_s = now_ms / MS - run.started_at.timestamp()
    seconds = took(run) if run.is_final else f"{goes_on_s:.1f} s"
    jvm = f" {run.jvm.partition(':')[0]}" if run.jvm else ""
    again = f" {NOTHING_COMMITTED}" if run.detail == NOTHING_COMMITTED else ""
    state = render_state(run.state).append(f"{again} {seconds}{jvm}", style="default")
    return moment(run.started_at), state, _counts(run)


def _counts(run: Run) -> str:
    if run.detail == NOTHING_NEW:
        return NOTHING_NEW
    return f"{grouped(run.rows_read)} → {grouped(run.rows_written)}"


def status_json(
    status: Status,
    watermarks: Mapping[str, str],
    fresh: Sequence[Freshness],
    now_ms: int,
    warnings: Sequence[StoredWarning] | None,
    *,
    has_rows: bool,
) -> dict[str, Any]:
    """Return a status as JSON values, with published datasets and open warnings of the job."""
    warnings_shown: dict[str, Any] = {}
    if warnings is not None:
        of_job = [warning for warning in warnings if warning.job_name == status.job]
        warnings_shown["warnings"] = [
            {"run_id": warning.run_id, "text": warning.text} for warning in of_job
        ]
    return {
        "job": status.job,
        "is_deployed": status.is_there,
        "last_run": status.last_run and run_json(status.last_run, has_rows=has_rows),
        "bookmark": {
            "is_enabled": status.has_bookmark,
            "version": status.bookmark.version if status.bookmark else None,
            **({"unknown": status.unknown} if status.unknown else {}),
        },
        "watermark": watermarks.get(status.job),
        "freshness": [freshness_json(data, now_ms) for data in fresh if status.job in data.writers],
        **warnings_shown,
    }


def freshness_listing(datasets: Sequence[Freshness], now_ms: int) -> Listing:
    """Return the list, one row per dataset."""
    rows = [
        (
            dataset.table or dataset.dataset,
            "not complete"
            if dataset.as_of_ms is None
            else f"{age(now_ms - dataset.as_of_ms)}, {moment(time_of(dataset.as_of_ms))}",
            f"{dataset.held_back_by}: {dataset.reason}" if dataset.held_back_by else "-",
        )
        for dataset in datasets
    ]
    return Listing(("published dataset", "age, complete up to", "held back by"), rows)


def freshness_json(it: Freshness, now_ms: int) -> dict[str, Any]:
    """Return how fresh a dataset is as plain JSON values."""
    return {
        "dataset": it.dataset,
        "table": it.table or None,
        "complete_up_to": iso(it.as_of_ms),
        "age_seconds": None if it.as_of_ms is None else (now_ms - it.as_of_ms) / 1000,
        "changed_at": iso(it.changed_at_ms),
        "held_back_by": it.held_back_by or None,
        "reason": it.reason or None,
    }


def iso(at_ms: int | None) -> str | None:
    """Return a moment as JSON has it, in UTC; None for none."""
    return None if at_ms is None else time_of(at_ms).isoformat()
