"""What differs between two sides, as plain data."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias

from tidemark.operate.diff.comparing import RowsCompared
from tidemark.operate.versions.outcomes import RunOutcome, StateOutcome

Verdict: TypeAlias = Literal["equal", "differs", "not compared"]


@dataclass
class TargetDiff(RowsCompared):
    """How the rows of one target differ, with what `RowsCompared` has.

    Attributes:
        target: `s3://bucket/folder/` or `table:database.name`.
        bytes: the size of its files, old and new.
        schema: columns with another type, with both; None: not there.
        problem: why the rows could not be compared; empty if they were.
    """

    target: str = ""
    bytes: tuple[int, int] = (0, 0)
    schema: dict[str, tuple[str | None, str | None]] = field(default_factory=dict)
    problem: str = ""

    @property
    def verdict(self) -> Verdict:
        """Whether both sides have the same rows with the same types."""
        if self.problem:
            return "not compared"
        is_there = [count is None for count in self.rows]
        differs = any(self.only) or self.changed or self.schema
        return "differs" if differs or is_there[0] != is_there[1] else "equal"


@dataclass(frozen=True)
class Diff:
    """What differs between two runs, homes or versions of the code.

    Attributes:
        old: what the old side is called.
        new: what the new side is called.
        targets: every target.
        states: bookmarks and watermarks.
        runs: how the jobs ended on both sides, where they were run to be compared.
        notes: what was not compared, and why.
    """

    old: str
    new: str
    targets: Sequence[TargetDiff]
    states: Sequence[StateOutcome] = ()
    runs: tuple[Sequence[RunOutcome], Sequence[RunOutcome]] = ((), ())
    notes: Sequence[str] = ()

    @property
    def failures(self) -> list[tuple[str, RunOutcome]]:
        """The runs that did not succeed, each with the name of its side."""
        sides = zip((self.old, self.new), self.runs, strict=True)
        return [(label, run) for label, runs in sides for run in runs if run.state != "SUCCEEDED"]

    @property
    def verdict(self) -> Verdict:
        """Whether the rows and types of all targets are equal, and every job succeeded.

        Not compared: no target differs, and one could not be compared, or there is none.
        Bookmarks and watermarks do not count: each run moves them.
        """
        verdicts = {target.verdict for target in self.targets}
        if self.failures or "differs" in verdicts:
            return "differs"
        return "equal" if verdicts == {"equal"} else "not compared"

    def to_json(self) -> dict[str, Any]:
        """Return the difference as plain JSON values."""
        return {
            "from": self.old,
            "to": self.new,
            "verdict": self.verdict,
            "targets": [{**asdict(part), "verdict": part.verdict} for part in self.targets],
            "states": [
                {**asdict(part), "verdict": "equal" if part.is_equal else "differs"}
                for part in self.states
            ],
            "runs": [[asdict(run) for run in runs] for runs in self.runs],
            "notes": list(self.notes),
        }


def target_diff(name: str, sizes: tuple[int, int], answer: Mapping[str, Any]) -> TargetDiff:
    """Return the difference of a target from the answer of a comparer."""
    fields: dict[str, Any] = {  # JSON has no tuples
        name: tuple(value) if name in ("rows", "only", "twice") else value
        for name, value in answer.items()
    }
    old, new = fields.pop("types", None) or ({}, {})
    schema = {
        column: (old.get(column), new.get(column))
        for column in {**old, **new}
        if old.get(column) != new.get(column) and old and new
    }
    return TargetDiff(target=name, bytes=sizes, schema=schema, **fields)
