"""State machines of a template, as requests for them.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-stepfunctions-statemachine.html
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

STATE_MACHINE = "AWS::StepFunctions::StateMachine"
MACHINE_ARN = ":stateMachine:"
ANY_ROLE = "arn:aws:iam::000000000000:role/state-machine"


def machine_request(
    properties: Mapping[str, Any], read: Callable[[str, str], str]
) -> dict[str, Any]:
    """Return what a client would ask for, in the form of CreateStateMachine, without a name.

    Args:
        properties: those of the resource, resolved.
        read: returns the text of an object by its bucket and key.
    """
    definition = _definition(properties, read)
    for name, value in properties.get("DefinitionSubstitutions", {}).items():
        definition = definition.replace("${" + name + "}", _text(value))
    return {
        "definition": definition,
        "roleArn": str(properties.get("RoleArn", ANY_ROLE)),
        "type": properties.get("StateMachineType", "STANDARD"),
        "loggingConfiguration": {"level": "OFF", "includeExecutionData": False},
        "tracingConfiguration": {"enabled": False},
        "revisionId": "",
    }


def _definition(properties: Mapping[str, Any], read: Callable[[str, str], str]) -> str:
    if "DefinitionString" in properties:
        return str(properties["DefinitionString"])
    if "Definition" in properties:
        return json.dumps(properties["Definition"])
    place = properties.get("DefinitionS3Location", {})
    return read(str(place.get("Bucket")), str(place.get("Key")))


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def tags_of_list(tags: Any) -> dict[str, str]:
    """Return the tags of a resource, which are an object or a list of keys and values."""
    if isinstance(tags, Mapping):
        return dict(tags)
    return {tag["Key"]: tag["Value"] for tag in tags or []}


def machine_name_of(arn: str) -> str | None:
    """Return the name of the state machine that an ARN is of; None if it is of something else.

    >>> machine_name_of("arn:aws:states:us-east-1:000000000000:stateMachine:nightly")
    'nightly'
    """
    head, is_machine, name = arn.partition(MACHINE_ARN)
    return name if is_machine and ":states:" in head else None
