"""The content of a report's page, computed from the report; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from tidemark.operate.app_jobs import PipelineJob
from tidemark.report.commits import PipelineRun, commits_of, last_runs
from tidemark.report.costs import Month, costs_of, months_of
from tidemark.report.freshness import LATE_MS, Freshness, freshness_of
from tidemark.report.levels import before_of, levels_of
from tidemark.report.model import Report, with_datasets, with_rows
from tidemark.report.needs import Need, needs_of
from tidemark.report.series import Point, last_period, points_of
from tidemark.report.words import ACTIVE, BAD, NEVER, NONE, OK, STOPPED, kind_of

MAX_CARDS = 50  # jobs with separate charts
MAX_ROWS = 200  # of a table that grows with the runs
CELLS = 30  # runs of a job in the grid
ORDER = (BAD, STOPPED, ACTIVE, NONE, OK)  # of the jobs
SESSION = "session-"  # begins the names of the jobs of interactive sessions
ENDED_WELL = ("SUCCEEDED", "STOPPED", "TIMEOUT")  # one that was idle for too long is a TIMEOUT


@dataclass(frozen=True)
class FreshDataset:
    """A published dataset, and whether it is a day old or more."""

    freshness: Freshness
    is_late: bool

    @property
    def held_back_by(self) -> str:
        """The job that holds it back."""
        return self.freshness.held_back_by


@dataclass(frozen=True)
class JobRow:
    """A job with its last runs, and how many of its runs there are and have failed.

    Attributes:
        job: the job.
        state: of its last run.
        last: the last run; None if it never ran.
        runs: how many there are.
        failed: how many of them failed.
        anchor: of its chart; empty without one.
        cells: its last `CELLS` runs, oldest first.
        usual_s: the median of the seconds of those that SUCCEEDED; None without one.
        before: the jobs that it waits for, or whose data it reads.
    """

    job: PipelineJob
    state: str
    last: PipelineRun | None
    runs: int
    failed: int
    anchor: str
    cells: tuple[PipelineRun, ...] = ()
    usual_s: float | None = None
    before: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """The kind of its state."""
        return kind_of(self.state)


@dataclass(frozen=True)
class Card:
    """A job whose runs have charts; `runs_of_point` is the maximum number of runs per point."""

    name: str
    anchor: str
    state: str
    points: tuple[Point, ...]
    runs: int
    runs_of_point: int


@dataclass(frozen=True)
class Content:
    """The content of the page.

    Attributes:
        jobs: with the datasets that are declared, or else seen.
        last: the last run of each job.
        rows: all jobs but sessions that ended well, those that failed first.
        sessions: how many sessions ended well; they are among the runs.
        needs: what needs a person, the most urgent first.
        levels: the rows of the graph, each level after those that it waits for.
        fresh: the published datasets, the oldest first.
        anchors: of the cards, by job.
        cards: of the jobs that need attention, then of those that ran last.
        period: the runs of the Gantt chart.
        recent: the newest runs, newest first.
        months: newest first.
        all_runs: how many runs there are.
    """

    jobs: tuple[PipelineJob, ...]
    last: Mapping[str, PipelineRun]
    rows: tuple[JobRow, ...]
    needs: tuple[Need, ...]
    levels: tuple[tuple[JobRow, ...], ...]
    fresh: tuple[FreshDataset, ...]
    anchors: Mapping[str, str]
    cards: tuple[Card, ...]
    period: tuple[PipelineRun, ...]
    recent: tuple[PipelineRun, ...]
    months: tuple[Month, ...]
    all_runs: int
    sessions: int = 0

    @property
    def succeeded(self) -> int:
        """How many jobs have a last run that SUCCEEDED."""
        return sum(kind_of(row.state) == OK for row in self.rows)

    @property
    def late(self) -> int:
        """How many published datasets are a day old or more."""
        return sum(dataset.is_late for dataset in self.fresh)

    @property
    def oldest(self) -> FreshDataset | None:
        """The oldest published dataset; None without any."""
        return self.fresh[0] if self.fresh else None


def content_of(report: Report) -> Content:
    """Return the content of the page."""
    runs = with_rows(report.runs, report.checkpoints)
    last = last_runs(runs)
    known = with_datasets(report.jobs, report.checkpoints)
    jobs = tuple(job for job in known if not _is_over(job, last))
    by_job: dict[str, list[PipelineRun]] = {}
    for run in runs:
        by_job.setdefault(run.job, []).append(run)
    shown = _cards(jobs, by_job, last)
    anchors = {card.name: card.anchor for card in shown}
    before = before_of(jobs)
    rows = {
        job.name: _row(job, by_job.get(job.name, []), anchors, before[job.name]) for job in jobs
    }
    commits = commits_of(runs, report.checkpoints, report.cleared)
    fresh = freshness_of(jobs, commits, last, report.made_at_ms, report.cleared, report.left_out)
    return Content(
        jobs=jobs,
        last=last,
        rows=tuple(sorted(rows.values(), key=lambda row: ORDER.index(row.kind))),
        needs=needs_of(report, jobs, last, fresh),
        levels=tuple(tuple(rows[name] for name in level) for level in levels_of(before)),
        fresh=tuple(
            FreshDataset(
                dataset, dataset.as_of_ms is None or report.made_at_ms - dataset.as_of_ms >= LATE_MS
            )
            for dataset in sorted(fresh, key=lambda dataset: dataset.as_of_ms or 0)
        ),
        anchors=anchors,
        cards=shown,
        period=tuple(last_period(runs, report.made_at_ms)),
        recent=tuple(reversed(runs[-MAX_ROWS:])),
        months=months_of(costs_of(known, runs), by_job.values(), report.limit),
        all_runs=len(runs),
        sessions=len(known) - len(jobs),
    )


def _is_over(job: PipelineJob, last: Mapping[str, PipelineRun]) -> bool:
    is_session = job.name.startswith(SESSION) and not job.workflow
    return is_session and job.name in last and last[job.name].state in ENDED_WELL


def _row(
    job: PipelineJob, runs: Sequence[PipelineRun], anchors: Mapping[str, str], before: Sequence[str]
) -> JobRow:
    last = runs[-1] if runs else None
    usual = [run.seconds for run in runs if kind_of(run.state) == OK and run.seconds is not None]
    return JobRow(
        job=job,
        state=last.state if last else NEVER,
        last=last,
        runs=len(runs),
        failed=sum(kind_of(run.state) == BAD for run in runs),
        anchor=anchors.get(job.name, ""),
        cells=tuple(runs[-CELLS:]),
        usual_s=median(usual) if usual else None,
        before=tuple(before),
    )


def _cards(
    jobs: Sequence[PipelineJob],
    by_job: Mapping[str, Sequence[PipelineRun]],
    last: Mapping[str, PipelineRun],
) -> tuple[Card, ...]:
    ran = [job for job in jobs if job.name in by_job]
    first = sorted(
        ran, key=lambda job: (kind_of(last[job.name].state) == OK, -last[job.name].started_at_ms)
    )
    chosen = {job.name for job in first[:MAX_CARDS]}
    cards = []
    for number, job in enumerate(job for job in ran if job.name in chosen):
        runs = by_job[job.name]
        points = points_of(runs)
        cards.append(
            Card(
                name=job.name,
                anchor=f"job-{number + 1}",
                state=last[job.name].state,
                points=tuple(points),
                runs=len(runs),
                runs_of_point=max(point.runs for point in points),
            )
        )
    return tuple(cards)
