"""EventBridge's operations on the default event bus: PutEvents, and rules with their targets.

Source: https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html
"""

import json
from collections.abc import Mapping
from typing import Any

from tidemark.glue_service.entities import (
    Entity,
    EntityKind,
    delete_entity,
    find_entity,
    list_entities,
    put_entity,
)
from tidemark.glue_service.eventbridge.bus import deliver
from tidemark.glue_service.eventbridge.documents import envelope
from tidemark.glue_service.eventbridge.rules import DEFAULT_BUS
from tidemark.glue_service.eventbridge.schedules import fault_of_expression
from tidemark.glue_service.glue_state import GlueState, origin_of
from tidemark.glue_service.protocol.json_protocol import parsed
from tidemark.glue_service.protocol.pages import PAGE, Answer, Request, page
from tidemark.glue_service.protocol.service_errors import ServiceError
from tidemark.model.schedules.event_patterns import faults_of_pattern

NOT_FOUND, INVALID = "ResourceNotFoundException", "ValidationException"
MS_PER_S = 1000
LATEST_S = 253_402_300_800  # the end of the year 9999, Python's last time


def put_events(glue: GlueState, request: Request) -> Answer:
    """Deliver events; each entry of the answer has the id of one, or the reason for its refusal."""
    entries = [_put(glue, entry) for entry in request["Entries"]]
    failed = sum("ErrorCode" in entry for entry in entries)
    return {"FailedEntryCount": failed, "Entries": entries}


def _put(glue: GlueState, entry: Request) -> Answer:
    fault = entry_fault(entry)
    if fault is None and entry["Source"].startswith("aws."):
        fault = "NotAuthorizedForSourceException", "Not authorized for the source."
    if fault is not None:
        return {"ErrorCode": fault[0], "ErrorMessage": fault[1]}
    return {"EventId": deliver_entry(glue, entry)[0]}


def entry_fault(entry: Request) -> tuple[str, str] | None:
    """Return the code and the message for an invalid entry; None if it is valid."""
    for name in ("Source", "DetailType", "Detail"):
        if not entry.get(name):
            text = f"Parameter {name} is not valid. Reason: {name} is a required argument."
            return "InvalidArgument", text
    time_s = entry.get("Time", 0)
    if type(time_s) not in (int, float) or not 0 <= time_s < LATEST_S:
        text = f"Parameter Time is not valid. Reason: {time_s!r} is not in epoch seconds."
        return "InvalidArgument", text
    try:
        detail = parsed(entry["Detail"])
    except (TypeError, ValueError):
        detail = None
    if not isinstance(detail, dict):
        return "MalformedDetail", "Detail is malformed."
    return bus_fault(entry)


def bus_fault(request: Request) -> tuple[str, str] | None:
    """Return the code and the message for a request about a bus that does not exist here."""
    bus = request.get("EventBusName", DEFAULT_BUS)
    if bus.rpartition("/")[2] == DEFAULT_BUS:
        return None
    return NOT_FOUND, f"there is no event bus {bus!r}; this machine has {DEFAULT_BUS}"


def check_bus(request: Request) -> None:
    """Refuse a request about a bus that does not exist here."""
    if fault := bus_fault(request):
        raise ServiceError(*fault)


def deliver_entry(glue: GlueState, entry: Request) -> tuple[str, list[str]]:
    """Deliver the event of an entry; return its id, and the matching rules."""
    at_ms = int(entry["Time"] * MS_PER_S) if "Time" in entry else glue.now_ms()
    event = envelope(
        origin_of(glue),
        at_ms,
        entry["Source"],
        entry["DetailType"],
        json.loads(entry["Detail"]),
        tuple(entry.get("Resources", ())),
    )
    return event["id"], deliver(glue, event)


def put_rule(glue: GlueState, request: Request) -> Answer:
    """Define or change a rule; its targets and tags stay."""
    _check_pattern(request)
    name = request["Name"]
    old = find_entity(glue.store, EntityKind.RULE, name)
    definition = {key: value for key, value in request.items() if key not in ("Name", "Tags")}
    definition["Targets"] = old.definition.get("Targets", []) if old else []
    tags = old.tags if old else {tag["Key"]: tag["Value"] for tag in request.get("Tags", [])}
    now_ms = glue.now_ms()
    created_at_ms = old.created_at_ms if old else now_ms
    _put_rule(glue, Entity(EntityKind.RULE, name, definition, tags, created_at_ms, now_ms))
    return {"RuleArn": rule_arn(glue, name)}


