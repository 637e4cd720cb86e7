"""Carries a plan out on a deployed stage, by calls of Glue and DynamoDB.

AWS has no transaction over bookmarks and watermarks. So what is to be done is recorded in a
watermark table of the stage first: a rewind that was interrupted is repeated or taken back.

    ~rewind / 000001   the steps, who and why: begun ──▶ done ──▶ undoing ──▶ undone
    ResetJobBookmark   job by job, the most downstream first; may be repeated
    watermarks         one transaction a table; may be repeated
"""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

from tidemark.errors import UsageError
from tidemark.local_state.rewinds.records import RewindCause, RewindRecord, Steps, WatermarkStep
from tidemark.model.clock import now_ms
from tidemark.operate.clients import Glue
from tidemark.operate.job_runs import runs_of_job
from tidemark.operate.rewind.facts import BOOKMARK, RewindFacts
from tidemark.operate.rewind.plan import RewindPlan, steps_of_plan
from tidemark.operate.rewind.refusals import check_none_in_flight
from tidemark.operate.rewind.stage_records import (
    BEGUN,
    DONE,
    NOTHING,
    RECORDS,
    UNDOING,
    UNDONE,
    Claim,
    StageRecord,
    check_nobody_is_at_work,
    new_holder,
    reason_of,
)
from tidemark.operate.rewind.stage_standing import (
    check_is_the_last,
    check_may_be_finished,
    check_may_be_undone,
    check_none_is_open,
    run_in_force,
    standing,
)
from tidemark.operate.rewind.tracks import Windows, entry_of
from watermarks import WatermarkAdmin
from watermarks.admin import Rewind


