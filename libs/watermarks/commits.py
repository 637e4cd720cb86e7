"""A commit: the one transaction that moves the watermark of a job, and what a refusal of it means.

read head (version n) ──▶ write data ──▶ commit if the head still has version n ──▶ n + 1
                                            │
    the run's row holds this very commit ◀──┼──▶ the head has another version: conflict
    already: an earlier send got through    └──▶ another transaction is on the row: send again
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeAlias

from .cursors import value_at, with_value
from .errors import (
    WatermarkConflictError,
    WatermarkRunConflictError,
    WatermarkSupersededError,
)
from .rows import HEAD, Latest, Row, Table, check_item, has_watermarks, latest_of, row_key
from .values import Attribute, Value, decode, encode
from .windows import OpenWindow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime, timedelta

    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

Reasons: TypeAlias = "Sequence[Mapping[str, Any]]"
"""Why a transaction was cancelled: one entry per write, in the order of the transaction."""

_PASSING = {"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"}
_CONDITION_FAILED = "ConditionalCheckFailed"

_HEAD_HAS_NO_COMMIT = "(attribute_not_exists(runId) OR wmVersion = :base)"
_HEAD_IS_BASE = "wmVersion = :base"
_WINDOW_IS_OURS = "wmWindows.#cursor.attempt = :attempt"
_RUN_IS_NEW_OR_LEGACY = "attribute_not_exists(wmVersion)"
_RUN_IS_STILL_HEAD = "wmVersion = :base"
_RUN_HOLDS_SOMETHING_ELSE = "wmDigest <> :digest"
_DIGEST_DIGITS = 32
# Every commit of the run writes them all again, and a row holds 400 KB.
_WINDOWS_IN_A_ROW = 100


@dataclass(frozen=True)
class Commit:
    """The next version of a job's watermarks, as one run wants it.

    Attributes:
        run_id: sort key of the row that records it: the run, or `<run>#<window id>`.
        key: the attribute that holds the watermarks.
        values: the whole new state, in DynamoDB's form.
        tags: the type tags of `values`.
        digest: identifies what the caller asked for; the same again after a restart.
        base: what the head must still hold; None or version 0 if there must be no head.
        committed_at: ISO text, for people only.
        expires_at: when DynamoDB may delete the run's row, in seconds since 1970.
        window: the window that this commit closes, if any.
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
    window: OpenWindow | None = None

    @classmethod
    def of(
        cls,
        item: Mapping[str, Any],
        state: Mapping[str, Value],
        base: Latest | None,
        *,
        now: datetime,
        history: timedelta,
        window: OpenWindow | None = None,
    ) -> Commit:
        """Return the commit of a watermark item.

        Args:
            item: jobName, runId and the values the caller gave under one further key.
            state: the whole state that results.
            base: what the head must still hold.
            now: when the run's row is made.
            history: how long that row is kept.
            window: the window that the commit closes.

        Raises:
            WatermarkValueError: a value is of a type that cannot be a watermark.
            ValueError: the item is not of that form.
        """
        job_id, run_id, key = check_item(item)
        values, tags = encode(state, key)
        # No clock and no base, so that a restarted run makes the same digest.
        identity: list[Any] = [job_id, run_id, key, *encode(item[key], key)]
        if window is not None:
            identity += [window.window_id, window.attempt]
        given = json.dumps(identity, sort_keys=True)
        return cls(
            job_id=job_id,
            run_id=_row_name(run_id, window, base),
            key=key,
            values=values,
            tags=tags,
            digest=sha256(given.encode()).hexdigest()[:_DIGEST_DIGITS],
            base=base,
            committed_at=now.isoformat(timespec="microseconds"),
            expires_at=int((now + history).timestamp()),
            window=window,
        )

    @property
    def latest(self) -> Latest:
        """What the head says once this commit is applied."""
        watermarks = decode(self.values, self.tags)
        version = self._base_version + 1
        return Latest(
            self.run_id, version, watermarks, self.key, self.run_id, self._prev, self._committed
        )

    def transaction(self, table: Table) -> list[TransactWriteItemTypeDef]:
        """Return the writes: the head and the run's row appear together or not at all."""
        return [self._head_update(table), self._run_put(table)]

    def found_applied(self, reasons: Reasons) -> Latest | None:
        """Return what an earlier send of this commit stored, if it did get through."""
        for row in _found_rows(reasons):
            if row.get("wmDigest") == {"S": self.digest} or self._is_committed_in(row):
                return latest_of(row)
        return None

    def refusal(self, reasons: Reasons) -> WatermarkConflictError | None:
        """Return the error that a cancelled transaction means, None if no condition failed."""
        codes = [reason.get("Code") for reason in reasons]
        if _CONDITION_FAILED not in codes:
            return None
        head, run = (reason.get("Item") or None for reason in reasons)
        proposed = decode(self.values, self.tags)
        run_id = self.window.run_id if self.window else self.run_id
        wanted = f"job {self.job_id!r}: run {run_id!r} proposed {proposed}"
        if self.window is not None and head is not None and not self._holds_window(head):
            return self._superseded(wanted, head, proposed)
        if run is not None:
            return self._run_conflict(wanted, latest_of(run), proposed)
        if head is None:
            problem = f"from version {self._base_version}, but the table holds no watermark"
            remedy = "find out who deleted the head row, then rewind to the last good run"
            return WatermarkConflictError(f"{wanted} {problem}; {remedy}", None, proposed)
        stored = latest_of(head)
        return WatermarkConflictError(
            f"{wanted} from version {self._base_version}, but the table holds version "
            f"{stored.version}, {stored.watermarks}, advanced by {stored.log!r} meanwhile: "
            "nothing was written; let this run fail and start a new one, which reads from there",
            stored,
            proposed,
        )

    def moved(self, reasons: Reasons) -> Commit | None:
        """Return the same commit on top of the head that was found, if that is right as well.

        It is when the window is still ours: then only watermarks of other cursors have moved. It
        is when there were no watermarks and, after a rewind to the beginning, are none again.

        Where the run's own row is part of the history already, a window is recorded in a second
        row; and so it is looked for there before it is given up.
        """
        head = reasons[0].get("Item") if reasons else None
        if head and self.base is None and not has_watermarks(head) and "wmVersion" in head:
            base = latest_of(head)
            return self._from_base(base) if base.version else None
        if base_of_window := self._moved_base_of_window(head):
            return self._from_base(base_of_window)
        is_refused = _CONDITION_FAILED in [reason.get("Code") for reason in reasons]
        if is_refused and self.window and self.run_id == self.window.run_id:
            return replace(self, run_id=_second_row(self.run_id, self.window))
        return None

    def _moved_base_of_window(self, head: Row | None) -> Latest | None:
        if self.window is None or head is None or not self._holds_window(head):
            return None
        moved = latest_of(head)
        at_low = value_at(moved.watermarks, self.window.cursor)
        is_at_low = at_low is None or at_low == self.window.low
        return moved if is_at_low and moved.version != self._base_version else None

    def _from_base(self, base: Latest) -> Commit:
        if self.window is None:
            return replace(self, base=base)
        state = with_value(base.watermarks, self.window.cursor, self.window.high)
        values, tags = encode(state, self.key)
        return replace(self, values=values, tags=tags, base=base)

    def _holds_window(self, head: Row) -> bool:
        """Tell whether the window is open in a head row, by this run's attempt."""
        if self.window is None:
            return False
        found = head.get("wmWindows", {}).get("M", {}).get(self.window.cursor)
        return found is not None and OpenWindow.from_attribute(found) == self.window

    def _is_committed_in(self, row: Row) -> bool:
        """Tell whether a row records this very window, although maybe not as its last one."""
        if self.window is None:
            return False
        found = row.get("wmCommitted", {}).get("M", {}).get(self.window.window_id)
        return found is not None and OpenWindow.from_attribute(found) == self.window.committed

    @property
    def _made_by(self) -> str:
        return (self.base.log or self.base.run_id) if self.base else ""

    @cached_property
    def _committed(self) -> Row:
        """The windows that the run has committed, this one included, by id."""
        before = self.base.committed if self.base and self._made_by == self.run_id else {}
        if self.window is None:
            return before
        return {**before, self.window.window_id: self.window.committed.to_attribute()}

    @property
    def _base_version(self) -> int:
        return self.base.version if self.base else 0

    @property
    def _prev(self) -> str:
        if self.base is None:
            return ""
        return self.base.prev if self._made_by == self.run_id else self._made_by

    def _head_update(self, table: Table) -> TransactWriteItemTypeDef:
        condition = _HEAD_IS_BASE if self._base_version else _HEAD_HAS_NO_COMMIT
        names = {"#key": self.key}
        removed = []
        values: Row = {
            ":values": self.values,
            ":tags": self.tags,
            ":version": {"N": str(self._base_version + 1)},
            ":run": {"S": self.run_id},
            ":prev": {"S": self._prev},
            ":digest": {"S": self.digest},
            ":at": {"S": self.committed_at},
            ":base": {"N": str(self._base_version)},
            ":committed": {"M": self._committed},
        }
        update = (
            "SET #key = :values, wmTypes = :tags, wmVersion = :version, wmRunId = :run, "
            "wmLog = :run, wmPrev = :prev, wmDigest = :digest, wmAt = :at, "
            "wmCommitted = :committed"
        )
        if not self._base_version:  # what a head keeps for good is written with its first commit
            values |= {":kind": {"S": "head"}, ":region": {"S": table.region}}
            update += ", wmKind = :kind, wmRegion = :region"
        if self.window:
            condition = f"{condition} AND {_WINDOW_IS_OURS}"
            update += self._bounds_kept(values)
            names["#cursor"] = self.window.cursor
            values[":attempt"] = {"N": str(self.window.attempt)}
            removed.append("wmWindows.#cursor")
        if self.base and self.base.key != self.key:
            names["#old_key"] = self.base.key
            removed.append("#old_key")
        if removed:
            update += f" REMOVE {', '.join(removed)}"
        return {
            "Update": {
                "TableName": table.name,
                "Key": row_key(self.job_id, HEAD),
                "UpdateExpression": update,
                "ConditionExpression": condition,
                "ExpressionAttributeNames": names,
                "ExpressionAttributeValues": values,
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            }
        }

    def _bounds_kept(self, values: Row) -> str:
        """Note which end belongs to the windows of the cursor, unless the head says so already."""
        assert self.window is not None  # noqa: S101 (only windows have bounds)
        kept = self.base.bounds if self.base else {}
        bounds = {"S": self.window.kept_bounds}
        if kept.get(self.window.cursor) == bounds:
            return ""
        values[":bounds"] = {"M": {**kept, self.window.cursor: bounds}}
        return ", wmBounds = :bounds"

    def _run_put(self, table: Table) -> TransactWriteItemTypeDef:
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
        if self._committed:
            row["wmCommitted"] = {"M": self._committed}
        return {
            "Put": {
                "TableName": table.name,
                "Item": row,
                "ConditionExpression": f"{_RUN_IS_NEW_OR_LEGACY} OR ({is_replaceable})",
                "ExpressionAttributeValues": {
                    ":base": {"N": str(self._base_version)},
                    ":digest": {"S": self.digest},
                },
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            }
        }

    def _superseded(
        self, wanted: str, head: Row, proposed: dict[str, Any]
    ) -> WatermarkSupersededError:
        assert self.window is not None  # noqa: S101 (only windows are superseded)
        stored = latest_of(head)
        found = head.get("wmWindows", {}).get("M", {}).get(self.window.cursor)
        if found is not None:
            by = f"run {OpenWindow.from_attribute(found).run_id!r} took the window over"
        else:
            by = f"{stored.log!r} committed or discarded the window"
        return WatermarkSupersededError(
            f"{wanted} for window {self.window.window_id}, attempt {self.window.attempt}, but "
            f"{by}: nothing was written, and what this run wrote does not count; let it end",
            stored,
            proposed,
        )

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


def _row_name(run_id: str, window: OpenWindow | None, base: Latest | None) -> str:
    """Return the sort key of the row that records a commit: the run, as long as that fits."""
    if window is None or base is None:
        return run_id
    is_full = base.log == run_id and len(base.committed) >= _WINDOWS_IN_A_ROW
    has_second = base.log.startswith(_second_row(run_id, None))
    return _second_row(run_id, window) if is_full or has_second else run_id


def _second_row(run_id: str, window: OpenWindow | None) -> str:
    return f"{run_id}#{window.window_id if window else ''}"


def _found_rows(reasons: Reasons) -> list[Row]:
    # The run's row first: it stays true when others have committed since.
    return [reason["Item"] for reason in reversed(reasons) if reason.get("Item")]