def _check_pattern(request: Request) -> None:
    if "ScheduleExpression" in request and (fault := fault_of_expression(request)):
        text = f"Parameter ScheduleExpression is not valid. Reason: {fault}"
        raise ServiceError(INVALID, text)
    if "EventPattern" not in request:
        if "ScheduleExpression" in request:
            return
        text = "Parameter(s) EventPattern or ScheduleExpression must be specified."
        raise ServiceError(INVALID, text)
    try:
        pattern = parsed(request["EventPattern"])
    except ValueError as error:
        text = f"Event pattern is not valid. Reason: it is not JSON: {error}"
        raise ServiceError("InvalidEventPatternException", text) from error
    if faults := faults_of_pattern(pattern):
        text = f"Event pattern is not valid. Reason: {'; '.join(faults)}"
        raise ServiceError("InvalidEventPatternException", text)


def _put_rule(glue: GlueState, entity: Entity) -> None:
    put_entity(glue.store, entity)
    _load(glue)


def _load(glue: GlueState) -> None:
    glue.rules.load(glue.store)
    glue.schedules.load(glue.store, glue.now_ms())


def rule_arn(glue: GlueState, name: str) -> str:
    """Return the ARN of a rule."""
    return f"arn:aws:events:{glue.machine.region}:{glue.account}:rule/{name}"


def find_rule(glue: GlueState, name: str) -> Entity:
    """Return a rule."""
    rule = find_entity(glue.store, EntityKind.RULE, name)
    if rule is None:
        raise ServiceError(NOT_FOUND, f"Rule {name} does not exist on EventBus {DEFAULT_BUS}.")
    return rule


def put_targets(glue: GlueState, request: Request) -> Answer:
    """Add targets to a rule, or change those with the same ids."""
    old = find_rule(glue, request["Rule"])
    targets = {target["Id"]: target for target in old.definition["Targets"] + request["Targets"]}
    return _with_targets(glue, old, list(targets.values()))


def remove_targets(glue: GlueState, request: Request) -> Answer:
    """Remove targets from a rule."""
    old = find_rule(glue, request["Rule"])
    targets = [t for t in old.definition["Targets"] if t["Id"] not in request["Ids"]]
    return _with_targets(glue, old, targets)


def _with_targets(glue: GlueState, old: Entity, targets: list[Any]) -> Answer:
    definition = {**old.definition, "Targets": targets}
    times = (old.created_at_ms, glue.now_ms())
    _put_rule(glue, Entity(EntityKind.RULE, old.name, definition, old.tags, *times))
    return {"FailedEntryCount": 0, "FailedEntries": []}


def delete_rule(glue: GlueState, request: Request) -> Answer:
    """Delete a rule without targets; a missing rule is not an error."""
    old = find_entity(glue.store, EntityKind.RULE, request["Name"])
    if old is not None and old.definition.get("Targets"):
        raise ServiceError(INVALID, "Rule can't be deleted since it has targets.")
    delete_entity(glue.store, EntityKind.RULE, request["Name"])
    _load(glue)
    return {}


def describe_rule(glue: GlueState, request: Request) -> Answer:
    """Return a rule."""
    return _member(glue, find_rule(glue, request["Name"]))


def list_rules(glue: GlueState, request: Request) -> Answer:
    """Return a page of the rules, filtered by a prefix, by name."""
    prefix = request.get("NamePrefix", "")
    rules = [r for r in list_entities(glue.store, EntityKind.RULE) if r.name.startswith(prefix)]
    shown, token = page(rules, request.get("NextToken"), request.get("Limit", PAGE), INVALID)
    return {"Rules": [_member(glue, entity) for entity in shown], "NextToken": token}


def _member(glue: GlueState, entity: Entity) -> Answer:
    definition = entity.definition
    pattern = definition.get("EventPattern")
    if isinstance(pattern, Mapping):  # of a template
        pattern = json.dumps(pattern)
    return {
        "Name": entity.name,
        "Arn": rule_arn(glue, entity.name),
        "EventPattern": pattern,
        "ScheduleExpression": definition.get("ScheduleExpression"),
        "State": definition.get("State", "ENABLED"),
        "Description": definition.get("Description"),
        "RoleArn": definition.get("RoleArn"),
        "EventBusName": DEFAULT_BUS,
    }


def list_targets_by_rule(glue: GlueState, request: Request) -> Answer:
    """Return a page of a rule's targets."""
    targets = find_rule(glue, request["Rule"]).definition.get("Targets", [])
    shown, token = page(targets, request.get("NextToken"), request.get("Limit", PAGE), INVALID)
    return {"Targets": shown, "NextToken": token}
