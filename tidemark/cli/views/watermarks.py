"""Shows the watermarks of a job."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from tidemark.cli.views.listing import Listing, short_ids
from tidemark.errors import UsageError
from watermarks import (
    HistoryEntry,
    Latest,
    OpenWindow,
    WatermarkAdmin,
    WatermarkCorruptError,
    WatermarkNotFoundError,
    WatermarksError,
    WatermarkTableError,
)


def what_changes(
    watermarks: WatermarkAdmin, job: str, run: str | None, source: str
) -> tuple[str, str]:
    """Return the watermarks of a job now, and after a rewind, as strings."""
    try:
        latest = watermarks.latest(job, source=source)
        now = render_values(latest.watermarks) if latest else "none"
    except WatermarkCorruptError:
        latest, now = None, "not readable"
    if run is None:
        return now, "none: the next run loads everything"
    try:
        return now, render_values(watermarks.watermarks_of(job, run, source=source))
    except WatermarkNotFoundError as error:
        raise UsageError(
            f"there is no watermark of run {run!r} of job {job!r}: it never committed, or its row "
            f"has expired; `tidemark watermark history {job}` lists the runs to rewind to"
        ) from error


def render_values(values: Mapping[str, Any]) -> str:
    """Return values as ``name=value``, the names of nested ones joined by dots."""
    pairs = []
    for name, value in sorted(values.items()):
        if isinstance(value, Mapping):
            pairs += [f"{name}.{inner}" for inner in render_values(value).split(", ") if inner]
        else:
            pairs.append(f"{name}={value}")
    return ", ".join(pairs)


def states_of(
    watermarks: WatermarkAdmin, job: str
) -> dict[str, tuple[Latest | None, list[OpenWindow]]]:
    """Return what holds and what runs have open: of a job by "", and by each of its sources."""
    return {
        source: (watermarks.latest(job, source=source), watermarks.open_windows(job, source=source))
        for source in ["", *watermarks.sources(job)]
    }


def summary(watermarks: WatermarkAdmin, job: str) -> str:
    """Return the watermarks of a job and its sources, and how many windows are open, as a text.

    It is empty if the job has none.
    """
    try:
        states = states_of(watermarks, job)
    except WatermarkTableError:
        raise
    except WatermarksError:
        return "not readable"
    all_values: dict[str, Any] = {}
    open_count = 0
    for source, (latest, windows) in states.items():
        values = latest.watermarks if latest else {}
        all_values |= {source: values} if source else values
        open_count += len(windows)
    text = render_values(all_values)
    return f"{text or '-'} ({open_count} open)" if open_count else text


def render_range(low: Any, high: Any) -> str:
    """Return the range of a window, from the beginning if it has no lower bound."""
    return f"{'the beginning' if low is None else low} to {high}"


def current_tables(
    job: str, source: str, latest: Latest | None, windows: Sequence[OpenWindow]
) -> list[Listing]:
    """Return the lists of `tidemark watermark show`: what holds, and what runs have open."""
    runs = [window.run_id for window in windows]
    short = short_ids([*runs, *([latest.run_id] if latest and latest.run_id else [])])
    cells = ("-", "none: the next run loads everything", "-")
    if latest is not None:
        run_id = short[latest.run_id] if latest.run_id else "-"
        cells = (str(latest.version), render_values(latest.watermarks), run_id)
    headings = ("version", "watermarks", "run id")
    title = f"Source {source} of {job}" if source else f"Watermarks of {job}"
    current = Listing(headings, [cells], title, (2,))
    if not windows:
        return [current]
    title = "\nOpen windows, which the next run takes over as they stand"
    rows = []
    for window in windows:
        reach = render_range(window.low, window.high)
        rows.append((window.cursor, reach, str(window.attempt), short[window.run_id]))
    return [current, Listing(("cursor", "range", "attempt", "opened by"), rows, title, (3,))]


def history_table(job: str, history: Sequence[HistoryEntry]) -> Listing:
    """Return the list of `tidemark watermark history`, newest first."""
    short = short_ids(entry.run_id for entry in history if entry.run_id)
    rows = []
    for entry in history:
        at = f"{entry.committed_at:%Y-%m-%d %H:%M:%S}Z" if entry.committed_at else "-"
        why = f"{entry.actor}: {entry.reason}" if entry.actor else "-"
        rows.append(
            (
                str(entry.version),
                at,
                entry.kind,
                render_values(entry.watermarks) or "none",
                short[entry.run_id] if entry.run_id else "the beginning",
                why,
            )
        )
    headings = ("version", "at", "what", "watermarks", "run id", "who and why")
    return Listing(headings, rows, f"History of {job}", (4,))


def current_json(latest: Latest | None, windows: Sequence[OpenWindow]) -> dict[str, Any]:
    """Return what `tidemark watermark show --format json` prints of a job, or of a source."""
    names = ("cursor", "low", "high", "window_id", "attempt", "run_id")
    return {
        "version": latest.version if latest else None,
        "run_id": latest.run_id if latest else None,
        "watermarks": latest.watermarks if latest else None,
        "open_windows": [{name: getattr(window, name) for name in names} for window in windows],
    }


def history_json(history: Sequence[HistoryEntry]) -> list[dict[str, Any]]:
    """Return what `tidemark watermark history --format json` prints, newest first."""
    return [asdict(entry) for entry in history]
