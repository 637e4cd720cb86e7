"""The JSON protocol of Glue and CloudWatch Logs: parses requests, writes answers.

Source: https://smithy.io/2.0/aws/protocols/aws-json-1_1-protocol.html
"""

import base64
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from botocore.model import ListShape, MapShape, OperationModel, Shape, StructureShape

from tidemark.glue_service.protocol.models import find_faults
from tidemark.glue_service.protocol.service_errors import ServiceError

CONTENT_TYPE = "application/x-amz-json-1.1"
DEEPEST = 100  # far beyond every shape; Python's own limit would overflow the thread's stack
INVALID = {"glue": "InvalidInputException", "logs": "InvalidParameterException"}
MS_PER_S = 1000


def read_request(operation: OperationModel, body: bytes) -> dict[str, Any]:
    """Return the parameters of a request."""
    try:
        request = parsed(body or b"{}")
    except ValueError as error:
        raise ServiceError("SerializationException", f"the body is not JSON: {error}") from error
    if not isinstance(request, dict):
        text = f"the body is a JSON {type(request).__name__}; allowed: an object"
        raise ServiceError("SerializationException", text)
    if faults := find_faults(operation, request):
        code = INVALID.get(operation.service_model.service_name, "ValidationException")
        raise ServiceError(code, f"{operation.name} cannot take this: {'; '.join(faults)}")
    return request


def parsed(text: str | bytes) -> Any:
    """Return the value of a JSON text.

    Raises:
        ValueError: it is not JSON, has more than 100 levels, a lone surrogate, or a number that
            is not finite; Python reads NaN and 1e400.
    """
    try:
        value = json.loads(text)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
        depth = _depth(value)
    except RecursionError:
        depth = DEEPEST + 1
    if depth > DEEPEST:
        raise ValueError(f"it has too many levels; allowed: {DEEPEST}")
    return value


def _depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(_depth, value.values()), default=0)
    return 1 + max(map(_depth, value), default=0) if isinstance(value, list) else 0


def error_body(error: ServiceError) -> Mapping[str, str]:
    """Return the body of an error."""
    return {"__type": error.code, "Message": str(error), "message": str(error)}


def json_answer(operation: OperationModel, answer: Mapping[str, Any]) -> bytes:
    """Return the body of an answer; members that are None are left out.

    Times are given in epoch milliseconds or as datetimes, and sent in epoch seconds.
    """
    shape = operation.output_shape
    return json.dumps({} if shape is None else wire_value(shape, answer)).encode()


def wire_value(shape: Shape, value: Any) -> Any:
    """Return a value in its JSON form."""
    if isinstance(shape, StructureShape):
        members = shape.members  # AWS's kernel reads more than botocore's model has: pictures
        return {
            name: wire_value(members[name], item) if name in members else item
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
