"""What `destroy` removes and what it keeps."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from tests.deploy.cloud import Cloud
from tests.deploy.conftest import TABLE, THEIR_ROW
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


def test_a_stage_that_was_removed_cannot_be_deployed_over_what_it_kept(
    deployed_over_what_was_kept: Step, data: Data
) -> None:
    assert deployed_over_what_was_kept.status != 0
    assert "already exists" in deployed_over_what_was_kept.said
    assert data.is_there()


def test_a_table_that_is_there_is_taken_over_with_its_rows(
    adopted: Step, cloud: Cloud, base: Path
) -> None:
    assert adopted.status == 0, adopted.said
    assert wrong(adopted, base) == []
    (table,) = adopted.of_type("AWS::DynamoDB::Table").values()
    assert table.id == TABLE
    found = cloud.client("dynamodb").get_item(
        TableName=TABLE, Key={name: THEIR_ROW[name] for name in ("jobName", "runId")}
    )
    assert found["Item"] == THEIR_ROW


@pytest.mark.usefixtures("adopted")
def test_every_command_of_the_document_was_run_here(terminal: Terminal) -> None:
    document = (PROJECT / "docs" / "deploy.md").read_text(encoding="utf-8")
    documented = {
        line
        for block in re.findall(r"```sh\n(.*?)```", document, re.DOTALL)
        for line in block.splitlines()
        if line
    }

    inline = "aws glue delete-database --name tidemark_dev"
    assert inline in " ".join(document.split())
    assert documented | {inline} == set(terminal.commands)
