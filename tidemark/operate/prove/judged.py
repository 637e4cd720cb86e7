"""What experiments have made of the targets, as plain data, and the verdict on it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Verdict = Literal["equal", "accepted", "told", "changed", "doubled", "lost", "fails", "not tried"]
WORST: Sequence[Verdict] = (
    "lost",
    "doubled",
    "changed",
    "fails",
    "accepted",
    "told",
    "equal",
    "not tried",
)
"""Verdicts, the worst first; accepted: the script says why its rows may be doubled; told:
nothing promises what should be."""


@dataclass(frozen=True)
class TargetRows:
    """How the rows of one target differ from those of the baseline.

    Attributes:
        target: its URI, or the name of a table.
        rows: how many there are; None where the target is not there.
        expected: how many the baseline has.
        lost: rows of the baseline that are missing.
        doubled: further copies of rows of the baseline.
        added: rows that the baseline does not have.
        same_key: of the rows added, those whose key has a row that is lost.
        second_key: of the rows added, those whose key has its row of the baseline, too.
        key: the columns that identify a row; empty if none were found.
        examples: some rows, as JSON, under lost, doubled and added.
        types: where no row differs, columns of another type, each with the types of the first run
            and of this one, such as n with bigint and string.
        problem: why the rows could not be compared; None if they were.
    """

    target: str
    rows: int | None = None
    expected: int | None = None
    lost: int = 0
    doubled: int = 0
    added: int = 0
    same_key: int = 0
    second_key: int = 0
    key: tuple[str, ...] = ()
    examples: Mapping[str, Sequence[str]] = field(default_factory=dict)
    types: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    problem: str | None = None

    @property
    def retyped(self) -> Sequence[str]:
        """Columns with the same values as another type, such as 42 and 42.0, if no more differs."""
        if self.types:
            return list(self.types)
        lost, added = (
            [json.loads(row) for row in self.examples.get(name, ())] for name in ("lost", "added")
        )
        if not lost or lost != added:  # to Python, 42 is 42.0
            return []
        return [name for name, value in lost[0].items() if type(value) is not type(added[0][name])]

    @property
    def differing(self) -> int:
        """How many rows are lost, doubled or added."""
        return self.lost + self.doubled + self.added

    @property
    def verdict(self) -> Verdict:
        """Lost before doubled before changed: what cannot be repaired comes first."""
        if self.problem:
            return "not tried"
        if self.lost > self.same_key:
            return "changed" if self.added and not self.key else "lost"
        if self.doubled or self.second_key:
            return "doubled"
        return "changed" if self.added or self.types else "equal"


def worst(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the worst of several verdicts; equal without any."""
    return min(verdicts, key=WORST.index, default="equal")
