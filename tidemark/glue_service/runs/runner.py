"""The job runs of the local Glue: queued, started, watched, stopped, retried.

Used by the engine's thread alone. A run is STARTING until it has a core, WAITING while its job has
its maximum of runs and queues, RUNNING from just before its process starts, STOPPING until
the processes of its group are gone. Every change is stored before it takes effect: after a
crash a run that is STARTING was never started, and one that is RUNNING may have been.
"""

import contextlib
import os
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

from tidemark.errors import TidemarkError
from tidemark.glue_job.iceberg.jars import spark_with
from tidemark.glue_job.process.script_warnings import warnings_of
from tidemark.glue_service.logs.marks import LogMarks
from tidemark.glue_service.protocol.service_errors import TooManyRunsError
from tidemark.glue_service.runs.active import (
    RUNNING,
    STARTING,
    STOPPING,
    WAITING,
    ActiveRun,
    ActiveRuns,
    RunStart,
)
from tidemark.glue_service.runs.end_record import record_end
from tidemark.glue_service.runs.job_run_process import (
    JobProcess,
    failed_run,
    notify_of_end,
    plan_job_run,
    poll_job_run,
    request_stop,
    stop_job_run,
)
from tidemark.glue_service.runs.run_effects import RunEffects, read_effects
from tidemark.glue_service.runs.run_requests import RunRequest, put_run_request
from tidemark.glue_service.runs.run_variables import Machine
from tidemark.glue_service.runs.skip import NothingNew, start_or_skip
from tidemark.local_state.machine.disk import full_disk_line, is_full
from tidemark.local_state.sparks.installed import installed_spark
from tidemark.local_state.store.checkpoints import put_checkpoint
from tidemark.local_state.store.database import FINAL_STATES, JobRun, Store
from tidemark.local_state.store.stored_warnings import keep_warnings
from tidemark.model.assembly.definitions import SPARK
from tidemark.model.clock import now_ms

SESSIONS_OF_A_CORE = 2  # dbt waits for four at once
OnEnd = Callable[[JobRun, RunRequest], list[RunStart]]


