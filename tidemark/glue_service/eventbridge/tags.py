"""EventBridge's operations on the tags of rules.

Source: https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_TagResource.html
"""

from collections.abc import Mapping
from dataclasses import replace

from tidemark.glue_service.entities import Entity, put_entity
from tidemark.glue_service.eventbridge.service import INVALID, find_rule, rule_arn
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.jobs import AWS_PREFIX, MAX_TAGS
from tidemark.glue_service.protocol.pages import Answer, Request
from tidemark.glue_service.protocol.service_errors import ServiceError


def list_tags_for_resource(glue: GlueState, request: Request) -> Answer:
    """Return the tags of a rule."""
    tags = _find_rule(glue, request["ResourceARN"]).tags
    return {"Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}


def tag_resource(glue: GlueState, request: Request) -> Answer:
    """Add tags to a rule."""
    added = {tag["Key"]: tag["Value"] for tag in request["Tags"]}
    with glue.store.transaction():
        rule = _find_rule(glue, request["ResourceARN"])
        _put(glue, rule, {**rule.tags, **added}, set(added))
    return {}


def untag_resource(glue: GlueState, request: Request) -> Answer:
    """Remove tags from a rule."""
    removed = set(request["TagKeys"])
    with glue.store.transaction():
        rule = _find_rule(glue, request["ResourceARN"])
        tags = {key: value for key, value in rule.tags.items() if key not in removed}
        _put(glue, rule, tags, removed)
    return {}


def _put(glue: GlueState, rule: Entity, tags: Mapping[str, str], changed: set[str]) -> None:
    reserved = sorted(key for key in changed if key.lower().startswith(AWS_PREFIX))
    if reserved:
        raise ServiceError(
            INVALID, f"the tag {reserved[0]!r} starts with {AWS_PREFIX}, which is reserved for AWS"
        )
    if len(tags) > MAX_TAGS:
        raise ServiceError(INVALID, f"{rule.name} would have {len(tags)} tags; at most {MAX_TAGS}")
    put_entity(glue.store, replace(rule, tags=tags))


def _find_rule(glue: GlueState, arn: str) -> Entity:
    name = arn.rpartition("/")[2]
    if arn not in (rule_arn(glue, name), rule_arn(glue, f"default/{name}")):
        raise ServiceError(INVALID, f"{arn!r} names no rule; allowed: {rule_arn(glue, 'NAME')}")
    return find_rule(glue, name)
