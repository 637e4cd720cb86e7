"""Reads DynamoDB tables: by a scan, or as an export in DynamoDB's JSON.

Differs from AWS: one process reads the table; an export reads the table itself and has no files.
Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-connect-dynamodb-home.html
"""

import os
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from tidemark.errors import UnsupportedError, UsageError
from tidemark.glue_job.frames.choices import with_marks
from tidemark.glue_job.frames.nested import simplify_ddb_json, unnest_ddb_json
from tidemark.glue_job.frames.records import filled, widened, writer
from tidemark.glue_job.frames.types import as_struct_type
from tidemark.glue_job.readers.files.s3_options import is_true
from tidemark.local_state.dynamodb import dynamodb_client, naming_the_table
from tidemark.local_state.engine.other import ENDPOINT_VARIABLE
from tidemark.local_state.store.dataset_notes import note_read
from tidemark.model.checkpoints.checkpoint import DatasetRead

SCANNED, EXPORTED = "dynamodb.input.tableName", "dynamodb.tableArn"
EXPORT, UNNEST, SIMPLIFY = (
    "dynamodb.export",
    "dynamodb.unnestDDBJson",
    "dynamodb.simplifyDDBJson",
)
# Options for speed, region and credentials; here there is one DynamoDB.
WITHOUT_EFFECT = {
    "dynamodb.throughput.read.percent",
    "dynamodb.splits",
    "dynamodb.sts.roleArn",
    "dynamodb.sts.roleSessionName",
    "dynamodb.sts.region",
    "dynamodb.region",
    "dynamodb.s3.bucket",
    "dynamodb.s3.prefix",
    "dynamodb.s3.bucketOwner",
}
KNOWN = {SCANNED, EXPORTED, EXPORT, UNNEST, SIMPLIFY, *WITHOUT_EFFECT}
_DESCRIPTORS: dict[str, T.DataType] = {
    "S": T.StringType(),
    "BOOL": T.BooleanType(),
    "B": T.BinaryType(),
    "NULL": T.NullType(),
}
_SETS = {"SS": "S", "NS": "N", "BS": "B"}


def read_dynamodb(spark: SparkSession, connection_options: Mapping[str, Any]) -> DataFrame:
    """Return the items of a table as rows, one column per attribute, computed now.

    A number without decimals is a long, any other a double; an attribute of several types is a
    choice, a set an array. An export without unnestDDBJson and simplifyDDBJson has one column
    ``Item``, a struct of attributes in DynamoDB's JSON.
    """
    table, is_export = _table(connection_options)
    endpoint, region = os.environ[ENDPOINT_VARIABLE], os.environ["AWS_REGION"]
    with dynamodb_client(endpoint, region) as client, naming_the_table(client, table):
        pages = client.get_paginator("scan").paginate(TableName=table)
        items = [item for page in pages for item in page["Items"]]
    note_read(DatasetRead(f"dynamodb:{table}", rows=len(items)))
    if not is_export:
        return _frame(spark, [{k: _plain(v) for k, v in item.items()} for item in items])
    frame = _frame(spark, [{"Item": _struct(_each(item))} for item in items])
    if is_true(connection_options.get(SIMPLIFY, False)):
        return simplify_ddb_json(frame)
    if is_true(connection_options.get(UNNEST, False)):
        return unnest_ddb_json(frame)
    return frame


def _table(options: Mapping[str, Any]) -> tuple[str, bool]:
    """Return the name of the table, and whether it is to be exported."""
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


def _frame(spark: SparkSession, records: Iterable[dict[str, tuple[Any, T.DataType]]]) -> DataFrame:
    """Return typed values as rows with their common schema."""
    rows, kind = list[dict[str, Any]](), T.StructType([])
    for record in records:
        value, found = _struct(record)
        rows.append(value)
        merged = as_struct_type(widened(kind, found))
        kind = merged
    schema = as_struct_type(filled(kind))
    write = writer(schema)
    assert write is not None  # noqa: S101 (of a struct)
    return spark.createDataFrame([write(row) for row in rows], with_marks(schema), False)


def _struct(parts: Mapping[str, tuple[Any, T.DataType]]) -> tuple[dict[str, Any], T.StructType]:
    values = {name: value for name, (value, _) in parts.items()}
    return values, T.StructType([T.StructField(name, kind) for name, (_, kind) in parts.items()])


def _plain(attribute: Mapping[str, Any]) -> tuple[Any, T.DataType]:
    """Return a value and its type for an attribute, such as ``{"N": "1"}``."""
    ((key, value),) = attribute.items()
    if key == "N":
        return _number(value)
    if key == "M":
        return _struct({name: _plain(one) for name, one in value.items()})
    if key == "L":
        return _array([_plain(one) for one in value])
    if key in _SETS:
        return _array([_plain({_SETS[key]: one}) for one in value])
    return (None if key == "NULL" else value), _DESCRIPTORS[key]


def _number(text: str) -> tuple[Any, T.DataType]:
    number = Decimal(text)
    if number == number.to_integral_value() and abs(number) < 2**63:
        return int(number), T.LongType()
    return float(number), T.DoubleType()


def _array(parts: list[tuple[Any, T.DataType]]) -> tuple[list[Any], T.DataType]:
    kind: T.DataType = T.NullType()
    for _, found in parts:
        kind = widened(kind, found)
    return [value for value, _ in parts], T.ArrayType(kind)


def _described(attribute: Mapping[str, Any]) -> tuple[Any, T.DataType]:
    """Return an attribute in DynamoDB's JSON: ``{"N": "1"}`` with a string in it."""
    ((key, value),) = attribute.items()
    if key == "M":
        return _struct({key: _struct(_each(value))})
    if key == "L":
        return _struct({key: _array([_described(one) for one in value])})
    if key in _SETS:
        kind = _DESCRIPTORS.get(_SETS[key], T.StringType())
        return _struct({key: (value, T.ArrayType(kind))})
    kind = T.BooleanType() if key == "NULL" else _DESCRIPTORS.get(key, T.StringType())
    return _struct({key: (value, kind)})


def _each(attributes: Mapping[str, Any]) -> dict[str, tuple[Any, T.DataType]]:
    return {name: _described(one) for name, one in attributes.items()}
