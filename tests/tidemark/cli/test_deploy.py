"""What `tidemark deploy` and `destroy` ask the CDK for: no position lost, and no data removed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tidemark.cli.main import main

STORAGE = ["AWS::S3::Bucket", "AWS::DynamoDB::Table", "AWS::KMS::Key", "AWS::Glue::Database"]
PIPELINE = ["AWS::Glue::Workflow", "AWS::Glue::Job", "AWS::IAM::Role"]


def write(folder: Path, stacks: dict[str, list[str]], **others: object) -> Path:
    artifacts: dict[str, object] = {"Tree": {"type": "cdk:tree"}, **others}
    folder.mkdir(exist_ok=True)
    for number, (name, types) in enumerate(stacks.items()):
        resources = {f"R{n}": {"Type": type_} for n, type_ in enumerate(types)}
        (folder / f"{number}.json").write_text(json.dumps({"Resources": resources}))
        properties = {"templateFile": f"{number}.json"}
        artifacts[name] = {"type": "aws:cloudformation:stack", "properties": properties}
    (folder / "manifest.json").write_text(json.dumps({"artifacts": artifacts}))
    return folder


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch):
    def named(assembly: Path) -> Result:
        monkeypatch.setenv("CDK_APP", str(assembly))
        return CliRunner().invoke(main, ["destroy", "--dry-run", "dev"])

    return named


def test_every_pipeline_is_removed_and_neither_storage_nor_roles_of_github(named, tmp_path):
    stacks = {
        "app-dev-storage": STORAGE,
        "app-dev-sales": PIPELINE,
        "app-dev-flights": PIPELINE,
        "app-dev-jobs-by-hand": ["AWS::Glue::Job"],
        "app-dev-github": ["AWS::IAM::Role"],
    }

    result = named(write(tmp_path / "out", stacks))

    assert result.exit_code == 0, result.output
    assert result.stdout.split() == ["app-dev-flights", "app-dev-jobs-by-hand", "app-dev-sales"]


def test_stacks_of_stages_within_the_app_have_the_names_of_the_cdk(named, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    inner = write(out / "assembly-dev", {"devsales": PIPELINE})
    manifest = json.loads((inner / "manifest.json").read_text())
    manifest["artifacts"]["devsales"]["displayName"] = "dev/sales"
    (inner / "manifest.json").write_text(json.dumps(manifest))
    nested = {"type": "cdk:cloud-assembly", "properties": {"directoryName": "assembly-dev"}}

    assert named(write(out, {}, dev=nested)).stdout == "dev/sales\n"


@pytest.mark.parametrize(
    "kept",
    [
        *STORAGE,
        "AWS::RDS::DBInstance",
        "AWS::EFS::FileSystem",
        "AWS::SecretsManager::Secret",
        "AWS::S3Tables::Table",
        "AWS::CloudFormation::Stack",
    ],
)
def test_a_stack_with_jobs_and_data_is_refused(named, tmp_path, kept):
    result = named(write(tmp_path / "out", {"mixed": [*PIPELINE, kept], "flights": PIPELINE}))

    assert result.exit_code == 2
    assert result.stdout == ""
    assert kept in result.stderr
    assert "npx cdk destroy mixed" in result.stderr


def test_data_in_a_nested_stack_are_found_and_nested_jobs_too(named, tmp_path):
    out = write(tmp_path / "out", {"outer": [*PIPELINE, "AWS::CloudFormation::Stack"]})
    template = json.loads((out / "0.json").read_text())
    template["Resources"]["R3"]["Metadata"] = {"aws:asset:path": "nested.json"}
    (out / "0.json").write_text(json.dumps(template))

    (out / "nested.json").write_text(json.dumps({"Resources": {"T": {"Type": STORAGE[1]}}}))
    with_table = named(out)
    (out / "nested.json").write_text(json.dumps({"Resources": {"T": {"Type": PIPELINE[1]}}}))
    with_job = named(out)

    assert (with_table.exit_code, with_table.stdout) == (2, "")
    assert STORAGE[1] in with_table.stderr
    assert with_job.stdout == "outer\n"


def test_a_nested_stack_is_found_by_its_asset(named, tmp_path):
    """As the CDK writes it where `assetMetadata` is off."""
    out = write(tmp_path / "out", {"outer": [*PIPELINE, "AWS::CloudFormation::Stack"]})
    template = json.loads((out / "0.json").read_text())
    url = {"Fn::Sub": "https://s3.${AWS::Region}.amazonaws.com/assets/1234.json"}
    template["Resources"]["R3"]["Properties"] = {"TemplateURL": url}
    (out / "0.json").write_text(json.dumps(template))
    asset = {
        "source": {"path": "inner.nested.template.json"},
        "destinations": {"here": {"bucketName": "assets", "objectKey": "1234.json"}},
    }
    (out / "outer.assets.json").write_text(json.dumps({"files": {"1234": asset}}))
    nested = out / "inner.nested.template.json"

    nested.write_text(json.dumps({"Resources": {"Q": {"Type": "AWS::SQS::Queue"}}}))
    with_queue = named(out)
    nested.write_text(json.dumps({"Resources": {"T": {"Type": STORAGE[1]}}}))
    with_table = named(out)

    assert with_queue.stdout == "outer\n"
    assert (with_table.exit_code, with_table.stdout) == (2, "")
    assert STORAGE[1] in with_table.stderr


@pytest.mark.parametrize("stacks", [{}, {"storage": STORAGE}])
def test_without_a_pipeline_nothing_is_named(named, tmp_path, stacks):
    result = named(write(tmp_path / "out", stacks))

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines()[-1].startswith("error: ")


def test_a_folder_that_is_no_assembly_is_one_line(named, tmp_path):
    result = named(tmp_path)

    assert (result.exit_code, result.stdout) == (2, "")
    assert str(tmp_path) in result.stderr


@pytest.fixture
def cdk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Return what a CDK on the PATH was called with; it ends with exit code 7."""
    said, program = tmp_path / "said", tmp_path / "bin" / "cdk"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" >> {said}\nexit 7\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    monkeypatch.chdir(tmp_path)
    return lambda: said.read_text().splitlines() if said.exists() else []


