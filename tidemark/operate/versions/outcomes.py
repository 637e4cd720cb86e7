"""The outcome of a comparison as plain data."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from tidemark.operate.versions.causes import Cause, cause_of

Verdict = Literal["equal", "differs", "fails"]
WHOLE = 10_000  # more than a place has columns


@dataclass(frozen=True)
class RunOutcome:
    """How one job ended on one version.

    Attributes:
        job: its name.
        state: of the run, such as SUCCEEDED.
        error: its message; None without one.
        rows_read: None where Spark reported none.
        rows_written: likewise.
        warnings: the messages of its warnings, sorted.
    """

    job: str
    state: str
    error: str | None
    rows_read: int | None
    rows_written: int | None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class TargetOutcome:
    """How one place in the lake differs.

    Attributes:
        target: its URI.
        format: that of the files, such as parquet; one folder may have files of several.
        rows: how many rows it has, before and after; None where rows are not read.
        columns: names of the columns with other values.
        by_time: names of columns in which only times of the run differ, which are left out.
        schema: of each column with another type, the type before and after; None: not there.
        by_order: names of columns, among those, whose arrays have the same elements.
        only_old: some rows that only the old version wrote.
        only_new: some rows that only the new version wrote.
        problem: why the rows could not be compared; None if they were.
    """

    target: str
    rows: tuple[int | None, int | None] = (None, None)
    format: str = ""
    columns: tuple[str, ...] = ()
    by_time: tuple[str, ...] = ()
    schema: Mapping[str, tuple[str | None, str | None]] | None = None
    by_order: tuple[str, ...] = ()
    only_old: tuple[str, ...] = ()
    only_new: tuple[str, ...] = ()
    problem: str | None = None

    @property
    def is_equal(self) -> bool:
        """Whether both versions wrote the same rows with the same types."""
        has_other_rows = self.only_old or self.only_new or self.rows[0] != self.rows[1]
        return not (has_other_rows or self.columns or self.schema or self.problem)

    @property
    def differing(self) -> int:
        """How much differs: a column for each that does, all of them for rows not compared."""
        if self.is_equal:
            return 0
        if self.problem or None in self.rows:
            return WHOLE
        return 1 + len({*self.columns, *(self.schema or ())})


@dataclass(frozen=True)
class StateOutcome:
    """How a bookmark, a watermark, a database or a table of the Data Catalog differs.

    Attributes:
        kind: bookmark, watermark, database or table.
        name: the job, the table of watermarks and the job, or the name in the catalog.
        summary: its main values, before and after; None where it is not there.
        differences: of each value that differs, the values before and after; None: not there.
    """

    kind: str
    name: str
    summary: tuple[str | None, str | None]
    differences: Mapping[str, tuple[str | None, str | None]]

    @property
    def is_equal(self) -> bool:
        """Whether both versions left the same."""
        return not self.differences and None not in self.summary


@dataclass(frozen=True)
class Comparison:
    """What two versions made of the same jobs and the same lake.

    Attributes:
        old: the version before.
        new: the version after.
        old_runs: how the jobs ended on it, in order.
        new_runs: likewise.
        targets: every place that one of them wrote, by its name.
        seconds: how long the runs of each version took.
        settings: of Spark that leave the fewest differences on the new version; None if none was
            looked for, empty if none was found.
        states: every bookmark, watermark, database and table that one of them changed.
        not_compared: what the runs may have changed and both versions share, such as a database.
    """

    old: str
    new: str
    old_runs: Sequence[RunOutcome]
    new_runs: Sequence[RunOutcome]
    targets: Sequence[TargetOutcome]
    seconds: tuple[float, float]
    settings: tuple[str, ...] | None = None
    states: Sequence[StateOutcome] = ()
    not_compared: Sequence[str] = ()

    @property
    def jobs(self) -> list["JobOutcome"]:
        """The runs of each job before and after, in the order of the old version."""
        old = {run.job: run for run in self.old_runs}
        new = {run.job: run for run in self.new_runs}
        return [JobOutcome(job, old.get(job), new.get(job)) for job in {**old, **new}]

    @property
    def verdict(self) -> Verdict:
        """Whether the new version fails, makes something else, or the same."""
        if any(job.verdict == "fails" for job in self.jobs):
            return "fails"
        return "differs" if self.differing else "equal"

    @property
    def differing(self) -> int:
        """How much differs: jobs before places and states, and places before their columns."""
        jobs = sum(job.verdict != "equal" for job in self.jobs)
        states = sum(not state.is_equal for state in self.states)
        return (jobs + states) * WHOLE + sum(target.differing for target in self.targets)

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as plain JSON values."""
        return {
            "from": self.old,
            "to": self.new,
            "verdict": self.verdict,
            "settings": self.settings,
            "seconds": {self.old: self.seconds[0], self.new: self.seconds[1]},
            "jobs": [job.to_json() for job in self.jobs],
            "targets": [_with_verdict(target) for target in self.targets],
            "states": [_with_verdict(state) for state in self.states],
            "not_compared": list(self.not_compared),
        }


@dataclass(frozen=True)
class JobOutcome:
    """How a job ended before and after; None: it did not run, for another job failed."""

    job: str
    old: RunOutcome | None
    new: RunOutcome | None

    @property
    def verdict(self) -> Verdict:
        """Fails: it does not SUCCEED now, whatever it did before. Differs: in anything else."""
        if self.old is None or self.new is None:
            return "differs"
        if self.new.state != "SUCCEEDED":
            return "fails"
        return "differs" if any(self.differences) else "equal"

    @property
    def cause(self) -> Cause | None:
        """The known cause of the failure on the new version, with what brings the old result."""
        return cause_of(self.new.error or "") if self.new else None

    @property
    def differences(self) -> list[str]:
        """What differs, except messages of failures: their texts belong to the versions."""
        if self.old is None or self.new is None:
            return ["it ran on one of them only"]
        changes = []
        for name in ("state", "rows_read", "rows_written"):
            before, after = getattr(self.old, name), getattr(self.new, name)
            if before != after:
                changes.append(f"{name.replace('_', ' ')}: {before} before, {after} after")
        changes += [f"no longer warns: {text}" for text in _without(self.old, self.new)]
        return changes + [f"warns now: {text}" for text in _without(self.new, self.old)]

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as plain JSON values."""
        return {
            "job": self.job,
            "verdict": self.verdict,
            "differences": self.differences,
            "old": asdict(self.old) if self.old else None,
            "new": asdict(self.new) if self.new else None,
            "cause": asdict(self.cause) if self.cause else None,
        }


def _without(one: RunOutcome, other: RunOutcome) -> list[str]:
    return sorted(set(one.warnings) - set(other.warnings))


def _with_verdict(outcome: TargetOutcome | StateOutcome) -> dict[str, Any]:
    return {**asdict(outcome), "verdict": "equal" if outcome.is_equal else "differs"}
