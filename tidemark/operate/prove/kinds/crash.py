"""A run that dies after an operation, and the run that is started again after it."""

from collections.abc import Sequence
from pathlib import Path

from tidemark.local_state.home import Home
from tidemark.operate.prove.arrivals import let_arrive
from tidemark.operate.prove.baselines import Wanted
from tidemark.operate.prove.bench import Bench, is_endless
from tidemark.operate.prove.causes import Cause, Fault, of_run
from tidemark.operate.prove.crash_causes import of_crash, of_waiting
from tidemark.operate.prove.crash_points import CRASH
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.homes import home_after
from tidemark.operate.prove.kinds.kind import ExperimentKind
from tidemark.operate.prove.states import is_unseen
from tidemark.operate.versions.trial import Trial


class Crash(ExperimentKind):
    """A run dies after an operation: what it has done until then is there, and nothing else."""

    name = CRASH
    title = "crashes"
    subject = "a crash"
    is_of_changes = True
    needs_parts = True

    def carry_out(self, bench: Bench, wanted: Wanted, folder: Path) -> tuple[Home, list[Trial]]:
        """Make the home that the dead run leaves, and let late files arrive."""
        run, experiment = wanted.of, wanted.experiment
        done = [change for change in run.operations if change.number <= experiment.after]
        home = home_after(run.base, run.outcome.home, done, folder)
        let_arrive(bench.base, home, wanted.late)
        return home, []

    def next_jobs(self, wanted: Wanted, trials: Sequence[Trial]) -> Sequence[str | None]:
        """The job that died runs again, and those after it; all of them if a file has arrived."""
        run = wanted.of
        return run.all_jobs if wanted.late else run.jobs_from(run.job_of(wanted.experiment))

    def is_unseen(self, experiment: Experiment) -> bool:
        """What a request to another service changes, no identity may tell."""
        return is_unseen(experiment.operation)

    def cause(self, fault: Fault) -> Cause:
        """Where the run had done all, its end is no crash."""
        after = fault.experiment.after
        if is_endless(fault.failure):
            return of_waiting(fault.operations, after)
        if fault.verdict == "fails":
            return super().cause(fault)
        is_done = all(operation.number <= after for operation in fault.operations)
        if fault.verdict == "lost" and is_done:
            return of_run(fault, self.causes)
        return of_crash(fault, after)
