"""Giving the watermarks of a job to another job name, as renaming the job needs.

    old   ~HEAD v7 ── one transaction ──▶ ~HEAD v8, wmCarriedTo = new: the old name is stale
    new   nothing  ──────┘           └──▶ ~HEAD v7, the same watermarks and open windows
    old   jr_1 … jr_7 ── one by one, afterwards ──▶ new   jr_1 … jr_7

The transaction, which has the heads of all sources in it, is all that counts for what is read next,
so an attempt that dies has either not begun or is safe: the old name can neither open nor commit a
window any more, and the new one continues. The history that was not copied yet is copied by doing
it again, which changes nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from watermarks.errors import AmbiguousWatermarkError, WatermarkConflictError
from watermarks.table.heads import check_head
from watermarks.table.requests import (
    IS_ABSENT,
    Condition,
    both,
    either,
    epoch_is,
    number,
    put_request,
    update_request,
    version_is,
)
from watermarks.table.schema import HEAD, SOURCE_HEADS, Latest, Owner, Row, Table

if TYPE_CHECKING:
    from datetime import datetime

    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

    from watermarks.table.client import TableClient
    from watermarks.table.values import Attribute

_RACES = 20
_HEADS_AT_ONCE = 50  # two writes each, and a transaction has at most 100


@dataclass(frozen=True)
class RenameJob:
    """The transaction that moves the heads of a job, given as they were read."""

    from_job: str
    to_job: str
    heads: Sequence[Row]

    @property
    def latest(self) -> Latest:
        """What the first head of the new name says once this is applied."""
        return self.heads[0].latest()

    def transaction(self, table: Table) -> list[TransactWriteItemTypeDef]:
        """Return the writes: the new name has the state, and the old one is stale, at once."""
        writes: Any = []
        for head in self.heads:
            writes += [{"Put": self._target(table, head)}, {"Update": self._old(table, head)}]
        return list(writes)

    def found_applied(self, found: Sequence[Row | None]) -> Latest | None:
        """Return what an earlier send of this stored, if it did get through."""
        old = found[1] if found else None
        return self.latest if old and old.text("wmCarriedTo") == self.to_job else None

    def rebased(self, _: Sequence[Row | None]) -> None:
        """Return None: what another run has written since has to be read first."""

    def refusal(self, _: Sequence[Row | None]) -> WatermarkConflictError:
        """Return the error that the rows in the way mean."""
        return WatermarkConflictError(
            f"runs of job {self.from_job!r} or {self.to_job!r} moved the watermarks again and "
            "again while they were carried over: nothing was written; stop these runs, then try "
            "again",
            self.latest,
        )

    def _target(self, table: Table, head: Row) -> dict[str, Any]:
        is_from_here: Condition = ("wmCarriedTo = :from", {":from": {"S": self.from_job}})
        item = {
            **head.item,
            **Owner(self.to_job).key(head.name),
            "wmCarriedFrom": {"S": self.from_job},
        }
        return put_request(table, item, either(IS_ABSENT, is_from_here))

    def _old(self, table: Table, head: Row) -> dict[str, Any]:
        is_not_carried: Condition = ("attribute_not_exists(wmCarriedTo)", {})
        condition = both(version_is(head.version), is_not_carried, epoch_is(head.number("wmEpoch")))
        # Runs in flight fail by the version; those to come are told by wmCarriedTo.
        sets: dict[Any, Attribute] = {
            "wmVersion": number(head.version + 1),
            "wmCarriedTo": {"S": self.to_job},
        }
        key = Owner(self.from_job).key(head.name)
        return update_request(table, key, sets, condition, removes=["wmWindows"])


def rename_job(client: TableClient, from_job: str, to_job: str, now: datetime) -> Latest | None:
    """Do what `WatermarkAdmin.rename_job` says, in one table."""
    attempt = 0
    while heads := _unmoved_heads(client, from_job, to_job):
        try:
            client.commit(RenameJob(from_job, to_job, heads[:_HEADS_AT_ONCE]))
        except WatermarkConflictError:
            attempt += 1
            if attempt == _RACES:
                raise
            client.pause(attempt)
    _copy_history(client, from_job, to_job, now)
    # Unchecked, for the new name may itself have been renamed since.
    found = _heads(client, to_job)
    return next(iter(found.values())).latest() if found else None


def _unmoved_heads(client: TableClient, from_job: str, to_job: str) -> list[Row]:
    """Return the heads to be carried over; none if there are none, or they have been.

    Raises:
        WatermarksError: they must not be, or the new name has rows already.
    """
    # The target first: if it is there, and by a carry-over, then the source shows that.
    targets = _checked_heads(client, to_job, "delete these rows, or give the job another name")
    found = _checked_heads(client, from_job, f"call adopt({from_job!r}, ...) first")
    unmoved = []
    for name, head in found.items():
        if head.text("wmCarriedTo") == to_job:
            continue
        check_head(head, client.table)
        target = targets.get(name)
        if target is not None and target.text("wmCarriedTo") != from_job:
            check_head(target, client.table)
            raise _is_in_use(from_job, to_job, target)
        unmoved.append(head)
    if unmoved and (extra := [targets[name] for name in targets if name not in found]):
        raise _is_in_use(from_job, to_job, extra[0])
    return unmoved


def _is_in_use(from_job: str, to_job: str, head: Row) -> WatermarkConflictError:
    stored = head.latest()
    return WatermarkConflictError(
        f"job {to_job!r} has watermarks of its own, version {stored.version}, {stored.watermarks}: "
        f"those of {from_job!r} would replace them, so nothing was written; if the job ran under "
        "its new name too early, delete its rows and carry over again",
        stored,
    )


def _copy_history(client: TableClient, from_job: str, to_job: str, now: datetime) -> None:
    copied = client.all_rows(Owner(to_job))
    for name, row in client.all_rows(Owner(from_job)).items():
        if row.is_head or row.is_expired(now):
            continue
        if name not in copied or "wmAttempt" in row.item:
            client.put(_copy(client.table, row, Owner(to_job)))


def _copy(table: Table, row: Row, owner: Owner) -> dict[str, Any]:
    """Return the write of one row, which leaves alone what is there and as new."""
    condition = IS_ABSENT
    if "wmAttempt" in row.item:
        # Only a backfill's row counts attempts; the one that went on under the newer name is right.
        went_on: Condition = ("wmAttempt < :carried", {":carried": row.item["wmAttempt"]})
        condition = either(condition, went_on)
    return put_request(table, {**row.item, **owner.key(row.name)}, condition)


def _heads(client: TableClient, job_id: str) -> Mapping[str, Row]:
    """Return the heads of a job and of its sources as they are, by sort key."""
    owner = Owner(job_id)
    head = client.row(owner, HEAD)
    rows = ([head] if head else []) + client.rows(owner, *SOURCE_HEADS)
    return {row.name: row for row in rows}


def _checked_heads(client: TableClient, job_id: str, remedy: str) -> Mapping[str, Row]:
    """Return the heads of a job; none if the job has no rows at all."""
    if heads := _heads(client, job_id):
        return heads
    if not client.rows(Owner(job_id), "\x01", "~", limit=1):
        return {}
    if heads := _heads(client, job_id):
        return heads  # it came between the two reads
    raise AmbiguousWatermarkError(
        f"job {job_id!r} has rows in table {client.table.name!r} and no {HEAD} row that says which "
        f"is the most recent: nothing was written; {remedy}"
    )
