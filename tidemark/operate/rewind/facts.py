"""The data for a plan, as plain data: the jobs, the moves of their state, and their runs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

from tidemark.model.checkpoints.checkpoint import Checkpoint
from tidemark.operate.job_runs import Run

BOOKMARK = "bookmark"
COMMIT = "commit"
MoveKind: TypeAlias = Literal[
    "commit", "rewind", "reset", "carry-over", "adopt", "accept", "legacy"
]


@dataclass(frozen=True)
class Move:
    """One change of a bookmark or of a watermark.

    Attributes:
        version: that it made; they count up.
        kind: its cause: a commit of a run, or somebody who set it.
        run_id: the run whose position held from then on; empty for the beginning.
        at_ms: epoch milliseconds.
        value: the watermarks as strings by name; empty for a bookmark.
    """

    version: int
    kind: MoveKind
    run_id: str
    at_ms: int
    value: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Track:
    """A state of a job that can be rewound separately: its bookmark, or one of its watermarks.

    Attributes:
        job: whose it is.
        kind: ``bookmark``, or the name of the DynamoDB table of a watermark.
        source: of a watermark: the source it is of, empty for the job's own.
        moves: newest first, as far back as they are kept; never empty.
        open_windows: how many runs that died have left open.
    """

    job: str
    kind: str
    moves: Sequence[Move]
    source: str = ""
    open_windows: int = 0

    @property
    def is_bookmark(self) -> bool:
        """Whether it is Glue's bookmark."""
        return self.kind == BOOKMARK

    @property
    def latest(self) -> Move:
        """What holds now."""
        return self.moves[0]

    @property
    def name(self) -> str:
        """What people call it, such as ``watermark of source orders``."""
        if self.is_bookmark:
            return BOOKMARK
        return f"watermark of source {self.source}" if self.source else "watermark"

    def in_force(self) -> list[Move]:
        """Return the commits that made what holds now, newest first.

        What a rewind has undone is not among them: a move back to a run continues at that run.
        """
        return list(self._back_from(0))

    def back_from(self, run_id: str) -> list[Move]:
        """Return the commits that had made the position at the end of a run, newest first."""
        for number, move in enumerate(self.moves):
            if move.kind == COMMIT and move.run_id == run_id:
                return list(self._back_from(number))
        return []

    def _back_from(self, number: int) -> Iterator[Move]:
        while number < len(self.moves):
            move = self.moves[number]
            if move.kind in (COMMIT, "legacy"):
                yield move
            if move.kind in (COMMIT, "carry-over", "accept", "legacy"):
                number += 1
                continue
            following = range(number + 1, len(self.moves))
            number = next(
                (
                    at
                    for at in following
                    if move.run_id
                    and self.moves[at].kind in (COMMIT, "legacy")
                    and self.moves[at].run_id == move.run_id
                ),
                len(self.moves),
            )


@dataclass(frozen=True)
class JobTrigger:
    """A trigger: jobs that it starts after others, or at the start if it waits for none."""

    name: str
    jobs: tuple[str, ...]
    after: tuple[str, ...] = ()
    workflow: str = ""


@dataclass(frozen=True)
class RewindFacts:
    """All data for a plan.

    Attributes:
        jobs: those of the template, in its order.
        starts: its triggers.
        schedules: what starts workflows by the clock, for people.
        tracks: the bookmarks and watermarks there are.
        checkpoints: what runs have read and written, in the order of their commits.
        runs: the runs that are known, in the order of their starts.
        in_flight: the runs in progress.
        now_ms: epoch milliseconds.
        others: jobs that are known here and not of the template, with where they are from.
        declared_reads: the URIs that the template says a job reads, by job: what counts where no
            checkpoint says it.
        declared_writes: likewise.
        created_at_ms: when a job was defined first, epoch milliseconds, where that is known.
    """

    jobs: Sequence[str]
    starts: Sequence[JobTrigger]
    tracks: Sequence[Track]
    checkpoints: Sequence[Checkpoint] = ()
    runs: Sequence[Run] = ()
    now_ms: int = 0
    in_flight: Sequence[Run] = ()
    schedules: Sequence[str] = ()
    others: Mapping[str, str] = field(default_factory=dict)
    declared_reads: Mapping[str, Sequence[str]] = field(default_factory=dict)
    declared_writes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    created_at_ms: Mapping[str, int] = field(default_factory=dict)

    def tracks_of(self, job: str) -> list[Track]:
        """Return the states of a job."""
        return [track for track in self.tracks if track.job == job]

    def checkpoints_of(self, job: str) -> list[Checkpoint]:
        """Return the records of a job's runs, in the order of their commits."""
        return self._checkpoints_by_job.get(job, [])

    def run(self, run_id: str) -> Run | None:
        """Return a run that is known."""
        return self._runs_by_id.get(run_id)

    def started_at_ms(self, move: Move) -> int:
        """Return when the run of a commit began, or committed if that is not known."""
        run = self.run(move.run_id)
        return min(run.started_at_ms, move.at_ms) if run else move.at_ms

    def runs_of(self, job: str) -> list[Run]:
        """Return the runs of a job, in the order of their starts."""
        return self._runs_by_job.get(job, [])

    def is_newer(self, job: str, undone_from_ms: int, kept_at_ms: int) -> bool:
        """Return whether a job came after what is kept, and has run in what is undone only.

        A run counts in whatever state it ended: a job may have failed, or been stopped, in its
        first one. A job without any may have waited for another one, or been left out.
        """
        times = [checkpoint.committed_at_ms for checkpoint in self.checkpoints_of(job)]
        times += [int(run.started_at.timestamp() * 1000) for run in self.runs_of(job)]
        is_older = self.created_at_ms.get(job, kept_at_ms + 1) <= kept_at_ms
        return bool(self.checkpoints_of(job)) and min(times) >= undone_from_ms and not is_older

    @cached_property
    def _runs_by_job(self) -> dict[str, list[Run]]:
        by_job: dict[str, list[Run]] = {}
        for run in self.runs:
            by_job.setdefault(run.job, []).append(run)
        return by_job

    @cached_property
    def _runs_by_id(self) -> dict[str, Run]:
        return {run.run_id: run for run in self.runs}

    @cached_property
    def _checkpoints_by_job(self) -> dict[str, list[Checkpoint]]:
        by_job: dict[str, list[Checkpoint]] = {}
        for checkpoint in self.checkpoints:
            by_job.setdefault(checkpoint.job_name, []).append(checkpoint)
        return by_job

    def workflow_of(self, job: str) -> str:
        """Return the workflow whose trigger starts a job; empty for none."""
        return next((start.workflow for start in self.starts if job in start.jobs), "")


def watermark_string(value: Any) -> str:
    """Return a value of a watermark as a string, times in ISO 8601."""
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)
