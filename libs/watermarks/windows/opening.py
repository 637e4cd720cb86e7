"""Opening a window: the one conditional write that comes before anything is read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from watermarks.table.heads import check_clock
from watermarks.table.requests import (
    IS_NOT_OURS,
    both,
    epoch_is,
    number,
    update_request,
    version_is,
)
from watermarks.table.schema import Latest, Owner, Row, Table
from watermarks.table.values import Attribute

from .cursors import behind, entry_of, is_same
from .ranges import Seen, choose_range
from .request import WindowRequest
from .window import OpenWindow, Window

_ID_DIGITS = 10


@dataclass(frozen=True)
class Head:
    """The head row of a job or a source as opening a window needs it.

    Attributes:
        owner: whose it is.
        row: the row, None if there is none.
        base: the watermarks; None if there are none yet.
        legacy: the only row of the v1 class, with which a new head begins; or None.
        epoch: how many windows were opened or taken over so far.
        windows: the open windows by cursor.
    """

    owner: Owner
    row: Row | None
    base: Latest | None
    legacy: Row | None
    epoch: int
    windows: Mapping[str, OpenWindow]

    @classmethod
    def of(cls, owner: Owner, row: Row | None) -> Head:
        """Return the head that a row holds, or that a row of the v1 class will make."""
        head = row if row and row.is_head else None
        windows = head.map("wmWindows") if head else {}
        return cls(
            owner=owner,
            row=head,
            base=row.latest() if row else None,
            legacy=None if head else row,
            epoch=head.number("wmEpoch") if head else 0,
            windows={cursor: OpenWindow.from_attribute(w) for cursor, w in windows.items()},
        )


@dataclass(frozen=True)
class Opening:
    """What is about to be written: a window that is opened or taken over, or a bound to remember.

    Attributes:
        request: what the run asks for.
        head: the head as it was read.
        opened: the window; None if there is nothing to read.
        seen: the bound to remember, if any.
        is_recovered: whether the window was open before.
        is_last: whether it ends at the bound.
    """

    request: WindowRequest
    head: Head
    opened: OpenWindow | None
    seen: Seen | None = None
    is_recovered: bool = False
    is_last: bool = True

    def __post_init__(self) -> None:
        _ = self.window  # refuses a lookback to before the beginning of time

    @property
    def window(self) -> Window:
        """The window as the run holds it once the write is applied; empty if there is none."""
        request, base = self.request, self.head.base
        low = entry_of(base.watermarks, request.cursor) if base else None
        window = Window(
            job_id=request.job_id,
            run_id=request.run_id,
            cursor=request.cursor,
            window_id="",
            attempt=0,
            low=request.initial if low is None else low,
            high=None,
            bounds=request.bounds,
            nulls=request.nulls,
            source=request.source,
            base=base,
        )
        if self.opened is None:
            return window
        opened, read_low = self.opened, self.opened.low
        if request.lookback is not None and opened.low is not None and opened.bounds != "[]":
            read_low = behind(opened.low, request.lookback, "lookback")
        return replace(
            window,
            window_id=opened.window_id,
            attempt=opened.attempt,
            low=opened.low,
            high=opened.high,
            bounds=opened.bounds,
            read_low=read_low,
            is_recovered=self.is_recovered,
        )

    def update(self, table: Table) -> dict[str, Any]:
        """Return the write; it fails unless the head is still what was read."""
        head, cursor = self.head, self.request.cursor
        sets: dict[Any, Attribute] = {}
        if head.row is None:
            condition = both(IS_NOT_OURS, epoch_is(0))
            sets |= self._new_head(table)
        else:
            condition = both(version_is(head.row.version), epoch_is(head.epoch))
        entries: list[tuple[str, Attribute]] = []
        if self.opened is not None:
            sets["wmEpoch"] = number(self.opened.attempt)
            entries.append(("wmWindows", self.opened.to_attribute()))
        if self.seen is not None:
            entries.append(("wmSeen", self.seen.to_attribute()))
        for name, value in entries:
            if head.row is not None and name in head.row.item:
                sets[name, cursor] = value
            else:
                sets[name] = {"M": {cursor: value}}
        return update_request(table, head.owner.key(head.owner.head), sets, condition)

    def is_applied_in(self, row: Row) -> bool:
        """Return whether an earlier send of this very write got through."""
        if self.opened is None:
            seen = row.map("wmSeen").get(self.request.cursor)
            return self.seen is not None and seen == self.seen.to_attribute()
        found = row.map("wmWindows").get(self.request.cursor)
        return found is not None and OpenWindow.from_attribute(found).token == self.opened.token

    def _new_head(self, table: Table) -> dict[Any, Attribute]:
        """Return a head of version 0, which holds the watermarks of the v1 class, if any."""
        sets: dict[Any, Attribute] = {
            "wmVersion": number(0),
            "wmKind": {"S": "head"},
            "wmRegion": {"S": table.region},
        }
        legacy, base = self.head.legacy, self.head.base
        if legacy is not None and base is not None:
            sets |= {base.key: legacy.item[base.key]}
            sets |= {"wmRunId": {"S": base.run_id}, "wmLog": {"S": base.log}}
        return sets


def plan_opening(request: WindowRequest, head: Head) -> Opening:
    """Return what to write: a take-over if the cursor has an open window, else what is new.

    An open window that does not begin at the watermark is not taken over: `advance` or
    `add_watermark` has moved the watermark since, and the window would move it back or read twice.

    Raises:
        WatermarkConflictError: the clock is behind that of an earlier run.
        WatermarkValueError: a bound or a distance cannot be used.
    """
    attempt, token = head.epoch + 1, os.urandom(8).hex()
    found = head.windows.get(request.cursor)
    stored = entry_of(head.base.watermarks, request.cursor) if head.base else None
    if found is not None and (
        stored is None or (found.low is not None and is_same(stored, found.low))
    ):
        taken = replace(found, attempt=attempt, run_id=request.run_id, token=token)
        request.check_distances(found.high)
        return Opening(request, head, taken, is_recovered=True, is_last=False)
    seen = head.row.map("wmSeen").get(request.cursor) if head.row else None
    chosen = choose_range(request, head.base, Seen.from_attribute(seen) if seen else None)
    if request.settle or chosen.is_held:
        check_clock(head.owner, head.row, request.aware_now())
    if chosen.high is None:
        return Opening(request, head, None, chosen.seen)
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
    return Opening(request, head, opened, chosen.seen, is_last=not chosen.is_cut)
