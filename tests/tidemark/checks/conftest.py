"""Small cloud assemblies, whose jobs have scripts of their own."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

SCRIPT = """
context.create_dynamic_frame.from_options(
    connection_type="s3",
    connection_options={"paths": [args["source_path"]]},
    transformation_ctx="landed",
)
"""


@pytest.fixture
def write_app(tmp_path: Path) -> Callable[..., Path]:
    """Return a writer of assemblies: resources by stack, scripts by asset key."""

    def write(
        resources: Mapping[str, Mapping[str, Any]],
        scripts: Mapping[str, str] | None = None,
        outputs: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> Path:
        folder = tmp_path / "cdk.out"
        folder.mkdir(exist_ok=True)
        texts = {"script.py": SCRIPT} if scripts is None else scripts
        files = {}
        for key, text in texts.items():
            (folder / key).write_text(text, encoding="utf-8")
            destination = {"bucketName": "assets", "objectKey": key}
            files[key] = {"source": {"path": key}, "destinations": {"here": destination}}
        artifacts: dict[str, Any] = {
            "assets": {"type": "cdk:asset-manifest", "properties": {"file": "assets.json"}}
        }
        for stack, found in resources.items():
            template = {"Resources": found, "Outputs": (outputs or {}).get(stack, {})}
            (folder / f"{stack}.json").write_text(json.dumps(template), encoding="utf-8")
            artifacts[stack] = {
                "type": "aws:cloudformation:stack",
                "properties": {"templateFile": f"{stack}.json"},
            }
        (folder / "assets.json").write_text(json.dumps({"files": files}), encoding="utf-8")
        manifest = json.dumps({"artifacts": artifacts})
        (folder / "manifest.json").write_text(manifest, encoding="utf-8")
        return folder

    return write


@pytest.fixture
def job_resource() -> Callable[..., dict[str, Any]]:
    """Return a maker of Glue jobs."""

    def make(name: str | None, script: str = "script.py", **arguments: Any) -> dict[str, Any]:
        given = {f"--{key.replace('__', '-')}": value for key, value in arguments.items()}
        named = {} if name is None else {"Name": name}
        command = {"Name": "glueetl", "ScriptLocation": f"s3://assets/{script}"}
        return {
            "Type": "AWS::Glue::Job",
            "Properties": {**named, "Command": command, "DefaultArguments": given},
        }

    return make
