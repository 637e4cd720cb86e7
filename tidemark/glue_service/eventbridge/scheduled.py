"""Fires what the clock starts: triggers, rules, and schedules of EventBridge Scheduler.

What cannot start is told and dropped. The Scheduler of AWS tries again by its retry policy.

Source: https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-schedule-context-attributes.html
"""

import json
import uuid
from collections.abc import Mapping
from typing import Any

from tidemark.errors import DiskFullError, TidemarkError, UsageError
from tidemark.glue_service.entities import Entity, EntityKind, find_entity
from tidemark.glue_service.eventbridge.bus import pass_on
from tidemark.glue_service.eventbridge.documents import envelope
from tidemark.glue_service.eventbridge.rules import Rule
from tidemark.glue_service.eventbridge.schedules import MACHINE, call_of
from tidemark.glue_service.eventbridge.service import rule_arn
from tidemark.glue_service.glue_state import GlueState, origin_of
from tidemark.glue_service.protocol.json_protocol import read_request
from tidemark.glue_service.protocol.models import service_model
from tidemark.glue_service.runs.job_runs import start_job_run
from tidemark.glue_service.workflows.due import Timer
from tidemark.glue_service.workflows.firing import fire_by_clock

SCHEDULED_EVENT = "Scheduled Event"


def fire_timer(glue: GlueState, timer: Timer, at_ms: int) -> None:
    """Fire a trigger, a rule or a schedule at its time, in epoch milliseconds."""
    if timer.kind == EntityKind.TRIGGER:
        fire_by_clock(glue, timer.name)
    elif (entity := find_entity(glue.store, timer.kind, timer.name)) is None:
        return
    elif timer.kind == EntityKind.RULE:
        arns = (rule_arn(glue, entity.name),)
        event = envelope(origin_of(glue), at_ms, "aws.events", SCHEDULED_EVENT, {}, arns)
        glue.tell(event)
        pass_on(glue, [Rule(entity.name, {}, tuple(entity.definition["Targets"]))], event)
    else:
        _fire_schedule(glue, entity, at_ms)


def _fire_schedule(glue: GlueState, schedule: Entity, at_ms: int) -> None:
    # The models of services, which a port does not need to start.
    from tidemark.glue_service.state_machines.executions import start_execution

    target = schedule.definition["Target"]
    is_machine = call_of(target) == MACHINE
    service, name = ("states", "StartExecution") if is_machine else ("glue", "StartJobRun")
    try:
        operation = service_model(service).operation_model(name)
        body = json.dumps(_request(target, _input_of(glue, schedule, at_ms)))
        request = read_request(operation, body.encode())
        (start_execution if is_machine else start_job_run)(glue, request)
    except DiskFullError:
        raise  # its time stays due
    except TidemarkError as error:
        glue.say(f"schedule {schedule.name} could not start {target['Arn']}: {error}")


def _input_of(glue: GlueState, schedule: Entity, at_ms: int) -> str:
    """Return the input of a target: its own with its context, or the notification of AWS."""
    arn = f"arn:aws:scheduler:{glue.machine.region}:{glue.account}:schedule/{schedule.name}"
    event = envelope(origin_of(glue), at_ms, "aws.scheduler", SCHEDULED_EVENT, {}, (arn,))
    text = str(schedule.definition["Target"].get("Input") or json.dumps({**event, "detail": "{}"}))
    context = {
        "schedule-arn": arn,
        "scheduled-time": event["time"],
        "execution-id": str(uuid.uuid4()),
        "attempt-number": "1",
    }
    for attribute, value in context.items():
        text = text.replace(f"<aws.scheduler.{attribute}>", value)
    return text


def _request(target: Mapping[str, Any], given: str) -> Mapping[str, Any]:
    if ":aws-sdk:" not in target["Arn"]:
        return {"stateMachineArn": target["Arn"], "input": given}
    try:
        request = dict(json.loads(given))
    except (TypeError, ValueError) as error:
        text = f"its Input is not an object in JSON ({error}); give the members of the request"
        raise UsageError(text) from error
    if call_of(target) != MACHINE:
        return request
    return {name[:1].lower() + name[1:]: value for name, value in request.items()}
