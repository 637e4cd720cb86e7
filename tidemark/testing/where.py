"""Where job runs of a session ran, in a few lines."""

from collections import Counter
from collections.abc import Iterable

IN_PROCESS = "in process"


def lines_of(runs: Iterable[tuple[str, str]]) -> list[str]:
    """Return what the end of a session says about its job runs.

    Args:
        runs: the job of each, and where it ran.
    """
    counts = Counter(runs)
    inside = sum(count for (_, where), count in counts.items() if where == IN_PROCESS)
    others = [
        (job, where, count) for (job, where), count in sorted(counts.items()) if where != IN_PROCESS
    ]
    outside = sum(count for _, _, count in others)
    lines = [f"glue jobs: {_runs(inside)} in process, {_runs(outside)} isolated"]
    return lines + [f"  {job}: {where} ({_runs(count)})" for job, where, count in others]


def _runs(count: int) -> str:
    return f"{count} run{'' if count == 1 else 's'}"
