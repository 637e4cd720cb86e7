"""The operations of Step Functions on state machines.

Source: https://docs.aws.amazon.com/step-functions/latest/apireference/API_Operations.html
"""

import re
import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tidemark.glue_service.entities import (
    Entity,
    EntityKind,
    delete_entity,
    find_entity,
    list_entities,
    put_entity,
)
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.protocol.pages import PAGE, Answer, Request, page
from tidemark.glue_service.protocol.service_errors import ServiceError
from tidemark.glue_service.state_machines.execution_rows import EXPRESS, STANDARD, delete_executions

NAME = re.compile(r"""[^\x00-\x20\x7f-\x9f<>{}\[\]?*"#%\\^|~`$&,;:/]{1,80}""")
ARN = re.compile(r"arn:aws[a-z-]*:states:[a-z0-9-]+:\d{12}:(?P<type>[a-zA-Z]+):(?P<name>.+)")
ROLE = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:role/.+")
MOST_TAGS = 50  # of a machine, that clients give
MACHINE = "stateMachine"
# The members that a client may give and gets back, and what is meant if it gives none.
SETTINGS: dict[str, Any] = {
    "definition": None,
    "roleArn": None,
    "type": STANDARD,
    "loggingConfiguration": {"level": "OFF", "includeExecutionData": False},
    "tracingConfiguration": {"enabled": False},
}
TOKEN = "InvalidToken"  # noqa: S105 (a code)
NOT_SUPPORTED = "This operation is not supported by this type of state machine"
# Members of requests that only AWS honours.
ON_AWS_ONLY = ("publish", "versionDescription")


def create_state_machine(glue: GlueState, request: Request) -> Answer:
    """Define a state machine; the same one again is not an error."""
    name, now_ms = request["name"], glue.now_ms()
    check_name(name)
    settings = {member: request.get(member, value) for member, value in SETTINGS.items()}
    arn = machine_arn(glue, name)
    if old := find_entity(glue.store, EntityKind.STATE_MACHINE, name):
        # A role or tags that differ do not count.
        if any(old.definition[member] != settings[member] for member in {*SETTINGS} - {"roleArn"}):
            text = f"State Machine Already Exists: '{arn}'"
            raise ServiceError("StateMachineAlreadyExists", text)
        return {"stateMachineArn": arn, "creationDate": old.created_at_ms}
    _check_members(request)
    glue.executions.check(settings["definition"], settings["type"])
    definition = {**settings, "revisionId": ""}
    tags = _tags(request, {})
    put_entity(glue.store, Entity(EntityKind.STATE_MACHINE, name, definition, tags, now_ms, now_ms))
    return {"stateMachineArn": arn, "creationDate": now_ms}


def describe_state_machine(glue: GlueState, request: Request) -> Answer:
    """Return a state machine."""
    entity = get_machine(glue, request["stateMachineArn"])
    return {
        "stateMachineArn": machine_arn(glue, entity.name),
        "name": entity.name,
        "status": "ACTIVE",
        **{name: entity.definition[name] for name in SETTINGS},
        "creationDate": entity.created_at_ms,
        "revisionId": entity.definition.get("revisionId") or None,
    }


def update_state_machine(glue: GlueState, request: Request) -> Answer:
    """Change a state machine; executions that run keep the definition that they began with."""
    entity = get_machine(glue, request["stateMachineArn"])
    changes = {name: request[name] for name in SETTINGS if name in request}
    _check_members(request)
    if not changes:
        text = "Either the definition, the role ARN, the LoggingConfiguration, or the "
        text += "TracingConfiguration must be specified"
        raise ServiceError("MissingRequiredParameter", text)
    if "definition" in changes:
        glue.executions.check(changes["definition"], entity.definition["type"])
    revision, now_ms = str(uuid.uuid4()), glue.now_ms()
    definition = {**entity.definition, **changes, "revisionId": revision}
    put_entity(glue.store, replace(entity, definition=definition, changed_at_ms=now_ms))
    return {"updateDate": now_ms, "revisionId": revision}


def delete_state_machine(glue: GlueState, request: Request) -> Answer:
    """Delete a state machine and its history; an execution that runs goes on to its end."""
    _, name = parts_of(request["stateMachineArn"], MACHINE)
    with glue.store.transaction():
        delete_entity(glue.store, EntityKind.STATE_MACHINE, name)
        delete_executions(glue.store, request["stateMachineArn"])
    return {}


def list_state_machines(glue: GlueState, request: Request) -> Answer:
    """Return a page of the state machines, by name."""
    entities, token = states_page(list_entities(glue.store, EntityKind.STATE_MACHINE), request)
    members = [
        {
            "stateMachineArn": machine_arn(glue, entity.name),
            "name": entity.name,
            "type": entity.definition["type"],
            "creationDate": entity.created_at_ms,
        }
        for entity in entities
    ]
    return {"stateMachines": members, "nextToken": token}


