"""Giving the watermarks of a job to another job name, as renaming the job needs.

    old   ~HEAD v7 ── one transaction ──▶ ~HEAD v8, wmCarriedTo = new: the old name is stale
    new   nothing  ──────┘           └──▶ ~HEAD v7, the same watermarks and open windows
    old   jr_1 … jr_7 ── one by one, afterwards ──▶ new   jr_1 … jr_7

Only the transaction, which holds the heads of all sources, decides what is read next. So an attempt
that dies has not started or is safe: the old name can neither open nor commit a window any more,
and the new one continues. With more than 49 sources the others follow, and until they have arrived,
the new name opens nothing that it does not have. The history that was not copied yet is copied by
doing it again, which changes nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from watermarks.errors import AmbiguousWatermarkError, WatermarkConflictError
from watermarks.table.heads import check_head
from watermarks.table.latest import Latest
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
from watermarks.table.schema import HEAD, SOURCE_HEADS, Owner, Row, Table

if TYPE_CHECKING:
    from datetime import datetime

    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

    from watermarks.table.client import TableClient
    from watermarks.table.latest import Attribute

_RACES = 20
_HEADS_AT_ONCE = 50  # two writes each, and a transaction has at most 100


@dataclass(frozen=True)
class RenameJob:
    """The transaction that moves the heads of a job, given as read.

    Attributes:
        from_job: the old name.
        to_job: the new name.
        heads: the heads; that of the job itself is among the first ones.
        is_last: whether no others follow.
    """

    from_job: str
    to_job: str
    heads: Sequence[Row]
    is_last: bool

    @property
    def latest(self) -> Latest:
        """The state of the new name's first head once this is applied."""
        return self.heads[0].latest()

    def transaction(self, table: Table) -> list[TransactWriteItemTypeDef]:
        """Return the writes: the new name has the state, and the old one is stale, at once."""
        writes: Any = []
        for head in self.heads:
            writes += [{"Put": self._target(table, head)}, {"Update": self._old(table, head)}]
        return list(writes)

    def found_applied(self, rows: Sequence[Row | None]) -> Latest | None:
        """Return the state that an earlier send stored, if it arrived."""
        old = rows[1] if rows else None
        return self.latest if old and old.string("wmCarriedTo") == self.to_job else None

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
            "wmRegion": head.item.get("wmRegion", {"S": table.region}),
            "wmCarriedFrom": {"S": self.from_job},
        }
        if head.name == HEAD and not self.is_last:
            item["wmArriving"] = {"S": self.from_job}
        return put_request(table, item, either(IS_ABSENT, is_from_here))

    def _old(self, table: Table, head: Row) -> dict[str, Any]:
        is_not_carried: Condition = ("attribute_not_exists(wmCarriedTo)", {})
        condition = both(version_is(head.version), is_not_carried, epoch_is(head.number("wmEpoch")))
        if "wmRegion" not in head.item:  # a head for the job only
            condition = IS_ABSENT
        # Runs in flight fail on the version; later ones see wmCarriedTo.
        sets: dict[Any, Attribute] = {
            "wmVersion": number(head.version + 1),
            "wmCarriedTo": {"S": self.to_job},
            "wmKind": {"S": "head"},
            "wmRegion": head.item.get("wmRegion", {"S": table.region}),
        }
        key = Owner(self.from_job).key(head.name)
        return update_request(table, key, sets, condition, removes=["wmWindows"])


def rename_job(client: TableClient, from_job: str, to_job: str, now: datetime) -> Latest | None:
    """Carry out `WatermarkAdmin.rename_job` in one table."""
    attempt = 0
    while heads := _unmoved_heads(client, from_job, to_job):
        is_last = len(heads) <= _HEADS_AT_ONCE
        try:
            client.commit(RenameJob(from_job, to_job, heads[:_HEADS_AT_ONCE], is_last))
        except WatermarkConflictError:
            attempt += 1
            if attempt == _RACES:
                raise
            client.pause(attempt)
    _copy_history(client, from_job, to_job, now)
    # Unchecked, because the new name may itself have been renamed since.
    new_heads = _heads(client, to_job)
    if HEAD in new_heads and new_heads[HEAD].string("wmArriving") == from_job:
        # All sources have arrived: the new name may open sources it does not have.
        is_arriving: Condition = ("wmArriving = :from", {":from": {"S": from_job}})
        key, sets = Owner(to_job).key(HEAD), {"wmKind": {"S": "head"}}
        client.update(update_request(client.table, key, sets, is_arriving, removes=["wmArriving"]))
    with_watermarks = [head for head in new_heads.values() if head.has_watermarks]
    return next(iter([*with_watermarks, *new_heads.values()])).latest() if new_heads else None


def _unmoved_heads(client: TableClient, from_job: str, to_job: str) -> list[Row]:
    """Return the heads to rename, that of the job first; empty if they have been renamed."""
    # A job that has only sources gets a head here, which shows the rename to runs of the old name,
    # whatever source they open. Read the target first: if a rename created it, the source shows it.
    targets = _checked_heads(client, to_job, "delete these rows, or give the job another name")
    heads = _checked_heads(client, from_job, f"call adopt({from_job!r}, ...) first")
    if heads and HEAD not in heads:
        stand_in = {"wmKind": {"S": "head"}, "wmVersion": number(0)}
        heads = {HEAD: Row({**Owner(from_job).key(HEAD), **stand_in}), **heads}
    unmoved = [head for head in heads.values() if head.string("wmCarriedTo") != to_job]
    for head in unmoved:
        check_head(head, client.table)
        _check_is_free(client, from_job, to_job, targets.get(head.name))
    if unmoved and unmoved[0].name == HEAD:
        for name in targets.keys() - heads.keys():
            _check_is_free(client, from_job, to_job, targets[name])
    return unmoved


def _check_is_free(client: TableClient, from_job: str, to_job: str, target: Row | None) -> None:
    if target is None or target.string("wmCarriedTo") == from_job:
        return
    check_head(target, client.table)
    stored = target.latest()
    raise WatermarkConflictError(
        f"job {to_job!r} has its own watermarks, version {stored.version}, {stored.watermarks}: "
        f"those of {from_job!r} would replace them, so nothing was written; if the job ran under "
        "its new name too early, delete its rows and rename again",
        stored,
    )


def _copy_history(client: TableClient, from_job: str, to_job: str, now: datetime) -> None:
    copied = client.all_rows(Owner(to_job))
    for name, row in client.all_rows(Owner(from_job)).items():
        if row.is_head or row.is_expired(now):
            continue
        there = copied.get(name)
        if there is None or there.version < row.version or "wmAttempt" in row.item:
            client.put(_copy(client.table, row, Owner(to_job)))


def _copy(table: Table, row: Row, owner: Owner) -> dict[str, Any]:
    # Only a backfill's row counts attempts; the one that continued under the newer name is right.
    counter = "wmAttempt" if "wmAttempt" in row.item else "wmVersion"
    condition = IS_ABSENT
    if counter in row.item:
        is_older: Condition = (f"{counter} < :carried", {":carried": row.item[counter]})
        condition = either(condition, is_older)
    return put_request(table, {**row.item, **owner.key(row.name)}, condition)


def _heads(client: TableClient, job_id: str) -> dict[str, Row]:
    owner = Owner(job_id)
    head = client.row(owner, HEAD)
    rows = ([head] if head else []) + client.rows(owner, *SOURCE_HEADS)
    return {row.name: row for row in rows}


def _checked_heads(client: TableClient, job_id: str, remedy: str) -> dict[str, Row]:
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
