"""How old the data of a published dataset is, and which job holds it back; pure."""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tidemark.operate.app_jobs import PipelineJob
from tidemark.operate.rewind.cleared import Cleared
from tidemark.report.commits import FINAL, SUCCEEDED, JobCommit, PipelineRun
from tidemark.report.words import age

LATE_MS = 24 * 3_600_000
LACKING = "it has left input out: its warnings say what, and what to do"
FRESHNESS_RUNS = 200  # of each job that are read: one that failed longer has no age


@dataclass(frozen=True)
class Freshness:
    """What is known of the data of one published dataset.

    Attributes:
        dataset: its URI.
        table: `database.table`, empty without.
        writers: the jobs that write it.
        as_of_ms: everything that had arrived before, anywhere upstream, is in it; None if not even
            one run of each job that it needs has committed, or one has left input out.
        changed_at_ms: when a run last committed rows to it; None if none has.
        next_job: the job whose next run would bring newer data first.
        reason: why that job holds the dataset back, for people; empty if it does not.
    """

    dataset: str
    table: str
    writers: tuple[str, ...]
    as_of_ms: int | None
    changed_at_ms: int | None
    next_job: str
    reason: str

    @property
    def held_back_by(self) -> str:
        """The job that holds the dataset back; empty if it has all that is known to be there."""
        return self.next_job if self.reason else ""


def published_datasets(jobs: Sequence[PipelineJob]) -> list[str]:
    """Return the URIs that are declared as published or as tables, and those that no job reads."""
    read = {uri for job in jobs for uri in job.reads}
    return list(
        dict.fromkeys(
            uri for job in jobs for uri in job.writes if uri in job.published or uri not in read
        )
    )


def freshness_of(
    jobs: Sequence[PipelineJob],
    commits: Mapping[str, Sequence[JobCommit]],
    last: Mapping[str, PipelineRun],
    now_ms: int,
    cleared: Sequence[Cleared] = (),
    left_out: Collection[str] = (),
) -> list[Freshness]:
    """Return how fresh each published dataset is.

    A dataset is as fresh as the oldest thing in it: a job's commit has everything that its inputs
    held when the run was started, and an input that no job writes held everything. The jobs of
    ``left_out`` have an open warning of input that is in no row: no moment is known up to which
    what they lead to is complete.
    """
    view = _View(jobs, commits)
    datasets = []
    for uri in published_datasets(jobs):
        writers = tuple(job.name for job in view.writers[uri])
        own = [commit for name in writers for commit in commits.get(name, ())]
        changes = [commit.committed_at_ms for commit in own if commit.has_changed]
        tables = [table for job in jobs if (table := job.tables.get(uri))]
        as_of_ms = view.as_of(uri, now_ms) or None
        name, has_new_input = view.next_job(uri, now_ms)
        reason = _reason(
            last.get(name),
            commits.get(name, ()),
            now_ms,
            has_new_input=has_new_input or as_of_ms is None,
            cleared_at_ms=max(
                (rewind.until_ms for rewind in cleared if rewind.job == name), default=0
            ),
        )
        for job in view.way_to(uri):
            if job in left_out:
                as_of_ms, name, reason = None, job, LACKING
        datasets.append(
            Freshness(
                dataset=uri,
                table=tables[0] if tables else "",
                writers=writers,
                as_of_ms=as_of_ms,
                changed_at_ms=max(changes, default=None),
                next_job=name,
                reason=reason,
            )
        )
    return datasets


class _View:
    """What the datasets of a pipeline held at any moment."""

    def __init__(
        self, jobs: Sequence[PipelineJob], commits: Mapping[str, Sequence[JobCommit]]
    ) -> None:
        self._jobs = {job.name: job for job in jobs}
        self.writers: dict[str, list[PipelineJob]] = {}
        for job in jobs:
            for uri in job.writes:
                self.writers.setdefault(uri, []).append(job)
        self._commits = {name: commits.get(name, ()) for name in self._jobs}
        self._moments: dict[str, list[int]] = {name: [] for name in self._jobs}
        self._as_of: dict[str, list[int]] = {name: [] for name in self._jobs}
        # In the order of time: what a commit has read was committed before it.
        in_order = sorted(
            ((commit, name) for name, own in self._commits.items() for commit in own),
            key=lambda pair: (pair[0].committed_at_ms, pair[0].started_at_ms),
        )
        for commit, name in in_order:
            began_ms = commit.started_at_ms
            inputs = [self.as_of(uri, began_ms) for uri in self._others(name)]
            self._moments[name].append(commit.committed_at_ms)
            self._as_of[name].append(min(inputs, default=began_ms))

    def as_of(self, uri: str, at_ms: int) -> int:
        """Return up to when a dataset was complete at a moment; 0 for never."""
        return min(
            (self._written(writer.name, at_ms) for writer in self.writers.get(uri, ())),
            default=at_ms,
        )

    def way_to(self, uri: str) -> Iterator[str]:
        """Yield the jobs that lead to a dataset, its writers first."""
        seen: set[str] = set()
        datasets = [uri]
        for dataset in datasets:
            for job in self.writers.get(dataset, ()):
                if job.name not in seen:
                    seen.add(job.name)
                    datasets += self._others(job.name)
                    yield job.name

    def next_job(self, uri: str, now_ms: int) -> tuple[str, bool]:
        """Return the job that has not yet read what its inputs hold, the first on the way up.

        Where all have read that, the job at the end of the way, and False.
        """
        seen: set[str] = set()
        while True:
            name = min(
                self.writers[uri], key=lambda writer: self._written(writer.name, now_ms)
            ).name
            inputs = [uri_read for uri_read in self._others(name) if uri_read in self.writers]
            if name in seen or not inputs:
                return name, False
            seen.add(name)
            as_of_ms = self._written(name, now_ms)
            uri = min(inputs, key=lambda uri_read: self.as_of(uri_read, now_ms))
            if self.as_of(uri, now_ms) > as_of_ms:
                return name, True

    def _written(self, name: str, at_ms: int) -> int:
        number = bisect_right(self._moments[name], at_ms)
        return self._as_of[name][number - 1] if number else 0

    def _others(self, name: str) -> list[str]:
        # A job that merges reads its own output, too.
        job = self._jobs[name]
        return [uri for uri in job.reads if uri not in job.writes]


def _reason(
    run: PipelineRun | None,
    commits: Sequence[JobCommit],
    now_ms: int,
    *,
    has_new_input: bool,
    cleared_at_ms: int,
) -> str:
    if run is None:
        return "it has never run"
    if run.state not in FINAL:
        return f"its run is {run.state}"
    if run.state != SUCCEEDED and (not commits or commits[-1].started_at_ms < run.started_at_ms):
        return (
            f"its last run {run.state}" if run.state == "FAILED" else f"its last run: {run.state}"
        )
    if run.started_at_ms <= cleared_at_ms:
        return "a rewind has deleted rows of it, and it has not run since"
    if has_new_input:
        has_committed = run.is_filling or any(
            commit.started_at_ms >= run.started_at_ms for commit in commits
        )
        return "it has not run since" if has_committed else "its last run has committed nothing"
    is_old = now_ms - run.started_at_ms >= LATE_MS
    return f"it has not run for {age(now_ms - run.started_at_ms)}" if is_old else ""
