"""Ranges of days or of numbers, as integers: from the first one to before the last one.

days      2013-01-01 … 2013-01-03    low = ordinal of 2013-01-01, high = ordinal of 2013-01-04
numbers   10 … 12                    low = 10, high = 13
"""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from itertools import pairwise
from math import floor
from typing import Any

from tidemark.errors import UsageError
from tidemark.model.messages import plural

MAX_PARTS = 1000
_NUMBER = re.compile(r"-?[0-9]{1,18}")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class Unit(Enum):
    """What a range counts."""

    DAY = "day"
    NUMBER = "number"

    def text(self, point: int) -> str:
        """Return a point as people and job arguments have it; days as ``2013-01-31``."""
        return date.fromordinal(point).isoformat() if self is Unit.DAY else str(point)

    def count(self, amount: int) -> str:
        """Return an amount for people: ``1 day``, ``3 days``."""
        return plural(amount, self.value)


@dataclass(frozen=True, order=True)
class Span:
    """Points from ``low`` to before ``high``; it has at least one.

    Attributes:
        low: the first point.
        high: the point after the last one.
    """

    low: int
    high: int

    @property
    def size(self) -> int:
        """How many points it has."""
        return self.high - self.low

    def common(self, other: "Span") -> "Span | None":
        """Return the points in both; None if there are none."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        return Span(low, high) if low < high else None

    def text(self, unit: Unit) -> str:
        """Return it for people, the last point included."""
        first, last = unit.text(self.low), unit.text(self.high - 1)
        return first if first == last else f"{first} to {last}"


def parse_point(option: str, text: str) -> tuple[Unit, int]:
    """Return the value of a string on the command line."""
    if _NUMBER.fullmatch(text):
        return Unit.NUMBER, int(text)
    try:
        if _DAY.fullmatch(text):
            return Unit.DAY, date.fromisoformat(text).toordinal()
    except ValueError:  # such as the 31st of February
        pass
    raise UsageError(f"{option} {text!r} is neither a day, such as 2013-01-31, nor an integer")


def parse_range(begin: str, end: str, today: date) -> tuple[Unit, Span]:
    """Return what --from and --to mean; both ends belong to it."""
    unit, low = parse_point("--from", begin)
    other, last = parse_point("--to", end)
    if unit is not other:
        raise UsageError(f"--from {begin} is a {unit.value} and --to {end} a {other.value}")
    if last < low:
        raise UsageError(f"--from {begin} is after --to {end}: give the earlier one first")
    if unit is Unit.DAY and last > today.toordinal():
        raise UsageError(f"--to {end} is in the future: today is {today.isoformat()}, in UTC")
    if unit is Unit.DAY and last == date.max.toordinal():
        raise UsageError(f"--to {end} is the last day there is: give an earlier one")
    return unit, Span(low, last + 1)


def point_of(value: Any) -> tuple[Unit, int] | None:
    """Return the day (in UTC) or the number that a value of a watermark lies in."""
    match value:
        case datetime():
            aware = value.astimezone(UTC) if value.utcoffset() is not None else value
            return Unit.DAY, aware.toordinal()
        case date():
            return Unit.DAY, value.toordinal()
        case int() if not isinstance(value, bool):
            return Unit.NUMBER, value
        case Decimal() if value.is_finite():
            return Unit.NUMBER, floor(value)
    return None


def point_of_string(text: str) -> tuple[Unit, int] | None:
    """Return the same for a value that a checkpoint stores as a string."""
    if _NUMBER.fullmatch(text):
        return Unit.NUMBER, int(text)
    try:
        return point_of(datetime.fromisoformat(text))
    except ValueError:
        return None


def parts_of(span: Span, parts: int, unit: Unit) -> list[Span]:
    """Return a range cut into equal parts, which differ by one point at most."""
    if not 1 <= parts <= MAX_PARTS:
        raise UsageError(f"--parts {parts} is not allowed: give an integer from 1 to {MAX_PARTS}")
    if parts > span.size:
        raise UsageError(
            f"--parts {parts} is more than the {unit.count(span.size)} of {span.text(unit)}: "
            "give less"
        )
    edges = [span.low + span.size * part // parts for part in range(parts + 1)]
    return [Span(low, high) for low, high in pairwise(edges)]
