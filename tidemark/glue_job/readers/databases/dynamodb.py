"""Reads DynamoDB tables: by a scan, or as an export in DynamoDB's JSON.

Differs from AWS: one process reads the table; an export reads the table itself and has no files.
Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-connect-dynamodb-home.html
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Context, Decimal
from typing import Any, TypeAlias

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from tidemark.errors import UnsupportedError, UsageError
from tidemark.glue_job.frames.choices import with_marks
from tidemark.glue_job.frames.nested import simplify_ddb_json, unnest_ddb_json
from tidemark.glue_job.frames.records import filled, record_writer, widened
from tidemark.glue_job.frames.types import MAX_DIGITS, as_struct_type, struct_type
from tidemark.glue_job.readers.files.s3_options import is_true
from tidemark.local_state.dynamodb import dynamodb_client, naming_the_table
from tidemark.local_state.engine.other import ENDPOINT_VARIABLE
from tidemark.local_state.run_notes import note_read
from tidemark.local_state.run_warnings import RunWarning, note
from tidemark.model.checkpoints.checkpoint import DatasetRead

SCANNED, EXPORTED = "dynamodb.input.tableName", "dynamodb.tableArn"
EXPORT, UNNEST = "dynamodb.export", "dynamodb.unnestDDBJson"
SIMPLIFY = "dynamodb.simplifyDDBJson"
# Options for speed, region and credentials; here there is one DynamoDB.
WITHOUT_EFFECT = frozenset(
    (
        "dynamodb.throughput.read.percent dynamodb.splits dynamodb.sts.roleArn "
        "dynamodb.sts.roleSessionName dynamodb.sts.region dynamodb.region dynamodb.s3.bucket "
        "dynamodb.s3.prefix dynamodb.s3.bucketOwner"
    ).split()
)
KNOWN = {SCANNED, EXPORTED, EXPORT, UNNEST, SIMPLIFY, *WITHOUT_EFFECT}
_DESCRIPTORS: dict[str, T.DataType] = {
    "S": T.StringType(),
    "BOOL": T.BooleanType(),
    "B": T.BinaryType(),
    "NULL": T.NullType(),
}
_SETS = {"SS": "S", "NS": "N", "BS": "B"}
LONG = range(-(2**63), 2**63)
DOUBLE_DIGITS = 15  # that a double always holds
EXACT = Context(prec=MAX_DIGITS)
Typed: TypeAlias = tuple[Any, T.DataType]  # a value, and its type


def read_dynamodb(spark: SparkSession, connection_options: Mapping[str, Any]) -> DataFrame:
    """Return the items of a table as rows, one column per attribute, computed now.

    A number is a long or a double if one of these holds all its digits, else a decimal. An
    attribute of several types is a choice, a set an array. An export without unnestDDBJson and
    simplifyDDBJson has one column ``Item``, a struct of attributes in DynamoDB's JSON.
    """
    table, is_export = _table(connection_options)
    endpoint, region = os.environ[ENDPOINT_VARIABLE], os.environ["AWS_REGION"]
    with dynamodb_client(endpoint, region) as client, naming_the_table(client, table):
        pages = client.get_paginator("scan").paginate(TableName=table)
        items = [item for page in pages for item in page["Items"]]
    note_read(DatasetRead(f"dynamodb:{table}", rows=len(items)))
    if not is_export:
        return _frame(spark, _plain_items(items))
    frame = _frame(spark, [{"Item": _struct(_each(item))} for item in items])
    if is_true(connection_options.get(SIMPLIFY, False)):
        return simplify_ddb_json(frame)
    if is_true(connection_options.get(UNNEST, False)):
        return unnest_ddb_json(frame)
    return frame


def _table(options: Mapping[str, Any]) -> tuple[str, bool]:
    if unknown := sorted(set(options) - KNOWN):
        raise UnsupportedError(
            f"connection_options {unknown} of a dynamodb source are not supported by the local "
            f"Glue; it knows {', '.join(sorted(KNOWN))}"
        )
    export = options.get(EXPORT)
    if export is None:
        if not options.get(SCANNED):
            raise UsageError(f"connection_options has no {SCANNED}; a scan needs it")
        return str(options[SCANNED]).rpartition(":table/")[2], False
    if export != "ddb":
        raise UnsupportedError(
            f"connection_options[{EXPORT!r}] is {export!r}; only 'ddb' runs here: an export that "
            "is in S3 already can be read as json with unnest_ddb_json()"
        )
    if not options.get(EXPORTED):
        raise UsageError(f"connection_options has no {EXPORTED}; an export needs it")
    return str(options[EXPORTED]).rpartition(":table/")[2], True


def _frame(spark: SparkSession, records: Iterable[dict[str, Typed]]) -> DataFrame:
    rows, kind = list[dict[str, Any]](), T.StructType([])
    for record in records:
        value, kind_of_record = _struct(record)
        rows.append(value)
        kind = as_struct_type(widened(kind, kind_of_record))
    schema = as_struct_type(filled(kind))
    return spark.createDataFrame(map(record_writer(schema), rows), with_marks(schema), False)


def _struct(parts: Mapping[str, Typed]) -> tuple[dict[str, Any], T.StructType]:
    values = {name: value for name, (value, _) in parts.items()}
    return values, struct_type((name, kind) for name, (_, kind) in parts.items())


def _plain_items(items: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Typed]]:
    """Yield items as typed values; warn of attributes whose numbers no type holds."""
    # All items first: an attribute is a decimal only if one decimal holds all of its numbers.
    rounded = _rounded(items)
    for name in sorted(rounded):
        note(RunWarning.DYNAMODB_ROUNDED, name)
    for item in items:
        yield {name: _plain(value, name in rounded) for name, value in item.items()}


def _plain(attribute: Mapping[str, Any], is_rounded: bool) -> Typed:
    """Return a value and its type for an attribute, such as ``{"N": "1"}``."""
    ((key, value),) = attribute.items()
    if key == "N":
        return _number(value, is_rounded)
    if key == "M":
        return _struct({name: _plain(part, is_rounded) for name, part in value.items()})
    if key == "L":
        return _array([_plain(part, is_rounded) for part in value])
    if key in _SETS:
        return _array([_plain({_SETS[key]: part}, is_rounded) for part in value])
    return (None if key == "NULL" else value), _DESCRIPTORS[key]


def _number(text: str, is_rounded: bool) -> Typed:
    number = Decimal(text)
    if number == number.to_integral_value() and int(number) in LONG:
        return int(number), T.LongType()
    whole, scale = _digits(number)
    if not _is_wide(text) or whole + scale > MAX_DIGITS or (is_rounded and scale):
        return float(number), T.DoubleType()
    return number, T.DecimalType(whole + scale, scale)


def _is_wide(text: str) -> bool:
    # A double holds every number of so few digits.
    if len(text) <= DOUBLE_DIGITS:
        return False
    number = Decimal(text)
    is_double = number == Decimal(repr(float(number)))
    if number == number.to_integral_value():
        return int(number) not in LONG and not (is_double and number.adjusted() >= MAX_DIGITS)
    return not is_double


def _digits(number: Decimal) -> tuple[int, int]:
    return max(number.adjusted() + 1, 0), max(-int(number.normalize(EXACT).as_tuple().exponent), 0)


def _rounded(items: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the attributes whose numbers no decimal holds together."""
    widest: dict[str, tuple[int, int]] = {}
    for item in items:
        for name, attribute in item.items():
            for text in filter(_is_wide, _numbers(attribute)):
                digits, wide = _digits(Decimal(text)), widest.get(name, (0, 0))
                widest[name] = max(digits[0], wide[0]), max(digits[1], wide[1])
    return {name for name, digits in widest.items() if sum(digits) > MAX_DIGITS}


