"""The CSV escaper in front of characters other than a quote or itself.

Glue takes the next character literally, except n, r, t and 0, which stand for control characters.
Spark keeps both characters in the value; it takes only the second one for an escaped quote and,
within quotes, an escaped escaper.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-format-csv-home.html
"""

import re
from collections.abc import Iterable, Iterator

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

_BLANKS = r"[\x00-\x09\x0b\x0c\x0e-\x20]*"
KNOWN = {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}


class Escapes:
    """The escapers of a file.

    Attributes:
        has_some: whether Spark leaves an escaper in a value.
        has_ends: whether an escaper is in front of a line end, which may be within a value.
        has_doubled: whether an escaper is escaped: then a value of Spark is ambiguous.
        has_quotes: whether a quote is doubled within a value, which Spark does not change.
        has_nulls: whether a value is the string that a SerDe reads as null.
    """

    def __init__(self, escape: str, quote: str, sep: str, null: str = "") -> None:
        """Look for an escaper, unless it is the quote or empty."""
        self._escape = "" if escape == quote else escape
        self._quotes = quote * 2
        two, ends = re.escape(quote * 2), re.escape(sep) + r"\r\n"
        self._inside = re.compile(
            rf"(?<=[^{ends}{re.escape(escape)}]){two}|(?<!{re.escape(escape)}){two}"
            rf"(?!{_BLANKS}(?:[{ends}]|\Z))"  # after the quote that closes a value
        )
        one = re.escape(escape)
        self._left = re.compile(rf"(?<!{one}){one}[^{re.escape(escape + quote)}\r\n]")
        self._ends = re.compile(rf"(?<!{one}){one}[\r\n]")
        self._null, sep = null, re.escape(sep)
        self._nulls = re.compile(rf"(?m)(?:^|{sep}){re.escape(null)}(?=[\r{sep}]|$)")
        self.has_nulls = False
        self.has_some = self.has_ends = self.has_doubled = self.has_quotes = False

    def seeing(self, texts: Iterable[str]) -> Iterator[str]:
        """Yield strings of whole lines, and inspect them."""
        for text in texts:
            if self._escape and self._escape in text:
                self.has_some = self.has_some or self._left.search(text) is not None
                self.has_ends = self.has_ends or self._ends.search(text) is not None
                self.has_doubled = self.has_doubled or self._escape * 2 in text
            if self._escape and self._quotes and self._quotes in text:
                self.has_quotes = self.has_quotes or self._inside.search(text) is not None
            if self._null and self._null in text:
                self.has_nulls = self.has_nulls or self._nulls.search(text) is not None
            yield text


def unescaped(frame: DataFrame, columns: Iterable[str], escape: str) -> DataFrame:
    """Return rows of a file without doubled escapers, their strings as Glue reads them."""
    texts = {field.name for field in frame.schema if isinstance(field.dataType, StringType)}
    changed, code = {}, re.escape(escape)
    for name in texts.intersection(columns):
        text = F.col(f"`{name}`")
        for letter, character in KNOWN.items():
            text = F.regexp_replace(text, f"{code}{letter}", character)
        changed[name] = F.regexp_replace(text, rf"(?s){code}(.)", "$1")
    return frame.withColumns(changed) if changed else frame
