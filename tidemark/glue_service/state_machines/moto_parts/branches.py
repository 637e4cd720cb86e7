"""Threads of branches and iterations: their places, their failures, their end."""

import time
from contextlib import suppress
from typing import Any

from tidemark.glue_service.state_machines.execution_rows import END
from tidemark.glue_service.state_machines.light_moto import instead_of
from tidemark.glue_service.state_machines.moto_parts.errors import FAILURES
from tidemark.glue_service.state_machines.places import here
from tidemark.glue_service.state_machines.record import CutOffError

MOST_ITERATIONS = 40  # at once, of an inline Map, as on AWS
SHORT_S = 0.01
_parallel = "component.state.exec.state_parallel"
_iteration = "component.state.exec.state_map.iteration"


@instead_of(f"{_parallel}.branch_worker", "BranchWorker.__init__")
def _branch_with_place(moto: Any, self: Any, **members: Any) -> None:
    moto(self, **members)
    here.place.counts["branch"] += 1
    self.place = here.place.inner(here.place.counts["branch"] - 1)


@instead_of(f"{_parallel}.branch_worker", "BranchWorker._thread_routine")
def _run_branch(moto: Any, self: Any) -> None:
    here.place = self.place
    with suppress(CutOffError):
        moto(self)


# Which branch fails first must not depend on the threads of a restart.
@instead_of(f"{_parallel}.branches_decl", "BranchWorkerPool.get_exit_event_details")
def _first_failure(moto: Any, self: Any) -> Any:
    details, place = moto(self), here.place
    return details and place.run.record.settle(place.step(END), dict(details))


@instead_of(f"{_parallel}.branches_decl", "BranchesDecl._eval_body")
def _evaluate_unless_stopped(moto: Any, self: Any, env: Any) -> None:
    moto(self, env)
    here.place.run.check(env)


@instead_of(f"{_iteration}.iteration_worker", "IterationWorker.__init__")
def _worker_with_place(moto: Any, self: Any, *arguments: Any, **members: Any) -> None:
    moto(self, *arguments, **members)
    self.outer = here.place


@instead_of(f"{_iteration}.iteration_worker", "IterationWorker._eval_job")
def _run_iteration(moto: Any, self: Any, env: Any, job: Any) -> None:
    here.place = self.outer.inner(job.job_index)
    self.outer.at_work.add(job.job_index)
    try:
        moto(self, env, job)
    finally:
        self.outer.at_work.discard(job.job_index)


# moto calls itself for the next item: a thousand items are too many for Python's stack.
@instead_of(f"{_iteration}.iteration_worker", "IterationWorker._eval_pool")
def _run_iterations(_: Any, self: Any, job: Any, worker_frame: Any) -> None:
    try:
        while job is not None:
            frame = worker_frame.open_inner_frame()
            self._eval_job(env=frame, job=job)
            worker_frame.close_frame(frame)
            is_last = isinstance(job.job_output, Exception) or self.stopped()
            following = None if is_last else self._job_pool.next_job()
            if following is None:
                if not is_last:
                    last_id = frame.event_history_context.last_published_event_id
                    worker_frame.event_history_context.source_event_id = last_id
                # A Map waits for its items: the frame must be closed before the last one is.
                self._env.close_frame(worker_frame)
            self._job_pool.close_job(job)
            job = following
        self._env.close_frame(worker_frame)
    except CutOffError:
        self._job_pool._termination_event.set()


@instead_of(f"{_iteration}.inline_iteration_component", "InlineIterationComponent._eval_body")
def _evaluate_and_end(moto: Any, self: Any, env: Any) -> None:
    wanted = env.stack[-1].max_concurrency
    env.stack[-1].max_concurrency = min(wanted or MOST_ITERATIONS, MOST_ITERATIONS)
    place = here.place
    try:
        moto(self, env)
    except FAILURES.FailureEventException:
        # moto lets the others go on.
        for frame in list(env._frames):
            frame.set_stop(stop_date=None, cause=None, error=None)
        while place.at_work:
            place.run.changes.note()
            time.sleep(SHORT_S)
        raise
    place.run.check(env)


@instead_of(f"{_iteration}.job", "JobPool.__init__")
def _pool_with_place(moto: Any, self: Any, **members: Any) -> None:
    moto(self, **members)
    self.place = here.place


# As of branches: the first iteration that fails stays the first.
@instead_of(f"{_iteration}.job", "JobPool.close_job")
def _close_if_first(moto: Any, self: Any, job: Any) -> None:
    if isinstance(job.job_output, Exception):
        place = self.place
        if place.run.record.settle(place.step(END), job.job_index) != job.job_index:
            return
    moto(self, job)
