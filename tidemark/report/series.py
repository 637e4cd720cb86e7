"""The runs of a job as few points, and the runs that a Gantt chart has room for; pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from tidemark.report.commits import PipelineRun
from tidemark.report.words import BAD, kind_of

MAX_POINTS = 48
MAX_BARS, MAX_JOBS = 120, 40
PAUSE_MS = 900_000


@dataclass(frozen=True)
class Point:
    """Some runs of a job that follow each other, one if there is room.

    Attributes:
        started_at_ms: of the first of them.
        runs: how many there are.
        failed: how many of them failed.
        seconds: that one took on average; None if none has ended.
        rows_read: by one on average; None if not known.
        rows_written: likewise.
    """

    started_at_ms: int
    runs: int
    failed: int
    seconds: float | None
    rows_read: float | None
    rows_written: float | None


def points_of(runs: Sequence[PipelineRun], most: int = MAX_POINTS) -> list[Point]:
    """Return at most this many points of the runs of a job, oldest first."""
    size = -(-len(runs) // most) if runs else 1
    parts = [runs[begin : begin + size] for begin in range(0, len(runs), size)]
    return [
        Point(
            started_at_ms=part[0].started_at_ms,
            runs=len(part),
            failed=sum(kind_of(run.state) == BAD for run in part),
            seconds=_mean([run.seconds for run in part]),
            rows_read=_mean([run.rows_read for run in part]),
            rows_written=_mean([run.rows_written for run in part]),
        )
        for part in parts
    ]


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def last_period(runs: Sequence[PipelineRun], now_ms: int) -> list[PipelineRun]:
    """Return the runs of the newest period without a pause of 15 minutes, oldest first.

    At most `MAX_BARS` runs of `MAX_JOBS` jobs.
    """
    newest: list[PipelineRun] = []
    jobs: set[str] = set()
    for run in reversed(runs):
        end_ms = run.ended_at_ms or (run.started_at_ms if kind_of(run.state) == BAD else now_ms)
        if newest and newest[-1].started_at_ms - end_ms > PAUSE_MS:
            break
        if len(newest) == MAX_BARS or len(jobs | {run.job}) > MAX_JOBS:
            break
        newest.append(run)
        jobs.add(run.job)
    return newest[::-1]
