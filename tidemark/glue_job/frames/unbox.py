"""Unbox: parses a string field into the record that it holds.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-extensions-dynamic-frame.html
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StringType, StructField, StructType

from tidemark.errors import UnsupportedError, UsageError
from tidemark.glue_job.frames.choices import Value, built, quoted, schema_of, values_of
from tidemark.glue_job.frames.fields import edited, value_at
from tidemark.glue_job.frames.functions import no_failures
from tidemark.glue_job.frames.paths import find_path, parse_path
from tidemark.glue_job.frames.schemas import spark_schema
from tidemark.glue_job.frames.types import ELEMENT, Steps
from tidemark.glue_job.readers.csv.heads import first_fields
from tidemark.glue_job.readers.files.formats import Format, csv_options
from tidemark.glue_job.readers.json.choices import has_choice, member_of
from tidemark.glue_job.readers.json.kinds import (
    BROKEN,
    Kinds,
    kinds_in,
    kinds_of,
    schema_of_records,
)
from tidemark.local_state.run_warnings import RunWarning, note

OPTIONS = {"json": {"withSchema"}, "csv": {"withSchema", "separator", "escaper", "quoteChar"}}
BOX, BAD = "box of tidemark", "bad text of tidemark"


def unbox(
    frame: DataFrame, path: str, format: str, options: Mapping[str, Any]
) -> tuple[DataFrame, Callable[[], DataFrame]]:
    """Return a frame with a string field parsed, and a function for the rows that failed.

    Without a schema, JSON is read once more to infer its type; CSV gets fields col0, col1 and on.
    """
    if format not in OPTIONS:
        raise UnsupportedError(f"unbox of {format!r} is not supported; allowed are json and csv")
    for unknown in sorted(set(options) - OPTIONS[format]):
        note(RunWarning.OPTION_IGNORED, f"the option {unknown!r} of unbox from {format}")
    if not frame.columns:
        return frame, lambda: no_failures(frame)
    found = find_path(schema_of(frame), parse_path(path))
    if found is None or not isinstance(found[1], StringType):
        what = "is missing" if found is None else f"is {found[1].simpleString()}"
        raise UsageError(f"the field {path!r} to unbox {what}; it must be a string")
    if ELEMENT in found[0]:
        raise UnsupportedError(
            f"the field {path!r} to unbox is in an array, which is not supported"
        )
    source, values = values_of(frame)
    text = value_at(values, found[0])[0]
    kind = _given(options.get("withSchema")) or _inferred(source, text, format, options)
    parsed = _parsed(text, kind, format, options)
    return _replaced(source, values, found[0], parsed, kind)


def _replaced(
    source: DataFrame, values: list[Value], steps: Steps, parsed: Column, kind: DataType
) -> tuple[DataFrame, Callable[[], DataFrame]]:
    with_box = source.withColumn(BOX, parsed)
    bad = F.col(f"`{BOX}`.`{BAD}`")

    def failed() -> DataFrame:
        record = F.struct(*[value.column.alias(value.name) for value in values])
        return with_box.filter(bad.isNotNull()).select(
            F.concat(F.lit("the text cannot be unboxed: "), bad).alias("msg"),
            F.lit("").alias("stackTrace"),
            record.alias("dynamicRecord"),
        )

    box = Value(BOX, F.col(f"`{BOX}`.`{BOX}`"), kind)
    good = built(with_box.filter(bad.isNull()), [*values, box])
    unboxed = edited(good, {steps: lambda value: [Value(value.name, F.col(f"`{BOX}`"), kind)]})
    return unboxed.drop(BOX), failed


def _given(text: object) -> StructType | None:
    if not text:
        return None
    try:
        return spark_schema(json.loads(str(text)))
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"the option withSchema of unbox is {text!r}; it must be the JSON of a "
            f"awsglue.gluetypes.StructType ({error})"
        ) from error


def _inferred(source: DataFrame, text: Column, format: str, options: Mapping[str, Any]) -> DataType:
    """Return the common type of all strings; one pass over them."""
    texts = source.select(text.alias("text")).filter("text IS NOT NULL")
    if format == "csv":
        given = csv_options(Format("csv", options))
        counts = texts.rdd.map(lambda row: len(first_fields(row.text, given)))
        count = counts.fold(1, max)
        return StructType([StructField(f"col{n}", StringType()) for n in range(count)])
    boxed = _boxed(F.col("text"))
    kinds = kinds_in(texts, boxed)
    if kinds is None:  # a string is not JSON
        kinds = kinds_in(texts.filter(kinds_of(boxed) != BROKEN), boxed) or Kinds()
    schema = schema_of_records(kinds)
    return schema[BOX].dataType if BOX in schema.names else StringType()


def _boxed(text: Column) -> Column:
    """Return a JSON object whose only value is the string."""
    return F.concat(F.lit(f'{{"{BOX}":'), text, F.lit("}"))


def _parsed(text: Column, kind: DataType, format: str, options: Mapping[str, Any]) -> Column:
    """Return a struct of the parsed value and, if it cannot be parsed, the string."""
    if format == "json":
        boxed = _boxed(text)
        if has_choice(kind):
            is_bad = kinds_of(boxed) == BROKEN
            value = member_of(F.when(is_bad, "{}").otherwise(boxed), BOX, kind)
            return F.when(
                text.isNotNull(), F.struct(value.alias(BOX), F.when(is_bad, text).alias(BAD))
            )
        shape = StructType([StructField(BOX, kind), StructField(BAD, StringType())])
        found = F.from_json(boxed, shape, {"columnNameOfCorruptRecord": BAD})
        bad = F.when(found[BAD].isNotNull(), text)
        return F.when(text.isNotNull(), F.struct(found[BOX].alias(BOX), bad.alias(BAD)))
    given = csv_options(Format("csv", options))
    if not isinstance(kind, StructType):
        raise UsageError(f"the option withSchema of unbox is {kind.simpleString()}, not a struct")
    fields = [f"{quoted(one.name)} {one.dataType.simpleString()}" for one in kind]
    found = F.from_csv(text, ", ".join(fields), given)
    nothing = F.lit(None).cast("string")
    return F.when(text.isNotNull(), F.struct(found.alias(BOX), nothing.alias(BAD)))
