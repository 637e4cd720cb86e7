"""Unbox of CSV: the record in a string, by the options of AWS's page.

A string has one record, after its header if it has one; another string is an error record, so that
no line of it is lost.
Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-transforms-Unbox.html
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, TypeAlias

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from tidemark.errors import UnsupportedError, UsageError
from tidemark.glue_job.frames.session import lenient_cast
from tidemark.glue_job.frames.types import NESTED
from tidemark.glue_job.readers.csv.heads import BLANK, records_of, unique_names
from tidemark.glue_job.readers.files.formats import Format, csv_options
from tidemark.model.messages import plural

OPTIONS = {"withSchema", "withHeader", "skipFirst", "separator", "escaper", "quoteChar"}
Parsed: TypeAlias = tuple[dict[str, str | None] | None, str | None]
"""The record of a string, and what is wrong with the string; both are None for a blank one."""


@dataclass(frozen=True)
class CsvBox:
    """How strings of CSV are read.

    Attributes:
        options: Spark's options for CSV.
        has_header: whether the first record of a string names the fields of the second.
        skips_first: whether the first record of a string is left out.
        names: the fields of the schema that the script gives, if any.
    """

    options: Mapping[str, str]
    has_header: bool
    skips_first: bool
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, options: Mapping[str, Any], schema: StructType | None) -> "CsvBox":
        """Return the box for the options of a script, which are checked."""
        csv = Format("csv", options)
        has_header, skips_first = csv.is_on("withHeader"), csv.is_on("skipFirst")
        if has_header and skips_first:
            raise UnsupportedError(
                "the options withHeader and skipFirst of unbox exclude each other: give one"
            )
        for field in schema or ():
            if isinstance(field.dataType, NESTED):
                raise UsageError(
                    f"the option withSchema of unbox has {field.name!r} as "
                    f"{field.dataType.simpleString()}, and a field of CSV is not nested"
                )
        options = {**csv_options(csv), "multiLine": "true"}
        return cls(options, has_header, skips_first, tuple(schema.names) if schema else ())

    def parsed(self, text: str) -> Parsed:
        """Return the record of a string."""
        records = records_of(text, self.options)
        if records is None:
            return None, "it has a quote that is never closed"
        head, rows = [], [record for record in records if record[1:] or record[0].strip(BLANK)]
        if self.has_header or self.skips_first:
            head, rows = rows[:1], rows[1:]
        if len(rows) != 1:
            return None, f"it has {len(rows)} records, and a field takes one" if rows else None
        names = self.names or tuple(f"col{place}" for place in range(len(rows[0])))
        if self.has_header and head:
            names = unique_names(head[0])
        if len(rows[0]) > len(names):
            return None, f"it has {len(rows[0])} fields for {plural(len(names), 'name')}"
        if unknown := sorted(set(names) - set(self.names or names)):
            return None, f"its header has {unknown}, which withSchema does not have"
        return {name: value or None for name, value in zip_longest(names, rows[0])}, None


def inferred(texts: DataFrame, box: CsvBox) -> tuple[StructType, int]:
    """Return the type for all records of a column of strings, and how many strings have none."""

    def seen(rows: Iterable[Row]) -> Iterator[tuple[list[str], int]]:
        parsed = [box.parsed(row.text) for row in rows]
        names = dict.fromkeys(name for record, _ in parsed for name in record or ())
        yield list(names), sum(bad is not None for _, bad in parsed)

    parts = texts.rdd.mapPartitions(seen).collect()
    names = dict.fromkeys(name for part, _ in parts for name in part) or ["col0"]
    kind = StructType([StructField(name, StringType()) for name in names])
    return kind, sum(bad for _, bad in parts)


def unboxed(text: Column, kind: StructType, box: CsvBox) -> tuple[Column, Column]:
    """Return the record of a string, and what is wrong with the string; null if nothing is."""
    parsed = F.udf(box.parsed, "struct<record: map<string, string>, bad: string>")(text)
    record = parsed.getField("record")
    values, misfits = list[Column](), list[Column]()
    for field in kind:
        string, typed = record.getItem(field.name), record.getItem(field.name)
        if not isinstance(field.dataType, StringType):
            typed = lenient_cast(string, field.dataType)
            reason = f"its field {field.name!r} is not of the type {field.dataType.simpleString()}"
            misfits.append(F.when(string.isNotNull() & typed.isNull(), F.lit(reason)))
        values.append(typed.alias(field.name))
    bad = F.coalesce(parsed.getField("bad"), *misfits)
    return F.when(record.isNotNull(), F.struct(*values)), F.concat(bad, F.lit(": "), text)
