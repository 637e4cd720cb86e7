"""Glue's operations on the tags of jobs, triggers, workflows, databases and connections.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-tags.html
"""

from collections.abc import Collection, Mapping
from dataclasses import replace

from tidemark.glue_service.entities import WITH_ARN, EntityKind, get_entity, put_entity
from tidemark.glue_service.glue_state import GlueState, arn_of
from tidemark.glue_service.jobs import MAX_TAGS, check_tags
from tidemark.glue_service.protocol.pages import Answer, Request
from tidemark.glue_service.protocol.service_errors import InvalidInputError
from tidemark.local_state.catalog.definitions import (
    TAGS,
    existing_database,
    find_connection,
    put_definition,
    tags_of,
)
from tidemark.local_state.store.database import Store

KINDS = (*(kind.value for kind in WITH_ARN), "database", "connection")


def tag_resource(glue: GlueState, request: Request) -> Answer:
    """Add tags to the resource of an ARN."""
    return _retag(glue, request["ResourceArn"], added=request["TagsToAdd"])


def untag_resource(glue: GlueState, request: Request) -> Answer:
    """Remove tags from the resource of an ARN."""
    return _retag(glue, request["ResourceArn"], removed=request["TagsToRemove"])


def get_tags(glue: GlueState, request: Request) -> Answer:
    """Return the tags of the resource of an ARN."""
    return {"Tags": dict(_tags(glue.store, *_resource_of(glue, request["ResourceArn"])))}


def _retag(
    glue: GlueState,
    arn: str,
    *,
    added: Mapping[str, str] | None = None,
    removed: Collection[str] = (),
) -> Answer:
    added = added or {}
    check_tags((*added, *removed))
    with glue.store.transaction():
        kind, name = _resource_of(glue, arn)
        old = _tags(glue.store, kind, name)
        tags = {key: value for key, value in old.items() if key not in removed} | dict(added)
        if len(tags) > MAX_TAGS:
            raise InvalidInputError(
                f"{name} would have {len(tags)} tags; allowed: {MAX_TAGS}; remove some first"
            )
        _put_tags(glue.store, kind, name, tags)
    return {}


def _resource_of(glue: GlueState, arn: str) -> tuple[str, str]:
    kind, _, name = arn.rpartition(":")[2].partition("/")
    if kind not in KINDS or arn != arn_of(glue, kind, name):
        example = arn_of(glue, EntityKind.JOB, "NAME")
        raise InvalidInputError(
            f"{arn!r} is not an ARN of this machine; allowed: {example}, and those of "
            f"{', '.join(KINDS)}"
        )
    return kind, name


def _tags(store: Store, kind: str, name: str) -> Mapping[str, str]:
    if kind == "database":
        return tags_of(existing_database(store, name).definition)
    if kind == "connection":
        return tags_of(find_connection(store, name).definition)
    return get_entity(store, EntityKind(kind), name).tags


def _put_tags(store: Store, kind: str, name: str, tags: dict[str, str]) -> None:
    if kind == "database":
        database = existing_database(store, name)
        definition = {**database.definition, TAGS: tags}
        put_definition(store, "catalog_database", database.name, definition)
    elif kind == "connection":
        definition = {**find_connection(store, name).definition, TAGS: tags}
        put_definition(store, "catalog_connection", name, definition)
    else:
        put_entity(store, replace(get_entity(store, EntityKind(kind), name), tags=tags))
