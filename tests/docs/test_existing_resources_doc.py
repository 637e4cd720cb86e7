"""The snippets of docs/existing-resources.md make an app in an account where everything is."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from tests.fixtures.pipelines import FLAGS, stage_of
from tests.pages import Page
from tests.projects import PROJECT
from tidemark.cli.main import main
from tidemark.model.assembly.cloud_assembly import read_assembly
from tidemark.model.assembly.template import read_deployment

pytestmark = pytest.mark.synth
PAGE = Page("docs/existing-resources.md")
ACCOUNT, REGION = "111122223333", "eu-west-1"
STAGE = stage_of(account=ACCOUNT, freshness_hours=26)


def make_app(cdk: Any, out: str) -> Any:
    """Return the app that the functions of the document make."""
    known = PAGE.run(*(name for name in PAGE.blocks if name != "grants"))
    app = cdk.App(
        analytics_reporting=False, outdir=out, context={**FLAGS, "tidemark:explain": True}
    )
    env = cdk.Environment(account=ACCOUNT, region=REGION)
    storage, orders = (cdk.Stack(app, name, env=env) for name in ("storage", "orders"))
    lake = known["existing_lake"](storage, STAGE)
    known["tables"](storage)
    alerting = known["alerting"](storage, STAGE, lake.key)
    pipeline = known["existing_security"](orders, lake, STAGE, PROJECT)
    known["add_jobs"](pipeline, lake)
    known["add_connected_job"](pipeline, lake)
    known["Pipeline"](
        orders,
        "Told",
        name="told",
        root=PROJECT,
        stage=STAGE,
        watermarks=None,
        key=lake.key,
        alerts=alerting,
    ).add_job(
        "told-job",
        script="glue_jobs/ingest_weather.py",
        bookmark=known["BookmarkOption"].DISABLE,
    )
    return app


@pytest.fixture(scope="module")
def written(cdk: Any, tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """Return what the app of the document wrote."""
    out = tmp_path_factory.mktemp("existing")
    assembly = make_app(cdk, str(out)).synth()
    templates = {stack.stack_name: stack.template for stack in assembly.stacks}
    messages = [str(one.entry.data) for stack in assembly.stacks for one in stack.messages]
    return SimpleNamespace(out=out, templates=templates, messages=messages)


def resources(
    written: SimpleNamespace, kind: str, stack: str | None = None
) -> list[dict[str, Any]]:
    return [
        resource["Properties"]
        for name, template in written.templates.items()
        if stack in (None, name)
        for resource in template["Resources"].values()
        if resource["Type"] == kind
    ]


def job(written: SimpleNamespace, name: str) -> dict[str, Any]:
    (found,) = (j for j in resources(written, "AWS::Glue::Job") if j["Name"] == name)
    return found


def test_of_what_is_there_nothing_is_made(written: SimpleNamespace) -> None:
    kinds = ("AWS::KMS::Key", "AWS::DynamoDB::Table", "AWS::Glue::Database")
    assert [resources(written, kind) for kind in kinds] == [[], [], []]
    assert len(resources(written, "AWS::S3::Bucket")) == 4  # three of the lake, and their logs
    (own,) = resources(written, "AWS::Glue::SecurityConfiguration")  # of the other pipeline
    assert own["Name"] == "tidemark-dev-told"
    assert job(written, "ingest-orders")["SecurityConfiguration"] == "acme-standard"
    groups = [str(group["LogGroupName"]) for group in resources(written, "AWS::Logs::LogGroup")]
    assert groups
    assert all("tidemark-dev-told" in group for group in groups)


def test_every_owner_is_told_what_to_do(written: SimpleNamespace) -> None:
    for name in re.findall(r"`(tidemark:imported-[a-z]+|tidemark:missing-grants)`", PAGE.text):
        assert any(name in message for message in written.messages), name


def test_the_printed_policy_is_what_the_job_needs(
    written: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CDK_APP", str(written.out))
    printed = []
    for line in PAGE.blocks["grants"].splitlines():
        words = shlex.split(line.partition(">")[0])
        done = CliRunner().invoke(main, words[1:])
        assert done.exit_code == 0, done.output
        printed.append(json.loads(done.stdout))

    policy, trust = printed
    assert trust["Statement"][0]["Principal"] == {"Service": "glue.amazonaws.com"}
    granted = {
        action: statement["Resource"]
        for statement in policy["Statement"]
        for action in statement["Action"]
    }
    assert "arn:aws:s3:::acme-landing/orders/*" in granted["s3:GetObject"]
    assert "${storage/" in str(granted["s3:PutObject"])
    assert job(written, "ingest-orders")["Role"] == f"arn:aws:iam::{ACCOUNT}:role/acme-etl"


def test_a_job_joins_what_the_app_makes_and_what_is_there(written: SimpleNamespace) -> None:
    joined = job(written, "fetch-orders")["Connections"]["Connections"]

    assert len(joined) == 2
    assert "acme-office" in joined
    roles = json.dumps(resources(written, "AWS::IAM::Role", "orders"))
    assert "secret:orders/reader-??????" in roles


def test_everybody_is_told(written: SimpleNamespace) -> None:
    protocols = [s["Protocol"] for s in resources(written, "AWS::SNS::Subscription")]
    assert sorted(protocols) == ["email", "https", "sqs"]
    assert len(resources(written, "AWS::Chatbot::SlackChannelConfiguration")) == 1


def test_the_local_glue_runs_such_an_app(written: SimpleNamespace) -> None:
    deployment = read_deployment(read_assembly(written.out), REGION)

    assert {"ingest-orders", "fetch-orders", "told-job"} <= set(deployment.jobs)
    assert "orders-db" in [one.name for one in deployment.catalog_connections]
