"""The job runs that have not ended, by their next step, and which of them are late.

Source: https://docs.aws.amazon.com/glue/latest/dg/automating-awsglue-with-cloudwatch-events.html
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from tidemark.errors import TidemarkError
from tidemark.glue_service.runs.job_run_process import JobProcess
from tidemark.glue_service.runs.run_requests import RunRequest
from tidemark.glue_service.runs.skip import NothingNew
from tidemark.local_state.store.database import JobRun
from tidemark.model.assembly.definitions import SPARK, JobDefinition
from tidemark.model.assembly.iceberg import DATALAKE_FORMATS

STARTING, WAITING, RUNNING, STOPPING = "STARTING", "WAITING", "RUNNING", "STOPPING"


@dataclass(frozen=True)
class RunStart:
    """A job run to create: its job, and the cause.

    `problem` is why it cannot be created, since its job was deleted; `failure`, why it fails at
    once. `delay_minutes` is its NotifyDelayAfter. `idle_minutes` is set for an interactive session:
    it ends after so long without a statement.
    """

    job: JobDefinition
    request: RunRequest
    attempt: int = 0
    trigger_name: str | None = None
    workflow_run_id: str | None = None
    problem: str | None = None
    failure: TidemarkError | None = None
    delay_minutes: int | None = None
    idle_minutes: int | None = None

    @property
    def spark(self) -> tuple[str, str] | None:
        """Glue's version and the table formats that its JVM needs; None for a job of no Spark."""
        if self.job.command != SPARK:
            return None
        arguments = {**self.job.default_arguments, **self.request.arguments}
        return self.job.glue_version, arguments.get(DATALAKE_FORMATS, "")


@dataclass
class ActiveRun:
    """A run that has not ended; while `process` is a future, it is starting."""

    run: JobRun
    start: RunStart
    process: Future[JobProcess | NothingNew] | JobProcess | None = None

    @property
    def is_session(self) -> bool:
        """Whether it is an interactive session."""
        return self.start.idle_minutes is not None


class ActiveRuns:
    """Holds runs; `place` a run again after its state or its process has changed."""

    def __init__(self) -> None:
        self._all: dict[str, ActiveRun] = {}
        self._delayed: dict[str, ActiveRun] = {}
        self._waiting: dict[str, ActiveRun] = {}
        self._starting: dict[str, ActiveRun] = {}
        self._started: dict[str, ActiveRun] = {}
        self._counted: dict[str, str] = {}  # run -> job
        self._counts: Counter[str] = Counter()
        self._sparks: Counter[tuple[str, str] | None] = Counter()

    def __len__(self) -> int:
        return len(self._all)

    @property
    def of_spark(self) -> dict[tuple[str, str], int]:
        """How many runs of Spark jobs there are, by `Start.spark`."""
        return {spark: number for spark, number in self._sparks.items() if spark and number}

    def add(self, active: ActiveRun) -> None:
        """Add a run."""
        self._all[active.run.run_id] = active
        self._sparks[active.start.spark] += 1
        if active.start.delay_minutes is not None:
            self._delayed[active.run.run_id] = active
        self.place(active)

    def remove(self, active: ActiveRun) -> None:
        """Remove a run."""
        run_id = active.run.run_id
        del self._all[run_id]
        self._delayed.pop(run_id, None)
        self._sparks[active.start.spark] -= 1
        self._leave(run_id)
        if run_id in self._counted:
            job_name = self._counted.pop(run_id)
            self._counts[job_name] -= 1
            if not self._counts[job_name]:
                del self._counts[job_name]

    def place(self, active: ActiveRun) -> None:
        """Put a run into the group for its state and its process, at the end."""
        run_id, state = active.run.run_id, active.run.state
        self._leave(run_id)
        if active.process is not None:
            self._started[run_id] = active
        elif state == WAITING:
            self._waiting[run_id] = active
        elif state == STARTING:
            self._starting[run_id] = active
        if state != WAITING and run_id not in self._counted:
            self._counted[run_id] = active.run.job_name
            self._counts[active.run.job_name] += 1

    def _leave(self, run_id: str) -> None:
        for places in (self._waiting, self._starting, self._started):
            places.pop(run_id, None)

    def find(self, run_id: str) -> ActiveRun | None:
        """Return a run, or None."""
        return self._all.get(run_id)

    def delayed(self) -> list[ActiveRun]:
        """Return the runs that are reported when they are late."""
        return list(self._delayed.values())

    def waiting(self) -> list[ActiveRun]:
        """Return the runs that wait for other runs of their jobs."""
        return list(self._waiting.values())

    def starting(self, most: int, most_sessions: int) -> list[ActiveRun]:
        """Return the runs that can be started, the oldest first, up to so many of both kinds.

        A session holds no core of a job: it does nothing most of the time.
        """
        rooms = Counter({False: most, True: most_sessions})
        rooms.subtract(active.is_session for active in self._started.values())
        return [
            active
            for is_session, room in rooms.items()
            for active, _ in zip(self._of_kind(is_session), range(room), strict=False)
        ]

    def _of_kind(self, is_session: bool) -> Iterator[ActiveRun]:
        return (active for active in self._starting.values() if active.is_session == is_session)

    def started(self) -> list[ActiveRun]:
        """Return the runs that have a process, or are getting one."""
        return list(self._started.values())

    def sessions(self) -> list[ActiveRun]:
        """Return the interactive sessions that have a process, or are getting one."""
        return [active for active in self._started.values() if active.is_session]

    def counts(self, ending: str = "") -> Counter[str]:
        """Return how many runs of each job count for MaxConcurrentRuns, without one that ends."""
        counts = self._counts.copy()
        if ending in self._counted:
            counts[self._counted[ending]] -= 1
        return counts


MS_PER_MINUTE = 60_000


def delay_of(definition: Mapping[str, Any], settings: Mapping[str, Any]) -> int | None:
    """Return the minutes after which a run is reported; None for never."""
    for members in (settings, definition):
        delay = members.get("NotificationProperty", {}).get("NotifyDelayAfter")
        if delay is not None:
            return int(delay)
    return None


class Delays:
    """Since when each watched run is in its state; one notice per state."""

    def __init__(self) -> None:
        self._since: dict[str, tuple[str, int | None]] = {}  # None after the notice

    def late(self, runs: Iterable[ActiveRun], now_ms: int) -> list[tuple[JobRun, int]]:
        """Return the runs that are in one state for longer than their delay, with the delay."""
        late_runs: list[tuple[JobRun, int]] = []
        since: dict[str, tuple[str, int | None]] = {}
        for active in runs:
            run, delay = active.run, active.start.delay_minutes or 0
            state, at_ms = self._since.get(run.run_id, ("", None))
            if state != run.state:
                at_ms = now_ms if run.state in (STARTING, RUNNING, STOPPING) else None
            if at_ms is not None and now_ms - at_ms > delay * MS_PER_MINUTE:
                late_runs.append((run, delay))
                at_ms = None
            since[run.run_id] = run.state, at_ms
        self._since = since
        return late_runs
