"""A commit: the one transaction that moves the watermark of a job, and what a refusal of it means.

read head (version n) ──▶ write data ──▶ commit if the head still has version n ──▶ n + 1
                                            │
    the run's row holds this very commit ◀──┼──▶ the head has another version: conflict
    already: an earlier send got through    └──▶ another transaction is on the row: send again
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeAlias

from .errors import WatermarkConflictError, WatermarkRunConflictError
from .rows import HEAD, Latest, Row, check_item, latest_of, row_key
from .values import Attribute, Value, decode, encode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime, timedelta

    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

Reasons: TypeAlias = "Sequence[Mapping[str, Any]]"
"""Why a transaction was cancelled: one entry per write, in the order of the transaction."""

_PASSING = {"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"}
_CONDITION_FAILED = "ConditionalCheckFailed"

_HEAD_IS_ABSENT = "attribute_not_exists(wmVersion)"
_HEAD_IS_BASE = "wmVersion = :base"
_RUN_IS_NEW_OR_LEGACY = "attribute_not_exists(wmVersion)"
_RUN_IS_STILL_HEAD = "wmVersion = :base"
_RUN_HOLDS_SOMETHING_ELSE = "wmDigest <> :digest"


@dataclass(frozen=True)
class Commit:
    """The next version of a job's watermarks, as one run wants it.

    Attributes:
        key: the attribute that holds the watermarks.
        values: the whole new state, in DynamoDB's form.
        tags: the type tags of `values`.
        digest: identifies what the caller asked for; the same again after a restart.
        base: what the head must still hold; None or version 0 if there must be no head.
        committed_at: ISO text, for people only.
        expires_at: when DynamoDB may delete the run's row, in seconds since 1970.
    """

    job_id: str
    run_id: str
    key: str
    values: Attribute
    tags: Attribute
    digest: str
    base: Latest | None
    committed_at: str
    expires_at: int

    @classmethod
    def of(
        cls,
        item: Mapping[str, Any],
        state: Mapping[str, Value],
        base: Latest | None,
        *,
        now: datetime,
        history: timedelta,
    ) -> Commit:
        """Return the commit of a watermark item.

        Args:
            item: jobName, runId and the values the caller gave under one further key.
            state: the whole state that results.
            base: what the head must still hold.
            now: when the run's row is made.
            history: how long that row is kept.

        Raises:
            WatermarkValueError: a value is of a type that cannot be a watermark.
            ValueError: the item is not of that form.
        """
        job_id, run_id, key = check_item(item)
        values, tags = encode(state, key)
        # No clock and no base, so that a restarted run makes the same digest.
        given = json.dumps([job_id, run_id, key, *encode(item[key], key)], sort_keys=True)
        return cls(
            job_id=job_id,
            run_id=run_id,
            key=key,
            values=values,
            tags=tags,
            digest=sha256(given.encode()).hexdigest(),
            base=base,
            committed_at=now.isoformat(timespec="microseconds"),
            expires_at=int((now + history).timestamp()),
        )

    @property
    def latest(self) -> Latest:
        """What the head says once this commit is applied."""
        watermarks = decode(self.values, self.tags)
        version = self._base_version + 1
        return Latest(self.run_id, version, watermarks, self.key, self.run_id, self._prev)

    def transaction(self, table_name: str) -> list[TransactWriteItemTypeDef]:
        """Return the writes: the head and the run's row appear together or not at all."""
        return [self._head_update(table_name), self._run_put(table_name)]

    def found_applied(self, reasons: Reasons) -> Latest | None:
        """Return what an earlier send of this commit stored, if it did get through."""
        for row in _found_rows(reasons):
            if row.get("wmDigest") == {"S": self.digest}:
                return latest_of(row)
        return None

    def refusal(self, reasons: Reasons) -> WatermarkConflictError | None:
        """Return the error that a cancelled transaction means, None if no condition failed."""
        codes = [reason.get("Code") for reason in reasons]
        if _CONDITION_FAILED not in codes:
            return None
        head, run = (reason.get("Item") or None for reason in reasons)
        proposed = decode(self.values, self.tags)
        wanted = f"job {self.job_id!r}: run {self.run_id!r} proposed {proposed}"
        if run is not None:
            return self._run_conflict(wanted, latest_of(run), proposed)
        if head is None:
            problem = f"from version {self._base_version}, but the table holds no watermark"
            remedy = "find out who deleted the head row, then start with base=None"
            return WatermarkConflictError(f"{wanted} {problem}; {remedy}", None, proposed)
        stored = latest_of(head)
        return WatermarkConflictError(
            f"{wanted} from version {self._base_version}, but the table holds version "
            f"{stored.version}, {stored.watermarks}, advanced by {stored.log!r} meanwhile: "
            "nothing was written; let this run fail and start a new one, which reads from there",
            stored,
            proposed,
        )

    @property
    def _base_version(self) -> int:
        return self.base.version if self.base else 0

    @property
    def _prev(self) -> str:
        if self.base is None:
            return ""
        made_by = self.base.log or self.base.run_id
        return self.base.prev if made_by == self.run_id else made_by

    def _head_update(self, table_name: str) -> TransactWriteItemTypeDef:
        head_is_unmoved = _HEAD_IS_BASE if self._base_version else _HEAD_IS_ABSENT
        names = {"#key": self.key}
        values: Row = {
            ":values": self.values,
            ":tags": self.tags,
            ":version": {"N": str(self._base_version + 1)},
            ":run": {"S": self.run_id},
            ":prev": {"S": self._prev},
            ":digest": {"S": self.digest},
            ":at": {"S": self.committed_at},
            ":kind": {"S": "head"},
        }
        if self._base_version:
            values[":base"] = {"N": str(self._base_version)}
        update = (
            "SET #key = :values, wmTypes = :tags, wmVersion = :version, wmRunId = :run, "
            "wmLastRunId = :run, wmLog = :run, wmPrev = :prev, wmDigest = :digest, "
            "wmAt = :at, wmKind = :kind"
        )
        if self.base and self.base.key != self.key:
            names["#old_key"] = self.base.key
            update += " REMOVE #old_key"
        return {
            "Update": {
                "TableName": table_name,
                "Key": row_key(self.job_id, HEAD),
                "UpdateExpression": update,
                "ConditionExpression": head_is_unmoved,
                "ExpressionAttributeNames": names,
                "ExpressionAttributeValues": values,
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            }
        }

    def _run_put(self, table_name: str) -> TransactWriteItemTypeDef:
        # Without the digest a run that sends its last commit again would make one more version.
        is_replaceable = f"{_RUN_IS_STILL_HEAD} AND {_RUN_HOLDS_SOMETHING_ELSE}"
        row: Row = {
            **row_key(self.job_id, self.run_id),
            self.key: self.values,
            "wmTypes": self.tags,
            "wmKind": {"S": "commit"},
            "wmVersion": {"N": str(self._base_version + 1)},
            "wmDigest": {"S": self.digest},
            "wmPrev": {"S": self._prev},
            "wmAt": {"S": self.committed_at},
            "expiresAt": {"N": str(self.expires_at)},
        }
        return {
            "Put": {
                "TableName": table_name,
                "Item": row,
                "ConditionExpression": f"{_RUN_IS_NEW_OR_LEGACY} OR ({is_replaceable})",
                "ExpressionAttributeValues": {
                    ":base": {"N": str(self._base_version)},
                    ":digest": {"S": self.digest},
                },
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            }
        }

    def _run_conflict(
        self, wanted: str, stored: Latest, proposed: dict[str, Any]
    ) -> WatermarkRunConflictError:
        return WatermarkRunConflictError(
            f"{wanted}, but this run already committed version {stored.version}, "
            f"{stored.watermarks}, and that is not the version it read: nothing was written; "
            "use a new run id for a new commit",
            stored,
            proposed,
        )


def can_succeed_later(reasons: Reasons) -> bool:
    """Tell whether the same transaction may succeed a moment later."""
    codes = {reason.get("Code") for reason in reasons}
    return bool(codes & _PASSING) and _CONDITION_FAILED not in codes


def _found_rows(reasons: Reasons) -> list[Row]:
    # The run's row first: it stays true when others have committed since.
    return [reason["Item"] for reason in reversed(reasons) if reason.get("Item")]
