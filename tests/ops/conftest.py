"""Fixtures of the command line: a home, and small assemblies whose jobs are plain Python."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from local_glue.definitions import TableDefinition

WriteAssembly = Callable[..., Path]

TABLE = TableDefinition(
    "glue-watermarks",
    {
        "TableName": "glue-watermarks",
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [
            {"AttributeName": "jobName", "KeyType": "HASH"},
            {"AttributeName": "runId", "KeyType": "RANGE"},
        ],
        "AttributeDefinitions": [
            {"AttributeName": "jobName", "AttributeType": "S"},
            {"AttributeName": "runId", "AttributeType": "S"},
        ],
    },
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state home of the test's own, named by TIDEMARK_HOME."""
    folder = tmp_path / "home"
    monkeypatch.setenv("TIDEMARK_HOME", str(folder))
    return folder


@pytest.fixture
def write_assembly(tmp_path: Path) -> WriteAssembly:
    """Write a cloud assembly: one job per script, jobs in `after` wait for those they name."""

    def write(
        scripts: Mapping[str, str],
        after: Mapping[str, Sequence[str]] | None = None,
        others: Mapping[str, Any] | None = None,
    ) -> Path:
        folder = tmp_path / "cdk.out"
        folder.mkdir(exist_ok=True)
        resources: dict[str, Any] = {
            "Flow": {"Type": "AWS::Glue::Workflow", "Properties": {"Name": "flow"}},
            "Landing": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "landing"}},
            **(others or {}),
        }
        files = {}
        for name, text in scripts.items():
            (folder / f"{name}.py").write_text(text, encoding="utf-8")
            destination = {"bucketName": "assets", "objectKey": f"{name}.py"}
            files[name] = {
                "source": {"path": f"{name}.py", "packaging": "file"},
                "destinations": {"here": destination},
            }
            command = {"Name": "glueetl", "ScriptLocation": f"s3://assets/{name}.py"}
            resources[name] = {
                "Type": "AWS::Glue::Job",
                "Properties": {"Name": name, "Command": command},
            }
        waiting = after or {}
        first = [{"JobName": name} for name in scripts if name not in waiting]
        resources["Start"] = _trigger({"Type": "ON_DEMAND", "Actions": first})
        for name, upstream in waiting.items():
            conditions = [
                {"JobName": job, "State": "SUCCEEDED", "LogicalOperator": "EQUALS"}
                for job in upstream
            ]
            resources[f"Before{name}"] = _trigger(
                {
                    "Type": "CONDITIONAL",
                    "StartOnCreation": True,
                    "Actions": [{"JobName": name}],
                    "Predicate": {"Logical": "AND", "Conditions": conditions},
                }
            )
        outputs = {"LandingBucketName": {"Value": {"Ref": "Landing"}}}
        documents = {
            "template.json": {"Resources": resources, "Outputs": outputs},
            "assets.json": {"files": files},
            "manifest.json": {
                "artifacts": {
                    "assets": {
                        "type": "cdk:asset-manifest",
                        "properties": {"file": "assets.json"},
                    },
                    "stack": {
                        "type": "aws:cloudformation:stack",
                        "properties": {"templateFile": "template.json"},
                    },
                }
            },
        }
        for name, document in documents.items():
            (folder / name).write_text(json.dumps(document), encoding="utf-8")
        return folder

    return write


def _trigger(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"Type": "AWS::Glue::Trigger", "Properties": {"WorkflowName": "flow", **properties}}
