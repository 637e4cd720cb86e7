"""Schemas and records in the form that Glue prints.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-extensions-dynamic-frame.html
"""

import base64
import json
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.types import ArrayType, DataType, DecimalType, MapType, StructType

from tidemark.glue_job.frames.choices import schema_of
from tidemark.glue_job.frames.records import converter
from tidemark.glue_job.frames.types import Choice, type_name


def tree(schema: StructType) -> str:
    """Return a schema as ``printSchema`` prints it."""
    return "\n".join(["root", *_lines(schema, ""), ""])


def _lines(kind: DataType, indent: str) -> Iterator[str]:
    match kind:
        case Choice():
            for field in kind:
                yield f"{indent}|-- {_named(field.dataType)}"
                yield from _lines(field.dataType, f"{indent}|    ")
        case StructType():
            for field in kind:
                yield f"{indent}|-- {field.name}: {_named(field.dataType)}"
                yield from _lines(field.dataType, f"{indent}|    ")
        case ArrayType():
            yield f"{indent}|-- element: {_named(kind.elementType)}"
            yield from _lines(kind.elementType, f"{indent}|    ")
        case MapType():
            yield f"{indent}|-- keyType: string"
            yield f"{indent}|-- valueType: {_named(kind.valueType)}"
            yield from _lines(kind.valueType, f"{indent}|    ")


def _named(kind: DataType) -> str:
    return kind.simpleString() if isinstance(kind, DecimalType) else type_name(kind)


def first_records(frame: DataFrame, number: int) -> list[str]:
    """Return the first records of a frame as lines of JSON."""
    record_of = converter(schema_of(frame)) or (lambda row: row)
    rows = frame.take(number) if frame.columns else []
    return [json.dumps(record_of(row), default=_json_default, ensure_ascii=False) for row in rows]


def _json_default(value: object) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral() else float(value)
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode()
    return value.isoformat() if isinstance(value, date) else str(value)
