"""The emulator creates, updates and deletes what stacks may use, and refuses what it cannot."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.deploy.cloud import Cloud, Deployed

TEMPLATE = (Path(__file__).parent / "types.template.json").read_text(encoding="utf-8")
STACK = "types"


@pytest.fixture
def change_stack(cloud: Cloud) -> Callable[..., dict[str, Deployed]]:
    """Return a function that creates, updates or deletes the stack; it returns the resources."""
    cloudformation = cloud.client("cloudformation")

    def change(operation: str, note: str = "") -> dict[str, Deployed]:
        arguments: dict[str, Any] = {"StackName": STACK}
        if note:
            arguments |= {
                "TemplateBody": TEMPLATE,
                "Parameters": [{"ParameterKey": "Note", "ParameterValue": note}],
                "Capabilities": ["CAPABILITY_IAM"],
            }
        getattr(cloudformation, f"{operation}_stack")(**arguments)
        waiter = cloudformation.get_waiter(f"stack_{operation}_complete")
        waiter.wait(StackName=STACK, WaiterConfig={"Delay": 0.2, "MaxAttempts": 50})
        return dict(cloud.read(STACK).resources)

    return change


def test_what_a_stack_may_use_is_created_updated_in_place_and_deleted(
    change_stack: Callable[..., dict[str, Deployed]], cloud: Cloud
) -> None:
    before = cloud.names()

    created = change_stack("create", "first")
    assert created.keys() == json.loads(TEMPLATE)["Resources"].keys()
    assert change_stack("update", "second") == created
    assert cloud.jobs()[created["Job"].id]["DefaultArguments"] == {"--note": "second"}
    assert change_stack("delete") == {}
    assert cloud.names() == before


@pytest.mark.parametrize("kind", ["Registry", "TableOptimizer"])  # the latter: docs/iceberg.md
def test_a_type_that_it_does_not_know_fails_the_deployment(cloud: Cloud, kind: str) -> None:
    template = {"Resources": {"One": {"Type": f"AWS::Glue::{kind}", "Properties": {}}}}

    with pytest.raises(ClientError, match=rf"Unrecognized resource types: \[AWS::Glue::{kind}\]"):
        cloud.client("cloudformation").create_change_set(
            StackName="unknown",
            ChangeSetName="first",
            ChangeSetType="CREATE",
            TemplateBody=json.dumps(template),
        )
