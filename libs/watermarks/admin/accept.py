"""Accepting columns that a contract has refused: one more version, and a row that says who and why.

A refused run leaves the columns that its target would have in the head. The next run starts from
them once they are accepted, and takes its open window over.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from watermarks.errors import WatermarkConflictError, WatermarkNotFoundError, WatermarkValueError
from watermarks.table.latest import Attribute, Item
from watermarks.table.requests import Condition, both, update_request, version_is
from watermarks.table.schema import NOWHERE, Owner, Pointer, Row, Table

from .changes import ManualChange

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

    from watermarks.table.schemas import RefusedSchema


@dataclass(frozen=True)
class Acceptance(ManualChange):
    """One acceptance; its target is the head with the accepted columns, None without watermarks.

    Attributes:
        schemas: the columns of all targets, as the head is to have them.
        refused: what was refused, as the head has it.
    """

    schemas: Attribute | None = None
    refused: str = ""

    @classmethod
    def of(
        cls, owner: Owner, head: Row, target: str, actor: str, reason: str, at: datetime
    ) -> Acceptance:
        """Return the acceptance of what the last run was refused; raise if nothing can be."""
        base, refused = head.latest(), _refused(owner, head, target)
        if refused.blocked:
            raise WatermarkValueError(
                f"{owner}: what run {refused.run_id!r} was refused for {refused.target} cannot be "
                f"accepted: {refused.blocked}; change the contract or its schema=, or the source"
            )
        schemas = {**base.schemas, refused.target: refused.accepted}
        return cls(
            "accept",
            owner,
            head if head.has_watermarks else None,
            base,
            head,
            actor,
            reason,
            at,
            schemas={"M": {name: {"S": held.text} for name, held in schemas.items()}},
            refused=head.string("wmRefused"),
        )

    def transaction(self, table: Table) -> list[TransactWriteItemTypeDef]:
        """Return the writes: the head and the audit row appear together or not at all."""
        update, put = super().transaction(table)
        put["Put"]["Item"] |= {"wmRefused": {"S": self.refused}}  # type: ignore[operator]
        return [update, put]

    def refusal(self, _: Sequence[Row | None]) -> WatermarkConflictError:
        """Return the error that the rows in the way mean."""
        return WatermarkConflictError(
            f"{self.owner}: a run has committed, or was refused something else, since the columns "
            "were read: nothing was written; look at what was refused last, and accept that",
            self.base,
        )

    @property
    def digest(self) -> str:
        """The id of this change; the head holds it afterwards."""
        facts = [super().digest, self.refused]
        return sha256(json.dumps(facts).encode()).hexdigest()

    @property
    def _target(self) -> Pointer:
        return NOWHERE  # the rows before it stay in force

    @property
    def _state(self) -> Item:
        return {**super()._state, "wmSchemas": self.schemas or {"M": {}}}

    def _head_update(self, table: Table) -> dict[str, Any]:
        sets = {**self._state, "wmLog": {"S": self._audit_name}}
        is_it: Condition = ("wmRefused = :refused", {":refused": {"S": self.refused}})
        condition = both(version_is(self.base.version if self.base else 0), is_it)
        # Open windows stay: the next run takes them over.
        key, forgotten = self.owner.key(self.owner.head), ["wmCommitted", "wmRefused"]
        return update_request(table, key, sets, condition, removes=forgotten)


def _refused(owner: Owner, head: Row, target: str) -> RefusedSchema:
    """Return what a head says was refused last; raise if that is of another target."""
    if (refused := head.refused) is None:
        raise WatermarkNotFoundError(
            f"{owner}: no contract has refused anything since its last commit, so there is nothing "
            "to accept; a writer of windows with schema= notes what it refuses, for each source="
        )
    if target and refused.target.rstrip("/") != target.rstrip("/"):
        raise WatermarkNotFoundError(
            f"{owner}: nothing of {target!r} was refused last, but columns of {refused.target!r}: "
            "name that target, or none"
        )
    return refused
