"""Cursor values: their order, and arithmetic of distances between them.

Values of one family can be compared: numbers (int, Decimal), aware datetimes, naive datetimes,
dates, strings. An aware datetime is an instant: a clock set back for winter time is not a step
back.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, TypeAlias

from watermarks.errors import WatermarkValueError
from watermarks.table.values import ARITHMETIC, encode

Cursor: TypeAlias = "datetime | date | int | Decimal | str"
"""The types of a cursor column."""

Distance: TypeAlias = "timedelta | int | Decimal"
"""How far from a cursor value: a timedelta for datetimes and dates, a number for numbers."""

AWARE = "datetime with a zone"
_MAX_TEXT_LENGTH = 2048  # bytes: a head holds a few of them per cursor, and 400 KB in all


def family(value: object) -> str:
    """Return the name of the family of a value: values of two families have no order."""
    if isinstance(value, Mapping):
        raise WatermarkValueError(f"a cursor is {value!r}: give a single value, not a dict")
    # This refuses a wrong type with path and remedy.
    encode(value, "cursor")
    match value:
        case datetime():
            return "datetime without a zone" if value.utcoffset() is None else AWARE
        case date():
            return "date"
        case str():
            if (length := len(value.encode())) > _MAX_TEXT_LENGTH:
                raise WatermarkValueError(
                    f"a cursor is a string of {length} bytes ({value[:40]!r}…): give at most "
                    f"{_MAX_TEXT_LENGTH}; take another column, or a hash of this one"
                )
            return "string"
    return "number"


def check_same_family(stored: object, given: object, cursor: str) -> None:
    """Raise a WatermarkValueError unless two values of a cursor can be compared."""
    if family(stored) != family(given):
        raise WatermarkValueError(
            f"the cursor {cursor!r} was a {family(stored)} ({stored!r}) and is now a "
            f"{family(given)} ({given!r}): these have no order; convert the new value, or let the "
            "job start over under another cursor name with initial=<the old value, converted>"
        )


def check_forward(stored: Mapping[str, Any], new: Mapping[str, Any], path: str) -> None:
    """Raise a WatermarkValueError if a given value is before the stored one of its name."""
    for name in stored.keys() & new.keys():
        was, value, place = stored[name], new[name], f"{path}.{name}"
        if isinstance(was, Mapping) and isinstance(value, Mapping):
            check_forward(was, value, place)
            continue
        check_same_family(was, value, place)
        if is_before(value, was):
            raise WatermarkValueError(
                f"{place} is {value!r}, before the stored {was!r}: nothing was written; find out "
                "why the source went back, or go back yourself with WatermarkAdmin.rewind(job, "
                "to_run=..., reason=..., actor=...)"
            )


def is_before(left: Any, right: Any) -> bool:
    """Return whether one value of a family comes before another."""
    return bool(_instant(left) < _instant(right))


def is_same(left: Any, right: Any) -> bool:
    """Return whether two values of a family are the same instant, number or string."""
    return bool(_instant(left) == _instant(right))


def _instant(value: Any) -> Any:
    # Python compares two datetimes of one zone by their wall clocks.
    is_aware = isinstance(value, datetime) and value.utcoffset() is not None
    return value.astimezone(UTC) if is_aware else value


def value_before(value: Any, distance: Distance, what: str) -> Any:
    """Return the value that lies a distance before another; `what` is the parameter it came from.

    A date moves by whole days.
    """
    check_distance(value, distance, what)
    try:
        return _moved(value, distance, -1)
    except OverflowError as error:
        raise WatermarkValueError(
            f"{what} is {distance!r}, and that far behind {value!r} there is no year: give less"
        ) from error


def value_after(value: Any, distance: Distance, what: str) -> Any:
    """Return the value at a distance after another; None if that year does not exist."""
    check_distance(value, distance, what)
    try:
        after = _moved(value, distance, 1)
    except OverflowError:
        return None
    if not is_before(value, after):
        raise WatermarkValueError(f"{what} is {distance!r}, no step from {value!r}: give more")
    return after


def check_distance(value: Any, distance: object, what: str) -> None:
    """Raise a WatermarkValueError unless a distance fits the family of a value."""
    is_time = isinstance(value, date)
    fits = isinstance(distance, timedelta) if is_time else isinstance(distance, int | Decimal)
    if isinstance(value, str) or isinstance(distance, bool) or not fits:
        kind = "timedelta" if is_time else "number"
        needed = "no distance" if isinstance(value, str) else f"a {kind}"
        raise WatermarkValueError(
            f"{what} is {distance!r} for the cursor value {value!r}: a {family(value)} takes "
            f"{needed}"
        )
    if not is_time:
        encode(distance, what)
    if is_before(distance, timedelta() if is_time else 0):
        raise WatermarkValueError(f"{what} is {distance!r}: give a distance that is not negative")


def _moved(value: Any, distance: Any, sign: int) -> Any:
    if isinstance(value, datetime) and value.utcoffset() is not None:
        return (_instant(value) + sign * distance).astimezone(value.tzinfo)
    if isinstance(value, date) or (isinstance(value, int) and isinstance(distance, int)):
        return value + sign * distance
    move = ARITHMETIC.add if sign > 0 else ARITHMETIC.subtract
    return move(Decimal(value), Decimal(distance))


def entry_of(watermarks: Mapping[str, Any], cursor: str) -> Any:
    """Return the value of a cursor among watermarks, None if it has none."""
    value = watermarks.get(cursor)
    if isinstance(value, Mapping):
        raise WatermarkValueError(
            f"the cursor is {cursor!r}, and under this name there are the watermarks {value!r}, "
            f"which would be lost: give another name, or source={cursor!r} and the cursor of it"
        )
    return value
