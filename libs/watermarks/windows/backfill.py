"""Backfill: windows over a range that was given, apart from the incremental state of the job.

The range is cut into contiguous parts, and one row `~BACKFILL#<id>` keeps which of them are done:

    low ──── part 1 ────●──── part 2 ────●──── part 3 ────● high
             done                done            to do: a restart continues here
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from watermarks.errors import (
    AmbiguousWatermarkError,
    WatermarkNotFoundError,
    WatermarksError,
    WatermarkSupersededError,
    WatermarkValueError,
)
from watermarks.table.latest import Item, Latest
from watermarks.table.names import check_cursor, check_job, check_name, check_run_id
from watermarks.table.requests import IS_ABSENT, Condition, either, number, update_request
from watermarks.table.schema import EXPIRES_AT, HEAD, Owner, Row, Table
from watermarks.table.values import ARITHMETIC, decode, encode

from .cursors import Cursor, check_same_family, family, is_before
from .window import BOUNDS, Bounds, Window, check_looked_at, give_to_loop

if TYPE_CHECKING:
    from watermarks.table.client import TableClient

_ID = re.compile(r"[A-Za-z0-9._-]+")
_MAX_PARTS = 1000


@dataclass(frozen=True)
class Backfill:
    """The arguments of a backfill; see `Watermarks.backfill`."""

    job_id: str
    backfill_id: str
    cursor: str
    low: Cursor
    high: Cursor
    run_id: str
    parts: int
    bounds: Bounds

    def check(self) -> None:
        """Raise a ValueError for a parameter that is not allowed."""
        check_job(self.job_id)
        check_cursor(self.cursor)
        check_run_id(self.run_id)
        check_name("backfill_id", self.backfill_id)
        if not _ID.fullmatch(self.backfill_id):
            raise ValueError(
                f"backfill_id is {self.backfill_id!r}: output is named by it, so give letters, "
                "digits, '.', '_' and '-' only"
            )
        if self.bounds not in BOUNDS:
            raise ValueError(f"bounds is {self.bounds!r}: allowed are {', '.join(BOUNDS)}")
        if type(self.parts) is not int or not 1 <= self.parts <= _MAX_PARTS:
            raise ValueError(f"parts is {self.parts!r}: give an integer from 1 to {_MAX_PARTS}")
        for name, value in (("low", self.low), ("high", self.high)):
            if value is None:
                raise WatermarkValueError(
                    f"{name} is None: a backfill has two ends; to load everything again, rewind "
                    "the job with to_run=None"
                )
        check_same_family(self.low, self.high, self.cursor)
        if not is_before(self.low, self.high):
            raise WatermarkValueError(f"low is {self.low!r}, not before high {self.high!r}")
        split(self.low, self.high, self.parts)  # refuses what cannot be split

    def windows(self, attempt: int, token: str, base: Latest | None = None) -> dict[str, Window]:
        """Return the windows of all parts, by the number of the part; the token is the row's.

        Contracts start from the columns of `base`, the watermarks of the job.
        """
        edges = split(self.low, self.high, self.parts)
        return {
            str(part): Window(
                job_id=self.job_id,
                run_id=self.run_id,
                cursor=self.cursor,
                window_id=window_id(self.backfill_id, token, part),
                attempt=attempt,
                low=edges[part - 1],
                high=edges[part],
                bounds=self.bounds,
                read_low=edges[part - 1],
                is_recovered=attempt > 1,
                base=base,
            )
            for part in range(1, self.parts + 1)
        }

    def run(
        self, client: TableClient, now: datetime, history: timedelta, base: Latest | None
    ) -> Iterator[Window]:
        """Yield the windows that are not done yet, and note each as done when the loop is back."""
        row, held = client.update(self._start(client.table, now, history))
        if held is not None:
            raise self._is_another(held)
        begun = Row(row)
        attempt, done = begun.number("wmAttempt"), begun.map("wmDone")
        for part, window in self.windows(attempt, begun.string("wmToken"), base).items():
            if part in done:
                continue
            yield give_to_loop(window)
            check_looked_at(window, "backfill")
            # Unless a later attempt has started.
            done_now = {("wmDone", part): number(attempt)}
            is_ours: Condition = ("wmAttempt = :attempt", {":attempt": number(attempt)})
            _, later = client.update(update_request(client.table, self._key, done_now, is_ours))
            if later is not None:
                raise WatermarkSupersededError(
                    f"backfill {self.backfill_id!r} of job {self.job_id!r}: run "
                    f"{later.string('wmOwner')!r} continues it as a later attempt than {attempt}: "
                    f"part {part} is not marked as done, and what this run wrote for it does not "
                    "count; stop this run"
                )

    def _start(self, table: Table, now: datetime, history: timedelta) -> dict[str, Any]:
        """Return the write that starts a backfill, or continues it as the next attempt."""
        values, tags = encode({"low": self.low, "high": self.high}, "range")
        same = {
            "wmCursor": {"S": self.cursor},
            "wmRange": values,
            "wmTypes": tags,
            "wmParts": number(self.parts),
            "wmBounds": {"S": self.bounds},
        }
        is_same: Condition = (
            " AND ".join(f"{name} = :same_{name}" for name in same),
            {f":same_{name}": value for name, value in same.items()},
        )
        sets: dict[Any, Any] = {
            **same,
            "wmOwner": {"S": self.run_id},
            "wmAt": {"S": now.isoformat(timespec="microseconds")},
            "wmKind": {"S": "backfill"},
            EXPIRES_AT: number(int((now + history).timestamp())),
        }
        keeps: Item = {"wmDone": {"M": {}}, "wmToken": {"S": os.urandom(8).hex()}}
        condition = either(IS_ABSENT, is_same)
        request = update_request(
            table, self._key, sets, condition, counts=["wmAttempt"], keeps=keeps
        )
        return request | {"ReturnValues": "ALL_NEW"}

    def _is_another(self, row: Row) -> WatermarksError:
        stored = decode(row.item["wmRange"], row.item["wmTypes"])
        return WatermarksError(
            f"the backfill {self.backfill_id!r} of job {self.job_id!r} is "
            f"{row.string('wmCursor')!r} from {stored['low']!r} to {stored['high']!r} "
            f"{row.string('wmBounds')} in {row.number('wmParts')} parts, and now the call asks for "
            f"{self.cursor!r} from {self.low!r} to {self.high!r} {self.bounds} in {self.parts}: "
            "give the same again to continue it, or another backfill_id for another backfill"
        )

    @property
    def _key(self) -> dict[str, Any]:
        return Owner(self.job_id).key(_row_name(self.backfill_id))


def base_of_backfill(client: TableClient, owner: Owner) -> Latest | None:
    """Return the watermarks of a job; refuse one with rows of the v1 class and no head."""
    if head := client.head(owner):
        return head.latest()
    if not client.rows(owner, "\x01", "~", limit=1):
        return None
    raise AmbiguousWatermarkError(
        f"{owner} has rows of the v1 class in table {client.table.name!r} and no {HEAD} row, and "
        "the row of a backfill would be in the way of its readers: call "
        "WatermarkAdmin.adopt(job, run, reason=..., actor=...) first"
    )


def backfilled_windows(client: TableClient, job_id: str, backfill_id: str) -> list[tuple[str, int]]:
    """Return the result of `Watermarks.backfilled_windows`."""
    check_job(job_id)
    check_name("backfill_id", backfill_id)
    row = client.row(Owner(job_id), _row_name(backfill_id))
    if row is None:
        raise WatermarkNotFoundError(
            f"there is no backfill {backfill_id!r} of job {job_id!r} in table "
            f"{client.table.name!r}: it never started, or its row has expired; check the "
            "id, and keep rows longer with Watermarks(..., history_days=...)"
        )
    done = sorted((int(part), int(at["N"])) for part, at in row.map("wmDone").items())
    token = row.string("wmToken")
    return [(window_id(backfill_id, token, part), attempt) for part, attempt in done]


def window_id(backfill_id: str, token: str, part: int) -> str:
    """Return the id of a part, which no part of another job, table or stage has."""
    return f"backfill-{backfill_id}-{token}-{part}"


def split(low: Any, high: Any, parts: int) -> list[Any]:
    """Return the edges of the equal parts of a range, from low to high; refuse too many parts."""
    edges = [low, *(_between(low, high, part, parts) for part in range(1, parts)), high]
    if not all(is_before(left, right) for left, right in pairwise(edges)):
        raise WatermarkValueError(
            f"parts is {parts}: the range from {low!r} to {high!r} has fewer values; give less"
        )
    return edges


def _row_name(backfill_id: str) -> str:
    return f"~BACKFILL#{backfill_id}"


def _between(low: Any, high: Any, part: int, parts: int) -> Any:
    match low:
        case datetime() if low.utcoffset() is not None:
            # In UTC, where no hour is missing and none is repeated.
            start = low.astimezone(UTC)
            return (start + (high - start) * part // parts).astimezone(low.tzinfo)
        case datetime():
            return low + (high - low) * part // parts
        case date():
            return low + timedelta(days=(high - low).days * part // parts)
        case int() if isinstance(high, int):
            return low + (high - low) * part // parts
        case int() | Decimal():
            whole = ARITHMETIC.subtract(Decimal(high), Decimal(low))
            share = ARITHMETIC.divide(ARITHMETIC.multiply(whole, Decimal(part)), Decimal(parts))
            return ARITHMETIC.add(Decimal(low), share)
    raise WatermarkValueError(
        f"parts is {parts} for the {family(low)} {low!r}: strings cannot be split; use parts=1 or "
        "one backfill for each range"
    )
