"""Definitions of clients and templates, kept in the store: jobs, triggers, workflows, rules.

Each is stored as the request that created it, by kind and name.
"""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tidemark.glue_service.protocol.service_errors import AlreadyExistsError, NotFoundError
from tidemark.glue_service.workflows.trigger_forms import watched_jobs
from tidemark.local_state.store.database import Store


class EntityKind(StrEnum):
    """The kinds of definitions, by the names in their ARNs, if they have one."""

    JOB = "job"
    TRIGGER = "trigger"
    WORKFLOW = "workflow"
    SECURITY_CONFIGURATION = "security-configuration"
    SESSION = "session"
    CRAWLER = "crawler"
    STATE_MACHINE = "stateMachine"
    RULE = "rule"  # of EventBridge
    SCHEDULE = "schedule"  # of EventBridge Scheduler, by its group and name
    TOPIC = "topic"  # of SNS, from a template; SNS itself keeps topics of clients


WITH_ARN = (
    EntityKind.JOB,
    EntityKind.TRIGGER,
    EntityKind.WORKFLOW,
    EntityKind.SESSION,
    EntityKind.CRAWLER,
)


@dataclass(frozen=True)
class Entity:
    """One definition: the members of its request, its tags, and times in epoch milliseconds."""

    kind: EntityKind
    name: str
    definition: Mapping[str, Any]
    tags: Mapping[str, str]
    created_at_ms: int
    changed_at_ms: int


def find_entity(store: Store, kind: EntityKind, name: str) -> Entity | None:
    """Return one entity, or None."""
    rows = store.query("SELECT * FROM glue_entity WHERE kind = ? AND name = ?", (kind, name))
    return _entity(rows[0]) if rows else None


def get_entity(store: Store, kind: EntityKind, name: str) -> Entity:
    """Return one entity."""
    entity = find_entity(store, kind, name)
    if entity is None:
        raise NotFoundError(f"Entity Not Found: there is no {kind} {name!r} on this machine")
    return entity


def find_entities(
    store: Store, kind: EntityKind, names: Iterable[str]
) -> tuple[list[Entity], list[str]]:
    """Return the entities of these names, and the names without one."""
    by_name = {name: find_entity(store, kind, name) for name in names}
    known = [entity for entity in by_name.values() if entity]
    return known, [name for name, entity in by_name.items() if not entity]


def list_entities(store: Store, kind: EntityKind) -> list[Entity]:
    """Return every entity of a kind, by name."""
    rows = store.query("SELECT * FROM glue_entity WHERE kind = ? ORDER BY name", (kind,))
    return list(map(_entity, rows))


def create_entity(store: Store, entity: Entity) -> None:
    """Store a new entity."""
    with store.transaction():
        if find_entity(store, entity.kind, entity.name):
            raise AlreadyExistsError(f"there is a {entity.kind} {entity.name!r} already")
        put_entity(store, entity)


def put_entity(store: Store, entity: Entity) -> None:
    """Insert or replace an entity."""
    values = (
        entity.kind,
        entity.name,
        json.dumps(dict(entity.definition)),
        json.dumps(dict(entity.tags)),
        entity.created_at_ms,
        entity.changed_at_ms,
    )
    with store.transaction():
        store.query("INSERT OR REPLACE INTO glue_entity VALUES (?, ?, ?, ?, ?, ?)", values)
        if entity.kind == EntityKind.TRIGGER:
            _index_trigger(store, entity.name, entity.definition)


def delete_entity(store: Store, kind: EntityKind, name: str) -> bool:
    """Delete an entity; return whether it existed."""
    with store.transaction():
        deleted = store.query(
            "DELETE FROM glue_entity WHERE kind = ? AND name = ? RETURNING name", (kind, name)
        )
        if kind == EntityKind.TRIGGER:
            _index_trigger(store, name, {})
    return bool(deleted)


def _index_trigger(store: Store, name: str, definition: Mapping[str, Any]) -> None:
    store.query("DELETE FROM trigger_watch WHERE trigger_name = ?", (name,))
    for job_name in watched_jobs(definition):
        store.query("INSERT INTO trigger_watch VALUES (?, ?)", (job_name, name))


def triggers_that_watch(store: Store, job_name: str) -> list[Entity]:
    """Return the triggers that watch a job, by name."""
    rows = store.query(
        "SELECT glue_entity.* FROM trigger_watch JOIN glue_entity "
        "ON glue_entity.kind = ? AND glue_entity.name = trigger_name "
        "WHERE job_name = ? ORDER BY trigger_name",
        (EntityKind.TRIGGER, job_name),
    )
    return list(map(_entity, rows))


def _entity(row: sqlite3.Row) -> Entity:
    return Entity(
        EntityKind(row["kind"]),
        row["name"],
        json.loads(row["definition"]),
        json.loads(row["tags"]),
        row["created_at_ms"],
        row["changed_at_ms"],
    )
