"""State machines of a template, as requests for them.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-stepfunctions-statemachine.html
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from tidemark.errors import UsageError

STATE_MACHINE = "AWS::StepFunctions::StateMachine"


def machine_request(
    properties: Mapping[str, Any], read: Callable[[str, str], str]
) -> dict[str, Any]:
    """Return what a client would ask for, in the form of CreateStateMachine, without a name.

    Args:
        properties: those of the resource, resolved.
        read: returns the text of an object by its bucket and key.

    Raises:
        UsageError: there is no definition, or one of its parts has another form.
    """
    definition = _definition(properties, read)
    substitutions = properties.get("DefinitionSubstitutions", {})
    if not isinstance(substitutions, Mapping):
        raise UsageError(f"DefinitionSubstitutions is {substitutions!r}; allowed: an object")
    for name, value in substitutions.items():
        definition = definition.replace("${" + name + "}", _text(value))
    kind = properties.get("StateMachineType", "STANDARD")
    if kind not in ("STANDARD", "EXPRESS"):
        raise UsageError(f"its StateMachineType is {kind!r}; allowed: STANDARD, EXPRESS")
    return {
        "definition": definition,
        "roleArn": str(properties.get("RoleArn", "arn:aws:iam::000000000000:role/state-machine")),
        "type": kind,
        "loggingConfiguration": {"level": "OFF", "includeExecutionData": False},
        "tracingConfiguration": {"enabled": False},
        "revisionId": "",
    }


def _definition(properties: Mapping[str, Any], read: Callable[[str, str], str]) -> str:
    if isinstance(text := properties.get("DefinitionString"), str):
        return text
    if isinstance(definition := properties.get("Definition"), Mapping):
        return json.dumps(definition, ensure_ascii=False)
    place = properties.get("DefinitionS3Location")
    if isinstance(place, Mapping) and isinstance(place.get("Bucket"), str) and "Key" in place:
        return read(place["Bucket"], str(place["Key"]))
    raise UsageError(
        "it has no definition; give DefinitionString (a string), Definition (an object), or "
        "DefinitionS3Location with Bucket and Key"
    )


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def tags_of_list(tags: Any) -> dict[str, str]:
    """Return the tags of a resource, which are an object or a list of keys and values."""
    if isinstance(tags, Mapping):
        return dict(tags)
    for tag in tags or []:
        if not isinstance(tag, Mapping) or not {"Key", "Value"} <= set(tag):
            raise UsageError(f"a tag is {tag!r}; allowed: an object with Key and Value")
    return {str(tag["Key"]): str(tag["Value"]) for tag in tags or []}


def machine_name_of(arn: str) -> str | None:
    """Return the name of the state machine that an ARN is of; None if it is of something else.

    >>> machine_name_of("arn:aws:states:us-east-1:000000000000:stateMachine:nightly")
    'nightly'
    """
    head, is_machine, name = arn.partition(":stateMachine:")
    return name if is_machine and ":states:" in head else None