@dataclass(frozen=True)
class StageRewinds:
    """The rewinds of a stage.

    Attributes:
        glue: of the stage.
        dynamodb: a client of DynamoDB.
        table: a watermark table of the stage, where rewinds are recorded; None if it has none.
    """

    glue: Glue
    dynamodb: Any
    table: str | None

    def records(self) -> list[RewindRecord]:
        """Return the rewinds that are recorded, newest first."""
        return [record.to_record() for record in self._records()]

    def _records(self) -> list[StageRecord]:
        if self.table is None:
            return []
        pages = self.dynamodb.get_paginator("query").paginate(
            TableName=self.table,
            KeyConditionExpression="jobName = :records",
            ExpressionAttributeValues={":records": {"S": RECORDS}},
            ConsistentRead=True,
        )
        return [StageRecord.from_item(item) for page in pages for item in page["Items"]][::-1]

    def check_none_is_open(self) -> None:
        """Refuse while a rewind is half done."""
        check_none_is_open(self.glue.names.stage, self._records(), now_ms())

    def steps_of(
        self, facts: RewindFacts, plan: RewindPlan, windows: Windows
    ) -> tuple[RewindPlan, Steps]:
        """Return the plan unchanged, and its steps: there are no files among them."""
        return plan, steps_of_plan(plan, windows)

    def carry_out(self, plan: RewindPlan, steps: Steps, cause: RewindCause) -> RewindRecord | None:
        """Carry a plan out; return its record, None if no table keeps one."""
        bookmarks = [state for state in plan.states if state.kind == BOOKMARK]
        if self.table is None and len(bookmarks) > 1:
            raise UsageError(
                "the stage has no watermark table to record a rewind in, so several jobs cannot be "
                "rewound in one step that survives a crash: rewind one job after the other, or "
                "give a job of the pipeline watermark=True"
            )
        records = self._records()  # before all checks: a later command cannot get this number
        check_none_is_open(self.glue.names.stage, records, now_ms())
        # Glue has no conditional reset: what holds now is compared just before.
        for state in bookmarks:
            entry = entry_of(self.glue, state.job)
            if entry is None or int(entry["Version"]) != state.from_version:
                raise _moved_error(f"the bookmark of {state.job}")
        number = max((record.number for record in records), default=0) + 1
        runs = tuple((move.job, move.from_run, move.to_run) for move in reversed(bookmarks))
        record = StageRecord(
            number,
            BEGUN,
            cause.at_ms,
            cause.actor,
            cause.why,
            plan.to,
            runs,
            steps.watermarks,
            holder=new_holder(),
            held_ms=now_ms(),
        )
        if moved := standing(self.glue, self.dynamodb, record).moved:
            raise _moved_error(moved[0])
        self._check_no_runs(record)
        if self.table is None:
            self._finish(record, None)
            return None
        claim = Claim(self.dynamodb, self.table, record, record.holder)
        claim.put_new()
        self._check_alone(claim, UNDONE)
        self._finish(record, claim)
        return replace(record, state=DONE).to_record()

    def note_nothing(self, plan: RewindPlan, cause: RewindCause) -> None:
        """Record that a rewind had nothing to do: an undo after it undoes none before it."""
        if self.table is None:
            return
        number = max((record.number for record in self._records()), default=0) + 1
        about = (cause.at_ms, cause.actor, cause.why, plan.to)
        record = StageRecord(number, NOTHING, *about, (), ())
        Claim(self.dynamodb, self.table, record, "").put_new()

    def _finish(self, record: StageRecord, claim: Claim | None) -> None:
        with claim.until_failure() if claim else nullcontext():
            self._reset([(job, to) for job, _, to in record.runs], claim)
            self._rewind(record, record.watermarks, "rewind", claim)
            if claim:
                claim.end(DONE)

    def _claim(self, record: StageRecord, state: str) -> Claim:
        assert self.table is not None  # noqa: S101 (it was read there)
        claim = Claim(self.dynamodb, self.table, record, new_holder())
        claim.take(now_ms(), state)
        return claim

    def resume(self, at_ms: int) -> RewindRecord:
        """Finish the rewind that was interrupted."""
        records = self._records()
        unfinished = next((record for record in records if record.state == BEGUN), None)
        if unfinished is None:
            check_none_is_open(self.glue.names.stage, records, now_ms())  # half taken back
            raise UsageError("no rewind was interrupted: there is nothing to finish")
        check_nobody_is_at_work(unfinished, now_ms())
        self._check_no_runs(unfinished)
        check_may_be_finished(
            self.glue.names.stage, unfinished, standing(self.glue, self.dynamodb, unfinished)
        )
        self._finish(unfinished, self._claim(unfinished, BEGUN))
        return replace(unfinished, state=DONE).to_record()

    def to_undo(self, number: int | None) -> RewindRecord:
        """Return the rewind of a number, or the last one that is not undone."""
        return self._to_undo(self._records(), number).to_record()

    def _to_undo(self, records: Sequence[StageRecord], number: int | None) -> StageRecord:
        open_ones = [record for record in records if record.state not in (UNDONE, NOTHING)]
        last = next((record for record in open_ones if number in (None, record.number)), None)
        if last is not None and number is None and records[0].state == NOTHING:
            raise UsageError(
                "the last rewind had nothing to rewind, so nothing can be undone; "
                f"`tidemark rewind undo {last.number} --deployed {self.glue.names.stage}` "
                f"undoes rewind {last.number}, the one before it"
            )
        if last is None:
            which = "rewind" if number is None else f"rewind {number}"
            raise UsageError(f"there is no {which} of this stage that is not undone already")
        return last

    def undo(self, number: int, cause: RewindCause) -> tuple[RewindRecord, Sequence[str]]:
        """Undo a rewind; its own record says so."""
        records = self._records()
        to_undo = self._to_undo(records, number)
        check_nobody_is_at_work(to_undo, now_ms())
        others = [record for record in records if record.number != to_undo.number]
        check_none_is_open(self.glue.names.stage, others, now_ms())
        check_is_the_last(self.glue.names.stage, to_undo, others)
        self._check_no_runs(to_undo)
        now = standing(self.glue, self.dynamodb, to_undo)
        check_may_be_undone(to_undo, now)
        claim = self._claim(to_undo, UNDOING)
        self._check_alone(claim, to_undo.state)
        with claim.until_failure():
            self._rewind(to_undo, now.watermarks, "undo of rewind", claim)
            self._reset(now.bookmarks[::-1], claim)
            claim.end(UNDONE)
        return replace(to_undo, state=UNDONE).to_record(), now.moved

    def _check_alone(self, claim: Claim, before: str) -> None:
        """Refuse to continue, as at the start, if another rewind or a run began meanwhile."""
        # Two commands that start at once see each other, and both may be refused.
        others = [record for record in self._records() if record.number != claim.record.number]
        try:
            check_none_is_open(self.glue.names.stage, others, now_ms())
            self._check_no_runs(claim.record)
        except BaseException:
            claim.end(before)
            raise

    def _check_no_runs(self, record: StageRecord) -> None:
        runs = [run for job in record.jobs for run in runs_of_job(self.glue, job, None, 20)]
        check_none_in_flight((run.job, run.run_id) for run in runs if not run.is_final)

    def _reset(self, runs: Sequence[tuple[str, str]], claim: Claim | None) -> None:
        for job, to in runs:
            if claim:
                claim.hold(now_ms())
            if run_in_force(self.glue, job) != to:
                self.glue.glue.reset_job_bookmark(JobName=job, **({"RunId": to} if to else {}))

    def _rewind(
        self, record: StageRecord, steps: Sequence[WatermarkStep], what: str, claim: Claim | None
    ) -> None:
        for table in dict.fromkeys(step.table for step in steps):
            if claim:
                claim.hold(now_ms())
            WatermarkAdmin(table, self.dynamodb).rewind_together(
                [
                    Rewind(s.job, s.to_run or None, s.expected, s.source, s.windows)
                    for s in steps
                    if s.table == table
                ],
                reason=reason_of(record, what),
                actor=record.actor,
            )


def _moved_error(what: str) -> UsageError:
    return UsageError(f"{what} has moved since it was planned; nothing was changed: plan it again")
