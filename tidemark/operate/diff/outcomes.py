"""What differs between two sides, as plain data."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from tidemark.operate.diff.comparing import RowsCompared
from tidemark.operate.versions.outcomes import RunOutcome, StateOutcome


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
    def is_equal(self) -> bool:
        """Whether both sides have the same rows with the same types."""
        is_there = [count is None for count in self.rows]
        differs = any(self.only) or self.changed or self.schema or self.problem
        return not differs and is_there[0] == is_there[1]


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
    def is_equal(self) -> bool:
        """Whether the rows and types of all targets are equal, and every job succeeded.

        Bookmarks and watermarks do not count: each run moves them.
        """
        return all(target.is_equal for target in self.targets) and not self.failures

    def to_json(self) -> dict[str, Any]:
        """Return the difference as plain JSON values."""

        def told(part: TargetDiff | StateOutcome) -> dict[str, Any]:
            return {**asdict(part), "verdict": "equal" if part.is_equal else "differs"}

        return {
            "from": self.old,
            "to": self.new,
            "verdict": "equal" if self.is_equal else "differs",
            "targets": [told(target) for target in self.targets],
            "states": [told(state) for state in self.states],
            "runs": [[asdict(run) for run in runs] for runs in self.runs],
            "notes": list(self.notes),
        }


def target_diff(name: str, sizes: tuple[int, int], answer: Mapping[str, Any]) -> TargetDiff:
    """Return the difference of a target from the answer of a comparer."""
    fields = {name: value for name, value in answer.items() if name != "types"}
    old, new = answer.get("types") or ({}, {})
    schema = {
        column: (old.get(column), new.get(column))
        for column in {**old, **new}
        if old.get(column) != new.get(column) and old and new
    }
    for pair in ("rows", "only", "twice"):
        if pair in fields:
            fields[pair] = tuple(fields[pair])
    return TargetDiff(target=name, bytes=sizes, schema=schema, **fields)
