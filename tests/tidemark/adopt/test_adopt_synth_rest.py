"""What is adopted from templates, and in part, synthesizes and passes the checks of a project."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.projects import PROJECT
from tests.tidemark.adopt.apps import (
    HERE,
    adopt,
    new_project,
    put_into_app,
    resources,
    synthesized,
)

pytestmark = [pytest.mark.synth, pytest.mark.nightly]  # of every change: test_adopt_synth

SCRIPT = """import sys

import boto3
from awsglue.utils import getResolvedOptions

args = getResolvedOptions(sys.argv, ["JOB_NAME"])
boto3.client("secretsmanager").get_secret_value(SecretId="paint/reader")
"""
COMMAND = {"Name": "glueetl", "ScriptLocation": "s3://code/paint.py"}
TARGETS = {"S3Targets": [{"Path": "s3://paintings"}]}
CONDITION = {"CrawlerName": "raw", "CrawlState": "SUCCEEDED"}
INPUT = {"Name": "office", "ConnectionProperties": {"SECRET_ID": "paint/office"}}
RESOURCES = {
    "Job": {"Name": "paint", "Command": COMMAND, "Connections": {"Connections": ["office"]}},
    "Crawler": {"Name": "raw", "DatabaseName": "paint", "Targets": TARGETS},
    "Trigger": {
        "Name": "then",
        "Type": "CONDITIONAL",
        "StartOnCreation": True,
        "Predicate": {"Conditions": [CONDITION]},
        "Actions": [{"JobName": "paint"}],
    },
    "Connection": {"ConnectionInput": INPUT},
}
ARTIFACTS = {
    "paint": {"type": "aws:cloudformation:stack", "properties": {"templateFile": "t.json"}},
    "assets": {"type": "cdk:asset-manifest", "properties": {"file": "assets.json"}},
}
ASSET = {
    "source": {"path": "paint.py"},
    "destinations": {"current": {"bucketName": "code", "objectKey": "paint.py"}},
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a project with a pipeline of a template, and one whose start is not adopted."""
    project = new_project(tmp_path_factory.mktemp("rest"))
    app = project / "paint.out"
    app.mkdir()
    kinds = {key: {"Type": f"AWS::Glue::{key}", "Properties": it} for key, it in RESOURCES.items()}
    for name, document in {
        "manifest.json": {"artifacts": ARTIFACTS},
        "t.json": {"Resources": kinds},
        "assets.json": {"files": {"paint": ASSET}},
    }.items():
        (app / name).write_text(json.dumps(document), encoding="utf-8")
    (app / "paint.py").write_text(SCRIPT, encoding="utf-8")
    adopt(project, "paint", "--template", "paint.out", "--name", "paintings")
    adopt(
        project,
        "--workflow",
        "Nightly",
        "--template",
        str(HERE / "orders.template.yaml"),
        "--parameter",
        "LandingBucket=acme-landing",
        "--name",
        "nightly-orders",
    )
    for name in ("orders_ingest_prod", "report_v2"):
        (project / "glue_jobs" / f"{name}.py").write_text("import sys\n", encoding="utf-8")
    put_into_app(project, "Paintings", "paintings")
    put_into_app(project, "NightlyOrders", "nightly-orders")
    stack = project / "infra" / "paintings_stack.py"
    text = stack.read_text(encoding="utf-8").replace("ITSELF = False", "ITSELF = True")
    stack.write_text(text, encoding="utf-8")
    synthesized(project, "paintings")  # with all other stacks, into cdk.dev
    return project


def template_of(project: Path, name: str) -> dict[str, Any]:
    """Return the template of a pipeline's stack."""
    file = project / "cdk.dev" / f"web-shop-dev-{name}.template.json"
    template: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return template


def test_jobs_of_a_template_are_declared_with_their_secrets(project):
    template = template_of(project, "nightly-orders")

    jobs = {job["Name"]: job for job in resources(template, "AWS::Glue::Job")}
    assert set(jobs) == {"orders-ingest-prod", "report-v2"}
    assert jobs["orders-ingest-prod"]["NumberOfWorkers"] == 4
    assert "secret:orders/reader-??????" in json.dumps(template)


def test_a_job_whose_start_is_not_adopted_waits_for_the_event_of_its_end(project):
    template = template_of(project, "paintings")

    patterns = [rule.get("EventPattern") for rule in resources(template, "AWS::Events::Rule")]
    assert {
        "source": ["aws.glue"],
        "detail-type": ["Glue Crawler State Change"],
        "detail": {"crawlerName": ["raw"], "state": ["Succeeded"]},
    } in patterns
    (start,) = resources(template, "AWS::Glue::Trigger")
    assert start["Type"] == "EVENT"
    assert "secret:paint/reader-??????" in json.dumps(template)
    assert "secret:paint/office-??????" in json.dumps(template)


def test_the_folder_of_that_app_is_a_source_itself(project, tmp_path):
    told = adopt(
        project,
        "paint-v2",
        "--template",
        "cdk.dev",
        "--output",
        str(tmp_path),
        "--name",
        "again",
    )

    assert "not read: the script" not in told
    assert (tmp_path / "glue_jobs" / "paint_v2_v2.py").read_text(encoding="utf-8") == SCRIPT


@pytest.mark.parametrize(
    "command",
    [
        ("ruff", "check", "infra"),
        ("ruff", "format", "--check", "infra"),
        pytest.param(("tidemark", "lint"), marks=pytest.mark.nightly),
        pytest.param(
            ("mypy", "--config-file", str(PROJECT / "pyproject.toml"), "infra"),
            marks=pytest.mark.nightly,  # the other adopted stack is checked in every run
        ),
    ],
)
def test_the_stacks_pass_the_checks_of_a_project(project, command, tmp_path):
    types = tmp_path / "types"  # the CDK's take minutes: what `make check` knows of them will do
    types.mkdir()
    if command[0] == "mypy" and (PROJECT / ".mypy_cache").is_dir():
        shutil.copytree(PROJECT / ".mypy_cache", types, dirs_exist_ok=True)
    places = {"MYPYPATH": f"{PROJECT}:{PROJECT / 'libs'}", "MYPY_CACHE_DIR": str(types)}
    run = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=project,
        env=os.environ | places | {"PYTHONPATH": f"{PROJECT}:{PROJECT / 'libs'}"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stdout + run.stderr
