"""Rewind and adopt: the two transactions that set the watermarks of a job by hand, and say why.

Both write the head and a row `~AUDIT#<version>` that names the actor and the reason. A rewind
counts as one more version and takes the open windows away, so that every run in flight is stale.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Literal

from .errors import WatermarkConflictError
from .rows import (
    HEAD,
    Latest,
    Row,
    Table,
    audit_name,
    latest_of,
    payload_names,
    row_key,
    run_id_of,
    version_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

    from .commits import Reasons
    from .values import Attribute

_CONDITION_FAILED = "ConditionalCheckFailed"
_HEAD_IS_ABSENT = "attribute_not_exists(wmVersion)"
_HEAD_IS_BASE = "wmVersion = :base"
_AUDIT_IS_NEW = "attribute_not_exists(runId)"
_NEVER_COMMITTED = 1000
_FORGOTTEN = {"wmTypes", "wmRunId", "wmWindows", "wmCommitted"}


@dataclass(frozen=True)
class Audit:
    """One rewind or adoption.

    Attributes:
        kind: what it is.
        job_id: the job.
        target: the row whose watermarks are to hold; None for no watermarks at all.
        base: the watermarks that are replaced; None if there is no head.
        head: the head row as it was read, even if it is corrupt; None if there is none.
        actor: who asks for it.
        reason: why.
        at: when, for people only.
        epoch: what the head counts windows from; None lets it go on counting.
    """

    kind: Literal["rewind", "adopt"]
    job_id: str
    target: Row | None
    base: Latest | None
    head: Row | None
    actor: str
    reason: str
    at: datetime
    epoch: int | None = None

    @property
    def latest(self) -> Latest:
        """What the head says once this is applied."""
        return latest_of({**row_key(self.job_id, HEAD), **self._state, "wmLog": self._audit_id})

    def is_last_change(self, table: Table) -> bool:
        """Return whether the head is just what this very audit, sent before, has made of it."""
        head = self.head or {}
        is_last = head.get("wmDigest") == {"S": self._digest} and self.epoch is None
        is_here = head.get("wmRegion") == {"S": table.region}
        return is_last and is_here and not head.get("wmWindows", {"M": {}})["M"]

    def transaction(self, table: Table) -> list[TransactWriteItemTypeDef]:
        """Return the writes: the head and the audit row appear together or not at all."""
        return [self._head_update(table), self._audit_put(table)]

    def found_applied(self, reasons: Reasons) -> Latest | None:
        """Return what an earlier send of this stored, if it did get through."""
        row = reasons[1].get("Item") if reasons else None
        if not row or row.get("wmDigest") != {"S": self._digest}:
            return None
        return latest_of({**row, "wmLog": row["runId"]})

    def moved(self, _: Reasons) -> None:
        """Return None: nobody has decided to set back another state than the one that was read."""

    def refusal(self, reasons: Reasons) -> WatermarkConflictError | None:
        """Return the error that a cancelled transaction means, None if no condition failed."""
        if _CONDITION_FAILED not in [reason.get("Code") for reason in reasons]:
            return None
        found = reasons[0].get("Item")
        stored = latest_of(found) if found else None
        if self.kind == "adopt":
            problem = "the job has a head row, which says what its watermarks are"
            remedy = "adopt is for jobs without one; rewind to the run instead"
        else:
            problem = "other runs moved the watermarks again and again"
            remedy = "stop the job's runs, then try again"
        return WatermarkConflictError(
            f"job {self.job_id!r}: {self.kind} to {self._to_run or 'the beginning'}: {problem} "
            f"({stored}): nothing was written; {remedy}",
            stored,
            latest_of(self.target).watermarks if self.target else {},
        )

    @property
    def _version(self) -> int:
        return (self.base.version if self.base else 0) + 1

    @property
    def _audit_id(self) -> Attribute:
        return {"S": audit_name(self._version)}

    @property
    def _to_run(self) -> str:
        return run_id_of(self.target) if self.target else ""

    @property
    def _digest(self) -> str:
        given = [self.kind, self.job_id, self._to_run, self.actor, self.reason]
        return sha256(json.dumps(given).encode()).hexdigest()

    @property
    def _state(self) -> Row:
        """The attributes that the head and the audit row have in common."""
        prev = (self.base.log or self.base.run_id) if self.base else self._to_run
        state: Row = {
            "wmVersion": {"N": str(self._version)},
            "wmPrev": {"S": prev},
            "wmDigest": {"S": self._digest},
            "wmAt": {"S": self.at.isoformat(timespec="microseconds")},
        }
        if self.target:
            key = latest_of(self.target).key
            state |= {key: self.target[key], "wmRunId": {"S": self._to_run}}
            state |= {"wmTypes": self.target["wmTypes"]} if "wmTypes" in self.target else {}
        return state

    def _head_update(self, table: Table) -> TransactWriteItemTypeDef:
        head = self.head or {}
        values: Row = {
            **self._state,
            "wmKind": {"S": "head"},
            "wmLog": self._audit_id,
            "wmRegion": {"S": table.region},
        }
        forgotten = {*payload_names(head), *_FORGOTTEN} - set(values)
        # A cursor keeps its bounds, unless the head cannot be relied on.
        removed = sorted(forgotten | ({"wmBounds"} if self.epoch is not None else set()))
        sets = [f"#set{i} = :set{i}" for i in range(len(values))]
        given: Row = {f":set{i}": value for i, value in enumerate(values.values())}
        if self.epoch is None:
            # Counted on the head as it is: opening a window moves the epoch but not the version.
            sets.append("wmEpoch = if_not_exists(wmEpoch, :zero) + :one")
            given |= {":zero": {"N": "0"}, ":one": {"N": "1"}}
        else:
            sets.append("wmEpoch = :epoch")
            given[":epoch"] = {"N": str(self.epoch)}
        removes = [f"#remove{i}" for i in range(len(removed))]
        expression = f"SET {', '.join(sets)}"
        if removes:
            expression += f" REMOVE {', '.join(removes)}"
        if "wmVersion" in head:
            given[":base"] = head["wmVersion"]
        return {
            "Update": {
                "TableName": table.name,
                "Key": row_key(self.job_id, HEAD),
                "UpdateExpression": expression,
                "ConditionExpression": _HEAD_IS_BASE if ":base" in given else _HEAD_IS_ABSENT,
                "ExpressionAttributeNames": {
                    **{f"#set{i}": name for i, name in enumerate(values)},
                    **dict(zip(removes, removed, strict=True)),
                },
                "ExpressionAttributeValues": given,
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            }
        }

    def _audit_put(self, table: Table) -> TransactWriteItemTypeDef:
        row: Row = {
            **row_key(self.job_id, self._audit_id["S"]),
            **self._state,
            "wmKind": {"S": self.kind},
            "wmActor": {"S": self.actor},
            "wmReason": {"S": self.reason},
            "wmToRunId": {"S": self._to_run},
        }
        if self.head and self.base and self.base.watermarks:
            row |= {"wmFromRunId": {"S": self.base.run_id}, "wmBefore": self.head[self.base.key]}
        return {
            "Put": {
                "TableName": table.name,
                "Item": row,
                "ConditionExpression": _AUDIT_IS_NEW,
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            }
        }


def newest_of(rows: Mapping[str, Row]) -> Latest:
    """Return what the rows of a job, but for its head, say about its last version."""
    found = [row for name, row in rows.items() if name != HEAD]
    if not found:
        return Latest("", 0, {})
    newest = max(found, key=version_of)
    return Latest("", version_of(newest), {}, log=newest["runId"]["S"])


def epoch_after(rows: Mapping[str, Row]) -> int:
    """Return an epoch that no window of a job has had, although its head is lost."""
    committed = [
        w for name, row in rows.items() if name != HEAD for w in latest_of(row).committed.values()
    ]
    # Attempts that were never committed are known nowhere: far fewer than this, and less matters.
    return max((int(w["M"]["attempt"]["N"]) for w in committed), default=0) + _NEVER_COMMITTED
