"""Type names in mappings and specs, and conversions between types.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-extensions-types.html
"""

import re
from decimal import Decimal

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.types import _parse_datatype_string

from tidemark.errors import UsageError
from tidemark.glue_job.frames.csv_text import json_string
from tidemark.glue_job.frames.schemas import ATOMIC, STRING_WITH_LENGTH
from tidemark.glue_job.frames.session import lenient_cast
from tidemark.glue_job.frames.types import Choice, choices_in, plain_type, type_name

# Integers, and the first number that is too large for each.
ENDS: dict[type[T.DataType], int] = {
    T.ByteType: 2**7,
    T.ShortType: 2**15,
    T.IntegerType: 2**31,
    T.LongType: 2**63,
}
# Names in lower case: Glue's, SQL's and Python's.
WORDS: dict[str, T.DataType] = {
    **ATOMIC,
    **dict.fromkeys(("varchar", "char", "text", "str"), ATOMIC["string"]),
    "integer": ATOMIC["int"],
    "bigint": ATOMIC["long"],
    "smallint": ATOMIC["short"],
    "tinyint": ATOMIC["byte"],
    "bool": ATOMIC["boolean"],
    "real": ATOMIC["float"],
}
MIN_OF_CHOICE = 2  # types of a choice
BARE = T.DecimalType(10, 2)  # what Glue's DecimalType() is
_DECIMAL = re.compile(r"(?:decimal|numeric)\s*(?:\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\))?")


def target_type(word: str, actual: T.DataType, what: str) -> T.DataType:
    """Return the type that a word names, given the type of the value.

    ``struct``, ``array`` and ``map`` alone leave a value of that kind unchanged, and so does
    ``decimal`` alone a decimal.
    """
    text = word.strip().lower()
    if text == "choice" or (isinstance(actual, T.DecimalType) and text == "decimal"):
        return actual
    if text in ("struct", "array", "map"):
        if type_name(actual) != text:
            raise UsageError(f"{what} is mapped to a {text}, but it is {_described(actual)}")
        return actual
    if text in WORDS:
        return WORDS[text]
    if STRING_WITH_LENGTH.fullmatch(text):
        return T.StringType()
    if decimal := _DECIMAL.fullmatch(text):
        return _decimal(decimal[1], decimal[2], what)
    return _declared(word.strip(), what)


def _decimal(precision: str | None, scale: str | None, what: str) -> T.DecimalType:
    if precision is None:
        return BARE
    kind = T.DecimalType(int(precision), int(scale or 0))
    if not 0 < kind.precision <= 38 or kind.scale > kind.precision:
        raise UsageError(
            f"{what} is mapped to a decimal({kind.precision},{kind.scale}); allowed are 1 to 38 "
            "digits, with at most as many decimals"
        )
    return kind


def _declared(word: str, what: str) -> T.DataType:
    """Return a type with parts, such as ``array<string>``."""
    try:
        if "<" in word:
            return _parse_datatype_string(re.sub(r"\blong\b", "bigint", word))
    except Exception as error:
        raise UsageError(f"{what} is mapped to {word!r}, which is not a type: {error}") from error
    raise UsageError(
        f"{what} is mapped to {word!r}, which is not a type; allowed are {', '.join(WORDS)}, "
        "decimal(precision,scale), struct, array and map"
    )


def part_of(word: str, actual: T.DataType) -> T.StructField | None:
    """Return the field of a choice that holds the values of a named type."""
    if not isinstance(actual, Choice):
        return None
    text = word.strip().lower()
    name = type_name(WORDS[text]) if text in WORDS else text.partition("(")[0]
    return next((field for field in actual if field.name == name), None)


def type_label(kind: T.DataType) -> str:
    """Return a type in readable form; for a choice its types: ``choice<long,string>``."""
    return f"choice<{','.join(kind.names)}>" if isinstance(kind, Choice) else kind.simpleString()


def names_type(word: str, actual: T.DataType) -> bool:
    """Return whether a word names the type of a value, ignoring the width of numbers."""
    text = word.strip().lower()
    if isinstance(actual, T.NullType) or text == type_name(actual):
        return True
    kind = WORDS.get(text) or (T.StringType() if STRING_WITH_LENGTH.fullmatch(text) else None)
    if kind is None:
        is_decimal = _DECIMAL.fullmatch(text) is not None
        return is_decimal == isinstance(actual, T.DecimalType) and (is_decimal or "<" in text)
    return _family(kind) == _family(actual)


