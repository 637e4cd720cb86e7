"""Glue's operations on the tags of jobs, triggers, workflows, databases and connections.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-tags.html
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tidemark.glue_service.entities import WITH_ARN, Kind, get_entity, put_entity
from tidemark.glue_service.glue_state import GlueState, arn_of
from tidemark.glue_service.jobs import MAX_TAGS, check_tags
from tidemark.glue_service.protocol.service_errors import InvalidInputError
from tidemark.local_state.catalog.connections import find_connection
from tidemark.local_state.catalog.databases import existing_database
from tidemark.local_state.catalog.tagged import TAGS, Table, put_definition, tags_of
from tidemark.local_state.store.database import Store

Request = Mapping[str, Any]
Answer = dict[str, Any]


@dataclass(frozen=True)
class Tagged:
    """The resource of an ARN: its name, its tags, and a function that replaces them."""

    name: str
    tags: Mapping[str, str]
    put: Callable[[dict[str, str]], None]


def tag_resource(glue: GlueState, request: Request) -> Answer:
    """Add tags to the resource of an ARN."""
    check_tags(request["TagsToAdd"])
    _retag(glue, request["ResourceArn"], request["TagsToAdd"], ())
    return {}


def untag_resource(glue: GlueState, request: Request) -> Answer:
    """Remove tags from the resource of an ARN."""
    check_tags(request["TagsToRemove"])
    _retag(glue, request["ResourceArn"], {}, request["TagsToRemove"])
    return {}


def get_tags(glue: GlueState, request: Request) -> Answer:
    """Return the tags of the resource of an ARN."""
    return {"Tags": dict(_find_tagged(glue, request["ResourceArn"]).tags)}


def _retag(
    glue: GlueState, arn: str, added: Mapping[str, str], removed: list[str] | tuple[str, ...]
) -> None:
    with glue.store.transaction():
        found = _find_tagged(glue, arn)
        kept = {name: value for name, value in found.tags.items() if name not in removed}
        tags = {**kept, **added}
        if len(tags) > MAX_TAGS:
            raise InvalidInputError(
                f"{found.name} would have {len(tags)} tags; allowed: {MAX_TAGS}; remove some first"
            )
        found.put(tags)


def _find_tagged(glue: GlueState, arn: str) -> Tagged:
    kind, _, name = arn.rpartition(":")[2].partition("/")
    if kind not in KINDS or arn != arn_of(glue, kind, name):
        example = arn_of(glue, Kind.JOB, "NAME")
        raise InvalidInputError(
            f"{arn!r} is not an ARN of this machine; allowed: {example}, and those of "
            f"{', '.join(KINDS)}"
        )
    return KINDS[kind](glue.store, name)


def _entity(kind: Kind) -> Callable[[Store, str], Tagged]:
    def find(store: Store, name: str) -> Tagged:
        entity = get_entity(store, kind, name)
        return Tagged(name, entity.tags, lambda tags: put_entity(store, replace(entity, tags=tags)))

    return find


def _database(store: Store, name: str) -> Tagged:
    database = existing_database(store, name)
    return _catalog_tagged(store, "catalog_database", database.name, database.definition)


def _connection(store: Store, name: str) -> Tagged:
    connection = find_connection(store, name)
    return _catalog_tagged(store, "catalog_connection", name, connection.definition)


def _catalog_tagged(store: Store, table: Table, name: str, definition: Mapping[str, Any]) -> Tagged:
    def put(tags: dict[str, str]) -> None:
        put_definition(store, table, name, {**definition, TAGS: tags})

    return Tagged(name, tags_of(definition), put)


KINDS: Mapping[str, Callable[[Store, str], Tagged]] = {
    **{kind.value: _entity(kind) for kind in WITH_ARN},
    "database": _database,
    "connection": _connection,
}
