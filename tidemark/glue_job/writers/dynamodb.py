"""Writes rows as items of a DynamoDB table; an item replaces an existing one with its key.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-connect-dynamodb-home.html
"""

import math
import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, DoubleType, FloatType, StringType

from tidemark.errors import TidemarkError, UnsupportedError, UsageError
from tidemark.glue_job.frames.choices import quoted, schema_of
from tidemark.glue_job.frames.records import converter
from tidemark.glue_job.frames.types import replaced
from tidemark.local_state.dynamodb import dynamodb_client, naming_the_table
from tidemark.local_state.engine.other import ENDPOINT_VARIABLE
from tidemark.local_state.run_notes import note_written
from tidemark.model.checkpoints.checkpoint import MERGE, DatasetWritten

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TABLE = "dynamodb.output.tableName"
# Options for speed and credentials; here there is one DynamoDB.
WITHOUT_EFFECT = frozenset(
    (
        "dynamodb.throughput.write.percent dynamodb.output.numParallelTasks dynamodb.output.retry "
        "dynamodb.sts.roleArn dynamodb.sts.roleSessionName dynamodb.region dynamodb.sts.region"
    ).split()
)
BATCH = 25  # items of a BatchWriteItem
ATTEMPTS = 10


def write_dynamodb(frame: DataFrame, connection_options: Mapping[str, Any]) -> None:
    """Put the rows of a frame into a table; a null is not an attribute, a choice is its value.

    Dates and times become strings in ISO 8601.
    """
    table = connection_options.get(TABLE)
    if not table:
        raise UsageError(f"connection_options has no {TABLE}; a dynamodb sink needs it")
    if unknown := sorted(set(connection_options) - {TABLE, *WITHOUT_EFFECT}):
        raise UnsupportedError(
            f"connection_options {unknown} of a dynamodb sink are not supported by the local Glue; "
            f"it knows {TABLE}, {', '.join(sorted(WITHOUT_EFFECT))}"
        )
    if not frame.columns:
        return
    with dynamodb_client(os.environ[ENDPOINT_VARIABLE], os.environ["AWS_REGION"]) as client:
        name = str(table).rpartition(":table/")[2]
        with naming_the_table(client, name):
            described = client.describe_table(TableName=name)["Table"]
        keys = [key["AttributeName"] for key in described["KeySchema"]]
        items, rows = _items(frame), 0
        while some := list(islice(items, BATCH)):
            # Of several items with one key only the last, as DynamoDB requires.
            batch = {str([item.get(key) for key in keys]): item for item in some}
            rows += len(batch)
            _put(client, name, batch.values())
    note_written(DatasetWritten(f"dynamodb:{name}", MERGE, rows=rows))


def _items(frame: DataFrame) -> Iterator[dict[str, Any]]:
    record_of = converter(schema_of(frame))
    assert record_of is not None  # noqa: S101 (a row is a struct)
    # By its text a float of 1.1 is the double 1.1, and not 1.100000023841858.
    columns = [
        F.col(quoted(field.name))
        .cast(_floats_as(StringType(), field.dataType))
        .cast(_floats_as(DoubleType(), field.dataType))
        for field in frame.schema
    ]
    for row in frame.select(*columns).toLocalIterator():
        yield _map(record_of(row))


def _floats_as(kind: DataType, whole: DataType) -> DataType:
    return replaced(whole, lambda part: kind if isinstance(part, FloatType) else None)


def _put(client: "DynamoDBClient", table: str, items: Iterable[dict[str, Any]]) -> None:
    waiting: Any = {table: [{"PutRequest": {"Item": item}} for item in items]}
    for _ in range(ATTEMPTS):
        waiting = client.batch_write_item(RequestItems=waiting)["UnprocessedItems"]
        if not waiting:
            return
    raise TidemarkError(f"DynamoDB did not accept all items of the table {table}; run again")


def _map(record: Mapping[str, Any]) -> dict[str, Any]:
    values = ((str(name), value) for name, value in record.items() if value is not None)
    return {name: _attribute(name, value) for name, value in values}


def _attribute(name: str, value: Any) -> dict[str, Any]:
    """Return the value of a field in DynamoDB's form, such as ``{"N": "1"}``."""
    match value:
        case None:
            return {"NULL": True}
        case bool():
            return {"BOOL": value}
        case int() | float() | Decimal():
            return {"N": _number(name, value)}
        case bytes() | bytearray():
            return {"B": bytes(value)}
        case Mapping():
            return {"M": _map(value)}
        case list() | tuple():
            return {"L": [_attribute(name, part) for part in value]}
        case datetime() | date():
            return {"S": value.isoformat()}
    return {"S": str(value)}


def _number(name: str, value: float | Decimal) -> str:
    if not math.isfinite(value):
        raise UsageError(
            f"the field {name} is {value}, and DynamoDB has no such number: make it null, or a "
            "string, before the write"
        )
    return str(value)
