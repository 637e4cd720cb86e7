"""The rules of EventBridge: the events they match, and which of their targets exist here."""

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tidemark.glue_service.entities import Entity, EntityKind, list_entities
from tidemark.glue_service.eventbridge.documents import S3, Event
from tidemark.glue_service.eventbridge.schedules import fault_of_expression
from tidemark.glue_service.eventbridge.topics import is_topic
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.state_machines import machine_name_of
from tidemark.model.schedules.event_matching import matches
from tidemark.model.schedules.event_patterns import faults_of_pattern

DEFAULT_BUS = "default"
WORKFLOW = ":workflow/"


@dataclass(frozen=True)
class Rule:
    """An enabled rule: its pattern, and its targets in the form of PutTargets."""

    name: str
    pattern: Mapping[str, Any]
    targets: tuple[Mapping[str, Any], ...]


class Rules:
    """The rules in force; used by the engine's thread."""

    def __init__(self, wants_objects: threading.Event | None = None) -> None:
        """Start without rules."""
        self._rules: list[Rule] = []
        self._wants_objects = wants_objects or threading.Event()

    def load(self, store: Store) -> None:
        """Read the rules; call it after a change."""
        rules = [rule_of(entity) for entity in list_entities(store, EntityKind.RULE)]
        self._rules = [rule for rule in rules if rule is not None]
        may_match_s3 = any(
            "source" not in rule.pattern
            or matches({"source": rule.pattern["source"]}, {"source": S3})
            for rule in self._rules
        )
        if may_match_s3:
            self._wants_objects.set()
        else:
            self._wants_objects.clear()

    def matching(self, event: Event) -> list[Rule]:
        """Return the rules that match an event, by name."""
        return [rule for rule in self._rules if matches(rule.pattern, event)]


def rule_of(entity: Entity) -> Rule | None:
    """Return a rule; None if it is disabled, is on another bus, or matches no event."""
    definition = entity.definition
    pattern = pattern_of(definition)
    bus = definition.get("EventBusName", DEFAULT_BUS)
    is_here = definition.get("State") != "DISABLED" and bus.rpartition("/")[2] == DEFAULT_BUS
    if not is_here or not pattern or faults_of_pattern(pattern):
        return None
    return Rule(entity.name, pattern, tuple(definition.get("Targets", [])))


def pattern_of(definition: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the pattern of a rule: an object in a template, a string in a request."""
    pattern = definition.get("EventPattern") or {}
    document: Mapping[str, Any] = json.loads(pattern) if isinstance(pattern, str) else pattern
    return document


def workflow_of(arn: str) -> str | None:
    """Return the Glue workflow that an ARN names; None if it names something else."""
    head, is_workflow, name = arn.partition(WORKFLOW)
    return name if is_workflow and ":glue:" in head else None


def not_local(rules: list[Entity], *, has_topics: bool) -> list[str]:
    """Return the parts of some rules that this machine ignores, one string each."""
    ignored = []
    for entity in rules:
        definition = entity.definition
        away = [
            target["Arn"]
            for target in definition.get("Targets", [])
            if workflow_of(target["Arn"]) is None
            and machine_name_of(target["Arn"]) is None
            and not (has_topics and is_topic(target["Arn"]))
        ]
        if "ScheduleExpression" in definition and (fault := fault_of_expression(definition)):
            ignored.append(f"rule {entity.name} ({fault})")
        elif (pattern := pattern_of(definition)) and (faults := faults_of_pattern(pattern)):
            ignored.append(f"rule {entity.name} ({'; '.join(faults)})")
        elif away:
            ignored.append(f"rule {entity.name} → {', '.join(away)}")
    return ignored
