"""Carries the rewinds of a target out, and records them.

What a place can promise differs, and only here: a home does a rewind in one transaction at its end
(`home_rewinds`), a stage by calls that may each be repeated (`deployed`). Both record the steps
first, so that one which was interrupted is finished or taken back, and never forgotten.
"""

from collections.abc import Sequence
from typing import Protocol

from tidemark.local_state.rewinds.records import RewindCause, RewindRecord, Steps
from tidemark.operate.rewind.facts import RewindFacts
from tidemark.operate.rewind.plan import RewindPlan
from tidemark.operate.rewind.tracks import Windows


class Rewinds(Protocol):
    """The rewinds of a target."""

    def check_none_is_open(self) -> None:
        """Refuse while a rewind is carried out, or is half done."""

    def steps_of(
        self, facts: RewindFacts, plan: RewindPlan, windows: Windows
    ) -> tuple[RewindPlan, Steps]:
        """Return a plan with facts that only this place can read, and its steps."""

    def carry_out(self, plan: RewindPlan, steps: Steps, cause: RewindCause) -> RewindRecord | None:
        """Carry a plan out; return its record, None if nothing keeps one."""

    def note_nothing(self, plan: RewindPlan, cause: RewindCause) -> None:
        """Record that a rewind had nothing to do: an undo after it undoes none before it."""

    def to_undo(self, number: int | None) -> RewindRecord:
        """Return the rewind of a number, or the last one that is not undone."""

    def undo(self, number: int, cause: RewindCause) -> tuple[RewindRecord, Sequence[str]]:
        """Take a rewind back; return its record, and the jobs that moved on and stay so."""

    def resume(self, at_ms: int) -> RewindRecord:
        """Finish the rewind that was interrupted."""

    def records(self) -> list[RewindRecord]:
        """Return every rewind that is recorded, the newest first."""
