"""Threads of branches and iterations: their places, their failures, their end."""

import time
from contextlib import suppress
from typing import Any

from tidemark.glue_service.state_machines.light_moto import part
from tidemark.glue_service.state_machines.moto_parts.errors import FAILURES
from tidemark.glue_service.state_machines.places import here
from tidemark.glue_service.state_machines.record import CutOffError
from tidemark.glue_service.state_machines.tokens import END

MOST_ITERATIONS = 40  # at once, of an inline Map, as on AWS
SHORT_S = 0.01


def replace_branches() -> None:
    """Give threads of branches their place, and let the first failure stay the first."""
    branch = part("component.state.exec.state_parallel.branch_worker").BranchWorker
    declaration = part("component.state.exec.state_parallel.branches_decl")
    new_branch, run_branch = branch.__init__, branch._thread_routine
    evaluate = declaration.BranchesDecl._eval_body
    failure_of = declaration.BranchWorkerPool.get_exit_event_details

    def branch_with_place(self: Any, **members: Any) -> None:
        new_branch(self, **members)
        here.place.counts["branch"] += 1
        self.place = here.place.inner(here.place.counts["branch"] - 1)

    def run_in_place(self: Any) -> None:
        here.place = self.place
        with suppress(CutOffError):
            run_branch(self)

    def first_failure(self: Any) -> Any:
        # Which branch fails first must not depend on the threads of a restart.
        details, place = failure_of(self), here.place
        if details is None:
            return None
        return place.run.record.settle(place.step(END), dict(details))

    def evaluate_unless_stopped(self: Any, env: Any) -> None:
        evaluate(self, env)
        here.place.run.check(env)

    branch.__init__, branch._thread_routine = branch_with_place, run_in_place
    declaration.BranchWorkerPool.get_exit_event_details = first_failure
    declaration.BranchesDecl._eval_body = evaluate_unless_stopped


def replace_iterations() -> None:  # noqa: C901 (each function in it replaces one of moto's)
    """As of branches; and end the iterations that go on when one has failed."""
    iteration = "component.state.exec.state_map.iteration"
    worker = part(f"{iteration}.iteration_worker").IterationWorker
    inline = part(f"{iteration}.inline_iteration_component").InlineIterationComponent
    pool = part(f"{iteration}.job").JobPool
    new_worker, run_job, evaluate = worker.__init__, worker._eval_job, inline._eval_body
    new_pool, close_job = pool.__init__, pool.close_job

    def worker_with_place(self: Any, *arguments: Any, **members: Any) -> None:
        new_worker(self, *arguments, **members)
        self.outer = here.place

    def run_in_place(self: Any, env: Any, job: Any) -> None:
        here.place = self.outer.inner(job.job_index)
        self.outer.at_work.add(job.job_index)
        try:
            run_job(self, env, job)
        finally:
            self.outer.at_work.discard(job.job_index)

    def run_all(self: Any, job: Any, worker_frame: Any) -> None:
        # moto calls itself for the next item: a thousand items are too many for Python's stack.
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
                    self._env.close_frame(worker_frame)
                self._job_pool.close_job(job)
                job = following
            self._env.close_frame(worker_frame)
        except CutOffError:
            self._job_pool._termination_event.set()

    def evaluate_and_end(self: Any, env: Any) -> None:
        wanted = env.stack[-1].max_concurrency
        env.stack[-1].max_concurrency = min(wanted or MOST_ITERATIONS, MOST_ITERATIONS)
        place = here.place
        try:
            evaluate(self, env)
        except FAILURES.FailureEventException:
            # moto lets the others go on.
            for frame in list(env._frames):
                frame.set_stop(stop_date=None, cause=None, error=None)
            while place.at_work:
                place.run.changes.note()
                time.sleep(SHORT_S)
            raise
        place.run.check(env)

    def pool_with_place(self: Any, **members: Any) -> None:
        new_pool(self, **members)
        self.place = here.place

    def close_if_first(self: Any, job: Any) -> None:
        if isinstance(job.job_output, Exception):
            place = self.place
            if place.run.record.settle(place.step(END), job.job_index) != job.job_index:
                return
        close_job(self, job)

    worker.__init__, worker._eval_job, worker._eval_pool = worker_with_place, run_in_place, run_all
    inline._eval_body, pool.__init__, pool.close_job = (
        evaluate_and_end,
        pool_with_place,
        close_if_first,
    )
