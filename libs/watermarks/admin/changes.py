"""Rewind and adopt: the two transactions that set the watermarks of a job by hand, and say why.

Both write the head and a row `~AUDIT#<version>` that names the actor and the reason. A rewind
counts as one more version and takes the open windows away, so that every run in flight is stale.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal

from watermarks.errors import WatermarkConflictError, WatermarkNotFoundError
from watermarks.table.latest import Attribute, Item, Latest
from watermarks.table.requests import IS_ABSENT, IS_NOT_OURS, number, put_request, update_request
from watermarks.table.schema import NOWHERE, Owner, Pointer, Row, Table
from watermarks.table.values import Value, encode

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

_NEVER_COMMITTED = 1000
_FORGOTTEN = {"wmTypes", "wmRunId", "wmWindows", "wmCommitted", "wmSchemas", "wmRefused"}


@dataclass(frozen=True)
class ManualChange:
    """One rewind or adoption.

    Attributes:
        kind: the kind of change.
        owner: the job or the source.
        target: the row whose watermarks are to hold; None for no watermarks at all.
        base: the watermarks that are replaced; None without a head.
        head: the head row as it was read, even if it is corrupt; None if it is missing.
        at: when: for people, and for runs that rely on the clock.
        epoch: the number from which the head counts windows; None continues its count.
        windows: open windows that are to hold again, as the head had them; none if empty.
    """

    kind: Literal["rewind", "adopt", "accept"]
    owner: Owner
    target: Row | None
    base: Latest | None
    head: Row | None
    actor: str
    reason: str
    at: datetime
    epoch: int | None = None
    windows: Mapping[str, Attribute] = field(default_factory=dict)

    @property
    def latest(self) -> Latest:
        """The state of the head once this is applied."""
        log: Item = {"wmLog": {"S": self._audit_name}}
        return Row({**self.owner.key(self.owner.head), **self._state, **log}).latest()

    def is_last_change(self, table: Table) -> bool:
        """Return whether an earlier send of this same change has written the head."""
        head = self.head or Row({})
        is_last = head.string("wmDigest") == self.digest and self.epoch is None
        is_here = head.string("wmRegion") == table.region
        return is_last and is_here and not head.map("wmWindows")

    def transaction(self, table: Table) -> list[TransactWriteItemTypeDef]:
        """Return the writes: the head and the audit row appear together or not at all."""
        audit: Item = {
            **self.owner.key(self._audit_name),
            **self._state,
            "wmKind": {"S": self.kind},
            "wmActor": {"S": self.actor},
            "wmReason": {"S": self.reason},
            "wmToRunId": {"S": self._to_run},
            "wmToLog": {"S": self._target.name},
            "wmToVersion": number(self._target.version),
        }
        if self.head and self.base and self.base.watermarks:
            audit |= {
                "wmFromRunId": {"S": self.base.run_id},
                "wmBefore": self.head.item[self.base.key],
            }
        put = put_request(table, audit, IS_ABSENT)
        writes: Any = [{"Update": self._head_update(table)}, {"Put": put}]
        return list(writes)

    def found_applied(self, rows: Sequence[Row | None]) -> Latest | None:
        """Return the state that an earlier send stored, if it arrived."""
        row = rows[1] if rows else None
        if not row or row.string("wmDigest") != self.digest:
            return None
        return Row({**row.item, "wmLog": {"S": row.name}}).latest()

    def rebased(self, _: Sequence[Row | None]) -> None:
        """Return None: no one has decided to set back another state than the one that was read."""

    def refusal(self, rows: Sequence[Row | None]) -> WatermarkConflictError:
        """Return the error that the rows in the way mean."""
        stored = rows[0].latest() if rows[0] else None
        if self.kind == "adopt":
            problem = "the job has a head row, which holds its watermarks"
            remedy = "adopt is for jobs without one; rewind to the run instead"
        else:
            problem = "other runs moved the watermarks again and again"
            remedy = "stop the job's runs, then try again"
        return WatermarkConflictError(
            f"{self.owner}: {self.kind} to {self._to_run or 'the beginning'}: {problem} "
            f"({stored}): nothing was written; {remedy}",
            stored,
            self.target.latest().watermarks if self.target else {},
        )

    @property
    def digest(self) -> str:
        """The id of this change; the head holds it afterwards."""
        facts = [self.kind, self.owner.job_id, self._to_run, self.actor, self.reason]
        return sha256(json.dumps(facts).encode()).hexdigest()

    @property
    def _version(self) -> int:
        return (self.base.version if self.base else 0) + 1

    @property
    def _audit_name(self) -> str:
        return self.owner.audit(self._version)

    @property
    def _to_run(self) -> str:
        return self.target.run_id if self.target else ""

    @property
    def _target(self) -> Pointer:
        return Pointer(self.target.name, self.target.version) if self.target else NOWHERE

    @property
    def _state(self) -> Item:
        # The watermarks before an adoption are the adopted ones.
        prev = Pointer(self.base.log, self.base.version) if self.base else self._target
        state: Item = {
            "wmVersion": number(self._version),
            "wmPrev": {"S": prev.name},
            "wmPrevVersion": number(prev.version),
            "wmDigest": {"S": self.digest},
            "wmAt": {"S": self.at.isoformat(timespec="microseconds")},
        }
        if self.target:
            key = self.target.latest().key
            state |= {key: self.target.item[key], "wmRunId": {"S": self._to_run}}
            for name in ("wmTypes", "wmBounds", "wmSchemas"):
                if name in self.target.item:
                    state[name] = self.target.item[name]
        return state

    def _head_update(self, table: Table) -> dict[str, Any]:
        head = self.head or Row({})
        sets: dict[Any, Attribute] = {
            **self._state,
            "wmKind": {"S": "head"},
            "wmLog": {"S": self._audit_name},
            "wmRegion": {"S": table.region},
        }
        if self.windows:
            sets["wmWindows"] = {"M": self.windows}
        forgotten = {*head.payload_names, *_FORGOTTEN} - set(sets)
        if self.epoch is not None:  # the head cannot be relied on
            forgotten |= {"wmBounds", "wmSeen"} - set(sets)
            sets["wmEpoch"] = number(self.epoch)
        condition = IS_NOT_OURS
        if "wmVersion" in head.item:
            condition = ("wmVersion = :version_is", {":version_is": head.item["wmVersion"]})
        return update_request(
            table,
            self.owner.key(self.owner.head),
            sets,
            condition,
            removes=sorted(map(str, forgotten)),
            # Counted on the current head: opening a window moves the epoch but not the version.
            counts=["wmEpoch"] if self.epoch is None else [],
        )


def newest_of(owner: Owner, rows: Mapping[str, Row]) -> Latest:
    """Return the last version by the rows of a job or a source other than its head."""
    own = _own_rows(owner, rows)
    if not own:
        return Latest("", 0, {}, source=owner.source)
    newest = max(own, key=lambda row: row.version)
    return Latest("", newest.version, {}, source=owner.source, log=newest.name)


def epoch_after(owner: Owner, rows: Mapping[str, Row]) -> int:
    """Return an epoch that no window of a job has had, although its head is lost."""
    windows = [w for row in _own_rows(owner, rows) for w in row.map("wmCommitted").values()]
    # Attempts that were never committed are known nowhere: far fewer than this, and less matters.
    return max((int(w["M"]["attempt"]["N"]) for w in windows), default=0) + _NEVER_COMMITTED


def converted(target: Row, as_type: Mapping[str, Callable[[Any], Value]]) -> Row:
    """Return a row whose watermarks of some names are what functions make of them."""
    latest = target.latest()
    watermarks = dict(latest.watermarks)
    for name, convert in as_type.items():
        if name not in watermarks:
            raise WatermarkNotFoundError(
                f"as_type has {name!r}, and run {target.run_id!r} of {target.owner} has the "
                f"watermarks {watermarks}: give one of these names"
            )
        watermarks[name] = convert(watermarks[name])
    values, tags = encode(watermarks, latest.key)
    return Row({**target.item, latest.key: values, "wmTypes": tags})


def _own_rows(owner: Owner, rows: Mapping[str, Row]) -> list[Row]:
    kinds = {"", "commit", "rewind", "adopt", "accept"}
    return [row for row in rows.values() if row.owner == owner and row.string("wmKind") in kinds]
