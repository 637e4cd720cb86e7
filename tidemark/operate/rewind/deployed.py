"""Carries a plan out on a deployed stage, by calls of Glue and DynamoDB.

AWS has no transaction over bookmarks and watermarks. So what is to be done is recorded in a
watermark table of the stage first: a rewind that was interrupted is repeated or taken back.

    ~rewind / 000001   the steps, who and why: begun ──▶ done | undone
    ResetJobBookmark   job by job, what lies behind first; may be repeated
    watermarks         one transaction a table; may be repeated
"""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

from tidemark.errors import UsageError
from tidemark.local_glue.rewinds.steps import Steps, WatermarkStep
from tidemark.operate.clients import Glue
from tidemark.operate.job_runs import runs_of_job
from tidemark.operate.rewind.facts import BOOKMARK, KnownRun
from tidemark.operate.rewind.plan import Plan
from tidemark.operate.rewind.refusals import check_none_in_flight
from tidemark.operate.rewind.stage_claims import (
    Claim,
    check_nobody_is_at_work,
    new_holder,
    now_ms,
)
from tidemark.operate.rewind.stage_facts import entry_of
from tidemark.operate.rewind.stage_records import BEGUN, DONE, RECORDS, UNDONE, StageRecord
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

    def records(self) -> list[StageRecord]:
        """Return the rewinds that are recorded, newest first."""
        if self.table is None:
            return []
        pages = self.dynamodb.get_paginator("query").paginate(
            TableName=self.table,
            KeyConditionExpression="jobName = :records",
            ExpressionAttributeValues={":records": {"S": RECORDS}},
            ConsistentRead=True,
        )
        found = [StageRecord.from_item(item) for page in pages for item in page["Items"]]
        return found[::-1]

    def check_none_is_open(self) -> None:
        """Refuse while a rewind is half done.

        Raises:
            UsageError: one is.
        """
        for one in self.records():
            if one.state == BEGUN:
                raise UsageError(
                    f"rewind {one.number} was interrupted and is half done; `tidemark rewind "
                    f"--deployed {self.glue.names.stage} --resume` finishes it, `--undo "
                    f"{one.number}` takes it back"
                )

    def carry_out(
        self,
        plan: Plan,
        windows: Mapping[tuple[str, str, str], Any],
        *,
        actor: str,
        why: str,
        at_ms: int,
    ) -> StageRecord | None:
        """Carry a plan out; return its record, None where no table keeps one.

        Raises:
            UsageError: without a table several jobs cannot be rewound as one; or something moved.
        """
        bookmarks = [one for one in plan.states if one.kind == BOOKMARK]
        if self.table is None and len(bookmarks) > 1:
            raise UsageError(
                "the stage has no watermark table to record a rewind in, so several jobs cannot be "
                "rewound in one step that survives a crash: rewind one job after the other, or "
                "give a job of the pipeline watermark=True"
            )
        for state in bookmarks:
            entry = entry_of(self.glue, state.job)
            if entry is None or int(entry["Version"]) != state.from_version:
                raise UsageError(
                    f"the bookmark of {state.job} has moved since it was planned; nothing was "
                    "changed: plan it again"
                )
        steps = tuple(
            WatermarkStep(
                *(s.kind, s.job, s.source, s.from_version, s.from_run, s.to_run),
                restores=windows.get((s.kind, s.job, s.source), {}),
            )
            for s in plan.states
            if s.kind != BOOKMARK
        )
        number = max((one.number for one in self.records()), default=0) + 1
        runs = tuple((one.job, one.from_run, one.to_run) for one in reversed(bookmarks))
        record = StageRecord(
            *(number, BEGUN, at_ms, actor, why, plan.to, runs, steps),
            holder=new_holder(),
            held_ms=now_ms(),
        )
        if self.table is None:
            return self._finish(record, None)
        self._put_new(record)
        return self._finish(record, Claim(self.dynamodb, self.table, record, record.holder))

    def _put_new(self, record: StageRecord) -> None:
        try:
            self.dynamodb.put_item(
                TableName=self.table,
                Item=record.to_item(),
                ConditionExpression="attribute_not_exists(runId)",
            )
        except self.dynamodb.exceptions.ConditionalCheckFailedException as error:
            raise UsageError(
                "somebody else rewinds this stage now; nothing was changed: plan it again"
            ) from error

    def _finish(self, record: StageRecord, claim: Claim | None) -> StageRecord | None:
        """Do what a record says, all of which may be repeated; return it as done."""
        with claim.until_it_fails() if claim else nullcontext():
            self._check_no_runs(record)
            self._reset([(job, to) for job, _, to in record.runs], claim)
            self._rewind(record, record.watermarks, "rewind", claim)
            return _ended(record, DONE, claim)

    def _claim(self, record: StageRecord) -> Claim:
        """Begin to work on a record that was read."""
        assert self.table is not None  # noqa: S101 (it was read there)
        claim = Claim(self.dynamodb, self.table, record, new_holder())
        claim.take(now_ms())
        return claim

    def resume(self) -> StageRecord:
        """Finish the rewind that was interrupted.

        Raises:
            UsageError: there is none, or somebody may work on it now.
        """
        found = next((one for one in self.records() if one.state == BEGUN), None)
        if found is None:
            raise UsageError("no rewind was interrupted: there is nothing to finish")
        check_nobody_is_at_work(found, now_ms())
        return self._finish(found, self._claim(found)) or found

    def undo(self, number: int | None) -> StageRecord:
        """Take a rewind back; the last one that is not undone, if none is named.

        Raises:
            UsageError: there is none, somebody may work on it now, or a job has committed since.
        """
        records = self.records()
        open_ones = [one for one in records if one.state != UNDONE]
        found = next((one for one in open_ones if number in (None, one.number)), None)
        if found is None:
            which = "rewind" if number is None else f"rewind {number}"
            raise UsageError(f"there is no {which} of this stage that is not undone already")
        check_nobody_is_at_work(found, now_ms())
        self._check_no_runs(found)
        for job, from_, to in found.runs:
            entry = entry_of(self.glue, job) or {}
            if entry.get("RunId", "") not in (from_, to):
                raise _committed_since(job, found)
        claim = self._claim(found)
        back = Steps(watermarks=found.watermarks).backwards().watermarks
        with claim.until_it_fails():
            self._rewind_back(found, back, claim)
            self._reset([(job, from_) for job, from_, _ in reversed(found.runs)], claim)
            return _ended(found, UNDONE, claim) or found

    def _check_no_runs(self, record: StageRecord) -> None:
        going = [
            KnownRun(run.run_id, job, 0, run.state)
            for job in record.jobs
            for run in runs_of_job(self.glue, job, None, 20)
            if not run.is_final
        ]
        check_none_in_flight(going)

    def _reset(self, runs: Sequence[tuple[str, str]], claim: Claim | None) -> None:
        for job, to in runs:
            if claim:
                claim.hold(now_ms())
            if (entry_of(self.glue, job) or {}).get("RunId", "") != to:
                self.glue.glue.reset_job_bookmark(JobName=job, **({"RunId": to} if to else {}))

    def _rewind(
        self,
        record: StageRecord,
        steps: Sequence[WatermarkStep],
        what: str,
        claim: Claim | None,
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
                reason=_reason(record, what),
                actor=record.actor,
            )

    def _rewind_back(
        self, record: StageRecord, back: Sequence[WatermarkStep], claim: Claim
    ) -> None:
        todo = []
        for step in back:
            admin = WatermarkAdmin(step.table, self.dynamodb)
            last = next(admin.history(step.job, 1, source=step.source), None)
            version, _ = admin.head_of(step.job, source=step.source)
            said = last.reason if last else ""
            if said == _reason(record, "rewind"):
                todo.append(step)
            elif said != _reason(record, "undo of rewind") and version != step.expected - 1:
                raise _committed_since(step.job, record)
        self._rewind(record, todo, "undo of rewind", claim)


def _ended(record: StageRecord, state: str, claim: Claim | None) -> StageRecord | None:
    if claim is None:
        return None
    claim.end(state)
    return replace(record, state=state)


def _reason(record: StageRecord, what: str) -> str:
    return f"{record.why} ({what} {record.number})"


def _committed_since(job: str, record: StageRecord) -> UsageError:
    return UsageError(
        f"{job} has committed since rewind {record.number}: to undo it would take that back too; "
        "nothing was changed: rewind the job again instead"
    )
