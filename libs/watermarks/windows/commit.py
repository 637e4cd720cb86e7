"""A commit: the one transaction that moves a watermark, and the meaning of its refusals.

read head (version n) ──▶ write data ──▶ commit if the head still has version n ──▶ n + 1
                                            │
    the run's row holds this very commit ◀──┼──▶ the head has another version: conflict
    already: an earlier send got through    └──▶ another transaction is on the row: send again
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from watermarks.errors import WatermarkConflictError, WatermarkSupersededError
from watermarks.run_notes import attribute
from watermarks.table import requests
from watermarks.table.latest import Attribute, Item, Latest
from watermarks.table.names import check_job, check_run_id
from watermarks.table.schema import EXPIRES_AT, NOWHERE, Owner, Pointer, Row, Table, is_payload
from watermarks.table.schemas import TargetSchema
from watermarks.table.values import Value, decode, encode

from .cursors import entry_of, is_same
from .window import OpenWindow

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

_DIGEST_DIGITS = 32
# Every commit of the run writes them all again, and a write of over 1 KB costs more.
_WINDOWS_IN_A_ROW = 4


class RunConflictError(WatermarkConflictError):
    """This very run already committed something else, which cannot be replaced any more."""


@dataclass(frozen=True)
class Commit:
    """The next version of the watermarks of a job or a source, as one run wants it.

    Attributes:
        owner: whose watermarks they are.
        run_id: the run.
        row: sort key of the row that records it: that of the run, or `<run>#<window id>`.
        key: the attribute that holds the watermarks.
        values: the whole new state, in DynamoDB's form.
        tags: the type tags of `values`.
        digest: identifies the request of the caller; equal after a restart.
        base: the state the head must still have; None or version 0 if there must be no head.
        committed_at: ISO string, for people only.
        expires_at: when DynamoDB may delete the run's row, in seconds since 1970.
        window: the window that this commit closes, if any.
        schemas: the columns of targets that it changes; None drops those held.
    """

    owner: Owner
    run_id: str
    row: str
    key: str
    values: Attribute
    tags: Attribute
    digest: str
    base: Latest | None
    committed_at: str
    expires_at: int
    window: OpenWindow | None = None
    schemas: Mapping[str, TargetSchema | None] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        item: Mapping[str, Any],
        state: Mapping[str, Value],
        base: Latest | None,
        *,
        now: datetime,
        history: timedelta,
        source: str = "",
        window: OpenWindow | None = None,
    ) -> Commit:
        """Return the commit of a watermark item: the values that the caller gave, under their key.

        `state` is all that results; the run's row is made `now` and kept for `history`.
        """
        job_id, run_id, key = check_item(item)
        values, tags = encode(state, key)
        # No clock and no base, so that a restarted run computes the same digest.
        identity: list[Any] = [job_id, run_id, key, *encode(item[key], key)]
        if window is not None:
            identity += [window.window_id, window.attempt]
        text = json.dumps(identity, sort_keys=True)
        owner = Owner(job_id, source)
        return cls(
            owner=owner,
            run_id=run_id,
            row=_row_name(owner, run_id, window, base),
            key=key,
            values=values,
            tags=tags,
            digest=sha256(text.encode()).hexdigest()[:_DIGEST_DIGITS],
            base=base,
            committed_at=now.isoformat(timespec="microseconds"),
            expires_at=int((now + history).timestamp()),
            window=window,
        )

    @property
    def latest(self) -> Latest:
        """The state of the head once this commit is applied."""
        return Latest(
            run_id=self.run_id,
            version=self._base_version + 1,
            watermarks=decode(self.values, self.tags),
            source=self.owner.source,
            key=self.key,
            log=self.row,
            prev=self._prev.name,
            prev_version=self._prev.version,
            committed=self._committed,
            bounds=self._bounds,
            schemas=self._schemas,
        )

    def transaction(self, table: Table) -> list[TransactWriteItemTypeDef]:
        """Return the writes: the head and the run's row appear together or not at all."""
        # Without the digest a run that sends its last commit again would make one more version.
        is_another: requests.Condition = ("wmDigest <> :digest", {":digest": {"S": self.digest}})
        row: Item = {
            **self.owner.key(self.row),
            **self._common,
            "wmKind": {"S": "commit"},
            EXPIRES_AT: requests.number(self.expires_at),
        }
        if self._committed:
            row["wmCommitted"] = {"M": self._committed}
        if self.row != self.owner.run(self.run_id):
            row["wmRunId"] = {"S": self.run_id}
        # Columns leave the notes of the run the room that they have without a contract.
        plain = {name: value for name, value in row.items() if name != "wmSchemas"}
        row |= attribute(self.owner.job_id, self.run_id, plain)
        # The run's own last commit may be replaced while it is the head.
        replaces_own = requests.both(requests.version_is(self._base_version), is_another)
        put = requests.put_request(table, row, requests.either(requests.IS_NOT_OURS, replaces_own))
        writes: Any = [{"Update": self._head_update(table)}, {"Put": put}]
        return list(writes)

    def found_applied(self, rows: Sequence[Row | None]) -> Latest | None:
        """Return the state that an earlier send of this commit stored, if it arrived."""
        # The run's row first: it stays true when others have committed since.
        for row in reversed(rows):
            if row and (row.string("wmDigest") == self.digest or self._is_committed_in(row)):
                return row.latest()
        return None

    def refusal(self, rows: Sequence[Row | None]) -> WatermarkConflictError:
        """Return the error that these rows in the way mean."""
        head, run = rows
        proposed = decode(self.values, self.tags)
        wanted = f"{self.owner}: run {self.run_id!r} proposed {proposed}"
        if self.window is not None and head is not None and not self._holds_window(head):
            return self._superseded(self.window, wanted, head, proposed)
        if run is not None:
            stored = run.latest()
            return RunConflictError(
                f"{wanted}, but this run already committed version {stored.version}, "
                f"{stored.watermarks}, and that is not the version it read: nothing was written; "
                "use a new run id for a new commit",
                stored,
                proposed,
            )
        if head is None:
            return WatermarkConflictError(
                f"{wanted} from version {self._base_version}, but the table holds no watermark; "
                "find out what deleted the head row, then adopt the last good run",
                None,
                proposed,
            )
        stored = head.latest()
        return WatermarkConflictError(
            f"{wanted} from version {self._base_version}, but the table holds version "
            f"{stored.version}, {stored.watermarks}, advanced by {stored.log!r} meanwhile: "
            "nothing was written; let this run fail and start a new one, which reads from there",
            stored,
            proposed,
        )

    def rebased(self, rows: Sequence[Row | None]) -> Commit | None:
        """Return the same commit on top of the head that was found, if that is right as well.

        It is when the window is still ours: then only watermarks of other cursors have moved. It
        is when there were no watermarks and, after a rewind to the beginning, there are none again.

        Where the run's own row is part of the history already, a window is recorded in a second
        row; and so it is looked for there before it is given up.
        """
        head, window = rows[0], self.window
        if head and self.base is None and head.is_ours and not head.has_watermarks:
            base = head.latest()
            return self._from_base(base) if base.version else None
        if window and head and self._holds_window(head):
            moved = head.latest()
            at_low = entry_of(moved.watermarks, window.cursor)
            is_at_low = at_low is None or (window.low is not None and is_same(at_low, window.low))
            held = self.base.schemas if self.base else {}
            is_at_low &= all(moved.schemas.get(name) == held.get(name) for name in self.schemas)
            if is_at_low and moved.version != self._base_version:
                return self._from_base(moved)
        if window and self.row == self.owner.run(self.run_id):
            return replace(self, row=f"{self.row}#{window.window_id}")
        return None

    def _from_base(self, base: Latest) -> Commit:
        if self.window is None:
            return replace(self, base=base)
        state = {**base.watermarks, self.window.cursor: self.window.high}
        values, tags = encode(state, self.key)
        return replace(self, values=values, tags=tags, base=base)

    def _holds_window(self, head: Row) -> bool:
        if self.window is None:
            return False
        attribute = head.map("wmWindows").get(self.window.cursor)
        return attribute is not None and OpenWindow.from_attribute(attribute) == self.window

    def _is_committed_in(self, row: Row) -> bool:
        """Return whether a row records this very window, although maybe not as its last one."""
        if self.window is None:
            return False
        stored = row.map("wmCommitted").get(self.window.window_id)
        return stored is not None and OpenWindow.from_attribute(stored) == self.window.committed

    @property
    def _is_own_row(self) -> bool:
        return self.base is not None and self.base.log == self.row

    @cached_property
    def _committed(self) -> Item:
        """The windows that the run has committed, this one included, by id."""
        before = self.base.committed if self.base and self._is_own_row else {}
        if self.window is None:
            return before
        return {**before, self.window.window_id: self.window.committed.to_attribute()}

    @property
    def _base_version(self) -> int:
        return self.base.version if self.base else 0

    @property
    def _prev(self) -> Pointer:
        if self.base is None:
            return NOWHERE
        if self._is_own_row:
            return Pointer(self.base.prev, self.base.prev_version)
        return Pointer(self.base.log, self.base.version)

    @cached_property
    def _bounds(self) -> dict[str, str]:
        bounds = self.base.bounds if self.base else {}
        return {**bounds, self.window.cursor: self.window.kept_bounds} if self.window else bounds

    @cached_property
    def _schemas(self) -> dict[str, TargetSchema]:
        after = {**(self.base.schemas if self.base else {}), **self.schemas}
        return {target: held for target, held in after.items() if held}

    @property
    def _common(self) -> dict[str, Attribute]:
        common = {
            self.key: self.values,
            "wmTypes": self.tags,
            "wmVersion": requests.number(self._base_version + 1),
            "wmPrev": {"S": self._prev.name},
            "wmDigest": {"S": self.digest},
            "wmAt": {"S": self.committed_at},
        }
        if self._prev.name:
            common["wmPrevVersion"] = requests.number(self._prev.version)
        if self._bounds:
            common["wmBounds"] = {"M": {cursor: {"S": e} for cursor, e in self._bounds.items()}}
        if self._schemas:
            texts: Item = {target: {"S": held.text} for target, held in self._schemas.items()}
            common["wmSchemas"] = {"M": texts}
        return common

    def _head_update(self, table: Table) -> dict[str, Any]:
        condition: requests.Condition = requests.version_is(self._base_version)
        if not self._base_version:
            condition = requests.either(requests.IS_ABSENT, condition)
        sets: dict[Any, Attribute] = {
            **self._common,
            "wmRunId": {"S": self.run_id},
            "wmLog": {"S": self.row},
            "wmCommitted": {"M": self._committed},
        }
        removes: list[Any] = []
        # A head's constant attributes are written with its first commit.
        if not self._base_version:
            sets |= {"wmKind": {"S": "head"}, "wmRegion": {"S": table.region}}
        names: dict[str, str] = {}
        if self.window:
            # As it was opened: a window with an end of another's making moves nothing.
            ours: requests.Condition = (
                "wmWindows.#cursor.attempt = :attempt"
                " AND begins_with(wmWindows.#cursor.#window, :window)",
                {
                    ":attempt": requests.number(self.window.attempt),
                    ":window": {"S": self.window.string_without_token},
                },
            )
            condition = requests.both(condition, ours)
            names |= {"#cursor": self.window.cursor, "#window": "window"}
            removes.append(("wmWindows", self.window.cursor))
        if self.base and self.base.key != self.key and self.base.watermarks:
            removes.append(self.base.key)
        if self.base and self.base.schemas and not self._schemas:
            removes.append("wmSchemas")
        if self.base and self.base.refused:
            removes.append("wmRefused")
        key = self.owner.key(self.owner.head)
        request = requests.update_request(table, key, sets, condition, removes=removes)
        # The name of the caller's key is there already.
        request["ExpressionAttributeNames"] |= names
        return request

    def _superseded(
        self, window: OpenWindow, wanted: str, head: Row, proposed: dict[str, Any]
    ) -> WatermarkConflictError:
        stored, attribute = head.latest(), head.map("wmWindows").get(window.cursor)
        if attribute is not None:
            opened = OpenWindow.from_attribute(attribute)
            if (opened.window_id, opened.attempt) == (window.window_id, window.attempt):
                return WatermarkConflictError(
                    f"{wanted} for window {window.window_id} from {window.low!r} to "
                    f"{window.high!r}, which was opened from {opened.low!r} to {opened.high!r}: "
                    "nothing was written; commit the window unchanged, and give another "
                    "end as high= when you open it",
                    stored,
                    proposed,
                )
            by = f"run {opened.run_id!r} took the window over"
        else:
            by = f"{stored.log!r} committed or discarded the window"
        return WatermarkSupersededError(
            f"{wanted} for window {window.window_id}, attempt {window.attempt}, but {by}: nothing "
            "was written, and the data this run wrote does not count; stop this run",
            stored,
            proposed,
        )


def check_item(item: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return job id, run id and the key of the values of a watermark item; refuse another form."""
    keys = [name for name in item if name not in {"jobName", "runId"}]
    is_whole = "jobName" in item and "runId" in item and len(keys) == 1
    if not is_whole or not isinstance(item[keys[0]], Mapping):
        raise ValueError(
            f"the watermark item has the attributes {sorted(item)}: it has jobName, runId and "
            "one dict of values; create it with create_watermark_item"
        )
    if not is_payload(keys[0]):
        raise ValueError(
            f"the watermark key is {keys[0]!r}: names that start with 'wm', and expiresAt, "
            "belong to the library; use another one, such as 'watermarks'"
        )
    check_job(item["jobName"])
    check_run_id(item["runId"])
    return item["jobName"], item["runId"], keys[0]


def _row_name(owner: Owner, run_id: str, window: OpenWindow | None, base: Latest | None) -> str:
    """Return the sort key of the row that records a commit: the run's own, as long as that fits."""
    own = owner.run(run_id)
    if window is None or base is None:
        return own
    is_full = base.log == own and len(base.committed) >= _WINDOWS_IN_A_ROW
    has_second = base.log.startswith(f"{own}#")
    return f"{own}#{window.window_id}" if is_full or has_second else own
