"""Databases whose SQL this package writes: their literals and their names between quotes.

The literals, and the meaning of a datetime with a zone in a column without one:

    PostgreSQL  TIMESTAMPTZ '... +00'; a column without a zone is in the session's zone, which
                pgjdbc sets to the JVM's. Text in code point order (COLLATE "C").
    MySQL       TIMESTAMP '... +00:00', from 8.0.19; a DATETIME is in the session's zone. Let
                that be UTC: it compares in this zone, where an hour of autumn may occur twice.
                Text in code point order (utf8mb4_bin), where trailing spaces do not count.
    SQL Server  datetimeoffset(6), +00:00; a datetime or datetime2 is in UTC. Text in the order of
                UTF-16 (Latin1_General_100_BIN2), where trailing spaces do not count.
    Oracle      TIMESTAMP '... +00:00'; a DATE or TIMESTAMP is in the session's zone, which the
                driver sets to the JVM's. Text as NLS_COMP says: leave it at BINARY.
    Derby       TIMESTAMP('...') in UTC: Derby knows no zones, so run the JVM in UTC. Text in the
                order of UTF-16, where trailing spaces do not count.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any

from watermarks.errors import WatermarkValueError
from watermarks.table.values import decode, encode

# Reads the same in every dialect and setting: no quote, no backslash, nothing outside ASCII.
_PLAIN = re.compile(r"[ !-&(-\[\]-~]*")
_MAX_NAME_LENGTH = 128


class Dialect(Enum):
    """A database whose SQL this module writes; the value is its name in a JDBC URL."""

    POSTGRESQL = "postgresql"
    MYSQL = "mysql"
    SQL_SERVER = "sqlserver"
    ORACLE = "oracle"
    DERBY = "derby"

    @classmethod
    def of(cls, jdbc_url: str) -> Dialect:
        """Return the dialect of a JDBC URL such as `jdbc:postgresql://host/database`."""
        scheme, _, rest = jdbc_url.partition(":")
        name = rest.partition(":")[0].lower()
        names = [dialect.value for dialect in cls]
        if scheme.lower() != "jdbc" or name not in names:
            # Not the whole URL: it may hold a password.
            raise ValueError(
                f"the JDBC URL starts with {f'{scheme}:{name}'[:40]!r}: supported are "
                f"{', '.join(f'jdbc:{known}' for known in names)}; give the dialect of a database "
                "that reads one of these"
            )
        return cls(name)


def literal(value: Any, dialect: Dialect) -> str:
    """Return a cursor value as a typed literal that no content of the value can leave."""
    grammar = GRAMMARS[dialect]
    plain = decode(*encode(value, "cursor"))  # of exactly one of the allowed types
    match plain:
        case str():
            return _string_literal(plain, dialect)
        case datetime() if plain.utcoffset() is not None:
            return grammar.instant.format(_timestamp(plain.astimezone(UTC), grammar))
        case datetime():
            return grammar.timestamp.format(_timestamp(plain, grammar))
        case date():
            return grammar.date.format(plain.isoformat())
    return _number(Decimal(plain), dialect)


@dataclass(frozen=True)
class Grammar:
    """How one database writes literals and names.

    Attributes:
        instant: a datetime with a zone, in UTC.
        timestamp: a datetime without a zone.
        date: a date.
        text: returns a string literal for a string that is not plain.
        plain: a plain string.
        collation: follows a string literal, so that it is compared in a binary order.
        ordered: a string column in that order.
        quotes: around a name; the second is doubled in it.
        separator: between date and time of day.
        count: the function that counts beyond 2 ** 31.
        nth: leaves one row of an ordered query, given how many to skip.
        digits: the most digits of a number.
        scale: the most of them after the point.
    """

    instant: str
    timestamp: str
    date: str
    text: Callable[[str], str]
    collation: str = ""
    ordered: str = "{}"
    plain: str = "'{}'"
    quotes: tuple[str, str] = ('"', '"')
    separator: str = " "
    count: str = "COUNT"
    nth: str = "OFFSET {} ROWS FETCH NEXT 1 ROWS ONLY"
    digits: int = 1000
    scale: int = 1000


def _escape_string(text: str) -> str:
    # E'' means the same whatever standard_conforming_strings is.
    return "E'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def _mysql_hex(text: str) -> str:
    # Whatever sql_mode says of backslashes.
    return f"_utf8mb4 X'{text.encode().hex()}'"


def _sql_server_hex(text: str) -> str:
    # Between quotes, a backslash at the end of a line would vanish together with the line end.
    return f"CAST(0x{text.encode('utf-16-le').hex()} AS nvarchar(max))"


def _unistr(text: str) -> str:
    # Whatever the character set of the database.
    return "UNISTR('" + "".join(map(_unistr_character, text)) + "')"


def _unistr_character(character: str) -> str:
    if _PLAIN.fullmatch(character):
        return character
    units = character.encode("utf-16-be").hex()
    return "".join(f"\\{units[start : start + 4]}" for start in range(0, len(units), 4))


def _quote_doubled(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


GRAMMARS = {
    Dialect.POSTGRESQL: Grammar(
        instant="TIMESTAMPTZ '{}+00'",
        timestamp="TIMESTAMP '{}'",
        date="DATE '{}'",
        text=_escape_string,
        collation=' COLLATE "C"',
        ordered='CAST({} AS text) COLLATE "C"',
    ),
    Dialect.MYSQL: Grammar(
        instant="TIMESTAMP '{}+00:00'",
        timestamp="TIMESTAMP '{}'",
        date="DATE '{}'",
        text=_mysql_hex,
        collation=" COLLATE utf8mb4_bin",
        ordered="CONVERT({} USING utf8mb4) COLLATE utf8mb4_bin",
        plain="_utf8mb4'{}'",
        nth="LIMIT 1 OFFSET {}",
        quotes=("`", "`"),
        digits=65,
        scale=30,
    ),
    Dialect.SQL_SERVER: Grammar(
        instant="CAST('{}+00:00' AS datetimeoffset(6))",
        timestamp="CAST('{}' AS datetime2(6))",
        date="CAST('{}' AS date)",
        text=_sql_server_hex,
        collation=" COLLATE Latin1_General_100_BIN2",
        ordered="{} COLLATE Latin1_General_100_BIN2",
        plain="N'{}'",
        quotes=("[", "]"),
        separator="T",  # only with it, the server's DATEFORMAT does not matter
        count="COUNT_BIG",
        digits=38,
    ),
    Dialect.ORACLE: Grammar(
        instant="TIMESTAMP '{} +00:00'", timestamp="TIMESTAMP '{}'", date="DATE '{}'", text=_unistr
    ),
    Dialect.DERBY: Grammar(
        instant="TIMESTAMP('{}')",
        timestamp="TIMESTAMP('{}')",
        date="DATE('{}')",
        text=_quote_doubled,
        digits=31,
    ),
}


def _timestamp(value: datetime, grammar: Grammar) -> str:
    without_zone = value.replace(tzinfo=None)
    return without_zone.isoformat(sep=grammar.separator, timespec="microseconds")


def _number(value: Decimal, dialect: Dialect) -> str:
    grammar = GRAMMARS[dialect]
    text = f"{value:f}"
    whole, _, fraction = text.lstrip("-0").partition(".")
    if len(whole) + len(fraction) > grammar.digits or len(fraction) > grammar.scale:
        raise WatermarkValueError(
            f"the cursor value {value} has more digits than a number of {dialect.value} can have: "
            "round it"
        )
    return text


def _string_literal(value: str, dialect: Dialect) -> str:
    grammar, problem = GRAMMARS[dialect], ""
    if dialect is Dialect.POSTGRESQL and "\0" in value:
        problem = "holds a NUL character"
    if dialect is Dialect.ORACLE and not value:
        problem = "is empty, which Oracle takes for NULL"
    if problem:
        raise WatermarkValueError(
            f"the cursor value {value!r} {problem}: no row of {dialect.value} can hold it"
        )
    text = grammar.plain.format(value) if _PLAIN.fullmatch(value) else grammar.text(value)
    return text + grammar.collation


def quoted(name: str, dialect: Dialect, what: str = "column") -> str:
    """Return a name between the quotes of a database."""
    given: object = name
    is_name = isinstance(given, str) and given.isprintable() and 0 < len(given) <= _MAX_NAME_LENGTH
    if not is_name or (dialect is Dialect.ORACLE and '"' in name):
        remedy = "; wrap a SELECT in Subquery(...)" if what == "table" else ""
        raise ValueError(
            f"the {what} name {name!r} cannot be quoted for {dialect.value}: give 1 to "
            f"{_MAX_NAME_LENGTH} printable characters{remedy}"
        )
    opening, closing = GRAMMARS[dialect].quotes
    return f"{opening}{name.replace(closing, closing * 2)}{closing}"
