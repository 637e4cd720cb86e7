"""The JSON protocol of Glue and CloudWatch Logs: a request's body checked, an answer's made.

Source: https://smithy.io/2.0/aws/protocols/aws-json-1_1-protocol.html
"""

import json
from collections.abc import Mapping
from typing import Any

from botocore.model import OperationModel

from tidemark.glue_service.protocol.constraints import faults_of
from tidemark.glue_service.protocol.service_errors import ServiceError

CONTENT_TYPE = "application/x-amz-json-1.1"
DEEPEST = 100  # far beyond every shape; Python's own limit would end the thread's stack
INVALID = {
    "glue": "InvalidInputException",
    "logs": "InvalidParameterException",
    "events": "ValidationException",
}


def read_request(operation: OperationModel, body: bytes) -> dict[str, Any]:
    """Return the parameters of a request."""
    request = _object(body)
    if faults := faults_of(operation, request):
        code = INVALID[operation.service_model.service_name]
        raise ServiceError(code, f"{operation.name} cannot take this: {'; '.join(faults)}")
    return request


def _object(body: bytes) -> dict[str, Any]:
    if not body:
        return {}
    try:
        request = json.loads(body, parse_constant=_refuse_constant)
        json.dumps(request, ensure_ascii=False).encode()  # lone surrogates are no text
        depth = _depth(request)
    except (ValueError, RecursionError) as error:
        raise ServiceError("SerializationException", f"the body is no JSON: {error}") from error
    if not isinstance(request, dict) or depth > DEEPEST:
        raise ServiceError(
            "SerializationException",
            f"the body is a JSON {type(request).__name__} of {depth} levels; allowed: an object "
            f"of up to {DEEPEST}",
        )
    return request


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(_depth, value.values()), default=0)
    return 1 + max(map(_depth, value), default=0) if isinstance(value, list) else 0


def error_body(error: ServiceError) -> Mapping[str, str]:
    """Return what the body of an error says."""
    return {"__type": error.code, "Message": str(error), "message": str(error)}
