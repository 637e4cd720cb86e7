"""A run that dies after an operation, and the run that is started again after it."""

from pathlib import Path

from tidemark.local_state.home import Home
from tidemark.operate.prove.arrivals import let_arrive
from tidemark.operate.prove.baselines import Wanted
from tidemark.operate.prove.bench import Bench
from tidemark.operate.prove.causes import Cause, Fault, of_run
from tidemark.operate.prove.crash_causes import of_crash
from tidemark.operate.prove.crash_points import CRASH
from tidemark.operate.prove.homes import home_after
from tidemark.operate.prove.kinds.kind import ExperimentKind, keep_start, resumed
from tidemark.operate.versions.trial import Trial


class Crash(ExperimentKind):
    """A run dies after an operation: what it has done until then is there, and nothing else."""

    name = CRASH
    title = "crashes"
    subject = "a crash"
    is_of_changes = True
    needs_parts = True

    def carry_out(self, bench: Bench, wanted: Wanted, folder: Path) -> tuple[Home, list[Trial]]:
        """Make the home that the dead run leaves, let late files arrive, and run again."""
        run, experiment = wanted.of, wanted.experiment
        done = [change for change in run.operations if change.number <= experiment.after]
        home = home_after(run.base, run.outcome.home, done, folder)
        let_arrive(bench.base, home, wanted.late)
        job = None if wanted.late else run.job_of(experiment)
        keep_start(home, folder)
        return home, resumed(bench, run, home, job)

    def cause(self, fault: Fault) -> Cause:
        """Where the run had done all, its end is no crash."""
        if fault.verdict == "fails":
            return super().cause(fault)
        after = fault.experiment.after
        is_done = all(operation.number <= after for operation in fault.operations)
        if fault.verdict == "lost" and is_done:
            return of_run(fault, self.causes)
        return of_crash(fault, after)
