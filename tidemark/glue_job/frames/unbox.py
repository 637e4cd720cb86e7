"""Unbox: parses a string field into the record that it holds.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-extensions-dynamic-frame.html
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BooleanType, DataType, StringType, StructField, StructType

from tidemark.errors import UnsupportedError, UsageError
from tidemark.glue_job.frames.absence import Absence
from tidemark.glue_job.frames.choices import Value, built, schema_of, values_of
from tidemark.glue_job.frames.errors import error_records
from tidemark.glue_job.frames.fields import edited, value_at
from tidemark.glue_job.frames.functions import first_note, no_failures
from tidemark.glue_job.frames.paths import find_path, parse_path
from tidemark.glue_job.frames.types import ELEMENT, Steps
from tidemark.glue_job.frames.unboxed_csv import OPTIONS as CSV_OPTIONS
from tidemark.glue_job.frames.unboxed_csv import CsvBox, inferred, unboxed
from tidemark.glue_job.readers.files.formats import given_schema
from tidemark.glue_job.readers.json.choices import has_choice, member_of
from tidemark.glue_job.readers.json.kinds import (
    BROKEN,
    OBJECT,
    Kinds,
    absence_in,
    kinds_in,
    kinds_of,
    note_changed,
    schema_of_records,
    type_of,
)
from tidemark.local_state.run_warnings import RunWarning, note
from tidemark.model.messages import plural

OPTIONS = {"json": {"withSchema"}, "csv": CSV_OPTIONS}
BOX, BAD = "box of tidemark", "bad text of tidemark"
NOT_UNBOXED = "that cannot be unboxed"


Change = Callable[[Absence], Absence]
SAME: Change = lambda before: before  # noqa: E731 (the default of a field)


class Unboxed(NamedTuple):
    """The result of unbox.

    Attributes:
        frame: the rows with the field parsed.
        failed: returns the rows whose string does not parse.
        absence: returns the meaning of nulls after unbox for that before.
        inferred: the steps to the field if its type comes from the strings; else nothing.
    """

    frame: DataFrame
    failed: Callable[[], DataFrame]
    absence: Change = SAME
    inferred: frozenset[Steps] = frozenset()


def unbox(frame: DataFrame, path: str, format: str, options: Mapping[str, Any]) -> Unboxed:
    """Return a frame with a string field parsed.

    Without a schema, the strings are read once more to infer their type. CSV without a header gets
    fields col0, col1 and on.
    """
    if format not in OPTIONS:
        raise UnsupportedError(f"unbox of {format!r} is not supported; allowed are json and csv")
    for unknown in sorted(set(options) - OPTIONS[format]):
        note(RunWarning.OPTION_IGNORED, f"the option {unknown!r} of unbox from {format}")
    if not frame.columns:
        return Unboxed(frame, lambda: no_failures(frame))
    schema = schema_of(frame)
    steps = _steps_to_string(schema, path)
    source, values = values_of(frame)
    text = value_at(values, steps)[0]
    texts = source.select(text.alias("text")).filter("text IS NOT NULL")
    schema_given = given_schema(options.get("withSchema"), "the option withSchema of unbox")
    kind: DataType
    if format == "csv":
        box = CsvBox.of(options, schema_given)
        names, bad = (schema_given, 0) if schema_given else inferred(texts, box)
        kind, absence = names, SAME
        parsed = _boxed_or_bad(text, *unboxed(text, names, box))
    else:
        if schema_given:
            kind, bad, absence = schema_given, 0, _with_json(schema)
        else:
            kind, bad, absence = _inferred(texts, schema, path)
        parsed = _parsed(text, kind)
    if bad:
        note(RunWarning.ERROR_RECORDS, f"{plural(bad, 'string')} of {path!r} {NOT_UNBOXED}")
    replaced = _replaced(source, values, steps, parsed, kind, path if schema_given else "")
    return Unboxed(*replaced, absence, frozenset() if schema_given else frozenset([steps]))


def _steps_to_string(schema: StructType, path: str) -> Steps:
    place = find_path(schema, parse_path(path))
    if place is None or not isinstance(place[1], StringType):
        what = "is missing" if place is None else f"is {place[1].simpleString()}"
        raise UsageError(f"the field {path!r} to unbox {what}; it must be a string")
    if ELEMENT in place[0]:
        text = f"the field {path!r} to unbox is in an array, which is not supported"
        raise UnsupportedError(text)
    return place[0]


def _replaced(
    source: DataFrame, values: list[Value], steps: Steps, parsed: Column, kind: DataType, told: str
) -> tuple[DataFrame, Callable[[], DataFrame]]:
    """Return the rows with a parsed field, named `told` in a warning, and those that do not."""
    with_box = source.withColumn(BOX, parsed)
    bad = F.col(f"`{BOX}`.`{BAD}`")

    def failed() -> DataFrame:
        record = F.struct(*[value.column.alias(value.name) for value in values])
        message = F.concat(F.lit("the text cannot be unboxed: "), bad)
        return error_records(with_box.filter(bad.isNotNull()), message, record)

    box = Value(BOX, F.col(f"`{BOX}`.`{BOX}`"), kind)
    is_good = _telling(with_box, told)(bad) if told else bad.isNull()
    good = built(with_box.filter(is_good), [*values, box])
    whole = edited(good, {steps: lambda value: [Value(value.name, F.col(f"`{BOX}`"), kind)]})
    return whole.drop(BOX), failed


def _telling(frame: DataFrame, path: str) -> Callable[[Column], Column]:
    """Return whether a string is not bad; the first bad one is a warning, without another pass."""
    first = first_note(frame.sparkSession.sparkContext, RunWarning.ERROR_RECORDS)

    def is_good(bad: Any) -> bool:
        if bad is not None:
            first.add(f"strings of {path!r} {NOT_UNBOXED}")
        return bad is None

    return F.udf(is_good, BooleanType(), useArrow=False).asNondeterministic()


def _with_json(schema: StructType, kinds: Kinds | None = None) -> Change:
    def changed(before: Absence) -> Absence:
        # JSON lacks keys, whatever the source of the records lacks.
        if kinds is None:
            return before.with_present(schema)
        inside = absence_in(kinds)
        both = before.with_other(inside, schema, type_of(Kinds({OBJECT}, 0, kinds.fields)))
        return replace(both, null=before.null | inside.null)

    return changed


def _inferred(texts: DataFrame, schema: StructType, path: str) -> tuple[DataType, int, Change]:
    """Return the type of strings of JSON, how many are not JSON, and the absence; one pass."""
    boxed, count = _boxed(F.col("text")), 0
    kinds = kinds_in(texts, boxed)
    if kinds is None:
        is_bad = kinds_of(boxed) == BROKEN
        count = texts.filter(is_bad).rdd.count()
        kinds = kinds_in(texts.filter(~is_bad), boxed) or Kinds()
    note_changed(kinds.fields.get(BOX) or Kinds(), path)
    records = schema_of_records(kinds)
    kind = records[BOX].dataType if BOX in records.names else StringType()
    return kind, count, _with_json(schema, kinds.fields.get(BOX))


def _boxed(text: Column) -> Column:
    # kinds and from_json read objects: the string is the value of one.
    return F.concat(F.lit(f'{{"{BOX}":'), text, F.lit("}"))


def _boxed_or_bad(text: Column, value: Column, bad: Column) -> Column:
    """Return a struct of the parsed value, and of what is wrong with the string, if anything is."""
    return F.when(text.isNotNull(), F.struct(value.alias(BOX), bad.alias(BAD)))


def _parsed(text: Column, kind: DataType) -> Column:
    """Return the struct for a string of JSON; a string that does not parse is what is wrong."""
    boxed = _boxed(text)
    if has_choice(kind):
        is_bad = kinds_of(boxed) == BROKEN
        value = member_of(F.when(is_bad, "{}").otherwise(boxed), BOX, kind)
        return _boxed_or_bad(text, value, F.when(is_bad, text))
    shape = StructType([StructField(BOX, kind), StructField(BAD, StringType())])
    parsed = F.from_json(boxed, shape, {"columnNameOfCorruptRecord": BAD})
    return _boxed_or_bad(text, parsed[BOX], F.when(parsed[BAD].isNotNull(), text))