def tidemark(*words: str) -> Result:
    return CliRunner().invoke(main, words)


def test_the_cdk_removes_the_stacks_by_their_names(cdk, tmp_path, monkeypatch):
    assembly = write(tmp_path / "out", {"flights": PIPELINE, "storage": STORAGE})
    monkeypatch.setenv("CDK_APP", str(assembly))

    result = tidemark("destroy", "dev", "--force")

    assert result.exit_code == 7
    assert cdk() == ["destroy flights --exclusively --force -c stage=dev"]


def test_the_cdk_is_not_started_when_the_names_are_not_known(cdk, tmp_path, monkeypatch):
    monkeypatch.setenv("CDK_APP", str(write(tmp_path / "out", {"both": [*PIPELINE, *STORAGE]})))

    assert tidemark("destroy", "dev").exit_code != 0
    assert cdk() == []


def test_a_stage_is_deployed_if_its_state_is_recorded(cdk, home, write_assembly, monkeypatch):
    monkeypatch.setenv("CDK_APP", str(write_assembly({"load": "print(1)"})))
    refused = tidemark("deploy", "dev")
    assert (refused.exit_code, cdk()) == (1, [])
    assert "state-manifest.json" in refused.stderr

    assert tidemark("state", "write").exit_code == 0
    assert tidemark("deploy", "--dry-run", "dev").exit_code == 7
    assert tidemark("deploy", "dev", "--require-approval", "never").exit_code == 7

    assert cdk() == [
        "diff --method=template -c stage=dev",
        "deploy --all --require-approval never -c stage=dev",
    ]


def test_without_a_cdk_it_is_said_where_it_comes_from(tmp_path, monkeypatch):
    monkeypatch.setenv("CDK_APP", str(write(tmp_path / "out", {"flights": PIPELINE})))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    result = tidemark("destroy", "dev")

    assert (result.exit_code, "npm install" in result.stderr) == (2, True)
