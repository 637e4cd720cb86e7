"""The same run on other machines: two at once, one that is lost, and a newer version of Glue."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from tidemark.glue_service.runs.jvms.supply import second_jvm
from tidemark.local_state.home import Home
from tidemark.local_state.lost_executor import Moment, has_lost, lose_executor
from tidemark.local_state.operations import COPY, PUT, RENAME, Operation, record_operations
from tidemark.operate.prove.baselines import Wanted
from tidemark.operate.prove.bench import Bench
from tidemark.operate.prove.causes import REPEATABLE, Advice, Cause, Fault, why, whys
from tidemark.operate.prove.experiments import FIRST, Experiment
from tidemark.operate.prove.homes import linked_home
from tidemark.operate.prove.kinds.kind import ExperimentKind, FirstRun
from tidemark.operate.versions.trial import Trial


class TwoAtOnce(ExperimentKind):
    """Two runs at once."""

    name = "together"
    title = "two runs at once"
    subject = "a second run at once"
    causes = whys(doubled="both-read-the-same")

    def carry_out(self, bench: Bench, wanted: Wanted, folder: Path) -> tuple[Home, list[Trial]]:
        """Start both, and wait for both."""
        home = linked_home(bench.base, folder)
        return home, [bench.run(home, bench.subject.both)]


class LostExecutor(ExperimentKind):
    """An executor is killed at a moment of the run."""

    name = "executors"
    title = "an executor is lost when it has written its first object"
    subject = "a lost executor"
    has_own_jvms = True
    causes: ClassVar[Mapping[str, Advice]] = {
        "doubled": (
            why("executor-lost")[0],
            f"{REPEATABLE}; what functions of the script write in tasks, such as by boto3, needs "
            "names that a repeated task uses again",
        )
    }

    def planned(self, run: FirstRun) -> list[Experiment]:
        """One for each moment."""
        return [
            Experiment(self.name, self._title_at(moment), moment=moment) for moment in run.moments
        ]

    def _title_at(self, moment: Moment) -> str:
        if moment == FIRST:
            return self.title
        where = "before" if moment.is_before else "after"
        return f"an executor is lost right {where} change {moment.number} of all executors"

    def carry_out(self, bench: Bench, wanted: Wanted, folder: Path) -> tuple[Home, list[Trial]]:
        """Kill it; run again, as a retry does, if the run fails by it."""
        home, bench = linked_home(bench.base, folder), replace(bench, patience_s=None)
        record_operations(home)
        lose_executor(home, wanted.experiment.moment)
        trials = [bench.run(home)]
        if trials[0].failure and has_lost(home):
            trials.append(bench.run(home))
        return home, trials

    def why_impossible(self, wanted: Wanted, home: Home) -> str:
        """An executor is lost at a change that it makes."""
        if has_lost(home):
            return ""
        number = wanted.experiment.moment.number
        if number == 1:
            return "no executor has written an object"
        return f"the executors have made fewer than {number} changes"


class NewestVersion(ExperimentKind):
    """The same run on the newest version of Glue."""

    name = "versions"
    title = "the newest version of Glue"
    subject = "the newest version of Glue"
    has_own_jvms = True

    def carry_out(self, bench: Bench, wanted: Wanted, folder: Path) -> tuple[Home, list[Trial]]:
        """Run on a JVM of its own."""
        home = linked_home(bench.base, folder)
        with second_jvm(home, bench.jvms) as jvms:
            on_second_jvm = replace(bench, jvms=jvms, patience_s=None)  # it has to start
            return home, [on_second_jvm.run(home, bench.subject.newer, bench.subject.newest)]

    def cause(self, fault: Fault) -> Cause:
        """What differs has its causes in the versions."""
        what = "fails" if fault.verdict == "fails" else "makes other rows"
        return Cause(*why("other-on-newest", what=what))


def drawn_moments(
    operations: Sequence[Operation], draws: random.Random, count: int
) -> list[Moment]:
    """Return when executors are killed: right after the first change, then at any other."""
    changes = sum(operation.kind in (PUT, COPY, RENAME) for operation in operations)
    later = [
        Moment(number, is_before)
        for number in range(1, changes + 1)
        for is_before in (True, False)
        if Moment(number, is_before) != FIRST
    ]
    return [FIRST, *draws.sample(later, min(count - 1, len(later)))]
