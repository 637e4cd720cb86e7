"""Checks a request against the shapes of botocore's service models, before anything acts on it.

botocore checks types, required and unknown fields and the least lengths. What AWS checks on its
side is added: the greatest lengths and numbers, enumerations, patterns, and that a number is not a
boolean.
"""

from collections.abc import Mapping
from typing import Any

from botocore.model import OperationModel
from botocore.validate import ParamValidator

from tidemark.model.assembly.shape_limits import beyond_limits


def faults_of(operation: OperationModel, request: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with a request, one text each; empty if the operation takes it."""
    shape = operation.input_shape
    if shape is None:
        return [f"{operation.name} takes no parameters"] if request else []
    report = ParamValidator().validate(dict(request), shape)
    if report.has_errors():
        return [line for line in report.generate_report().splitlines() if line]
    return list(beyond_limits(shape, request))