def _numbers(attribute: Mapping[str, Any]) -> Iterator[str]:
    ((key, value),) = attribute.items()
    if key == "N":
        yield value
    elif key == "NS":
        yield from value
    elif key in ("L", "M"):
        for part in value if key == "L" else value.values():
            yield from _numbers(part)


def _array(parts: list[Typed]) -> tuple[list[Any], T.DataType]:
    kind: T.DataType = T.NullType()
    for _, kind_of_part in parts:
        kind = widened(kind, kind_of_part)
    return [value for value, _ in parts], T.ArrayType(kind)


def _described(attribute: Mapping[str, Any]) -> Typed:
    """Return an attribute in DynamoDB's JSON: ``{"N": "1"}`` with a string in it."""
    ((key, value),) = attribute.items()
    if key == "M":
        return _struct({key: _struct(_each(value))})
    if key == "L":
        return _struct({key: _array([_described(part) for part in value])})
    if key in _SETS:
        kind = _DESCRIPTORS.get(_SETS[key], T.StringType())
        return _struct({key: (value, T.ArrayType(kind))})
    kind = T.BooleanType() if key == "NULL" else _DESCRIPTORS.get(key, T.StringType())
    return _struct({key: (value, kind)})


def _each(attributes: Mapping[str, Any]) -> dict[str, Typed]:
    return {name: _described(attribute) for name, attribute in attributes.items()}
