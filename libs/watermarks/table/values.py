"""Watermark values: how DynamoDB stores them, and the tags that bring their types back.

A value is stored plainly, so that any DynamoDB reader can use it, and its type next to it as a
tag in a tree of the same form:

    int "i" N          date "a" S            naive datetime "n" S
    Decimal "d" N      str "s" S             aware datetime "t<zone>" S, in UTC, fixed width
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, tzinfo
from decimal import (
    ROUND_FLOOR,
    Clamped,
    Context,
    Decimal,
    Inexact,
    InvalidOperation,
    Overflow,
    Subnormal,
)
from typing import Any, TypeAlias
from zoneinfo import ZoneInfo

from watermarks.errors import WatermarkCorruptError, WatermarksError, WatermarkValueError

from .latest import Attribute

Value: TypeAlias = "datetime | date | int | Decimal | str | Mapping[str, Value]"
"""The types of a watermark."""

_ALLOWED = "a datetime, date, int, Decimal or str, or a dict of these"
_REMEDIES = {
    "bool": "write it as the int 0 or 1, or as a str",
    "float": "write it as Decimal(str(value)), or as an int",
    "NoneType": "leave the name out until it has a value",
    "list": "write it as a dict with a name for each value",
}
# The numbers that DynamoDB stores without loss.
_MAX_DIGITS = 38
_EXACT = [Clamped, Inexact, InvalidOperation, Overflow, Subnormal]
_NUMBERS = Context(prec=_MAX_DIGITS, Emin=-130, Emax=125, traps=_EXACT)
# For arithmetic with them, whatever context the script has set: rounding happens beyond these
# digits.
ARITHMETIC = Context(prec=_MAX_DIGITS, rounding=ROUND_FLOOR, traps=[])
_ISO_LENGTH = len("2013-01-01T00:00:00.000000")


def encode(value: object, path: str) -> tuple[Attribute, Attribute]:
    """Return a value and its type tags as DynamoDB stores them.

    Raises:
        WatermarkValueError: a value is of a type that would not come back as it went in; the
            message starts with `path`, its place.
    """
    if not isinstance(value, Mapping):
        stored, tag = _encode_leaf(value, path)
        return stored, {"S": tag}
    values: dict[str, Attribute] = {}
    tags: dict[str, Attribute] = {}
    for name, child in value.items():
        if not isinstance(name, str) or not name:
            raise _refused(path, f"has the name {name!r}", "name every value with a non-empty str")
        values[name], tags[name] = encode(child, f"{path}.{name}")
    return {"M": values}, {"M": tags}


def is_nat(value: object) -> bool:
    """Return whether a value is the `NaT` of pandas: a datetime that is not even itself."""
    return isinstance(value, datetime) and bool(value != value)


def decode(stored: Attribute, tags: Attribute | None) -> Any:
    """Return a stored value with its type; without tags, as boto3 would return it."""
    if tags is None:
        from boto3.dynamodb.types import TypeDeserializer  # here: importing boto3 takes a while

        untyped: Any = stored
        return TypeDeserializer().deserialize(untyped)
    if "M" in tags and "M" in stored:
        return {name: decode(child, tags["M"].get(name)) for name, child in stored["M"].items()}
    return _decode_leaf(stored, str(tags.get("S", "")))


def _encode_leaf(value: object, path: str) -> tuple[Attribute, str]:
    match value:
        case str():
            return {"S": _utf8(value, path)}, "s"
        case datetime():
            return _encode_datetime(value, path)
        case date():
            return {"S": value.isoformat()}, "a"
        case int() if not isinstance(value, bool):
            if abs(value) >= 10**_MAX_DIGITS:
                problem = f"is an int of more than {_MAX_DIGITS} digits"
                raise _refused(path, problem, "write it as a str")
            return {"N": f"{int(value):d}"}, "i"
        case Decimal():
            return {"N": _render_decimal(value, path)}, "d"
    kind = type(value).__name__
    remedy = _REMEDIES.get(kind, "convert it to one of these")
    raise _refused(path, f"is a {kind} ({value!r})", remedy)


def _encode_datetime(value: datetime, path: str) -> tuple[Attribute, str]:
    if is_nat(value):
        raise _refused(path, "is NaT, no point in time", _REMEDIES["NoneType"])
    if getattr(value, "nanosecond", 0):
        problem = f"is {value!r}, finer than the microseconds that are stored"
        raise _refused(path, problem, 'cut the column to microseconds first: .dt.floor("us")')
    try:
        if value.utcoffset() is None:
            return {"S": value.isoformat(timespec="microseconds")}, "n"
        utc = value.astimezone(UTC)
    except OverflowError as error:
        problem = f"is {value!r}, outside the years 1 to 9999 in UTC"
        raise _refused(path, problem, "use an instant inside") from error
    except Exception as error:
        # A tzinfo of the caller may raise anything.
        problem = f"has a zone that cannot be used ({type(error).__name__}: {error})"
        raise _refused(path, problem, "convert it with .astimezone(UTC)") from error
    text = utc.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
    return {"S": text}, f"t{_zone_name(value, path)}"


def _decode_leaf(stored: Attribute, tag: str) -> Value:
    kind, zone = tag[:1], tag[1:]
    match kind:
        case "s":
            return str(stored["S"])
        case "i":
            return int(Decimal(stored["N"]))
        case "d":
            return Decimal(stored["N"])
        case "a":
            return date.fromisoformat(stored["S"])
        case "n":
            return datetime.fromisoformat(stored["S"])
        case "t":
            return datetime.fromisoformat(stored["S"]).astimezone(_zone(zone))
    raise WatermarkCorruptError(
        f"the type tag {tag!r} of the stored value {stored!r} is unknown: allowed are s, i, d, a, "
        "n and t<zone>; if a newer version of this library wrote it, use that version here too"
    )


def _utf8(value: str, path: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        problem = f"is {value!r}, which holds half of a character (a lone surrogate)"
        raise _refused(path, problem, "repair the string where it is decoded") from error
    return str(value)


def _render_decimal(value: Decimal, path: str) -> str:
    if not value.is_finite():
        raise _refused(path, f"is {value!r}, not a number", _REMEDIES["NoneType"])
    try:
        return str(_NUMBERS.normalize(value))
    except ArithmeticError as error:
        problem = f"is {value!r}, outside what DynamoDB stores exactly ({_MAX_DIGITS} digits)"
        raise _refused(path, problem, "round it, or write it as a str") from error


def _zone_name(value: datetime, path: str) -> str:
    # zoneinfo names a zone by `key`, pytz by `zone`; any other zone keeps its offset.
    name = getattr(value.tzinfo, "key", None) or getattr(value.tzinfo, "zone", None)
    name = str(name or value.isoformat(timespec="microseconds")[_ISO_LENGTH:])
    try:
        _zone(name)
    except WatermarksError as error:
        problem = f"is in the zone {name!r}, which no one could read back on this machine"
        raise _refused(path, problem, "convert it with .astimezone(UTC)") from error
    return name


def _zone(name: str) -> tzinfo | None:
    if name.startswith(("+", "-")):
        return datetime.fromisoformat(f"2000-01-01T00:00:00{name}").tzinfo
    try:
        return ZoneInfo(name)
    except (LookupError, OSError, ValueError) as error:
        raise WatermarksError(
            f"a watermark is in the time zone {name!r}, which this machine does not know: "
            "install the tzdata package"
        ) from error


def _refused(path: str, problem: str, remedy: str) -> WatermarkValueError:
    return WatermarkValueError(f"{path} {problem}: a watermark is {_ALLOWED}; {remedy}")
