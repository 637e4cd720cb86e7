"""JSON values whose kinds differ: parsed as strings, and split into the parts of a choice.

A string starts with the mark `STRING`, so that the string "1" is not the number 1.
"""

from collections.abc import Callable, Iterator, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tidemark.glue_job.frames.choices import Value, built
from tidemark.glue_job.frames.session import lenient_cast
from tidemark.glue_job.frames.types import (
    MAX_DIGITS,
    Choice,
    Steps,
    choices_in,
    is_cast,
    numbered,
    replaced,
)
from tidemark.glue_job.readers.files.misread import failing, is_rounded, misfit
from tidemark.glue_job.readers.json.casts import cast_of, is_time, rebuilt
from tidemark.glue_job.readers.json.kinds import JAVA

STRING = "s"  # in front of a string; no other value of JSON starts with it
TO_THE_END = 2**31 - 1
# From narrow to wide, with the integers that each holds; a number gets the first that holds it.
WHOLE: tuple[tuple[type[T.DataType], int], ...] = (
    (T.ByteType, 2**7),
    (T.ShortType, 2**15),
    (T.IntegerType, 2**31),
    (T.LongType, 2**63),
)
FRACTIONS: tuple[type[T.DataType], ...] = (T.DecimalType, T.FloatType, T.DoubleType)
# Types that a table may declare for strings.
STRING_TARGETS = (T.BinaryType, T.DateType, T.DecimalType, T.TimestampType)


def marked(text: Column) -> Column:
    """Return JSON strings with marked strings; several records become one array."""
    return F.reflect(F.lit(JAVA), F.lit("marked"), text, F.lit(STRING))


def has_choice(kind: T.DataType) -> bool:
    """Return whether a type is, or contains, a choice."""
    return bool(choices_in(kind))


def raw_type(kind: T.DataType) -> T.DataType:
    """Return the type for parsing: string for a choice, or for a string to convert."""
    is_raw = Choice, *STRING_TARGETS
    return replaced(kind, lambda part: T.StringType() if isinstance(part, is_raw) else None)


def with_choices(frame: DataFrame, schema: T.StructType, folders: Sequence[str]) -> DataFrame:
    """Return records with choices."""
    names, kinds = frame.columns, [field.dataType for field in frame.schema]
    frame = frame.toDF(*map(str, range(len(names))))
    columns = [F.col(str(place)) for place in range(len(names))]
    values = [
        Value(f.name, _value(_numbered(column, f.dataType), f.dataType, f.name), f.dataType)
        for column, f in zip(columns, schema, strict=False)
    ]
    others = range(len(schema), len(schema) + len(folders))
    return built(frame, [*values, *[Value(names[n], columns[n], kinds[n]) for n in others]])


def member_of(document: Column, name: str, kind: T.DataType) -> Column:
    """Return the value of a key in a JSON object, given as a string, with its choices."""
    raw = T.StructType([T.StructField(name, raw_type(kind))])
    member = F.from_json(marked(document), raw).getField(name)
    return _value(_numbered(member, kind), kind, name)


def is_misfit(column: Column, kind: T.DataType, steps: Steps, declared: T.DataType) -> Column:
    """Return whether a place of a value holds a string that is not of the type there."""

    def asks(text: Column) -> Column:
        return text.startswith(STRING) & cast_of(_unmarked(text), declared).isNull()

    return _has_at(column, kind, steps, asks)


def has_rounded(column: Column, kind: T.DataType, steps: Steps, declared: T.DataType) -> Column:
    """Return whether a place of a value, without marks, holds a number that the decimal rounds."""
    return _has_at(column, kind, steps, lambda number: is_rounded(number, declared))


def _has_at(
    column: Column, kind: T.DataType, steps: Steps, asks: Callable[[Column], Column]
) -> Column:
    if not steps:
        return asks(column)
    step, *rest = steps
    match kind:
        case T.StructType():
            place = kind.names.index(step[1:])
            inner = kind.fields[place].dataType
            return _has_at(column.getField(str(place)), inner, tuple(rest), asks)
        case T.ArrayType(elementType=inner):
            return F.exists(column, lambda element: _has_at(element, inner, tuple(rest), asks))
        case T.MapType(valueType=inner):
            each = F.map_values(column)
            return F.exists(each, lambda value: _has_at(value, inner, tuple(rest), asks))
    raise AssertionError(f"{kind} has no {steps}")


def _numbered(column: Column, kind: T.DataType) -> Column:
    return column.cast(numbered(raw_type(kind)))


def _value(column: Column, kind: T.DataType, path: str) -> Column:
    """Return the value of a column that was parsed as the `raw_type` of its type."""
    return rebuilt(column, kind, path, _leaf)


def _leaf(column: Column, kind: T.DataType, path: str) -> Column:
    if isinstance(kind, Choice):
        return _choice(column, kind, path)
    if isinstance(kind, T.StringType):
        return _as_string(column)
    return _converted(column, kind, path) if isinstance(kind, STRING_TARGETS) else column


