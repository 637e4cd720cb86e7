"""What every kind of experiment has, and the runs that several of them share."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from tidemark.local_state.home import Home
from tidemark.local_state.lost_executor import Moment
from tidemark.operate.prove.baselines import Baseline, Wanted
from tidemark.operate.prove.bench import Bench, Outcome, is_endless
from tidemark.operate.prove.causes import Advice, Cause, Fault, of_run, why
from tidemark.operate.prove.crash_causes import WAITS
from tidemark.operate.prove.experiments import FIRST, Experiment
from tidemark.operate.prove.homes import linked_home
from tidemark.operate.prove.judged import TargetRows, Verdict
from tidemark.operate.versions.trial import Trial

NO_NEW_FILE = "the run read no file as a new one"
TOO_FEW_FILES = "it needs two new files, and the run read fewer"
IN_USE = Cause(*why("output-in-the-way"))


@dataclass(frozen=True)
class FirstRun:
    """What decides which experiments a run can have.

    Attributes:
        new_files: how many files it read as new ones.
        looks: how often it has listed the folder of its newest file.
        impossible: why kinds cannot be tried, by their names.
        moments: when executors are killed.
    """

    new_files: int
    looks: int = 0
    impossible: Mapping[str, str] = field(default_factory=dict)
    moments: Sequence[Moment] = (FIRST,)


class ExperimentKind:
    """A kind of experiment. A new kind is a class like this one, and a line in `every.KINDS`."""

    name: ClassVar[str]
    """What `--only` calls it."""
    title: ClassVar[str]
    """What happens, for people."""
    subject: ClassVar[str]
    """The same in a verdict: SUBJECT doubles rows of a target."""
    causes: ClassVar[Mapping[str, Advice]] = {}
    """Why rows are wrong, and what to do, where it is not the same for all kinds."""
    needed_files: ClassVar[int] = 0
    """How many new files the run must have read."""
    needs_parts: ClassVar[bool] = False
    """Whether it needs runs over the new files in parts."""
    is_of_changes: ClassVar[bool] = False
    """Whether it goes by the changes of a run, one by one."""
    has_own_jvms: ClassVar[bool] = False
    has_late_file: ClassVar[bool] = False
    """Whether a file arrives later than the others; then its cause may be that of another kind."""
    writes_otherwise: ClassVar[bool] = False
    """Whether its runs may write as the first one did not, such as to delete what is there."""

    goes_by_promises: ClassVar[bool] = False
    """Whether its rows may be others, and `judged` says whether they are right."""

    def experiments(self, run: FirstRun) -> list[Experiment]:
        """Return what is to be tried, or why nothing is."""
        if reason := self.why_not(run):
            return [Experiment(self.name, self.title, not_tried=reason)]
        return self.planned(run)

    def why_not(self, run: FirstRun) -> str:
        """Return why it cannot be tried; empty if it can."""
        if run.new_files < self.needed_files:
            return TOO_FEW_FILES if self.needed_files > 1 else NO_NEW_FILE
        return run.impossible.get(self.name, "")

    def planned(self, run: FirstRun) -> list[Experiment]:
        """Return the experiments of a run for which this kind can be tried."""
        return [Experiment(self.name, self.title)]

    def carry_out(self, bench: Bench, wanted: Wanted, folder: Path) -> tuple[Home, list[Trial]]:
        """Return a new home after an experiment, and its runs."""
        raise NotImplementedError

    def next_jobs(self, wanted: Wanted, trials: Sequence[Trial]) -> Sequence[str | None]:
        """Return the jobs that run after what went wrong; None is all of what is proved."""
        return ()

    def is_unseen(self, experiment: Experiment) -> bool:
        """Return whether it leaves something that does not tell its state from others."""
        return False

    def why_unknown(self, wanted: Wanted, home: Home) -> str:
        """Return why an experiment has not shown what the job does; empty if it has."""
        return ""

    def why_impossible(self, wanted: Wanted, home: Home) -> str:
        """Return why what an experiment waits for cannot happen; empty if it did."""
        return ""

    def leaves_out(self, baseline: Baseline, target: str) -> bool:
        """Return whether a target may have other rows than those of the first run."""
        return False

    def is_noted(self, rows: TargetRows) -> bool:
        """Return whether rows differ by a note of what was tried alone."""
        return False

    def judged(
        self, wanted: Wanted, outcome: Outcome, rows: Sequence[TargetRows]
    ) -> tuple[Verdict, str] | None:
        """Return a verdict that goes by more than equal rows, and the reason; None: by rows."""
        return None

    def cause(self, fault: Fault) -> Cause:
        """Return the cause of rows that are wrong."""
        if is_endless(fault.failure):
            return WAITS
        return IN_USE if fault.verdict == "fails" else of_run(fault, self.causes)


def start_of(folder: Path) -> Path:
    """Return the folder that keeps the home of an experiment as it is before its last run."""
    return folder.with_name(f"{folder.name}-start")


def keep_start(home: Home, folder: Path) -> None:
    """Keep a home as it is, in place of the one before an earlier run."""
    shutil.rmtree(start_of(folder), ignore_errors=True)
    linked_home(home, start_of(folder))


def last_run(bench: Bench, home: Home, folder: Path) -> Trial:
    """Run once, and keep the home as it was before."""
    keep_start(home, folder)
    return bench.run(home)
