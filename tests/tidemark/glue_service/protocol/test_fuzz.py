"""Requests made from the service model: each is answered, or refused with a code of Glue."""

from __future__ import annotations

import json
from typing import Any

from botocore.model import ListShape, MapShape, Shape, StructureShape
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tries import tries
from tidemark.errors import TidemarkError
from tidemark.glue_service.http.services import OPERATIONS, call
from tidemark.glue_service.protocol.json_protocol import json_answer, read_request
from tidemark.glue_service.protocol.models import find_operation
from tidemark.glue_service.protocol.service_errors import SERVER_ERROR, service_error

TEXTS = ("a", "b", "", "../..", "é", "a/b", "x" * 300, "s3://scripts/a.py", "*", "[", "{", "f/1")
DEEPEST = 5


def values(shape: Shape, depth: int = 0) -> st.SearchStrategy[Any]:
    """Return a strategy for values that are mostly of a shape."""
    if isinstance(shape, StructureShape):
        chosen = {
            name: values(member, depth + 1)
            for name, member in shape.members.items()
            if depth < DEEPEST or name in shape.required_members
        }
        needed = {name: chosen.pop(name) for name in shape.required_members}
        return st.fixed_dictionaries(needed, optional=chosen if depth < DEEPEST else {})
    if isinstance(shape, ListShape):
        return st.lists(values(shape.member, depth + 1), max_size=2)
    if isinstance(shape, MapShape):
        return st.dictionaries(st.sampled_from(TEXTS), values(shape.value, depth + 1), max_size=2)
    if shape.type_name == "string":
        allowed = shape.metadata.get("enum") or ("a", "a", "b", *TEXTS)
        return st.sampled_from([*allowed, "no such value"])
    if shape.type_name == "boolean":
        return st.booleans()
    return st.sampled_from([0, 1, 2, 100, -1, 10**12, "x"])


@settings(max_examples=tries(150), suppress_health_check=list(HealthCheck))
@given(st.data())
def test_every_request_is_answered_or_refused_with_a_code_of_glue(port, data):
    if not port.glue.list_jobs()["JobNames"]:
        port.job("a")
    service = data.draw(st.sampled_from(["glue", "glue", "glue", "logs", "events"]))
    name = data.draw(st.sampled_from(sorted(OPERATIONS[service])))
    operation = find_operation(service, name)
    body = json.dumps(data.draw(values(operation.input_shape))).encode()

    try:
        request = read_request(operation, body)
        answer = json_answer(operation, call(port.engine, service, name, request))
    except TidemarkError as error:
        assert service_error(error).status < SERVER_ERROR  # noqa: PT017 (either is right)
    else:
        assert isinstance(json.loads(answer), dict)
