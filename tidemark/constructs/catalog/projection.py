"""Partition projection: Athena computes the partitions of a table instead of looking them up.

Only Athena does; Glue and Spark read registered partitions, and there are none.
Sources: https://docs.aws.amazon.com/athena/latest/ug/partition-projection-supported-types.html,
https://docs.aws.amazon.com/athena/latest/ug/partition-projection.html
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import partial
from typing import TypeAlias

from tidemark.model.checked import checked, wrong

MAX_INTEGER = 2**63 - 1  # projected integers are Java longs
INTEGERS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}  # their bits
STRINGS = ("string", "char", "varchar")
DAYS = {"YEAR": 365.25, "MONTH": 30.4, "WEEK": 7, "DAY": 1, "HOUR": 1 / 24}
DAYS |= {"MINUTE": 1 / 1440, "SECOND": 1 / 86400}
NOW = re.compile(rf"NOW(?:\s*([+-])\s*(\d+)\s*({'|'.join(DAYS)})S?)?", re.ASCII)
# Java's letters for a date, and Python's; others, such as YYYY (the year of a week), mislead.
LETTERS = {"yyyy": "%Y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}
PART = re.compile(r"[A-Za-z]+|'[^']*'|[^A-Za-z']+")
PLACEHOLDER = re.compile(r"\$\{([^}]*)\}")
FOLDERS = re.compile(r"(?:(?!\.{1,2}/)(?:[A-Za-z0-9_.=-]|\$\{[a-z0-9_]+\})+/)+")


_error = partial(wrong, "a partition projection")


class DateUnit(Enum):
    """The unit of the steps between projected dates."""

    YEARS = "YEARS"
    MONTHS = "MONTHS"
    WEEKS = "WEEKS"
    DAYS = "DAYS"
    HOURS = "HOURS"
    MINUTES = "MINUTES"
    SECONDS = "SECONDS"


# The finest field of a format -> the units that it can distinguish.
UNITS_BY_FIELD = {
    letters: tuple(DateUnit)[:count]
    for letters, count in {"yyyy": 1, "MM": 2, "dd": 4, "HH": 5, "mm": 6, "ss": 7}.items()
}

STEPS = {unit: timedelta(days=DAYS[unit.value.removesuffix("S")]) for unit in DateUnit}


@checked
@dataclass(frozen=True)
class EnumProjection:
    """Values of a list.

    Attributes:
        values: each as in the name of its folder; Athena separates them by commas.

    Raises:
        JobDefinitionError: there are no values, or one is empty, repeated or has a comma.

    Example:
        >>> EnumProjection(["eu", "us"]).values
        ('eu', 'us')
    """

    values: Sequence[str]

    def __post_init__(self) -> None:
        values = self.values
        if any(not value or "," in value for value in values):
            raise _error("values", values, "a list of strings, none empty or with a comma")
        if not values or len(set(values)) < len(values):
            raise _error("values", values, "at least one value, each of them once")
        object.__setattr__(self, "values", tuple(values))

    def properties(self) -> dict[str, str]:
        """Return the table properties, without the name of the key."""
        return {"type": "enum", "values": ",".join(self.values)}

    def allowed_types(self, kind: str) -> str:
        """Return the types that a key may have; empty if `kind` is one of them."""
        if kind not in (*STRINGS, *INTEGERS):
            return "string, char, varchar or an integer type"
        return _without_values_beyond(kind, self.values)


@checked
@dataclass(frozen=True)
class IntegerProjection:
    """Integers of a range, both ends included.

    Attributes:
        least: the first one.
        most: the last one.
        interval: the step between two.
        digits: the number of digits in the name of the folder, padded with zeros; None: no
            padding.

    Raises:
        JobDefinitionError: the range is empty or too large, or a number has more digits.

    Example:
        >>> IntegerProjection(1, 12, digits=2).digits
        2
    """

    least: int
    most: int
    interval: int = 1
    digits: int | None = None

    def __post_init__(self) -> None:
        if not -MAX_INTEGER - 1 <= self.least <= self.most <= MAX_INTEGER:
            raise _error(
                "range", (self.least, self.most), "least <= most, both in the range of a bigint"
            )
        if not 1 <= self.interval <= MAX_INTEGER:
            raise _error("interval", self.interval, "a number of 1 or more")
        digits = self.digits
        if digits is not None:
            if digits < 1:
                raise _error("digits", digits, "None, or a number of 1 or more")
            if self.least < 0 or len(str(self.most)) > digits:
                raise _error("digits", digits, f"enough for {self.most}, and no negative numbers")

    def properties(self) -> dict[str, str]:
        """Return the table properties, without the name of the key."""
        return {
            "type": "integer",
            "range": f"{self.least},{self.most}",
            "interval": str(self.interval),
            **({"digits": str(self.digits)} if self.digits is not None else {}),
        }

    def allowed_types(self, kind: str) -> str:
        """Return the types that a key may have; empty if `kind` is one of them."""
        if kind not in ("string", *INTEGERS):
            return "string or an integer type"
        return _without_values_beyond(kind, (str(self.least), str(self.most)))


@checked
@dataclass(frozen=True)
class DateProjection:
    """Dates of a range, in UTC, both ends included.

    Attributes:
        start: the first one, in `format`, or `NOW-3YEARS`.
        end: the last one, likewise; `NOW` is today.
        format: Java's letters, yyyy, MM, dd, HH, mm, ss, and characters between them.
        interval: the step between two, in `unit`.
        unit: years, months, weeks, days, hours, minutes or seconds.

    Raises:
        JobDefinitionError: the format has other letters, an end is not in the format, the range is
            empty, or the format cannot distinguish two steps.

    Example:
        >>> DateProjection("2024-01-01").end
        'NOW'
    """

    start: str
    end: str = "NOW"
    format: str = "yyyy-MM-dd"
    interval: int = 1
    unit: DateUnit = DateUnit.DAYS

    def __post_init__(self) -> None:
        python, finest = _read_format(self.format)
        if self.interval < 1:
            raise _error("interval", self.interval, "a number of 1 or more")
        if self.unit not in UNITS_BY_FIELD[finest]:
            units = ", ".join(f"DateUnit.{unit.name}" for unit in UNITS_BY_FIELD[finest])
            raise _error("unit", self.unit, f"{units}: {self.format!r} must show every step")
        first, last = (
            _date(key, getattr(self, key), python, self.format) for key in ("start", "end")
        )
        both_of_now = first is None and last is None
        if (first and last and first > last) or (
            both_of_now and _days_from_now(self.start) > _days_from_now(self.end)
        ):
            raise _error("range", (self.start, self.end), "start <= end")

    def has_ended(self, time: datetime) -> bool:
        """Return whether the last projected date is before a time in UTC."""
        last = _date("end", self.end, _read_format(self.format)[0], self.format)
        return last is not None and last.replace(tzinfo=UTC) < time - STEPS[self.unit]

    def properties(self) -> dict[str, str]:
        """Return the table properties, without the name of the key."""
        return {
            "type": "date",
            "range": f"{self.start},{self.end}",
            "format": self.format,
            "interval": str(self.interval),
            "interval.unit": self.unit.value,
        }

    def allowed_types(self, kind: str) -> str:
        """Return the types that a key may have; empty if `kind` is one of them."""
        if kind in STRINGS or (kind == "date" and self.format == "yyyy-MM-dd"):
            return ""
        return "string, or date with the format yyyy-MM-dd"


@checked
@dataclass(frozen=True)
class InjectedProjection:
    """Any value: each query of Athena must name the values that it wants."""

    def properties(self) -> dict[str, str]:
        """Return the table properties, without the name of the key."""
        return {"type": "injected"}

    def allowed_types(self, kind: str) -> str:
        """Return the types that a key may have; empty if `kind` is one of them."""
        return "" if kind == "string" else "string"


KeyProjection: TypeAlias = EnumProjection | IntegerProjection | DateProjection | InjectedProjection


@checked
@dataclass(frozen=True)
class Projection:
    """How Athena computes the partitions of a table.

    Attributes:
        keys: partition key to its values; must have every key of the table.
        folders: the folders of a partition below the data, such as `${year}/${month}/`, each key
            once; empty: folders `key=value/` in the order of the keys, as in Spark and Glue.

    Raises:
        JobDefinitionError: a value has another type, or `folders` is not valid.

    Example:
        >>> days = Projection({"day": DateProjection("2024-01-01")})
        >>> sorted(days.keys)
        ['day']
    """

    keys: Mapping[str, KeyProjection] = field(hash=False)
    folders: str = ""

    def __post_init__(self) -> None:
        folders = self.folders
        if folders and not FOLDERS.fullmatch(folders):
            raise _error("folders", folders, "'' or folders below the data, as '${year}/${month}/'")
        if folders and sorted(PLACEHOLDER.findall(folders)) != sorted(self.keys):
            raise _error("folders", folders, f"each of {', '.join(self.keys)} once, and no other")

    def parameters(self, uri: str) -> dict[str, str]:
        """Return the table properties.

        Args:
            uri: the location of the table's data, ending with a slash.
        """
        properties = {
            f"projection.{key}.{name}": value
            for key, projection in self.keys.items()
            for name, value in projection.properties().items()
        }
        template = {"storage.location.template": f"{uri}{self.folders}"} if self.folders else {}
        return {"projection.enabled": "true", **properties, **template}


def _without_values_beyond(kind: str, values: Sequence[str]) -> str:
    """Return the type allowed for values that are not of an integer type; empty if they are."""
    half = 2 ** (INTEGERS.get(kind, 0) - 1)
    for value in values if kind in INTEGERS else ():
        if not re.fullmatch("[+-]?[0-9]+", value) or not -half <= int(value) < half:
            return f"string, as {value!r} is not of {kind}"
    return ""


def _read_format(text: str) -> tuple[str, str]:
    """Return a format for Python, and the letters of its finest field."""
    allowed = f"{', '.join(LETTERS)}, each once, coarser ones too, as in 'yyyy-MM-dd'"
    if not text or "".join(PART.findall(text)) != text:
        raise _error("format", text, allowed)
    python, used = "", []
    for part in PART.findall(text):
        if not part[0].isalpha():  # also what stands in quotes
            python += part.strip("'").replace("%", "%%")
            continue
        for letters in re.findall(r"y+|M+|d+|H+|m+|s+|.", part):
            if letters not in LETTERS or letters in used:
                raise _error("format", text, allowed)
            used.append(letters)
            python += LETTERS[letters]
    ordered = [letters for letters in LETTERS if letters in used]
    if not ordered or ordered != list(LETTERS)[: len(ordered)] or "," in text:
        raise _error("format", text, f"{allowed}, without a comma")
    return python, ordered[-1]


def _date(key: str, text: str, python: str, java: str) -> datetime | None:
    """Return the date in a string; None if it is relative to today."""
    if NOW.fullmatch(text):
        return None
    try:
        moment = datetime.strptime(text, python)  # noqa: DTZ007 (compared with its like only)
    except ValueError:
        moment = None
    # Of years before 1000 strftime leaves out zeros.
    if moment is None or moment.strftime(python.replace("%Y", f"{moment.year:04}")) != text:
        raise _error(key, text, f"a date in the format {java}, or NOW, NOW-3YEARS, NOW+1DAY")
    return moment


def _days_from_now(text: str) -> float:
    """Return about how many days from now a relative date is."""
    match = NOW.fullmatch(text)
    return int(f"{match[1]}{match[2]}") * DAYS[match[3]] if match and match[2] else 0