class Runner:
    """Holds the runs that have not ended."""

    def __init__(
        self,
        machine: Machine,
        store: Store,
        on_end: OnEnd,
        observe: Callable[[JobRun], None] = lambda _: None,
        most: int | None = None,
        on_start: Callable[[JobRun], None] = lambda _: None,
    ) -> None:
        """Start without runs."""
        self.wake: Callable[[], None] = lambda: None  # called in any thread: a step is due
        self._observe = observe
        self._on_start = on_start
        self.problem: TidemarkError | None = None  # why a change could not be recorded
        self._never_started: list[JobRun] = []  # final ones that must still be observed
        self._machine = machine
        self._store = store
        self._on_end = on_end
        self._most = (os.cpu_count() or 1) if most is None else most
        self._active = ActiveRuns()
        self._ended: dict[str, tuple[ActiveRun, JobRun]] = {}  # whose end is not recorded yet
        self._marks = LogMarks()
        self._starter = ThreadPoolExecutor(max(self._most, 1), "start-job-run")

    @property
    def is_busy(self) -> bool:
        """Whether a run may change without a request."""
        return bool(self._active.started()) or bool(self._ended)

    @property
    def is_due(self) -> bool:
        """Whether a step would change something now."""
        return bool(self._never_started) or bool(self._startable())

    @property
    def delayed(self) -> list[ActiveRun]:
        """The runs that have not ended and are reported when they are late."""
        return self._active.delayed()

    @property
    def has_runs(self) -> bool:
        """Whether some run has not ended."""
        return len(self._active) > 0

    def start(self, start: RunStart) -> JobRun:
        """Record a new run, which starts as soon as possible; return it."""
        run = self._plan(start, self._active.counts())
        with self._store.transaction():
            self._record(run, start)
        self.add([(run, start)])
        return run

    def settle(self, starts: list[RunStart], ending: str = "") -> list[tuple[JobRun, RunStart]]:
        """Record the runs that triggers start, in the caller's transaction; return them.

        A run that cannot start is FAILED, a run of a deleted job is ERROR, and what follows from
        that is recorded too. The caller passes the result to `add` after the transaction.
        """
        recorded: list[tuple[JobRun, RunStart]] = []
        counts = self._active.counts(ending)
        todo = deque(starts)
        while todo:
            start = todo.popleft()
            run = self._plan_or_fail(start, counts)
            self._record(run, start)
            recorded.append((run, start))
            if run.state in FINAL_STATES:
                todo += self._on_end(run, start.request)
            else:
                counts[run.job_name] += run.state != WAITING
        return recorded

    def add(self, recorded: list[tuple[JobRun, RunStart]]) -> None:
        """Take recorded runs; those that could not start are observed in the next step."""
        for run, start in recorded:
            if run.state in FINAL_STATES:
                self._never_started.append(run)
            else:
                self._active.add(ActiveRun(run, start))

    @property
    def sessions(self) -> list[ActiveRun]:
        """The interactive sessions that have a process, or are getting one."""
        return self._active.sessions()

    def stop(self, run_id: str, state: str = "STOPPED", why: str = "Job run stopped") -> bool:
        """Ask a run to end in a state, with a message; return False if it has ended."""
        active = self._active.find(run_id)
        if active is None or run_id in self._ended:
            return False
        if active.process is None:
            self._end(active, _ended_as(active.run, state, why))
            return True
        self._change(active, STOPPING)
        if isinstance(active.process, JobProcess):
            request_stop(active.process, state, why)
        return True

    def step(self) -> None:
        """Do what is due: record runs that ended, start runs that can."""
        while self._never_started:
            self._tell(self._observe, self._never_started.pop(0))
        for active, run in list(self._ended.values()):
            self._end(active, run)
        for active in self._active.started():
            self._look_at(active)
        self._start_waiting()

    def close(self) -> None:
        """End every process; runs that had not started are left for the next engine."""
        self._starter.shutdown(cancel_futures=True)
        for active in self._active.started():
            if isinstance(active.process, Future):
                with contextlib.suppress(TidemarkError):  # the next engine finds it RUNNING
                    self._take_process(active)
            if isinstance(active.process, JobProcess):
                known = self._ended.get(active.run.run_id)  # it could not be recorded before
                self._end(active, known[1] if known else stop_job_run(active.process))

    def resume(self, run: JobRun, start: RunStart) -> None:
        """Take over a run of a killed engine: continue it, or record how it ended."""
        if run.state not in FINAL_STATES and (why := _refusal(start)):
            run = _ended_as(run, *why)
        active = ActiveRun(run, start)
        self._active.add(active)
        if run.state in FINAL_STATES:
            self._end(active, run)

    def _take_process(self, active: ActiveRun) -> None:
        future = active.process
        if not isinstance(future, Future) or not future.done():
            return
        if future.cancelled():
            active.process = None
            self._change(active, STARTING)
            return
        try:
            started = future.result()
        except Exception as error:  # noqa: BLE001 (it is this run alone that cannot start)
            why = full_disk_line(self._machine.home.root) if is_full(error) else _why(error)
            self._end(active, failed_run(active.run, why))
            return
        if isinstance(started, NothingNew):
            if active.run.state == STOPPING:
                self._end(active, _ended_as(active.run, "STOPPED", "Job run stopped"))
                return
            with contextlib.suppress(TidemarkError), self._store.transaction():
                put_checkpoint(self._store, started.checkpoint)  # without it: fewer details
            self._end(active, started.run)
            return
        active.process = started
        notify_of_end(started, self.wake)
        if active.run.state == STOPPING:
            request_stop(active.process, "STOPPED")

    def _look_at(self, active: ActiveRun) -> None:
        self._take_process(active)
        if isinstance(active.process, JobProcess) and active.run.run_id not in self._ended:
            self._marks.note(active.run)
            try:
                ended = poll_job_run(active.process)
            except Exception as error:  # noqa: BLE001 (files that a script left must stop no one)
                ended = failed_run(active.run, f"how the run ended cannot be read: {_why(error)}")
            if ended is not None:
                self._marks.note(ended, is_last=True)
                self._end(active, ended)

    def _end(self, active: ActiveRun, run: JobRun) -> None:
        """Record the final state of a run and what follows, together; retry later if that fails."""
        self._ended[run.run_id] = active, run
        try:
            counts = active.process.counts if isinstance(active.process, JobProcess) else None
            place = (self._machine.dynamodb_endpoint, self._machine.region)
            run, live = self._record_end(active, run, read_effects(self._store, run, counts, place))
        except TidemarkError as error:  # such as a full disk: the end must still be recorded
            self.problem = error
            return
        del self._ended[run.run_id]
        self._active.remove(active)
        self.add(live)
        self._tell(self._observe, run)

    def _record_end(
        self, active: ActiveRun, run: JobRun, effects: RunEffects
    ) -> tuple[JobRun, list[tuple[JobRun, RunStart]]]:
        start = active.start
        with self._store.transaction():
            run = record_end(self._store, run, effects)
            keep_warnings(self._store, run.run_id, warnings_of(self._store, run, start.job))
            # A TIMEOUT is not retried.
            # Source: https://docs.aws.amazon.com/glue/latest/dg/add-job.html
            may_retry = run.state == "FAILED" and start.attempt < start.job.max_retries
            if active.run.state == STOPPING or not may_retry:
                return run, self.settle(self._on_end(run, start.request), run.run_id)
            retry = retry_of(start, run)
            next_run = self._plan(retry, Counter())
            self._record(next_run, retry)
            return run, [(next_run, retry)]

    def _tell(self, report: Callable[[JobRun], None], run: JobRun) -> None:
        try:
            report(run)
        except TidemarkError:
            raise
        except Exception as error:  # noqa: BLE001 (the run goes on, and says so)
            # A report that fails, as of code on disk, stops no run.
            text = f"the state {run.state} could not be reported: {_why(error)}"
            keep_warnings(self._store, run.run_id, [text])

    def _plan(self, start: RunStart, counts: Counter[str]) -> JobRun:
        request, job = start.request, start.job
        state = STARTING
        if counts[job.name] >= job.max_concurrent_runs:
            if not request.is_queued:
                raise TooManyRunsError(f"Concurrent runs exceeded for {job.name}")
            state = WAITING
        run = plan_job_run(self._machine, job, request.arguments, request.run_id, start.attempt)
        return _new_run(start, run, state)

    def _plan_or_fail(self, start: RunStart, counts: Counter[str]) -> JobRun:
        why = _refusal(start)
        if why is None:
            try:
                return self._plan(start, counts)
            except TidemarkError as error:
                why = "FAILED", str(error)
        bare = replace(start.job, default_arguments={}, non_overridable_arguments={})
        run = plan_job_run(self._machine, bare, {}, start.request.run_id, start.attempt)
        return _ended_as(_new_run(start, run, why[0]), *why)

    def _record(self, run: JobRun, start: RunStart) -> None:
        self._store.put_job_run(run)
        version = start.job.glue_version if start.job.command == SPARK else None
        put_run_request(self._store, replace(start.request, glue_version=version))

    def _change(self, active: ActiveRun, state: str) -> None:
        run = replace(active.run, state=state)
        self._store.put_job_run(run)
        active.run = run
        self._active.place(active)

    def _start_waiting(self) -> None:
        if waiting := self._active.waiting():
            counts = self._active.counts()
            for active in waiting:
                job = active.start.job
                if counts[job.name] < job.max_concurrent_runs:
                    self._change(active, STARTING)
                    counts[job.name] += 1
        for (version, formats), number in self._active.of_spark.items():
            if spark := installed_spark(version):
                self._machine.jvms.want(number, spark_with(formats, spark))
        for active in self._startable():
            active.run = replace(active.run, started_at_ms=now_ms())
            job, request = active.start.job, active.start.request
            self._change(active, RUNNING)
            future = self._starter.submit(
                start_or_skip, self._machine, job, request.arguments, active.run
            )
            active.process = future
            self._active.place(active)
            future.add_done_callback(lambda _: self.wake())
            self._tell(self._on_start, active.run)

    def _startable(self) -> list[ActiveRun]:
        return self._active.starting(self._most, SESSIONS_OF_A_CORE * self._most)


def retry_of(start: RunStart, run: JobRun) -> RunStart:
    """Return the start that retries a run, which keeps its id with the number of the attempt.

    Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-jobs-runs.html
    """
    attempt = start.attempt + 1
    run_id = f"{run.run_id.split('_attempt_')[0]}_attempt_{attempt}"
    request = replace(start.request, run_id=run_id, previous_run_id=run.run_id)
    return replace(start, request=request, attempt=attempt)


def _why(error: Exception) -> str:
    is_named = isinstance(error, TidemarkError | OSError)
    return str(error) if is_named else f"{type(error).__name__}: {error}"


def _refusal(start: RunStart) -> tuple[str, str] | None:
    # Source: https://docs.aws.amazon.com/glue/latest/dg/job-run-statuses.html
    if start.problem:
        return "ERROR", start.problem
    return ("FAILED", str(start.failure)) if start.failure else None


def _new_run(start: RunStart, run: JobRun, state: str) -> JobRun:
    return replace(
        run, state=state, trigger_name=start.trigger_name, workflow_run_id=start.workflow_run_id
    )


def _ended_as(run: JobRun, state: str, text: str) -> JobRun:
    return replace(failed_run(run, text), state=state)
