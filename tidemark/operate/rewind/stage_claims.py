"""Which command carries a rewind of a stage out: one at a time, as the row of the rewind says.

    wmHolder   a random text of the command; not there while nobody is at work
    wmHeldMs   when it last said that it is at work

AWS has no lock: a command that is silent for a minute counts as dead.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from tidemark.errors import UsageError
from tidemark.operate.rewind.stage_records import StageRecord, key_of

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
            f"rewind list`, and ask again in {AT_WORK_S - age_s} s"
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
            "at `tidemark rewind list`",
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
            "look at `tidemark rewind list`"
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
