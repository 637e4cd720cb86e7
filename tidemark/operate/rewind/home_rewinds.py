"""The rewinds of this machine: one transaction at the end, and an undo of everything."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tidemark.errors import UsageError
from tidemark.local_state.home import Home
from tidemark.local_state.rewinds.records import (
    RewindRecord,
    note_nothing,
    open_rewind,
    refuse_unfinished,
    rewinds,
)
from tidemark.local_state.rewinds.steps import Steps
from tidemark.local_state.store.database import Store
from tidemark.operate.rewind.facts import Facts, KnownRun
from tidemark.operate.rewind.local import steps_of
from tidemark.operate.rewind.local_carry_out import OpenTable, carry_out, finish
from tidemark.operate.rewind.plan import Plan
from tidemark.operate.rewind.refusals import check_none_in_flight
from tidemark.operate.rewind.rewinds import Record
from tidemark.operate.rewind.sources_now import with_sources_as_they_are
from tidemark.operate.rewind.undoing import record_to_undo, undo
from tidemark.operate.rewind.watermark_tracks import Windows


@dataclass(frozen=True)
class HomeRewinds:
    """The rewinds of a home; see `Rewinds`."""

    home: Home
    store: Store
    open_table: OpenTable

    def check_none_is_open(self) -> None:
        """Refuse while a rewind is carried out, or is half done."""
        refuse_unfinished(self.home, self.store)

    def steps_of(self, facts: Facts, plan: Plan, windows: Windows) -> tuple[Plan, Steps]:
        """Return a plan that says what of its sources has changed, and its steps with all files."""
        found = with_sources_as_they_are(self.home, self.store, plan)
        return found, steps_of(self.home, facts, found, windows)

    def carry_out(self, plan: Plan, steps: Steps, *, actor: str, why: str, at_ms: int) -> Record:
        """Do all steps, or nothing."""
        who: dict[str, Any] = {"actor": actor, "why": why, "at_ms": at_ms, "to": plan.to}
        return record_of(carry_out(self.home, self.store, self.open_table, steps, **who))

    def note_nothing(self, plan: Plan, *, actor: str, why: str, at_ms: int) -> None:
        """Record that a rewind had nothing to do."""
        note_nothing(self.store, at_ms, actor, why, plan.to)

    def to_undo(self, number: int | None) -> Record:
        """Return the rewind of a number, or the last one that is not undone."""
        self._check_no_run()
        return record_of(record_to_undo(rewinds(self.store), number))

    def undo(
        self, number: int, *, actor: str, why: str, at_ms: int
    ) -> tuple[Record, Sequence[str]]:
        """Take a rewind back, by a record of its own unless it was interrupted."""
        who: dict[str, Any] = {"actor": actor, "why": why, "at_ms": at_ms}
        return record_of(undo(self.home, self.store, self.open_table, number, **who)), ()

    def resume(self, at_ms: int) -> Record:
        """Finish the rewind that was interrupted."""
        self._check_no_run()
        record = open_rewind(self.store)
        if record is None:
            raise UsageError("no rewind was interrupted: there is nothing to finish")
        return record_of(finish(self.home, self.store, self.open_table, record, at_ms=at_ms))

    def records(self) -> list[Record]:
        """Return every rewind, the newest first."""
        return [record_of(one) for one in rewinds(self.store)]

    def _check_no_run(self) -> None:
        runs = self.store.unfinished_job_runs() if self.home.is_held() else []
        check_none_in_flight([KnownRun(run.run_id, run.job_name, 0, run.state) for run in runs])


def record_of(one: RewindRecord) -> Record:
    """Return a rewind as every target tells it."""
    steps = one.document["steps"]
    jobs = [step["job"] for step in [*steps["bookmarks"], *steps["watermarks"]]]
    return Record(
        one.rewind_id,
        one.state,
        one.at_ms,
        one.actor,
        one.why,
        one.document["to"],
        list(dict.fromkeys(jobs)),
        steps,
        one.undoes,
    )
