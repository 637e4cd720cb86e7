"""Rewinding several jobs and sources at once: all of them or none, in one transaction.

~HEAD of a   ~AUDIT of a   ~CURSOR#x of b   ~BY#x#~AUDIT of b   …
└────────────────────── one transaction ──────────────────────┘
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from watermarks.errors import WatermarkConflictError
from watermarks.table.latest import Attribute, Latest
from watermarks.table.schema import Row, Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

    from .changes import ManualChange

MAX_REWINDS = 50  # a transaction has at most 100 writes, and each rewind is two


@dataclass(frozen=True)
class Rewind:
    """One of several rewinds.

    Attributes:
        job_id: the job.
        to_run: the run whose watermarks are to hold; None for the beginning.
        version: the version of the head that it was decided on; another one refuses it.
        source: for a job with several sources: which one.
        windows: open windows that are to hold again, as `WatermarkAdmin.head_of` gives them.
    """

    job_id: str
    to_run: str | None
    version: int
    source: str = ""
    windows: Mapping[str, Attribute] = field(default_factory=dict)


@dataclass(frozen=True)
class Together:
    """The transaction of several changes."""

    changes: Sequence[ManualChange]

    @property
    def latest(self) -> Latest:
        """The state of the first head once this is applied."""
        return self.changes[0].latest

    def transaction(self, table: Table) -> list[TransactWriteItemTypeDef]:
        """Return the writes of all."""
        return [write for change in self.changes for write in change.transaction(table)]

    def found_applied(self, rows: Sequence[Row | None]) -> Latest | None:
        """Return the state that an earlier send stored, if it arrived."""
        pairs = [rows[at : at + 2] for at in range(0, len(rows), 2)]
        applied: list[Any] = [
            change.found_applied(pair) for change, pair in zip(self.changes, pairs, strict=False)
        ]
        is_all = len(applied) == len(self.changes) and all(applied)
        return applied[0] if is_all else None

    def rebased(self, _: Sequence[Row | None]) -> None:
        """Return None: no one has decided to set back another state than the one that was read."""

    def refusal(self, rows: Sequence[Row | None]) -> WatermarkConflictError:
        """Return the error that the rows in the way mean."""
        at = next((number for number, row in enumerate(rows) if row), 0) // 2
        return moved_since(str(self.changes[at].owner))


def moved_since(owner: str) -> WatermarkConflictError:
    """Return the error that a state is no longer the one that a rewind was decided on."""
    return WatermarkConflictError(
        f"{owner} has moved its watermarks since the rewind was planned: nothing was written; "
        "plan it again"
    )
