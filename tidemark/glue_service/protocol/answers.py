"""Answers in the JSON that AWS's protocol has, by the shapes of botocore's service models."""

import base64
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from botocore.model import ListShape, MapShape, OperationModel, Shape, StructureShape

MS_PER_S = 1000


def json_answer(operation: OperationModel, answer: Mapping[str, Any]) -> bytes:
    """Return the body of an answer; members that are None are left out.

    Times are given in epoch milliseconds, or as datetimes, and sent in epoch seconds.
    """
    shape = operation.output_shape
    body = {} if shape is None else wire_value(shape, answer)
    return json.dumps(body).encode()


def wire_value(shape: Shape, value: Any) -> Any:
    """Return a value as it is sent in JSON."""
    if isinstance(shape, StructureShape):
        return {
            name: wire_value(shape.members[name], item)
            for name, item in value.items()
            if item is not None
        }
    if isinstance(shape, ListShape):
        return [wire_value(shape.member, item) for item in value]
    if isinstance(shape, MapShape):
        return {key: wire_value(shape.value, item) for key, item in value.items()}
    if shape.type_name == "timestamp":
        return value.timestamp() if isinstance(value, datetime) else value / MS_PER_S
    if shape.type_name == "blob":
        return base64.b64encode(value).decode()
    return value
