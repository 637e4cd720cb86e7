"""What a person asks for, and what is found, as plain data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tidemark.local_state.operations import Operation
from tidemark.operate.prove.causes import Cause
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.judged import WORST, TargetRows, Verdict, worst

NOTHING_TRIED, NOT_ALL_TRIED = 3, 4  # exit codes
RIGHT: Sequence[Verdict] = ("equal", "accepted", "told")
BAD: Sequence[Verdict] = ("changed", "doubled", "lost", "fails")
ANOTHER_DAY = "another day"  # what `--ignore` calls it


@dataclass(frozen=True)
class Wish:
    """What a person asks for.

    Attributes:
        only: kinds of experiments; empty: all.
        deadline: when all of it ends, on the clock of `time.monotonic`; None: whenever it does.
        key: columns that identify a row; empty: they are looked for.
        accepted: why rows may be doubled, by the name of a script and its line.
        ignored: columns and targets that are not compared.
        clocks: the lines of the scripts that read the clock.
        surrogates: groups of columns that a script numbers itself: where all are there, none of
            them is a key.
        seed: draws the moments after the first.
        moments: how many moments there are of `executors`, and of `error` for each line.
    """

    only: Sequence[str] = ()
    deadline: float | None = None
    key: Sequence[str] = ()
    accepted: Mapping[tuple[str, int], str] = field(default_factory=dict)
    surrogates: Sequence[Sequence[str]] = ()
    ignored: Sequence[str] = ()
    clocks: Sequence[str] = ()
    seed: int = 1
    moments: int = 1

    def ignores(self, target: str) -> bool:
        """Return whether a target is not compared."""
        return target.rstrip("/") in {place.rstrip("/") for place in self.ignored}

    def wants(self, kind: str) -> bool:
        """Return whether a kind of experiment is asked for."""
        return not self.only or kind in self.only


@dataclass(frozen=True)
class Wrong:
    """One cause of an experiment, and the targets whose rows are wrong by it."""

    verdict: Verdict
    cause: Cause
    targets: Sequence[TargetRows]


@dataclass(frozen=True)
class Finding:
    """The verdict of one experiment.

    Attributes:
        experiment: what was tried.
        verdict: the worst of its targets.
        targets: how the rows of each target differ.
        reason: why it was not tried, or why the last run failed; empty otherwise.
        cause: the line and the remedy; None if nothing went wrong.
        seconds: how long it took.
        causes: those of each target whose rows are wrong, by its name.
        replay: what `--replay` calls it; empty if its state is not kept.
    """

    experiment: Experiment
    verdict: Verdict
    targets: Sequence[TargetRows] = ()
    reason: str = ""
    cause: Cause | None = None
    seconds: float = 0.0
    causes: Mapping[str, Cause] = field(default_factory=dict)
    replay: str = ""

    @property
    def wrongs(self) -> list[Wrong]:
        """What went wrong: each cause once, with its targets, the worst first."""
        if self.cause is None or self.verdict not in BAD:
            return []
        different = [rows for rows in self.targets if rows.verdict != "equal"]
        if not self.causes or self.verdict == "fails":
            return [Wrong(self.verdict, self.cause, different)]
        targets_by_cause: dict[tuple[Verdict, Cause], list[TargetRows]] = {}
        for rows in different:
            if cause := self.causes.get(rows.target):
                targets_by_cause.setdefault((rows.verdict, cause), []).append(rows)
        wrongs = [
            Wrong(verdict, cause, targets) for (verdict, cause), targets in targets_by_cause.items()
        ]
        return sorted(wrongs, key=lambda wrong: WORST.index(wrong.verdict))


@dataclass(frozen=True)
class Proof:
    """All findings, in the order of what happens in a run.

    Attributes:
        operations: what the run changed outside its processes.
        findings: one for each experiment.
        by_time: columns of each target that differ between two equal runs, which are left out.
        seconds: how long all of it took.
        seed: drew the moments after the first; with it they are the same again.
        clocks: the lines that read the clock, which no experiment moves.
        withheld: the changes of databases that were not made, as places and lines.
        is_anew: whether the jobs had read everything, and so started over, with empty targets.
        unjudged: the requests whose effects are not compared, with their lines.
        marks: objects that runs read and then write, of hidden names, which are not compared.
        by_chance: what differs between two equal runs, so that two deaths in a row are tried only
            where something else differs, too.
        scripts: the files of the scripts by the names that causes have.
        states: how many states the runs could be started from.
        deaths: how many runs in a row died at most before a run that was tried.
        taken: how many rows of targets that were there the run that goes well takes away.
        split: the URI of the only new file, if it was split in two; empty otherwise.
    """

    operations: Sequence[Operation]
    findings: Sequence[Finding]
    by_time: dict[str, list[str]] = field(default_factory=dict)
    seconds: float = 0.0
    seed: int = 1
    withheld: Sequence[str] = ()
    clocks: Sequence[str] = ()
    is_anew: bool = False
    unjudged: Sequence[str] = ()
    marks: Sequence[str] = ()
    by_chance: Sequence[str] = ()
    scripts: Mapping[str, Path] = field(default_factory=dict)
    states: int = 0
    deaths: int = 0
    taken: Sequence[str] = ()
    split: str = ""

    @property
    def tried(self) -> int:
        """How many experiments were carried out."""
        return sum(finding.verdict != "not tried" for finding in self.findings)

    def source_of(self, script: str, line: int | None) -> str:
        """Return a line of a script; empty where its source is not known."""
        file = self.scripts.get(script)
        if line is None or file is None:
            return ""
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
        return lines[line - 1].strip() if line <= len(lines) else ""

    @property
    def verdict(self) -> Verdict:
        """The worst verdict."""
        return worst([finding.verdict for finding in self.findings])

    @property
    def is_bad(self) -> bool:
        """Whether an experiment loses, doubles or changes rows, or fails, or none was tried."""
        return self.verdict in (*BAD, "not tried")

    @property
    def exit_code(self) -> int:
        """Of the command: 0, 1 if something is bad, 3 if nothing was tried, 4 if not all was."""
        if self.verdict == "not tried" or (self.verdict not in BAD and self.has_no_crash):
            return NOTHING_TRIED
        if self.is_bad:
            return 1
        left = self.open_findings or self.unjudged or self.withheld
        return NOT_ALL_TRIED if left else 0

    @property
    def open_findings(self) -> list[Finding]:
        """The experiments that could have been tried, or compared, and were not."""
        left = [finding for finding in self.findings if finding.verdict == "not tried"]
        return [finding for finding in left if finding.experiment.is_open or finding.targets]

    @property
    def has_no_crash(self) -> bool:
        """Whether crashes were asked for, and none was tried: the rest says little."""
        verdicts = [
            finding.verdict for finding in self.findings if finding.experiment.kind == "crash"
        ]
        return bool(verdicts) and set(verdicts) == {"not tried"}
