"""Values as JSON and CSV: a choice as its value, and CSV without quotes.

Glue writes record by record, and a record holds the value of a choice.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tidemark.errors import ArgumentTypeError, UsageError
from tidemark.glue_job.frames.choices import Value, built, column, has_choices, quoted, values_of
from tidemark.glue_job.frames.types import NESTED, Choice

LINE = "line of tidemark"
JSON_LINES = "dev.tidemark.json.JsonText"  # the format of `json_lines`
# Spark's defaults for text, but with all digits: Spark writes three, which lose microseconds.
TIME, LOCAL_TIME = "yyyy-MM-dd'T'HH:mm:ss.SSSSSS[XXX]", "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"
TIMES = {"timestampFormat": TIME, "timestampNTZFormat": LOCAL_TIME}
NO_SEPARATOR = "\x01"  # for a line that Spark treats as one column


def json_lines(frame: DataFrame, keys: Iterable[str]) -> DataFrame:
    """Return the rows as lines of JSON, next to the columns of the partition keys."""
    source, values = values_of(frame)
    folders = set(keys)
    line = _json_struct([value for value in values if value.name not in folders])
    in_folders = [_scalar(value) for value in values if value.name in folders]
    return built(source, [Value(LINE, line, T.StringType()), *in_folders])


def with_plain_choices(frame: DataFrame) -> DataFrame:
    """Return the rows with each choice of simple types as the string of its value."""
    source, values = values_of(frame)
    return built(source, [_scalar(value) for value in values])


def unquoted_lines(frame: DataFrame, keys: Iterable[str], separator: str) -> DataFrame:
    """Return the rows of CSV as one column, named as the header, without quotes.

    A line break would split a row in two, and a line without anything is no row: such a value fails
    the write.
    """
    folders = list(keys)
    columns = [name for name in frame.columns if name not in folders]
    if broken := [name for name in columns if re.search(r"[\r\n]", name)]:
        raise _unquotable(f"the name of the column {broken[0]!r} has a line break")
    types = {field.name: field.dataType for field in frame.schema}
    texts = []
    for name in columns:
        text = _csv_string(name, types[name])
        error = _unquotable(f"a value of the column {name!r} has a line break")
        texts.append(F.when(text.rlike(r"[\r\n]"), _failing(error)).otherwise(text))
    line = F.concat_ws(separator, *texts)
    if len(columns) == 1:
        nothing = _unquotable(f"a row has no value in its only column, {columns[0]!r}")
        line = F.when(line == "", _failing(nothing)).otherwise(line)
    return frame.select(line.alias(separator.join(columns)), *map(quoted, folders))


def with_empty_values(frame: DataFrame, keys: Iterable[str]) -> DataFrame:
    """Return rows of one column of CSV without nulls: Spark drops a line without anything."""
    folders = list(keys)
    columns = [name for name in frame.columns if name not in folders]
    if len(columns) != 1:
        return frame
    name, *_ = columns
    text = _csv_string(name, frame.schema[name].dataType)
    return frame.select(text.alias(name), *map(quoted, folders))


def _scalar(value: Value) -> Value:
    kind = value.kind
    if not isinstance(kind, Choice) or any(isinstance(field.dataType, NESTED) for field in kind):
        return value
    texts = [value.column.getField(field.name).cast("string") for field in kind]
    return Value(value.name, F.coalesce(*texts), T.StringType())


def _unquotable(reason: str) -> UsageError:
    return UsageError(
        f"quoteChar -1 quotes nothing, and {reason}, so that there would be another number of "
        "rows: replace it, or write with a quoteChar"
    )


def _failing(error: UsageError) -> Column:
    return F.raise_error(f"UsageError: {error}").cast("string")


def _csv_string(name: str, kind: T.DataType) -> Column:
    value = column(name)
    # Spark writes three digits of a second by default, which lose microseconds.
    if isinstance(kind, T.TimestampType | T.TimestampNTZType):
        text = F.date_format(value, TIME if isinstance(kind, T.TimestampType) else LOCAL_TIME)
    else:
        text = value.cast("string")
    return F.coalesce(text, F.lit(""))


def json_string(column: Column, kind: T.DataType) -> Column:
    """Return a value as JSON, null where it is missing."""
    match kind:
        case Choice():
            return F.coalesce(*[json_string(column.getField(f.name), f.dataType) for f in kind])
        case T.StructType():
            fields = (Value(f.name, column.getField(f.name), f.dataType) for f in kind)
            return F.when(column.isNotNull(), _json_struct(fields))
        case T.ArrayType():
            inner = kind.elementType
            texts = F.transform(column, lambda v: _or_null(json_string(v, inner)))
            return F.concat(F.lit("["), F.array_join(texts, ","), F.lit("]"))
        case T.MapType():
            inner = kind.valueType

            def entry(pair: Column) -> Column:
                key = _json_leaf(pair.getField("key").cast("string"))  # names are in quotes
                value = json_string(pair.getField("value"), inner)
                return F.concat(key, F.lit(":"), _or_null(value))

            texts = F.transform(F.map_entries(column), entry)
            return F.concat(F.lit("{"), F.array_join(texts, ","), F.lit("}"))
    return F.when(column.isNotNull(), _json_leaf(column))


def _json_struct(fields: Iterable[Value]) -> Column:
    texts = []
    for field in fields:
        name = json.dumps(field.name, ensure_ascii=False)
        texts.append(F.concat(F.lit(f"{name}:"), json_string(field.column, field.kind)))
    # As with Spark, a field without a value is not in the object: concat_ws leaves nulls out.
    return F.concat(F.lit("{"), F.concat_ws(",", *texts), F.lit("}"))


def _json_leaf(column: Column) -> Column:
    # Spark writes only objects: the one around the value is cut off.
    text = F.to_json(F.struct(column.alias("v")), TIMES)
    return text.substr(F.lit(len('{"v":') + 1), F.length(text) - len('{"v":}'))


def _or_null(text: Column) -> Column:
    return F.coalesce(text, F.lit("null"))


ALL_OPTIONS = {"topk", "prob"}


def write_sample(frame: DataFrame, path: str | None, options: Mapping[str, Any]) -> None:
    """Write some rows of a frame as lines of JSON to a path, immediately."""
    if not isinstance(path, str) or not path:
        raise UsageError(f"the path of spigot is {path!r}; it must be the URI of a folder")
    if not isinstance(options, Mapping):
        raise ArgumentTypeError(f"the options of spigot are {options!r}; they must be a dict")
    if unknown := sorted(set(options) - ALL_OPTIONS):
        raise UsageError(f"the options {unknown} of spigot are not known; allowed: topk, prob")
    sample = json_lines(frame, ()) if has_choices(frame) else frame
    try:
        if "prob" in options:
            sample = sample.sample(withReplacement=False, fraction=float(options["prob"]))
        if "topk" in options:
            sample = sample.limit(int(options["topk"]))
    except ValueError as error:
        raise UsageError(f"the options of spigot are {dict(options)}: {error}") from error
    if sample.columns:
        kind = JSON_LINES if has_choices(frame) else "json"
        sample.coalesce(1).write.mode("append").options(**TIMES).save(path, format=kind)
