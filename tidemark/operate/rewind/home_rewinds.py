"""The rewinds of this machine: one transaction at the end, and an undo of everything."""

from collections.abc import Sequence
from dataclasses import dataclass

from tidemark.errors import UsageError
from tidemark.local_state.rewinds.records import (
    Asked,
    RewindRecord,
    note_nothing,
    open_rewind,
    refuse_unfinished,
    rewinds,
)
from tidemark.local_state.rewinds.steps import Steps
from tidemark.operate.rewind.carry_out import CarryOut
from tidemark.operate.rewind.facts import Facts, KnownRun
from tidemark.operate.rewind.local import steps_of
from tidemark.operate.rewind.plan import Plan
from tidemark.operate.rewind.refusals import check_none_in_flight
from tidemark.operate.rewind.sources_now import with_sources_as_they_are
from tidemark.operate.rewind.undoing import record_to_undo, undo
from tidemark.operate.rewind.watermark_tracks import Windows


@dataclass(frozen=True)
class HomeRewinds(CarryOut):
    """The rewinds of a home; see `Rewinds`."""

    def check_none_is_open(self) -> None:
        """Refuse while a rewind is carried out, or is half done."""
        refuse_unfinished(self.home, self.store)

    def steps_of(self, facts: Facts, plan: Plan, windows: Windows) -> tuple[Plan, Steps]:
        """Return a plan that says what of its sources has changed, and its steps with all files."""
        found = with_sources_as_they_are(self.home, self.store, plan)
        return found, steps_of(self.home, facts, found, windows)

    def carry_out(self, plan: Plan, steps: Steps, asked: Asked) -> RewindRecord:
        """Do all steps, or nothing."""
        return self.do(steps, asked, plan.to)

    def note_nothing(self, plan: Plan, asked: Asked) -> None:
        """Record that a rewind had nothing to do."""
        note_nothing(self.store, asked, plan.to)

    def to_undo(self, number: int | None) -> RewindRecord:
        """Return the rewind of a number, or the last one that is not undone."""
        self._check_no_run()
        return record_to_undo(rewinds(self.store), number)

    def undo(self, number: int, asked: Asked) -> tuple[RewindRecord, Sequence[str]]:
        """Take a rewind back, by a record of its own unless it was interrupted."""
        return undo(self, number, asked), ()

    def resume(self, at_ms: int) -> RewindRecord:
        """Finish the rewind that was interrupted."""
        self._check_no_run()
        record = open_rewind(self.store)
        if record is None:
            raise UsageError("no rewind was interrupted: there is nothing to finish")
        return self.finish(record, at_ms)

    def records(self) -> list[RewindRecord]:
        """Return every rewind, the newest first."""
        return rewinds(self.store)

    def _check_no_run(self) -> None:
        runs = self.store.unfinished_job_runs() if self.home.is_held() else []
        check_none_in_flight([KnownRun(run.run_id, run.job_name, 0, run.state) for run in runs])
