"""The service models of botocore: operations, values in their shapes, constraints of a request."""

import gzip
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from botocore.loaders import Loader
from botocore.model import ListShape, MapShape, OperationModel, ServiceModel, Shape, StructureShape
from botocore.validate import ParamValidator

from tidemark.model.assembly.shape_limits import beyond_limits

NAMES = re.compile(rb'"(?:endpointPrefix|signingName)" *: *"([^"]+)"')
HEAD_BYTES = 4_000  # of a model's file, with its metadata
# Services that the wing `emulated` answers with moto, and their common names.
EMULATED = {"secretsmanager": "Secrets Manager", "ssm": "SSM", "sns": "SNS", "sqs": "SQS"}
TARGETS = {"AWSGlue": "glue", "Logs_20140328": "logs"}  # of the header X-Amz-Target
TEXT_PARSERS: Mapping[str, Callable[[str], Any]] = {
    "integer": int,
    "long": int,
    "double": float,
    "boolean": lambda text: text.lower() == "true",
}
FIRST_S, LAST_S = -62_135_596_800, 253_402_300_800  # the years 1 to 9999, as Python's
TIME = "a number of seconds since 1970, in the years 1 to 9999"


@cache
def service_model(service: str) -> ServiceModel:
    """Return the model of a service by botocore's name for it, such as ``glue``, or ``states``."""
    name = "stepfunctions" if service == "states" else service
    return ServiceModel(Loader().load_service_model(name, "service-2"), service)


@cache
def services_signed_as(name: str) -> tuple[str, ...]:
    """Return the services, by boto3 name, whose requests are signed with a name.

    If a service has the name itself, only that one.

    >>> services_signed_as("monitoring")
    ('cloudwatch',)
    """
    services = set()
    for folder in Loader().search_paths:
        for path in Path(folder).glob("*/*/service-2.json.gz"):
            with gzip.open(path) as file:
                if name.encode() in NAMES.findall(file.read(HEAD_BYTES)):
                    services.add(path.parent.parent.name)
    return (name,) if name in services else tuple(sorted(services))


def find_operation(service: str, name: str) -> OperationModel | None:
    """Return an operation of a service; None if AWS has no such operation."""
    model = service_model(service)
    return model.operation_model(name) if name in model.operation_names else None


def as_shape(name: str, value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of a structure of Glue, with its types.

    In a template numbers and booleans may be strings. Unknown members are left out, and so are
    times that are not in epoch seconds; the others become epoch milliseconds, as in answers.
    """
    shaped: dict[str, Any] = _shaped(service_model("glue").shape_for(name), value)
    return shaped


def _shaped(shape: Shape, value: Any) -> Any:
    if isinstance(shape, StructureShape):
        members = shape.members
        return {
            name: _shaped(members[name], item)
            for name, item in value.items()
            if name in members
            and item is not None
            and (members[name].type_name != "timestamp" or _is_time(item))
        }
    if isinstance(shape, ListShape):
        return [_shaped(shape.member, item) for item in value]
    if isinstance(shape, MapShape):
        return {name: _shaped(shape.value, item) for name, item in value.items()}
    if shape.type_name in TEXT_PARSERS and isinstance(value, str):
        return TEXT_PARSERS[shape.type_name](value)
    if shape.type_name == "timestamp":
        return int(value * 1000)
    return str(value) if shape.type_name == "string" else value


def _is_time(value: Any) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and FIRST_S <= value < LAST_S


class _Validator(ParamValidator):
    """Takes times in epoch seconds only, as AWS does in JSON: botocore's fails on large ones."""

    def _validate_timestamp(self, param: Any, shape: Shape, errors: Any, name: str) -> None:
        if not _is_time(param):
            errors.report(name, "invalid type", param=param, valid_types=[TIME])


def find_faults(operation: OperationModel, request: Mapping[str, Any]) -> list[str]:
    """Return the faults of a request, one string each; empty if it is valid."""
    shape = operation.input_shape
    if shape is None:
        return [f"{operation.name} takes no parameters"] if request else []
    report = _Validator().validate(dict(request), shape)
    if report.has_errors():
        return [line for line in report.generate_report().splitlines() if line]
    return list(beyond_limits(shape, request))
