"""Shows what `tidemark status --deployed STAGE` found."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from tidemark.cli.progress import state_text
from tidemark.cli.views.freshness import freshness_json
from tidemark.cli.views.listing import Listing
from tidemark.cli.views.runs import moment, run_json, took
from tidemark.cli.views.watermarks import summary
from tidemark.errors import TidemarkError
from tidemark.operate.statuses import Status
from tidemark.report.freshness import Freshness
from watermarks import WatermarkAdmin, WatermarkTableError


def watermarks_of(statuses: Sequence[Status], region: str) -> dict[str, str]:
    """Return, per job that has one, its current watermark as text."""
    import boto3

    tables = {it.job: it.watermark_table for it in statuses if it.watermark_table}
    found: dict[str, str] = {}
    if not tables:
        return found
    dynamodb = boto3.client("dynamodb", region_name=region)
    for job, table in tables.items():
        try:
            if text := summary(WatermarkAdmin(table, dynamodb), job):
                found[job] = text
        except WatermarkTableError as error:
            if error.reason != "not_found":
                raise TidemarkError(f"watermarks of {job}: {error}") from error
    return found


def bookmark_text(status: Status) -> str:
    """Return the version of a bookmark, or why there is none."""
    if status.version is not None:
        return f"v{status.version}"
    return "not set" if status.has_bookmark else "off"


def deployed_listing(statuses: Sequence[Status], watermarks: Mapping[str, str]) -> Listing:
    """Return the list, one row per job."""
    rows: list[tuple[str | Text, ...]] = []
    for it in statuses:
        watermark = watermarks.get(it.job, "-")
        run = it.last_run
        if not it.is_there:
            rows.append((it.job, "not deployed", "-", "-", "-"))
        elif run is None:
            rows.append((it.job, "never", "-", bookmark_text(it), watermark))
        else:
            state = state_text(run.state).append(f" {took(run)}", style="default")
            rows.append((it.job, moment(run.started_at), state, bookmark_text(it), watermark))
    return Listing(("job", "last run", "state, duration", "bookmark", "watermark"), rows)


def status_json(
    status: Status, watermark: str | None, fresh: Sequence[Freshness], now_ms: int
) -> dict[str, Any]:
    """Return a status as plain JSON values, with the published datasets that the job writes."""
    return {
        "job": status.job,
        "is_deployed": status.is_there,
        "last_run": run_json(status.last_run) if status.last_run else None,
        "bookmark": {"is_enabled": status.has_bookmark, "version": status.version},
        "watermark": watermark,
        "freshness": [freshness_json(it, now_ms) for it in fresh if status.job in it.writers],
    }
