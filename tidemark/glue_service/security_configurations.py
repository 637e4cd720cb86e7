"""Glue's operations on security configurations; on this machine they encrypt nothing.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-jobs-security.html
"""

from tidemark.glue_service.entities import (
    Entity,
    EntityKind,
    create_entity,
    delete_entity,
    get_entity,
    list_entities,
)
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.protocol.pages import Answer, Request, glue_page

KIND = EntityKind.SECURITY_CONFIGURATION


def create_security_configuration(glue: GlueState, request: Request) -> Answer:
    """Define a security configuration."""
    now_ms = glue.now_ms()
    definition = {"EncryptionConfiguration": request["EncryptionConfiguration"]}
    create_entity(glue.store, Entity(KIND, request["Name"], definition, {}, now_ms, now_ms))
    return {"Name": request["Name"], "CreatedTimestamp": now_ms}


def get_security_configuration(glue: GlueState, request: Request) -> Answer:
    """Return a security configuration."""
    return {"SecurityConfiguration": _member(get_entity(glue.store, KIND, request["Name"]))}


def get_security_configurations(glue: GlueState, request: Request) -> Answer:
    """Return a page of the security configurations, by name."""
    page, token = glue_page(list_entities(glue.store, KIND), request)
    return {"SecurityConfigurations": list(map(_member, page)), "NextToken": token}


def delete_security_configuration(glue: GlueState, request: Request) -> Answer:
    """Delete a security configuration; jobs that name it keep its name."""
    delete_entity(glue.store, KIND, get_entity(glue.store, KIND, request["Name"]).name)
    return {}


def _member(entity: Entity) -> Answer:
    return {"Name": entity.name, "CreatedTimeStamp": entity.created_at_ms, **entity.definition}
