"""Cursor values: their order, and the arithmetic of how far to stay or to look behind.

Values of one family can be compared: numbers (int, Decimal), aware datetimes, naive datetimes,
dates, text. An aware datetime is an instant: a clock set back for winter time is no step back.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_FLOOR, Context, Decimal
from typing import Any, TypeAlias

from .errors import WatermarkTypeError, WatermarkValueError
from .values import encode

Cursor: TypeAlias = "datetime | date | int | Decimal | str"
"""What a cursor column may hold."""

# The numbers of DynamoDB, whatever context the script has set; rounded, it lies further behind.
_NUMBERS = Context(prec=38, rounding=ROUND_FLOOR, traps=[])

Distance: TypeAlias = "timedelta | int | Decimal"
"""How far behind a cursor value: a timedelta for datetimes and dates, a number for numbers."""


def family(value: object) -> str:
    """Return the name of the family of a value: values of two families have no order.

    Raises:
        WatermarkValueError: the value cannot be a cursor.
    """
    if isinstance(value, Mapping):
        raise WatermarkValueError(f"a cursor is {value!r}: give a single value, not a dict")
    encode(value, "cursor")  # refuses what is no watermark, with path and remedy
    match value:
        case datetime():
            return (
                "datetime without a zone" if value.utcoffset() is None else "datetime with a zone"
            )
        case date():
            return "date"
        case str():
            return "text"
    return "number"


def check_same_family(stored: object, given: object, cursor: str) -> None:
    """Raise a WatermarkTypeError unless two values of a cursor can be compared."""
    if family(stored) != family(given):
        raise WatermarkTypeError(
            f"the cursor {cursor!r} was a {family(stored)} ({stored!r}) and is now a "
            f"{family(given)} ({given!r}): these have no order; convert the new value, or start "
            "the job anew under another cursor name"
        )


def check_forward(stored: Mapping[str, Any], given: Mapping[str, Any], path: str) -> None:
    """Raise an error if a value of the given watermarks is before the stored one of its name.

    Raises:
        WatermarkTypeError: a value has another type than before.
        WatermarkValueError: a value would go back.
    """
    for name in stored.keys() & given.keys():
        was, value, place = stored[name], given[name], f"{path}.{name}"
        if isinstance(was, Mapping) and isinstance(value, Mapping):
            check_forward(was, value, place)
            continue
        check_same_family(was, value, place)
        if is_before(value, was):
            raise WatermarkValueError(
                f"{place} is {value!r}, before the stored {was!r}: nothing was written; find out "
                "why the source went back, or go back yourself with rewind(job, to_run=..., "
                "reason=..., actor=...)"
            )


def is_before(left: Any, right: Any) -> bool:
    """Return whether one value of a family comes before another."""
    return bool(_instant(left) < _instant(right))


def _instant(value: Any) -> Any:
    """Return an aware datetime in UTC: Python orders two of one zone by their wall clocks."""
    is_aware = isinstance(value, datetime) and value.utcoffset() is not None
    return value.astimezone(UTC) if is_aware else value


def behind(value: Any, distance: Distance, what: str) -> Any:
    """Return the value that lies a distance before another; a date moves by whole days.

    Args:
        value: the cursor value.
        distance: how far; not negative.
        what: the parameter it came from, for the error message.

    Raises:
        WatermarkValueError: the distance does not fit the value's family.
    """
    is_time = isinstance(value, date)
    fits = isinstance(distance, timedelta) if is_time else isinstance(distance, int | Decimal)
    if isinstance(value, str) or isinstance(distance, bool) or not fits:
        needed = (
            "a timedelta" if is_time else "no distance" if isinstance(value, str) else "a number"
        )
        raise WatermarkValueError(
            f"{what} is {distance!r} for the cursor value {value!r}: a {family(value)} takes "
            f"{needed}"
        )
    if not is_time:
        encode(distance, what)
    if is_before(distance, timedelta() if is_time else 0):
        raise WatermarkValueError(f"{what} is {distance!r}: give a distance that is not negative")
    try:
        if isinstance(value, datetime) and value.utcoffset() is not None:
            return (_instant(value) - distance).astimezone(value.tzinfo)
        if not is_time and not isinstance(value, int):
            return _NUMBERS.subtract(value, Decimal(str(distance)))
        if isinstance(distance, Decimal):
            return _NUMBERS.subtract(Decimal(value), distance)
        return value - distance
    except OverflowError as error:
        raise WatermarkValueError(
            f"{what} is {distance!r}, and that far behind {value!r} there is no year: give less"
        ) from error


def value_at(watermarks: Mapping[str, Any], cursor: str) -> Any:
    """Return the value that a dotted cursor name has among watermarks, None if it has none.

    Raises:
        WatermarkValueError: a part of the name before the last is itself a watermark.
    """
    value: Any = watermarks
    for name in cursor.split("."):
        if not isinstance(value, Mapping):
            raise WatermarkValueError(
                f"the cursor is {cursor!r}, and a part of this name is itself the watermark "
                f"{value!r}, which would be lost: give the cursor another name"
            )
        if name not in value:
            return None
        value = value[name]
    return value


def with_value(watermarks: Mapping[str, Any], cursor: str, value: Any) -> dict[str, Any]:
    """Return the watermarks with the value of a dotted cursor name replaced."""
    first, _, rest = cursor.partition(".")
    if not rest:
        return {**watermarks, first: value}
    return {**watermarks, first: with_value(watermarks.get(first, {}), rest, value)}
