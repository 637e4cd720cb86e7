"""What runs cost: DPU-hours and USD per job and month; pure.

Prices are those of docs/cost.md, in us-east-1 and without free tiers.
Sources: https://aws.amazon.com/glue/pricing/,
https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-jobs-runs.html (DPUSeconds)
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tidemark.model.clock import time_of
from tidemark.operate.app_jobs import PipelineJob, dpu_of
from tidemark.operate.job_runs import Run
from tidemark.report.commits import PipelineRun

HOUR_S = 3600
MIN_BILLED_S = 60
USD_PER_DPU_HOUR: Mapping[str, float] = {"standard": 0.44, "flexible": 0.29, "memory": 0.52}
GLUE_6_FACTOR = 0.7  # 0.308 of 0.44, and likewise the others


@dataclass(frozen=True)
class Cost:
    """What the runs of a job of one month cost.

    Attributes:
        month: `2026-01`, in UTC, by the start of a run.
        job: its name.
        runs: how many have ended.
        dpu_hours: of all of them.
        usd: for these.
        is_estimate: whether one of them ran on this machine.
    """

    month: str
    job: str
    runs: int
    dpu_hours: float
    usd: float
    is_estimate: bool


@dataclass(frozen=True)
class Month:
    """What the jobs cost in one month, the dearest first.

    Attributes:
        month: `2026-01`.
        costs: by job.
        is_cut: whether it had, or may have had, runs that are not counted.
    """

    month: str
    costs: tuple[Cost, ...]
    is_cut: bool = False

    @property
    def usd(self) -> float:
        """The sum."""
        return sum(cost.usd for cost in self.costs)

    @property
    def dpu_hours(self) -> float:
        """The sum."""
        return sum(cost.dpu_hours for cost in self.costs)

    @property
    def is_estimate(self) -> bool:
        """Whether a part of it ran on this machine."""
        return any(cost.is_estimate for cost in self.costs)

    @property
    def sign(self) -> str:
        """The prefix of the sum: at least, or about."""
        return "≥ " if self.is_cut else "≈ " if self.is_estimate else ""


def dpu_seconds_of(job: PipelineJob, run: Run) -> float | None:
    """Return the DPU-seconds that AWS bills for a run, or would bill for one of this machine.

    AWS tells them for runs of the flexible class and with auto scaling; for others they are the
    seconds, at least a minute, of all workers. None for a run whose end is not known.

    Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-jobs-runs.html
    """
    if run.billed is None:
        return None if run.seconds is None else max(run.seconds, MIN_BILLED_S) * job.dpu
    if not run.is_final:
        return None
    billed = run.billed.get("DPUSeconds")
    if billed is not None:
        return float(billed)
    seconds = float(run.billed.get("ExecutionTime", 0))
    dpu = dpu_of(job.kind, str(run.billed.get("WorkerType", job.worker_type)), run.billed)
    return max(seconds, MIN_BILLED_S) * dpu if seconds else 0.0


def is_flex(job: PipelineJob, run: Run) -> bool:
    """Return whether a run had the flexible class, or would have it on AWS."""
    return job.is_flex if run.billed is None else run.billed.get("ExecutionClass") == "FLEX"


def price_of(job: PipelineJob | None, *, flex: bool) -> float:
    """Return USD per DPU-hour of a job; that of the standard class for a job that is gone."""
    kind = "flexible" if flex else "standard"
    if job is None:
        return USD_PER_DPU_HOUR[kind]
    if job.worker_type.startswith("R."):
        kind = "memory"
    major = job.glue_version.partition(".")[0]
    is_six = major.isdecimal() and int(major) >= 6
    return USD_PER_DPU_HOUR[kind] * (GLUE_6_FACTOR if is_six else 1)


def usd_of(job: PipelineJob | None, dpu_seconds: float, *, flex: bool) -> float:
    """Return the cost of DPU-seconds of a job."""
    return dpu_seconds / HOUR_S * price_of(job, flex=flex)


def month_of(run: PipelineRun) -> str:
    """Return the month of a run, by its start."""
    return f"{time_of(run.started_at_ms):%Y-%m}"


def costs_of(jobs: Iterable[PipelineJob], runs: Iterable[PipelineRun]) -> list[Cost]:
    """Return the cost of runs that have ended, the newest month first, then by USD."""
    known = {job.name: job for job in jobs}
    grouped: dict[tuple[str, str], list[PipelineRun]] = {}
    for run in runs:
        if run.dpu_seconds is not None:
            grouped.setdefault((month_of(run), run.job), []).append(run)
    costs = [
        _cost(month, known.get(job), job, runs_of_month)
        for (month, job), runs_of_month in grouped.items()
    ]
    by_usd = sorted(costs, key=lambda cost: (-cost.usd, cost.job))
    return sorted(by_usd, key=lambda cost: cost.month, reverse=True)


def _cost(month: str, job: PipelineJob | None, name: str, runs: list[PipelineRun]) -> Cost:
    return Cost(
        month=month,
        job=name,
        runs=len(runs),
        dpu_hours=sum((run.dpu_seconds or 0) / HOUR_S for run in runs),
        usd=sum(usd_of(job, run.dpu_seconds or 0, flex=run.flex) for run in runs),
        is_estimate=any(run.is_estimate for run in runs),
    )


def months_of(
    costs: Sequence[Cost], by_job: Iterable[Sequence[PipelineRun]], limit: int
) -> tuple[Month, ...]:
    """Return the months of costs, newest first, of jobs of which ``limit`` runs were read."""
    # Runs of the newest of these months, and of those before it, may not be counted.
    cut = max([month_of(runs[0]) for runs in by_job if len(runs) >= limit], default="")
    months: dict[str, list[Cost]] = {}
    for cost in costs:
        months.setdefault(cost.month, []).append(cost)
    return tuple(
        Month(month, tuple(costs_of_month), month <= cut)
        for month, costs_of_month in months.items()
    )
