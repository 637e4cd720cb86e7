"""The record of a rewind of a deployed stage: one row of a watermark table."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from tidemark.errors import UsageError
from tidemark.local_state.rewinds.records import RewindRecord, Steps, WatermarkStep

RECORDS = "~rewind"  # the job name of the records; no job of Glue is meant
BEGUN, DONE, UNDOING, UNDONE = "begun", "done", "undoing", "undone"
NOTHING = "nothing to do"  # so that an undo after it undoes none before it


@dataclass(frozen=True)
class StageRecord:
    """The record of a rewind of a stage; `runs` are those of bookmarks: job, from, to.

    ``holder`` is the command that works on it, and ``held_ms`` when it last said so: see
    `stage_claims`.
    """

    number: int
    state: str
    at_ms: int
    actor: str
    why: str
    to: str
    runs: tuple[tuple[str, str, str], ...]
    watermarks: tuple[WatermarkStep, ...]
    holder: str = ""
    held_ms: int = 0

    def to_item(self) -> dict[str, Any]:
        """Return the row of the table."""
        steps = Steps(watermarks=self.watermarks).to_json()["watermarks"]
        document = {"to": self.to, "runs": self.runs, "watermarks": steps}
        return {
            **key_of(self.number),
            "wmKind": {"S": "operator"},
            "wmActor": {"S": self.actor},
            "wmReason": {"S": self.why},
            "wmState": {"S": self.state},
            "wmAtMs": {"N": str(self.at_ms)},
            "wmDocument": {"S": json.dumps(document)},
            **({"wmHolder": {"S": self.holder}} if self.holder else {}),
            **({"wmHeldMs": {"N": str(self.held_ms)}} if self.held_ms else {}),
        }

    @property
    def jobs(self) -> list[str]:
        """The jobs whose state it moves."""
        names = [*(job for job, _, _ in self.runs), *(step.job for step in self.watermarks)]
        return list(dict.fromkeys(names))

    def to_record(self) -> RewindRecord:
        """Return it in the common form of all targets."""
        bookmarks = [{"job": job, "from_run": run, "to_run": to} for job, run, to in self.runs]
        steps = {**Steps(watermarks=self.watermarks).to_json(), "bookmarks": bookmarks}
        about = (self.number, self.state, self.at_ms, self.actor, self.why)
        return RewindRecord(*about, undoes=None, document={"to": self.to, "steps": steps})

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> "StageRecord":
        """Return what `to_item` wrote."""
        document = json.loads(item["wmDocument"]["S"])
        return cls(
            int(item["runId"]["S"]),
            item["wmState"]["S"],
            int(item["wmAtMs"]["N"]),
            item["wmActor"]["S"],
            item["wmReason"]["S"],
            document["to"],
            tuple((job, from_, to) for job, from_, to in document["runs"]),
            tuple(WatermarkStep(**step) for step in document["watermarks"]),
            item.get("wmHolder", {}).get("S", ""),
            int(item.get("wmHeldMs", {}).get("N", 0)),
        )


def key_of(number: int) -> dict[str, Any]:
    """Return the key of the row of a record."""
    return {"jobName": {"S": RECORDS}, "runId": {"S": f"{number:06d}"}}


def reason_of(record: StageRecord, what: str) -> str:
    """Return the reason that the history of a watermark has of it; each rewind has its own."""
    return f"{record.why} ({what} {record.number})"


AT_WORK_S = 60
MAX_SKEW_S = 600  # of two clocks that AWS both accepts: each may be wrong by 5 minutes


def new_holder() -> str:
    """Return a name for a command that no other has."""
    return uuid4().hex


def check_nobody_is_at_work(record: StageRecord, at_ms: int) -> None:
    """Refuse to finish or take back what somebody may carry out, finish or take back now."""
    age_s = (at_ms - record.held_ms) // 1000
    if record.holder and -MAX_SKEW_S <= age_s < AT_WORK_S:
        ago = f"{age_s} s ago" if age_s >= 0 else "just now, by a clock that is ahead of this one"
        raise UsageError(
            f"rewind {record.number}, of {record.actor}, was worked on {ago}, and may be "
            f"carried out, finished or taken back now; nothing was changed: look at `tidemark "
            f"rewind list` of this stage, and ask again in {AT_WORK_S - age_s} s"
        )


@dataclass(frozen=True)
class Claim:
    """That one command works on a rewind.

    Attributes:
        dynamodb: a client of DynamoDB.
        table: where the rewind is recorded.
        record: the rewind.
        holder: the name of the command.
    """

    dynamodb: Any
    table: str
    record: StageRecord
    holder: str

    def put_new(self) -> None:
        """Record a rewind that its own command works on."""
        try:
            self.dynamodb.put_item(
                TableName=self.table,
                Item=self.record.to_item(),
                ConditionExpression="attribute_not_exists(runId)",
            )
        except self.dynamodb.exceptions.ConditionalCheckFailedException as error:
            raise UsageError(
                "somebody else rewinds this stage now; nothing was changed: plan it again"
            ) from error

    def take(self, at_ms: int, state: str = "") -> None:
        """Begin to work on a rewind that was read, and record the state that it has meanwhile."""
        is_as_read = "attribute_not_exists(wmHolder)"
        values = {":state": {"S": self.record.state}}
        if self.record.holder:
            is_as_read = "wmHolder = :read AND wmHeldMs = :held"
            values[":read"] = {"S": self.record.holder}
            values[":held"] = {"N": str(self.record.held_ms)}
        new = {":new": {"S": state or self.record.state}, ":now": {"N": str(at_ms)}}
        self._update(
            "SET wmHolder = :holder, wmHeldMs = :now, wmState = :new",
            f"wmState = :state AND {is_as_read}",
            {**values, **new},
            f"somebody else works on rewind {self.record.number} now; nothing was changed: look "
            "at `tidemark rewind list` of this stage",
        )

    def hold(self, at_ms: int) -> None:
        """Say that the work continues."""
        self._update(
            "SET wmHeldMs = :now", "wmHolder = :holder", {":now": {"N": str(at_ms)}}, self._lost
        )

    def end(self, state: str) -> None:
        """Record the final state of the work."""
        self._update(
            "SET wmState = :state REMOVE wmHolder, wmHeldMs",
            "wmHolder = :holder",
            {":state": {"S": state}},
            self._lost,
        )

    @contextmanager
    def until_failure(self) -> Iterator[None]:
        """Let others take over at once, if the block fails or is interrupted."""
        try:
            yield
        except BaseException:
            with suppress(Exception):  # the failure is reported; the minute passes anyway
                self._update("REMOVE wmHolder, wmHeldMs", "wmHolder = :holder", {}, self._lost)
            raise

    @property
    def _lost(self) -> str:
        return (
            f"another command works on rewind {self.record.number} by now, and this one stops: "
            "look at `tidemark rewind list` of this stage"
        )

    def _update(self, update: str, condition: str, values: dict[str, Any], refusal: str) -> None:
        try:
            self.dynamodb.update_item(
                TableName=self.table,
                Key=key_of(self.record.number),
                UpdateExpression=update,
                ConditionExpression=condition,
                ExpressionAttributeValues={**values, ":holder": {"S": self.holder}},
            )
        except self.dynamodb.exceptions.ConditionalCheckFailedException as error:
            raise UsageError(refusal) from error