def _as_string(text: Column) -> Column:
    """Return a string without its mark, and another value as JSON."""
    unmarked = F.reflect(F.lit(JAVA), F.lit("unmarked"), text, F.lit(len(STRING)))
    return (
        F.when(text.startswith(STRING), _unmarked(text))
        .when(text.rlike(r"^[\[{]"), unmarked)
        .otherwise(text)
    )


def _unmarked(text: Column) -> Column:
    return F.substring(text, len(STRING) + 1, TO_THE_END)


def _converted(text: Column, kind: T.DataType, path: str) -> Column:
    """Return a JSON value converted by Spark; if the result is null, the action fails."""
    if is_cast(kind):
        value = _cast(text, kind)
    else:
        name = "value"
        quoted = F.to_json(F.struct(_unmarked(text).alias(name)))
        plain = F.concat(F.lit(f'{{"{name}":'), text, F.lit("}"))
        document = F.when(text.startswith(STRING), quoted).otherwise(plain)
        value = F.from_json(document, T.StructType([T.StructField(name, kind)])).getField(name)
    error = failing(misfit(path, kind, _as_string(text)), kind)
    return F.when(text.isNotNull() & value.isNull(), error).otherwise(value)


def _cast(text: Column, kind: T.DataType) -> Column:
    return cast_of(F.when(text.startswith(STRING), _unmarked(text)).otherwise(text), kind)


def _choice(text: Column, kind: Choice, path: str) -> Column:
    numbers = _numbers(text, kind)
    parts = numbers | _times_and_strings(text, kind, has_numbers=bool(numbers))
    named = []
    for field in kind:
        part = parts.get(field.name)
        part = _part(text, field.dataType, path) if part is None else part
        named.append(part.alias(field.name))
    return F.when(text.isNotNull(), F.struct(*named))


def _times_and_strings(text: Column, kind: Choice, *, has_numbers: bool) -> dict[str, Column]:
    """Return the times and the strings of a choice that has both, by the names of their types."""
    time = next((field for field in kind if is_time(field.dataType)), None)
    string = next((field for field in kind if isinstance(field.dataType, T.StringType)), None)
    if time is None or string is None:
        return {}
    is_text, cast = text.startswith(STRING), _cast(text, time.dataType)
    is_number = F.lit(not has_numbers) & text.rlike(r"^-?[0-9]+$")
    return {
        time.name: F.when(is_text | is_number, cast),
        string.name: F.when(is_text & cast.isNull(), _unmarked(text)),
    }


def _part(text: Column, kind: T.DataType, path: str) -> Column:
    """Return the value of a JSON string if it is of a kind, else null."""
    match kind:
        case T.StringType():
            return F.when(text.startswith(STRING), _unmarked(text))
        case T.BooleanType():
            return F.when(text.isin("true", "false"), text == "true")
        case T.ArrayType():
            return F.when(text.startswith("["), _parsed(text, kind, path))
        case T.StructType() | T.MapType():
            return F.when(text.startswith("{"), _parsed(text, kind, path))
    return F.when(text.startswith(STRING), _converted(text, kind, path))


def _parsed(text: Column, kind: T.ArrayType | T.MapType | T.StructType, path: str) -> Column:
    if isinstance(kind, T.StructType) and not kind.fields:
        return F.struct()  # Spark cannot parse an object without fields
    parsed = F.from_json(text, raw_type(kind))  # type: ignore[arg-type]
    return _value(_numbered(parsed, kind), kind, path)


def _numbers(text: Column, kind: Choice) -> dict[str, Column]:
    """Return the numbers of a choice by the names of their types, each in one of them."""
    is_whole = text.rlike(r"^-?[0-9]+$") & (F.length(text) <= MAX_DIGITS)
    whole = F.when(is_whole, lenient_cast(text, T.DecimalType(38, 0)))
    is_left = text.rlike('^["NI0-9-]')  # Spark puts non-finite numbers in quotes
    numbers: dict[str, Column] = {}
    for field, fits, value in _candidates(text, kind, whole):
        numbers[field.name] = F.when(is_left & fits, value)
        is_left = is_left & ~fits
    return numbers


def _candidates(
    text: Column, kind: Choice, whole: Column
) -> Iterator[tuple[T.StructField, Column, Column]]:
    # From narrow to wide: the first one that holds a number gets it.
    for cls, end in WHOLE:
        for field in (f for f in kind if isinstance(f.dataType, cls)):
            fits = F.coalesce(whole.between(-end, end - 1), F.lit(False))
            yield field, fits, lenient_cast(whole, field.dataType)
    for wide in FRACTIONS:
        for field in (f for f in kind if isinstance(f.dataType, wide)):
            is_whole = isinstance(field.dataType, T.DecimalType) and field.dataType.scale == 0
            fits = whole.isNotNull() if is_whole else F.lit(True)
            yield field, fits, lenient_cast(F.translate(text, '"', ""), field.dataType)
