"""Types in other notations: Glue's schemas as JSON, and the types of the Data Catalog."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from pyspark.sql import types as T
from pyspark.sql.types import _parse_datatype_string

from tidemark.glue_job.frames.types import Choice, type_name

ATOMIC: dict[str, T.DataType] = {
    "binary": T.BinaryType(),
    "boolean": T.BooleanType(),
    "byte": T.ByteType(),
    "date": T.DateType(),
    "double": T.DoubleType(),
    "float": T.FloatType(),
    "int": T.IntegerType(),
    "long": T.LongType(),
    "null": T.NullType(),
    "short": T.ShortType(),
    "string": T.StringType(),
    "timestamp": T.TimestampType(),
    "timestampntz": T.TimestampNTZType(),
}
WIDER = (T.ByteType, T.ShortType, T.IntegerType, T.LongType, T.FloatType, T.DoubleType)
STRING_WITH_LENGTH = re.compile(r"\b(?:var)?char\s*\(\s*\d+\s*\)")


def spark_type(hive_type: str) -> T.DataType:
    """Return the Spark type of a type of the Data Catalog."""
    return _parse_datatype_string(STRING_WITH_LENGTH.sub("string", hive_type))


def spark_schema(
    document: Mapping[str, Any],
    choice_of: Callable[[Iterable[T.DataType]], T.DataType] | None = None,
) -> T.StructType:
    """Return the Spark schema of a result of ``awsglue.gluetypes.StructType.jsonValue``."""
    schema = _spark_type(document, choice_of)
    if not isinstance(schema, T.StructType):
        raise ValueError(f"the schema is a {document['dataType']}, it must be a struct")
    return schema


def _spark_type(
    document: Mapping[str, Any], choice_of: Callable[[Iterable[T.DataType]], T.DataType] | None
) -> T.DataType:
    name = document["dataType"]
    part = partial(_spark_type, choice_of=choice_of)
    if name == "struct":
        fields = [T.StructField(f["name"], part(f["container"])) for f in document["fields"]]
        return T.StructType(fields)
    if name == "array":
        return T.ArrayType(part(document["elementType"]))
    if name == "map":
        return T.MapType(T.StringType(), part(document["valueType"]))
    if name == "decimal":
        return T.DecimalType(int(document["precision"]), int(document["scale"]))
    if name == "choice":
        if choice_of is None:
            raise ValueError("it has a choice, but a value must have one type here: resolve it")
        return choice_of(map(part, document["choices"]))
    if name not in ATOMIC:
        raise ValueError(f"the type {name!r} is not known; allowed are {', '.join(ATOMIC)}")
    return ATOMIC[name]


def glue_schema(kind: T.DataType) -> dict[str, Any]:
    """Return a type as the JSON of ``awsglue.gluetypes``."""
    document: dict[str, Any] = {"dataType": type_name(kind), "properties": {}}
    match kind:
        case Choice():
            document["choices"] = [glue_schema(field.dataType) for field in kind]
        case T.StructType():
            document["fields"] = [
                {"name": field.name, "container": glue_schema(field.dataType), "properties": {}}
                for field in kind
            ]
        case T.ArrayType():
            document["elementType"] = glue_schema(kind.elementType)
        case T.MapType():
            document["valueType"] = glue_schema(kind.valueType)
        case T.DecimalType():
            document |= {"precision": kind.precision, "scale": kind.scale}
    return document


def hive_type(kind: T.DataType) -> str:
    """Return the type of the Data Catalog; string for a column that never had a value.

    Only text files can hold a choice: they hold its values.
    """
    match kind:
        case T.NullType():
            return "string"
        case Choice():
            # Read back as a number if each of its kinds is one, else as a string.
            kinds = [field.dataType for field in kind]
            if not all(type(part) in WIDER for part in kinds):
                return "string"
            return hive_type(max(kinds, key=lambda part: WIDER.index(type(part))))
        case T.ArrayType():
            return f"array<{hive_type(kind.elementType)}>"
        case T.MapType():
            return f"map<{hive_type(kind.keyType)},{hive_type(kind.valueType)}>"
        case T.StructType():
            return f"struct<{','.join(f'{f.name}:{hive_type(f.dataType)}' for f in kind)}>"
    return kind.simpleString().replace("_ntz", "")
