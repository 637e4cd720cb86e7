"""Defines on the port what an assembly defines, as deploying its stacks does on AWS."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from botocore.model import ListShape, MapShape, Shape, StructureShape

from tidemark.assembly.cloud_assembly import read_assembly
from tidemark.assembly.template import resolve_stacks, stack_resources
from tidemark.local_glue.commands import deploy
from tidemark.local_glue.deployment.deployed_jobs import replace_deployed_jobs
from tidemark.local_glue.dynamodb import create_tables, dynamodb_client
from tidemark.local_glue.port.entities import (
    Entity,
    Kind,
    delete_entity,
    find_entity,
    list_entities,
    put_entity,
)
from tidemark.local_glue.port.local_glue import LocalGlue
from tidemark.local_glue.port.models import find_operation
from tidemark.local_glue.port.trigger_forms import ACTIVATED, CREATED
from tidemark.local_glue.watermark_tables import imported_tables

KINDS = {
    "AWS::Glue::Job": Kind.JOB,
    "AWS::Glue::Trigger": Kind.TRIGGER,
    "AWS::Glue::Workflow": Kind.WORKFLOW,
}
CREATED_BY = {
    Kind.JOB: "CreateJob",
    Kind.TRIGGER: "CreateTrigger",
    Kind.WORKFLOW: "CreateWorkflow",
}
STACK_TAG = "aws:cloudformation:stack-name"
KEPT_APART = ("Name", "Tags", "StartOnCreation")


def deploy_on_port(glue: LocalGlue, folder: Path) -> str:
    """Define what an assembly defines, delete what left its stacks; return a line about it.

    Raises:
        TidemarkError: it could not be deployed; what was defined before may be replaced in part.
    """
    machine = glue.machine
    deployment = deploy(folder, machine.home)
    with dynamodb_client(machine.dynamodb_endpoint, machine.region) as dynamodb:
        create_tables(dynamodb, [*deployment.tables, *imported_tables(deployment)])
    now_ms = glue.now_ms()
    found = list(_definitions(folder, machine.region))
    with glue.store.transaction():
        replace_deployed_jobs(glue.store, deployment.stack_of_job)
        _delete_what_left(glue, found)
        for stack, kind, name, properties in found:
            _define(glue, kind, name, properties, stack, now_ms)
    glue.schedules.load(glue.store, now_ms)
    counts = ", ".join(
        f"{sum(one == kind for _, one, *_ in found)} {kind.value}s" for kind in KINDS.values()
    )
    return f"{folder} is deployed: {counts}"


def _define(
    glue: LocalGlue, kind: Kind, name: str, properties: dict[str, Any], stack: str, now_ms: int
) -> None:
    old = find_entity(glue.store, kind, name)
    request = as_request(CREATED_BY[kind], properties)
    definition = {key: value for key, value in request.items() if key not in KEPT_APART}
    if kind == Kind.TRIGGER:
        definition["State"] = ACTIVATED if request.get("StartOnCreation") else CREATED
    tags = {**properties.get("Tags", {}), STACK_TAG: stack}
    if old and (old.definition, old.tags) == (definition, tags):
        return
    created_at_ms = old.created_at_ms if old else now_ms
    put_entity(glue.store, Entity(kind, name, definition, tags, created_at_ms, now_ms))


def as_request(operation: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties of a resource as the request that CloudFormation makes of them.

    Numbers and booleans may be texts in a template. What no request has is left out.
    """
    found = find_operation("glue", operation)
    if found is None or found.input_shape is None:
        raise ValueError(f"Glue has no operation {operation}")
    request: dict[str, Any] = _as_shape(found.input_shape, properties)
    return request


def _as_shape(shape: Shape, value: Any) -> Any:
    if isinstance(shape, StructureShape):
        members = shape.members
        return {name: _as_shape(members[name], value[name]) for name in value if name in members}
    if isinstance(shape, ListShape):
        return [_as_shape(shape.member, item) for item in value]
    if isinstance(shape, MapShape):
        return {name: _as_shape(shape.value, item) for name, item in value.items()}
    if shape.type_name in OF_TEXT and isinstance(value, str):
        return OF_TEXT[shape.type_name](value)
    return str(value) if shape.type_name == "string" else value


OF_TEXT: Mapping[str, Callable[[str], Any]] = {
    "integer": int,
    "long": int,
    "double": float,
    "boolean": lambda text: text.lower() == "true",
}


def _delete_what_left(glue: LocalGlue, found: list[tuple[str, Kind, str, dict[str, Any]]]) -> None:
    stacks = {stack for stack, *_ in found}
    names = {(kind, name) for _, kind, name, _ in found}
    for kind in KINDS.values():
        for entity in list_entities(glue.store, kind):
            is_ours = entity.tags.get(STACK_TAG) in stacks
            if is_ours and (kind, entity.name) not in names:
                delete_entity(glue.store, kind, entity.name)


def _definitions(folder: Path, region: str) -> Iterator[tuple[str, Kind, str, dict[str, Any]]]:
    for stack, scope in resolve_stacks(read_assembly(folder), region):
        for _, kind, name, properties in stack_resources(stack, scope):
            if kind in KINDS:
                yield stack.name, KINDS[kind], name, properties
