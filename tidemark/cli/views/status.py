"""Gathers what `tidemark status` shows: last run, bookmark and watermark of every job."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from rich.text import Text

from tidemark.cli.progress import duration, rows, state_text
from tidemark.cli.views.freshness import freshness_json, iso
from tidemark.cli.views.listing import Listing
from tidemark.cli.views.watermarks import summary
from tidemark.glue_service.commands import JobStatus
from tidemark.local_state.bookmarks.versions import Bookmark
from tidemark.local_state.dynamodb import dynamodb_client, dynamodb_endpoint
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import NOTHING_NEW, JobRun
from tidemark.local_state.store.stored_warnings import RunWarning
from tidemark.model.assembly.arguments import ENABLE
from tidemark.model.assembly.definitions import Deployment
from tidemark.report.freshness import Freshness
from watermarks import WatermarkAdmin, WatermarkTableError

WATERMARK_ARGUMENT = "--watermark_table"


def read_watermarks(deployment: Deployment, home: Home) -> dict[str, str]:
    """Return, per job that has one, its current watermark as text.

    A job has a watermark if its template passes it the table; one strongly consistent read each.
    """
    tables = {
        name: job.default_arguments[WATERMARK_ARGUMENT]
        for name, job in deployment.jobs.items()
        if WATERMARK_ARGUMENT in job.default_arguments
    }
    found: dict[str, str] = {}
    if not tables:
        return found
    with (
        dynamodb_endpoint(home) as endpoint,
        dynamodb_client(endpoint, deployment.region) as dynamodb,
    ):
        for name, table in tables.items():
            try:
                if text := summary(WatermarkAdmin(table, dynamodb), name):
                    found[name] = text
            except WatermarkTableError as error:
                if error.reason != "not_found":
                    raise
                # nothing has run in this home yet
    return found


def bookmark_text(
    bookmark: Bookmark | None, is_enabled: bool, contexts: Collection[str] = ()
) -> str:
    """Return a bookmark's version and the moment up to which it has read, or why there is none."""
    if bookmark is None:
        return "not set" if is_enabled else "off"
    states = [state for ctx, state in bookmark.states.items() if ctx in contexts]
    states = states or list(bookmark.states.values())
    edges = [state["high_ms"] for state in states if "high_ms" in state]
    text = f"v{bookmark.version}"
    return f"{text} to {_moment(min(edges))}" if edges else text


def _moment(epoch_ms: int) -> str:
    return f"{datetime.fromtimestamp(epoch_ms / 1000, UTC):%Y-%m-%d %H:%M}Z"


def _jvm(run: JobRun) -> str:
    """Return whether the JVM was warm or cold, if the script started Spark."""
    return f" {run.jvm.partition(':')[0]}" if run.jvm else ""


def schedule_lines(deployment: Deployment) -> list[str]:
    """Return, for each schedule or events, what they start on AWS and who does so here."""
    by_event = [t.workflow_name for t in deployment.triggers if t.type == "EVENT"]
    return [
        *(f"On AWS, events start {name}; here, tidemark run." for name in by_event),
        *(
            f"On AWS, {it.expression} in {it.time_zone} starts {it.workflow_name}; here, tidemark "
            "run."
            for it in deployment.schedules
        ),
    ]


def status_table(
    deployment: Deployment, statuses: list[JobStatus], watermarks: Mapping[str, str]
) -> Listing:
    """Return the list of `tidemark status`, one row per job of the template."""
    table: list[tuple[str | Text, ...]] = []
    for status in statuses:
        run = status.last_run
        option = deployment.jobs[status.job_name].default_arguments.get("--job-bookmark-option")
        is_enabled = option == ENABLE
        bookmark = bookmark_text(status.bookmark, is_enabled, status.contexts)
        watermark = watermarks.get(status.job_name, "-")
        if run is None:
            table.append((status.job_name, "never", "-", "-", bookmark, watermark))
            continue
        table.append(
            (
                status.job_name,
                _moment(run.started_at_ms),
                state_text(run.state).append(f" {duration(run)}{_jvm(run)}", style="default"),
                _counts(run),
                bookmark,
                watermark,
            )
        )
    headings = ("job", "last run", "state, duration", "rows in → out", "bookmark", "watermark")
    return Listing(headings, table)


def _counts(run: JobRun) -> str:
    """Return the rows that a run has read and written, or that there was nothing new."""
    if run.has_read_nothing:
        return NOTHING_NEW
    return f"{rows(run.rows_read)} → {rows(run.rows_written)}"


def status_json(
    deployment: Deployment,
    status: JobStatus,
    watermarks: Mapping[str, str],
    fresh: Sequence[Freshness],
    now_ms: int,
    warnings: Sequence[RunWarning],
) -> dict[str, Any]:
    """Return a status as JSON values, with published datasets and open warnings of the job."""
    name, run = status.job_name, status.last_run
    option = deployment.jobs[name].default_arguments.get("--job-bookmark-option")
    return {
        "job": name,
        "last_run": run and _run_json(run),
        "bookmark": {
            "is_enabled": option == ENABLE,
            "version": status.bookmark.version if status.bookmark else None,
        },
        "watermark": watermarks.get(name),
        "freshness": [freshness_json(it, now_ms) for it in fresh if name in it.writers],
        "warnings": [
            {"run_id": it.run_id, "text": it.text} for it in warnings if it.job_name == name
        ],
    }


def _run_json(run: JobRun) -> dict[str, Any]:
    end_ms = run.completed_at_ms
    return {
        "job": run.job_name,
        "run_id": run.run_id,
        "state": run.state,
        "started_at": iso(run.started_at_ms),
        "ended_at": iso(end_ms),
        "seconds": None if end_ms is None else (end_ms - run.started_at_ms) / 1000,
        "trigger": run.trigger_name,
        "message": run.error_message,
        "rows_read": run.rows_read,
        "rows_written": run.rows_written,
    }
