"""What `destroy` removes and what it keeps."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from tests.deploy.cloud import Cloud
from tests.deploy.story import FLIGHTS, PROJECT, STORAGE, Data, Step, Terminal, wrong


def test_destroying_the_pipeline_keeps_the_storage_stack(destroyed: Step, base: Path) -> None:
    assert destroyed.status == 0, destroyed.said
    assert destroyed.stacks[FLIGHTS].resources == {}
    for kind in ("jobs", "triggers", "roles"):
        assert destroyed.names[kind] == set()
    assert wrong(destroyed, base, [STORAGE]) == []
    assert destroyed.events[STORAGE] == []


def test_after_that_a_deployment_needs_nothing_else(restored: Step, base: Path) -> None:
    assert restored.status == 0, restored.said
    assert wrong(restored, base) == []
    assert restored.events[STORAGE] == []


def test_destroying_both_stacks_keeps_the_data(
    back: Step, gone: Step, data: Data, cloud: Cloud
) -> None:
    assert gone.status == 0, gone.said
    assert [stack.resources for stack in gone.stacks.values()] == [{}, {}]
    for kind in ("jobs", "triggers", "roles"):
        assert gone.names[kind] == set()
    for kind in ("tables", "buckets", "databases"):
        assert gone.names[kind] == back.names[kind] != set()
    assert data.is_there()
    (key,) = back.of_type("AWS::KMS::Key").values()
    assert cloud.client("kms").describe_key(KeyId=key.id)["KeyMetadata"]["KeyState"] == "Enabled"
    with pytest.raises(ClientError, match="Workflow flights not found"):
        cloud.client("glue").get_workflow(Name="flights")


@pytest.mark.usefixtures("gone")
def test_every_command_of_the_document_was_run_here(terminal: Terminal) -> None:
    document = (PROJECT / "docs" / "deploy.md").read_text(encoding="utf-8")
    documented = {
        line
        for block in re.findall(r"```sh\n(.*?)```", document, re.DOTALL)
        for line in block.splitlines()
        if line
    }

    assert documented == set(terminal.commands)
