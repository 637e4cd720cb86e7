"""The geometry of the charts: points of lines and bars in the units of an SVG; pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from tidemark.report.commits import PipelineRun
from tidemark.report.series import Point
from tidemark.report.words import ACTIVE, kind_of

WIDTH, HEIGHT, SPACE = 250, 46, 8  # of one small chart; two stand above each other
SPAN = 1000  # units of a timeline
MIN_BAR = 4  # a run of a second is seen among hours


@dataclass(frozen=True)
class Bar:
    """A run on a timeline of `SPAN` units."""

    run: PipelineRun
    x: int
    width: int


@dataclass(frozen=True)
class Lines:
    """The two small charts of a job's runs: rows above, time below.

    Attributes:
        read: the path of an area; empty if nothing is known.
        written: the path of a line; likewise.
        seconds: the path of a line; likewise.
        failed: the centres of points with a run that failed.
        most_rows: the upper end of the scale of rows; None without rows.
        most_seconds: the upper end of the scale of time; None if no run has ended.
        width: of both charts.
        height: of both charts.
    """

    read: str
    written: str
    seconds: str
    failed: tuple[tuple[float, float], ...]
    most_rows: float | None
    most_seconds: float | None
    width: int = WIDTH
    height: int = 2 * HEIGHT + SPACE


def timeline(runs: Sequence[PipelineRun], now_ms: int) -> dict[str, list[Bar]]:
    """Return the bars of runs by job, in the order of their first starts; `runs` has one at least.

    A run that goes on ends now; one whose end is not known has the least width.
    """
    ends = [
        run.ended_at_ms or (now_ms if kind_of(run.state) == ACTIVE else run.started_at_ms)
        for run in runs
    ]
    begin_ms = runs[0].started_at_ms
    span_ms = max(*ends, begin_ms + 1) - begin_ms
    bars: dict[str, list[Bar]] = {}
    for run, end_ms in zip(runs, ends, strict=True):
        width = max(round((end_ms - run.started_at_ms) * SPAN / span_ms), MIN_BAR)
        x = min(round((run.started_at_ms - begin_ms) * SPAN / span_ms), SPAN - width)
        bars.setdefault(run.job, []).append(Bar(run, x, width))
    return bars


def lines_of(points: Sequence[Point]) -> Lines:
    """Return the charts of some points, oldest first."""
    rows = [value for point in points for value in (point.rows_read, point.rows_written)]
    most_rows = max((value for value in rows if value is not None), default=None)
    times = [point.seconds for point in points]
    most_seconds = max((value for value in times if value is not None), default=None)
    seconds = _places(times, most_seconds, HEIGHT + SPACE)
    base = HEIGHT + SPACE + HEIGHT
    at = dict(seconds)
    failed = [_x(number, len(points)) for number, point in enumerate(points) if point.failed]
    read = _places([point.rows_read for point in points], most_rows, 0)
    area = f"{_path(read)}L{read[-1][0]} {HEIGHT}L{read[0][0]} {HEIGHT}Z" if read else ""
    return Lines(
        read=area,
        written=_path(_places([point.rows_written for point in points], most_rows, 0)),
        seconds=_path(seconds),
        failed=tuple((x, at.get(x, base)) for x in failed),
        most_rows=most_rows,
        most_seconds=most_seconds,
    )


def _places(
    values: Sequence[float | None], most: float | None, top: int
) -> list[tuple[float, float]]:
    return [
        (_x(number, len(values)), round(top + HEIGHT - (HEIGHT - 4) * value / (most or 1), 1))
        for number, value in enumerate(values)
        if value is not None
    ]


def _x(number: int, count: int) -> float:
    return round(4 + (WIDTH - 8) * number / max(count - 1, 1), 1)


def _path(places: Sequence[tuple[float, float]]) -> str:
    if len(places) == 1:  # a line of one point is a short one
        (x, y), *_ = places
        return f"M{x} {y}h4"
    return "".join(f"{'L' if number else 'M'}{x} {y}" for number, (x, y) in enumerate(places))
