"""Backfill: windows over a range that was given, apart from the incremental state of the job.

The range is cut into contiguous parts, and one row `~BACKFILL#<id>` keeps which of them are done:

    low ──── part 1 ────●──── part 2 ────●──── part 3 ────● high
             done                done            to do: a restart begins here
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Context, Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from .cursors import check_same_family, family, is_before
from .errors import WatermarksError, WatermarkValueError
from .rows import Row, Table, check_name, check_run_id, row_key
from .values import decode, encode
from .windows import BOUNDS, Bounds, Window

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import UpdateItemInputTypeDef

    from .cursors import Cursor

_ID = re.compile(r"[A-Za-z0-9._-]+")
_MAX_PARTS = 1000
_NUMBERS = Context(prec=38)
_NEW_OR_THE_SAME = (
    "attribute_not_exists(runId) OR (wmCursor = :cursor AND wmRange = :range AND "
    "wmTypes = :types AND wmParts = :parts AND wmBounds = :bounds AND attribute_exists(wmToken))"
)
_ATTEMPT_IS_OURS = "wmAttempt = :attempt"


@dataclass(frozen=True)
class Backfill:
    """What a backfill is asked for; see `Watermarks.backfill`."""

    job_id: str
    backfill_id: str
    cursor: str
    low: Cursor
    high: Cursor
    run_id: str
    parts: int
    bounds: Bounds

    def check(self) -> None:
        """Raise a ValueError for a parameter that is not what is allowed."""
        check_name("job_id", self.job_id)
        check_name("cursor", self.cursor)
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
            raise ValueError(f"parts is {self.parts!r}: give a whole number from 1 to {_MAX_PARTS}")
        for name, value in (("low", self.low), ("high", self.high)):
            if value is None:
                raise WatermarkValueError(
                    f"{name} is None: a backfill has two ends; to load everything anew, rewind "
                    "the job with to_run=None"
                )
        check_same_family(self.low, self.high, self.cursor)
        if not is_before(self.low, self.high):
            raise WatermarkValueError(f"low is {self.low!r}, not before high {self.high!r}")

    def windows(self, attempt: int, token: str = "") -> dict[str, Window]:
        """Return the windows of all parts, by the number of the part.

        Args:
            attempt: the number of this try.
            token: what the row of the backfill has that no other has.
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
            )
            for part in range(1, self.parts + 1)
        }

    def start(self, table: Table, now: datetime, expires_at: int) -> UpdateItemInputTypeDef:
        """Return the write that begins a backfill, or goes on with it as the next attempt."""
        values, tags = encode({"low": self.low, "high": self.high}, "range")
        given: Row = {
            ":cursor": {"S": self.cursor},
            ":range": values,
            ":types": tags,
            ":parts": {"N": str(self.parts)},
            ":bounds": {"S": self.bounds},
            ":run": {"S": self.run_id},
            ":at": {"S": now.isoformat(timespec="microseconds")},
            ":expires": {"N": str(expires_at)},
            ":kind": {"S": "backfill"},
            ":none": {"M": {}},
            ":zero": {"N": "0"},
            ":one": {"N": "1"},
            ":token": {"S": os.urandom(8).hex()},
        }
        return {
            "TableName": table.name,
            "Key": self._key,
            "UpdateExpression": (
                "SET wmCursor = :cursor, wmRange = :range, wmTypes = :types, wmParts = :parts, "
                "wmBounds = :bounds, wmOwner = :run, wmAt = :at, expiresAt = :expires, "
                "wmKind = :kind, wmDone = if_not_exists(wmDone, :none), "
                "wmToken = if_not_exists(wmToken, :token), "
                "wmAttempt = if_not_exists(wmAttempt, :zero) + :one"
            ),
            "ConditionExpression": _NEW_OR_THE_SAME,
            "ExpressionAttributeValues": given,
            "ReturnValues": "ALL_NEW",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }

    def finish(self, table: Table, part: str, attempt: int) -> UpdateItemInputTypeDef:
        """Return the write that marks a part as done by an attempt, unless a later one began."""
        return {
            "TableName": table.name,
            "Key": self._key,
            "UpdateExpression": "SET wmDone.#part = :attempt",
            "ConditionExpression": _ATTEMPT_IS_OURS,
            "ExpressionAttributeNames": {"#part": part},
            "ExpressionAttributeValues": {":attempt": {"N": str(attempt)}},
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }

    def is_another(self, row: Row) -> WatermarksError:
        """Return the error that the row of this id holds another backfill."""
        if "wmToken" not in row:
            return WatermarksError(
                f"the backfill {self.backfill_id!r} of job {self.job_id!r} was begun by an earlier "
                "version of this library, which named its windows otherwise: finish it with that "
                "version, or give another backfill_id"
            )
        stored = decode(row["wmRange"], row["wmTypes"])
        return WatermarksError(
            f"the backfill {self.backfill_id!r} of job {self.job_id!r} is {row['wmCursor']['S']!r} "
            f"from {stored['low']!r} to {stored['high']!r} {row['wmBounds']['S']} in "
            f"{row['wmParts']['N']} parts, and now it is asked for {self.cursor!r} from "
            f"{self.low!r} to {self.high!r} {self.bounds} in {self.parts}: give the same again to "
            "go on with it, or another backfill_id for another backfill"
        )

    @property
    def _key(self) -> Row:
        return row_key(self.job_id, f"~BACKFILL#{self.backfill_id}")


def window_id(backfill_id: str, token: str, part: int | str) -> str:
    """Return the id of a part, which no part of another job, table or stage has."""
    return "-".join(filter(None, ("backfill", backfill_id, token, str(part))))


def token_of(row: Row) -> str:
    """Return what the row of a backfill has that no other has; empty for an earlier version's."""
    return str(row.get("wmToken", {"S": ""})["S"])


def done_parts(row: Row) -> dict[str, int]:
    """Return the attempt that finished each part that is done, by the number of the part."""
    return {part: int(attempt["N"]) for part, attempt in row["wmDone"]["M"].items()}


def split(low: Any, high: Any, parts: int) -> list[Any]:
    """Return the edges of the equal parts of a range, from low to high.

    Raises:
        WatermarkValueError: the values cannot be split, or not into so many parts.
    """
    edges = [low, *(_between(low, high, part, parts) for part in range(1, parts)), high]
    if not all(is_before(left, right) for left, right in pairwise(edges)):
        raise WatermarkValueError(
            f"parts is {parts}: the range from {low!r} to {high!r} has fewer values; give less"
        )
    return edges


def _between(low: Any, high: Any, part: int, parts: int) -> Any:
    match low:
        case datetime() if low.utcoffset() is not None:
            # In UTC, where no hour is missing and none comes twice.
            start = low.astimezone(UTC)
            return (start + (high - start) * part // parts).astimezone(low.tzinfo)
        case datetime():
            return low + (high - low) * part // parts
        case date():
            return low + timedelta(days=(high - low).days * part // parts)
        case int() if isinstance(high, int):
            return low + (high - low) * part // parts
        case int() | Decimal():
            whole = _NUMBERS.subtract(Decimal(high), Decimal(low))
            share = _NUMBERS.divide(_NUMBERS.multiply(whole, Decimal(part)), Decimal(parts))
            return _NUMBERS.add(Decimal(low), share)
    raise WatermarkValueError(
        f"parts is {parts} for the {family(low)} {low!r}: text cannot be split; give parts=1, or "
        "one backfill for each range"
    )
