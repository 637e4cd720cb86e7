"""Opening a window: the one conditional write that comes before anything is read."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

from watermarks.table.heads import check_clock
from watermarks.table.latest import Attribute, Latest
from watermarks.table.requests import (
    IS_NOT_OURS,
    both,
    epoch_is,
    number,
    update_request,
    version_is,
)
from watermarks.table.schema import Row, Table

from .cursors import entry_of, is_same, value_before
from .held import with_refuse
from .ranges import Seen, choose_range
from .request import WindowRequest
from .window import OpenWindow, Window

_ID_DIGITS = 10


@dataclass(frozen=True)
class Opening:
    """The write of an open: a window that is opened or taken over, or a bound to remember.

    Attributes:
        request: the arguments of the run.
        row: the head as read; without one the only row of the v1 class; or None.
        base: the watermarks; None if there are none yet.
        opened: the window; None if there is nothing to read.
        seen: the bound to remember, if any.
        is_recovered: whether the window was open before.
        is_last: whether it ends at the bound.
    """

    request: WindowRequest
    row: Row | None
    base: Latest | None
    opened: OpenWindow | None
    seen: Seen | None = None
    is_recovered: bool = False
    is_last: bool = True

    def __post_init__(self) -> None:
        _ = self.window  # refuses a lookback to before year 1

    @property
    def window(self) -> Window:
        """The window as the run holds it once the write is applied; empty without one."""
        request, base = self.request, self.base
        low = entry_of(base.watermarks, request.cursor) if base else None
        window = Window(
            job_id=request.job_id,
            run_id=request.run_id,
            cursor=request.cursor,
            window_id="",
            attempt=0,
            low=request.initial if low is None else low,
            high=None,
            bounds=request.bounds or "(]",
            nulls=request.nulls,
            source=request.source,
            job_bookmark_option=request.job_bookmark_option,
            base=base,
        )
        if self.opened is None:
            return window
        opened, read_low = self.opened, self.opened.low
        if request.lookback is not None and opened.low is not None and opened.bounds != "[]":
            read_low = value_before(opened.low, request.lookback, "lookback")
        window = replace(
            window,
            window_id=opened.window_id,
            attempt=opened.attempt,
            low=opened.low,
            high=opened.high,
            bounds=opened.bounds,
            read_low=read_low,
            is_recovered=self.is_recovered,
        )
        return with_refuse(window, request.refuse)

    def update(self, table: Table) -> dict[str, Any]:
        """Return the write; it fails if the head has changed since it was read."""
        head, owner, cursor = _head(self.row), self.request.owner, self.request.cursor
        sets: dict[Any, Attribute] = {}
        if head is None:
            condition = both(IS_NOT_OURS, epoch_is(0))
            sets |= self._new_head(table)
        else:
            condition = both(version_is(head.version), epoch_is(head.number("wmEpoch")))
        entries: list[tuple[str, Attribute]] = []
        if self.opened is not None:
            sets["wmEpoch"] = number(self.opened.attempt)
            entries.append(("wmWindows", self.opened.to_attribute()))
        if self.seen is not None:
            entries.append(("wmSeen", self.seen.to_attribute()))
        for name, value in entries:
            if head is not None and name in head.item:
                sets[name, cursor] = value
            else:
                sets[name] = {"M": {cursor: value}}
        return update_request(table, owner.key(owner.head), sets, condition)

    def is_applied_in(self, row: Row) -> bool:
        """Return whether an earlier send of this very write got through."""
        if self.opened is None:
            seen = row.map("wmSeen").get(self.request.cursor)
            return self.seen is not None and seen == self.seen.to_attribute()
        stored = row.map("wmWindows").get(self.request.cursor)
        return stored is not None and OpenWindow.from_attribute(stored).token == self.opened.token

    def _new_head(self, table: Table) -> dict[Any, Attribute]:
        """Return a head of version 0, which holds the watermarks of the v1 class, if any."""
        sets: dict[Any, Attribute] = {
            "wmVersion": number(0),
            "wmKind": {"S": "head"},
            "wmRegion": {"S": table.region},
        }
        if self.row is not None and (base := self.base) is not None:
            sets |= {base.key: self.row.item[base.key]}
            sets |= {"wmRunId": {"S": base.run_id}, "wmLog": {"S": base.log}}
        return sets


def plan_opening(request: WindowRequest, row: Row | None) -> Opening:
    """Return the write: a take-over if the cursor has an open window, else the new rows.

    An open window that does not start at the watermark is not taken over: `advance` or
    `add_watermark` has moved the watermark since, and the window would move it back or read twice.
    """
    head, base = _head(row), row.latest() if row else None
    attempt, token = (head.number("wmEpoch") if head else 0) + 1, os.urandom(8).hex()
    stored = entry_of(base.watermarks, request.cursor) if base else None
    if attribute := head.map("wmWindows").get(request.cursor) if head else None:
        open_window = OpenWindow.from_attribute(attribute)
        if stored is None or (open_window.low is not None and is_same(stored, open_window.low)):
            taken = replace(open_window, attempt=attempt, run_id=request.run_id, token=token)
            request.check_distances(open_window.high)
            return Opening(request, row, base, taken, is_recovered=True, is_last=False)
    seen = head.map("wmSeen").get(request.cursor) if head else None
    chosen = choose_range(request, base, Seen.from_attribute(seen) if seen else None)
    if request.settle or chosen.is_held:
        check_clock(request.owner, head, request.aware_now())
    if chosen.high is None:
        return Opening(request, row, base, None, chosen.seen)
    opened = OpenWindow(
        # The number sorts; the rest no window of another job, table or stage has.
        window_id=f"{attempt:0{_ID_DIGITS}d}-{token}",
        attempt=attempt,
        run_id=request.run_id,
        cursor=request.cursor,
        low=chosen.low,
        high=chosen.high,
        bounds=chosen.ends,
        token=token,
    )
    return Opening(request, row, base, opened, chosen.seen, is_last=not chosen.is_cut)


def _head(row: Row | None) -> Row | None:
    return row if row and row.is_head else None
