"""Opening a window: the one conditional write that comes before anything is read."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from .checks import check_clock
from .cursors import value_at
from .rows import HEAD, Latest, Row, Table, row_key
from .windows import OpenWindow, Window, WindowRequest, choose_range, held

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_dynamodb.type_defs import UpdateItemInputTypeDef

_HEAD_IS_ABSENT = "attribute_not_exists(wmVersion) AND attribute_not_exists(wmEpoch)"
_HEAD_IS_UNMOVED = "wmVersion = :version"
_NOBODY_OPENED_SINCE = "wmEpoch = :epoch"
_NOBODY_EVER_OPENED = "attribute_not_exists(wmEpoch)"
_ID_DIGITS = 10


@dataclass(frozen=True)
class Head:
    """The head row of a job as opening a window needs it.

    Attributes:
        row: the row, None if the job has none.
        base: the job's watermarks; None if there are none yet.
        legacy: the only row of the original class, to be copied into a new head; or None.
        epoch: how many windows were opened or taken over so far.
        windows: the open windows by cursor.
    """

    row: Row | None
    base: Latest | None
    legacy: Row | None
    epoch: int
    windows: Mapping[str, OpenWindow]

    @classmethod
    def of(cls, row: Row | None, base: Latest | None, legacy: Row | None) -> Head:
        """Return the head that a row holds."""
        found = row or {}
        windows = found.get("wmWindows", {}).get("M", {})
        return cls(
            row=row,
            base=base,
            legacy=legacy,
            epoch=int(found.get("wmEpoch", {"N": "0"})["N"]),
            windows={cursor: OpenWindow.from_attribute(w) for cursor, w in windows.items()},
        )


@dataclass(frozen=True)
class Opening:
    """A window about to be opened or taken over, given the head as it was read."""

    request: WindowRequest
    head: Head
    opened: OpenWindow
    is_recovered: bool

    @property
    def window(self) -> Window:
        """The window as the run holds it once the write is applied."""
        return held(self.request, self.opened, self.head.base, is_recovered=self.is_recovered)

    def update(self, table: Table) -> UpdateItemInputTypeDef:
        """Return the write; it fails unless the head is still what was read."""
        values: Row = {
            ":opened": {"N": str(self.opened.attempt)},
        }
        sets = ["wmEpoch = :opened"]
        names: dict[str, str] = {}
        if self.head.row is None:
            condition = _HEAD_IS_ABSENT
            sets += self._new_head(values, names, table)
        else:
            condition = f"{_HEAD_IS_UNMOVED} AND {self._unopened(values)}"
            values[":version"] = self.head.row["wmVersion"]
        sets.append(self._window(values, names))
        update: UpdateItemInputTypeDef = {
            "TableName": table.name,
            "Key": row_key(self.request.job_id, HEAD),
            "UpdateExpression": f"SET {', '.join(sets)}",
            "ConditionExpression": condition,
            "ExpressionAttributeValues": values,
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
        if names:
            update["ExpressionAttributeNames"] = names
        return update

    def is_applied_in(self, row: Row) -> bool:
        """Tell whether an earlier send of this very write got through."""
        found = row.get("wmWindows", {}).get("M", {}).get(self.request.cursor)
        return found is not None and OpenWindow.from_attribute(found).token == self.opened.token

    def _unopened(self, values: dict[str, Any]) -> str:
        if self.head.epoch == 0:
            return _NOBODY_EVER_OPENED
        values[":epoch"] = {"N": str(self.head.epoch)}
        return _NOBODY_OPENED_SINCE

    def _new_head(self, values: Row, names: dict[str, str], table: Table) -> list[str]:
        """Make a head of version 0, which holds the watermarks of the original class, if any."""
        values[":zero"] = {"N": "0"}
        values[":kind"] = {"S": "head"}
        values[":region"] = {"S": table.region}
        sets = ["wmVersion = :zero", "wmKind = :kind", "wmRegion = :region"]
        if self.head.legacy is not None and self.head.base is not None:
            names["#key"] = self.head.base.key
            values[":values"] = self.head.legacy[self.head.base.key]
            values[":adopted"] = {"S": self.head.base.run_id}
            sets += ["#key = :values", "wmRunId = :adopted", "wmLog = :adopted"]
        return sets

    def _window(self, values: Row, names: dict[str, str]) -> str:
        window = self.opened.to_attribute()
        if self.head.row is None or "wmWindows" not in self.head.row:
            values[":windows"] = {"M": {self.request.cursor: window}}
            return "wmWindows = :windows"
        names["#cursor"] = self.request.cursor
        values[":window"] = window
        return "wmWindows.#cursor = :window"


def plan_opening(request: WindowRequest, head: Head) -> Opening | None:
    """Return what to write: a take-over if the cursor has an open window, else a new window.

    An open window that does not begin at the watermark is not taken over: `advance` or
    `add_watermark` has moved the watermark since, and the window would move it back or read twice.

    Returns:
        None if there is nothing to read.

    Raises:
        WatermarkClockError: the clock is behind that of an earlier run.
        WatermarkValueError: a bound or a distance cannot be used.
    """
    attempt, token = head.epoch + 1, os.urandom(8).hex()
    found = head.windows.get(request.cursor)
    stored = value_at(head.base.watermarks, request.cursor) if head.base else None
    if found is not None and (stored is None or stored == found.low):
        taken = replace(found, attempt=attempt, run_id=request.run_id, token=token)
        return Opening(request, head, taken, is_recovered=True)
    if isinstance(request.settle, timedelta):
        check_clock(request.job_id, head.row, request.now())
    chosen = choose_range(request, head.base)
    if chosen is None:
        return None
    low, high, ends = chosen
    opened = OpenWindow(
        # The number sorts; the rest no window of another job, table or stage has.
        window_id=f"{attempt:0{_ID_DIGITS}d}-{token}",
        attempt=attempt,
        run_id=request.run_id,
        cursor=request.cursor,
        low=low,
        high=high,
        bounds=ends,
        token=token,
    )
    return Opening(request, head, opened, is_recovered=False)