def _family(kind: T.DataType) -> str:
    if isinstance(kind, T.IntegralType):
        return "integer"
    if isinstance(kind, T.FractionalType) and not isinstance(kind, T.DecimalType):
        return "floating point"
    return type_name(kind)


def converted(column: Column, kind: T.DataType, target: T.DataType, what: str) -> Column:
    """Return a value as another type; null if that type cannot hold it, as on AWS.

    A choice gives the value of whichever type it has; a value with parts becomes JSON.
    """
    if kind == target and type(kind) is type(target):
        return column
    if isinstance(kind, Choice):
        each = [
            converted(column.getField(field.name), field.dataType, target, what)
            for field in kind
            if _can_cast(field.dataType, target)
        ]
        return F.coalesce(*each) if each else _impossible(kind, target, what)
    if isinstance(kind, T.StructType | T.ArrayType | T.MapType):
        if isinstance(target, T.StringType):
            return json_string(column, kind) if choices_in(kind) else F.to_json(column)
        if type(kind) is type(target):
            return _with_converted_parts(column, kind, target, what)
    if isinstance(target, T.NullType) or not _can_cast(kind, target):
        return _impossible(kind, target, what)
    return _within(column, kind, target)


def _with_converted_parts(
    column: Column, kind: T.DataType, target: T.DataType, what: str
) -> Column:
    def part(column: Column, kind: T.DataType, target: T.DataType) -> Column:
        return converted(column, kind, target, what)

    match kind, target:
        case T.ArrayType(), T.ArrayType():
            elements = kind.elementType, target.elementType
            return F.transform(column, lambda element: part(element, *elements))
        case T.MapType(), T.MapType():
            values, keys = (kind.valueType, target.valueType), target.keyType
            named = F.transform_keys(column, lambda key, _: lenient_cast(key, keys))
            return F.transform_values(named, lambda _, value: part(value, *values))
        case T.StructType(), T.StructType() if set(kind.names) == set(target.names):
            # Spark would cast structs by place; fields go by name.
            types = {field.name: field.dataType for field in kind}
            fields = [
                part(column.getField(name), types[name], target[name].dataType).alias(name)
                for name in target.names
            ]
            return F.when(column.isNotNull(), F.struct(*fields))
    return _impossible(kind, target, what)


def _within(column: Column, kind: T.DataType, target: T.DataType) -> Column:
    """Return a value as another type; null for a number too large for an integer."""
    # Spark's own cast of 5000000000 to int is 705032704.
    value, end = lenient_cast(column, target), ENDS.get(type(target))
    if end is None or not isinstance(kind, T.NumericType) or ENDS.get(type(kind), end + 1) <= end:
        return value
    exact = int if isinstance(kind, T.IntegralType) else Decimal  # a narrower end is a long
    return F.when((column > F.lit(exact(-end - 1))) & (column < F.lit(exact(end))), value)


def _impossible(kind: T.DataType, target: T.DataType, what: str) -> Column:
    actual, target_label = _described(kind), _described(target)
    cure = ""
    fields = kind.fields if isinstance(kind, T.StructType) else []
    # A written choice is a struct of one field for each type.
    if len(fields) >= MIN_OF_CHOICE and all(
        field.name == type_name(field.dataType) for field in fields
    ):
        was = "it is a choice that was written as it was"
        cure = f"; {was}: resolve it (ResolveChoice) before writing"
    raise UsageError(f"{what} is {actual} and cannot be converted to {target_label}{cure}")


def _can_cast(kind: T.DataType, target: T.DataType) -> bool:
    if isinstance(target, T.StringType):
        return True
    if type(kind) is type(target):
        return True
    session = SparkSession.getActiveSession()
    assert session is not None  # noqa: S101 (there is a frame)
    parse = session._jsparkSession.parseDataType
    cast = session._jvm.org.apache.spark.sql.catalyst.expressions.Cast  # type: ignore[union-attr]
    return bool(cast.canCast(parse(plain_type(kind).json()), parse(target.json())))


def _described(kind: T.DataType) -> str:
    name, whole = type_name(kind), kind.simpleString()
    return name if whole == name else f"{name} ({whole})"
