"""Carrying the watermarks of a job over to another job name, as renaming the job needs.

    old   ~HEAD v7 ── one transaction ──▶ ~HEAD v8, wmCarriedTo = new: the old name is stale
    new   nothing  ──────┘           └──▶ ~HEAD v7, the same watermarks and open windows
    old   jr_1 … jr_7 ── one by one, afterwards ──▶ new   jr_1 … jr_7

The transaction is all that counts for what is read next, so a carry-over that dies has either not
begun or is safe: the old name can neither open nor commit a window any more, and the new one goes
on. The history that was not copied yet is copied by doing it again, which changes nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .checks import carried_to, check_head
from .errors import AmbiguousWatermarkError, WatermarkConflictError
from .rows import HEAD, Latest, Row, Table, is_expired, latest_of, row_key

if TYPE_CHECKING:
    from datetime import datetime

    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef, UpdateItemInputTypeDef

    from .commits import Reasons
    from .store import Store

_CONDITION_FAILED = "ConditionalCheckFailed"
_TARGET_IS_FREE = "attribute_not_exists(runId) OR wmCarriedTo = :from"
_SOURCE_IS_UNMOVED = "wmVersion = :version AND attribute_not_exists(wmCarriedTo)"
_NOBODY_OPENED_SINCE = "wmEpoch = :epoch"
_NOBODY_EVER_OPENED = "attribute_not_exists(wmEpoch)"
_ROW_IS_NEW = "attribute_not_exists(runId)"
# Only a backfill's row counts attempts; the one that went on under the newer name is right.
_BACKFILL_WENT_ON = "wmAttempt < :carried"
_RACES = 20


@dataclass(frozen=True)
class CarryOver:
    """The transaction that moves a head row, given the head as it was read."""

    from_job: str
    to_job: str
    head: Row

    @property
    def latest(self) -> Latest:
        """What the head of the new name says once this is applied."""
        return latest_of(self.head)

    def transaction(self, table: Table) -> list[TransactWriteItemTypeDef]:
        """Return the writes: the new name has the state, and the old one is stale, at once."""
        return [self._target_put(table), self._source_update(table)]

    def found_applied(self, reasons: Reasons) -> Latest | None:
        """Return what an earlier send of this stored, if it did get through."""
        source = reasons[1].get("Item") if reasons else None
        return self.latest if source and carried_to(source) == self.to_job else None

    def moved(self, _: Reasons) -> None:
        """Return None: what another run has written since has to be read first."""

    def refusal(self, reasons: Reasons) -> WatermarkConflictError | None:
        """Return the error that a cancelled transaction means, None if no condition failed."""
        if _CONDITION_FAILED not in [reason.get("Code") for reason in reasons]:
            return None
        return WatermarkConflictError(
            f"runs of job {self.from_job!r} or {self.to_job!r} moved the watermarks again and "
            "again while they were carried over: nothing was written; stop these runs, then try "
            "again",
            self.latest,
            {},
        )

    def _target_put(self, table: Table) -> TransactWriteItemTypeDef:
        head = {
            **self.head,
            **row_key(self.to_job, HEAD),
            "wmCarriedFrom": {"S": self.from_job},
        }
        return {
            "Put": {
                "TableName": table.name,
                "Item": head,
                "ConditionExpression": _TARGET_IS_FREE,
                "ExpressionAttributeValues": {":from": {"S": self.from_job}},
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            }
        }

    def _source_update(self, table: Table) -> TransactWriteItemTypeDef:
        version = self.head["wmVersion"]
        values: Row = {
            ":version": version,
            ":next": {"N": str(int(version["N"]) + 1)},
            ":to": {"S": self.to_job},
        }
        epoch = _NOBODY_EVER_OPENED
        if "wmEpoch" in self.head:
            epoch = _NOBODY_OPENED_SINCE
            values[":epoch"] = self.head["wmEpoch"]
        return {
            "Update": {
                "TableName": table.name,
                "Key": row_key(self.from_job, HEAD),
                # Runs in flight fail by the version; those to come are told by wmCarriedTo.
                "UpdateExpression": "SET wmVersion = :next, wmCarriedTo = :to REMOVE wmWindows",
                "ConditionExpression": f"{_SOURCE_IS_UNMOVED} AND {epoch}",
                "ExpressionAttributeValues": values,
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            }
        }


def carry_over(store: Store, from_job: str, to_job: str, now: datetime) -> Latest | None:
    """Do what `Watermarks.carry_over` says, in one table."""
    attempt = 0
    while (source := _unmoved_head(store, from_job, to_job)) is not None:
        try:
            store.commit(CarryOver(from_job, to_job, source))
        except WatermarkConflictError:
            attempt += 1
            if attempt == _RACES:
                raise
            store.pause(attempt)
    _copy_history(store, from_job, to_job, now)
    # Unchecked, for the new name may itself have been renamed since.
    target = store.read_unchecked(to_job, HEAD)
    return latest_of(target) if target else None


def _unmoved_head(store: Store, from_job: str, to_job: str) -> Row | None:
    """Return the head to be carried over; None if there is none, or it has been.

    Raises:
        WatermarksError: it must not be, or the new name has rows already.
    """
    # The target first: if it is there, and by a carry-over, then the source shows that.
    target = _head(store, to_job, "delete these rows, or give the job another name")
    source = _head(store, from_job, f"call adopt({from_job!r}, ...) first")
    if source is None or carried_to(source) == to_job:
        return None
    check_head(source, store.table)
    if target is not None and carried_to(target) != from_job:
        check_head(target, store.table)
        raise _is_in_use(from_job, to_job, target)
    return source


def _is_in_use(from_job: str, to_job: str, head: Row) -> WatermarkConflictError:
    stored = latest_of(head)
    return WatermarkConflictError(
        f"job {to_job!r} has watermarks of its own, version {stored.version}, {stored.watermarks}: "
        f"those of {from_job!r} would replace them, so nothing was written; if the job ran under "
        "its new name too early, delete its rows and carry over again",
        stored,
        {},
    )


def _copy_history(store: Store, from_job: str, to_job: str, now: datetime) -> None:
    copied = store.read_job(to_job)
    for name, row in store.read_job(from_job).items():
        if name == HEAD or is_expired(row, now):
            continue
        if name not in copied or "wmAttempt" in row:
            store.update(_copy(store.table, {**row, **row_key(to_job, name)}))


def _copy(table: Table, row: Row) -> UpdateItemInputTypeDef:
    """Return the write of one row, which leaves alone what is there and as new."""
    keys = row_key(row["jobName"]["S"], row["runId"]["S"])
    others = [name for name in row if name not in keys]
    values: Row = {f":v{i}": row[name] for i, name in enumerate(others)}
    condition = _ROW_IS_NEW
    if "wmAttempt" in row:
        condition += f" OR {_BACKFILL_WENT_ON}"
        values[":carried"] = row["wmAttempt"]
    return {
        "TableName": table.name,
        "Key": keys,
        "UpdateExpression": f"SET {', '.join(f'#n{i} = :v{i}' for i in range(len(others)))}",
        "ConditionExpression": condition,
        "ExpressionAttributeNames": {f"#n{i}": name for i, name in enumerate(others)},
        "ExpressionAttributeValues": values,
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }


def _head(store: Store, job_id: str, remedy: str) -> Row | None:
    """Return the head of a job as it is; None if the job has no rows at all."""
    if head := store.read_unchecked(job_id, HEAD):
        return head
    if not store.read_two_runs(job_id):
        return None
    if head := store.read_unchecked(job_id, HEAD):
        return head  # it came between the two reads
    raise AmbiguousWatermarkError(
        f"job {job_id!r} has rows in table {store.table.name!r} and no {HEAD} row that says which "
        f"is the most recent: nothing was written; {remedy}"
    )