def validate_state_machine_definition(glue: GlueState, request: Request) -> Answer:
    """Return what is wrong with a definition; nothing is changed."""
    diagnostics = [
        {"severity": "ERROR", "code": fault.code, "message": fault.text, "location": fault.place}
        for fault in glue.executions.faults(request["definition"], request.get("type", STANDARD))
    ]
    most = request.get("maxResults") or PAGE
    result = "FAIL" if diagnostics else "OK"
    is_cut = len(diagnostics) > most
    return {"result": result, "diagnostics": diagnostics[:most], "truncated": is_cut}


def tag_resource(glue: GlueState, request: Request) -> Answer:
    """Add tags to a state machine."""
    entity = _tagged(glue, request["resourceArn"])
    put_entity(glue.store, replace(entity, tags=_tags(request, entity.tags)))
    return {}


def untag_resource(glue: GlueState, request: Request) -> Answer:
    """Remove tags from a state machine."""
    entity = _tagged(glue, request["resourceArn"])
    tags = {key: value for key, value in entity.tags.items() if key not in request["tagKeys"]}
    put_entity(glue.store, replace(entity, tags=tags))
    return {}


def list_tags_for_resource(glue: GlueState, request: Request) -> Answer:
    """Return the tags of a state machine."""
    tags = _tagged(glue, request["resourceArn"]).tags
    return {"tags": [{"key": key, "value": value} for key, value in tags.items()]}


def _tags(request: Request, old: Mapping[str, str]) -> dict[str, str]:
    given = {tag.get("key", ""): tag.get("value", "") for tag in request.get("tags", [])}
    for key in given:
        if not key or key.lower().startswith("aws:"):
            text = (
                f"the key of a tag is {key!r}; allowed: 1 to 128 characters, not aws: at the start"
            )
            raise ServiceError("ValidationException", text)
    tags = {**old, **given}
    if len(tags) > MOST_TAGS:
        text = (
            f"'{request.get('resourceArn', '')}' would have {len(tags)} tags; allowed: {MOST_TAGS}"
        )
        raise ServiceError("TooManyTags", text)
    return tags


def _tagged(glue: GlueState, arn: str) -> Entity:
    _, name = parts_of(arn, MACHINE)
    entity = find_entity(glue.store, EntityKind.STATE_MACHINE, name)
    if entity is None:
        raise ServiceError("ResourceNotFound", f"Resource not found: '{arn}'")
    return entity


def machine_arn(glue: GlueState, name: str) -> str:
    """Return the ARN of a state machine."""
    return f"arn:aws:states:{glue.machine.region}:{glue.account}:{MACHINE}:{name}"


def get_machine(glue: GlueState, arn: str) -> Entity:
    """Return the state machine of an ARN.

    Raises:
        ServiceError: InvalidArn, or StateMachineDoesNotExist.
    """
    _, name = parts_of(arn, MACHINE)
    entity = find_entity(glue.store, EntityKind.STATE_MACHINE, name)
    if entity is None or arn != machine_arn(glue, name):
        raise ServiceError("StateMachineDoesNotExist", f"State Machine Does Not Exist: '{arn}'")
    return entity


def parts_of(arn: str, *types: str) -> tuple[str, str]:
    """Return type and name in an ARN of Step Functions, which is of one of some types."""
    match = ARN.fullmatch(arn)
    if match is None:
        raise ServiceError("InvalidArn", f"Invalid Arn: 'Invalid ARN prefix: {arn}'")
    if match["type"] not in types:
        text = f"Invalid Arn: 'Resource type not valid in this context: {match['type']}'"
        raise ServiceError("InvalidArn", text)
    return match["type"], match["name"]


def check_name(name: str) -> None:
    """Raise Step Functions' InvalidName unless a machine or execution may have a name."""
    if not NAME.fullmatch(name):
        raise ServiceError("InvalidName", f"Invalid Name: '{name}'")


def states_page(items: list[Any], request: Request) -> tuple[list[Any], str | None]:
    """Return the page that a request asks for, and the token of the next one."""
    return page(items, request.get("nextToken"), request.get("maxResults") or PAGE, TOKEN)


def _check_members(request: Mapping[str, Any]) -> None:
    given = [name for name in ON_AWS_ONLY if request.get(name)]
    key = request.get("encryptionConfiguration", {}).get("type", "AWS_OWNED_KEY")
    if key != "AWS_OWNED_KEY":
        given.append("encryptionConfiguration")
    role = request.get("roleArn", "")
    if role and not ROLE.fullmatch(role):
        raise ServiceError("InvalidArn", f"Invalid Arn: 'Invalid role ARN: {role}'")
    if given:
        text = f"{', '.join(given)}: versions, aliases and keys of KMS are on AWS only; leave "
        raise ServiceError("ValidationException", f"{text}it out")


def check_is_standard(kind: str) -> None:
    """Raise Step Functions' StateMachineTypeNotSupported for the type EXPRESS."""
    if kind == EXPRESS:
        raise ServiceError("StateMachineTypeNotSupported", NOT_SUPPORTED)
