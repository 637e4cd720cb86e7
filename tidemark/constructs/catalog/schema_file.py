"""The columns of a contract from a file of the repository: DDL, or JSON of Spark's StructType."""

import json
import re
from pathlib import Path
from typing import Any

from tidemark.model.checked import wrong
from tidemark.model.checkpoints.schemas import SQL_NAMES
from tidemark.model.hive_types import struct_of

FORMS = "a file with DDL, such as `id BIGINT, amount DECIMAL(10,2)`, or with a StructType's JSON"


def ddl_of_file(path: Path) -> str:
    """Return the columns as DDL.

    Raises:
        JobDefinitionError: the file is not there, or holds neither.
    """
    try:
        text = path.read_text(encoding="utf-8")
        if not text.lstrip().startswith("{"):
            return " ".join(re.sub("--.*", "", text).split())
        fields = json.loads(text)["fields"]
        return ", ".join(f"{field['name']} {_type(field['type'])}" for field in fields)
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise wrong(f"the SchemaPolicy ({error})", "schema", str(path), FORMS) from error


def _type(kind: Any) -> str:
    match kind:
        case str():
            return SQL_NAMES.get(kind, kind)
        case {"type": "array", "elementType": element}:
            return f"array<{_type(element)}>"
        case {"type": "map", "keyType": key, "valueType": value}:
            return f"map<{_type(key)},{_type(value)}>"
    return struct_of({part["name"]: _type(part["type"]) for part in kind["fields"]})
