"""`tidemark adopt --from-account` reads jobs of an account, and changes nothing of it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.deploy.cloud import Cloud
from tests.deploy.story import PROJECT

CODE = "adopt-code"
ARGUMENTS = {
    "--job-bookmark-option": "job-bookmark-enable",
    "--source_path": "s3://adopt-landing/in/",
    "--target_path": "s3://adopt-raw/out/",
}


@pytest.fixture(scope="module")
def glue(cloud: Cloud) -> Iterator[Any]:
    """Make a workflow of two jobs in the account, and remove it afterwards."""
    s3, glue = cloud.client("s3"), cloud.client("glue")
    where = {"LocationConstraint": cloud.region}
    s3.create_bucket(Bucket=CODE, CreateBucketConfiguration=where)
    s3.put_object(Bucket=CODE, Key="ingest.py", Body=b"import sys\n")
    glue.create_workflow(Name="Adopted")
    for name in ("adopted_ingest", "adopted_report"):
        glue.create_job(
            Name=name,
            Role=f"arn:aws:iam::{cloud.account}:role/glue",
            Command={
                "Name": "glueetl",
                "PythonVersion": "3",
                "ScriptLocation": f"s3://{CODE}/{name.removeprefix('adopted_')}.py",
            },
            GlueVersion="5.1",
            WorkerType="G.1X",
            NumberOfWorkers=3,
            DefaultArguments=ARGUMENTS if name == "adopted_ingest" else {},
        )
        arn = f"arn:aws:glue:{cloud.region}:{cloud.account}:job/{name}"
        glue.tag_resource(ResourceArn=arn, TagsToAdd={"team": "orders"})
    glue.create_trigger(
        Name="adopted-start",
        WorkflowName="Adopted",
        Type="SCHEDULED",
        Schedule="cron(0 3 * * ? *)",
        Actions=[{"JobName": "adopted_ingest"}],
        StartOnCreation=True,
    )
    succeeded = {"LogicalOperator": "EQUALS", "JobName": "adopted_ingest", "State": "SUCCEEDED"}
    glue.create_trigger(
        Name="adopted-then",
        WorkflowName="Adopted",
        Type="CONDITIONAL",
        Predicate={"Logical": "AND", "Conditions": [succeeded]},
        Actions=[{"JobName": "adopted_report"}],
        StartOnCreation=True,
    )
    yield glue
    for name in ("adopted-start", "adopted-then"):
        glue.delete_trigger(Name=name)
    for name in ("adopted_ingest", "adopted_report"):
        glue.delete_job(JobName=name)
    glue.delete_workflow(Name="Adopted")
    s3.delete_object(Bucket=CODE, Key="ingest.py")
    s3.delete_bucket(Bucket=CODE)


def adopt(cloud: Cloud, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "AWS_ACCESS_KEY_ID": cloud.account,
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_ENDPOINT_URL": cloud.endpoint_url,
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    command = [PROJECT / ".venv" / "bin" / "tidemark", "adopt", "--from-account", *arguments]
    return subprocess.run(
        [*command, "--region", cloud.region],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_workflow_is_read_with_its_jobs_triggers_and_scripts(cloud, glue, tmp_path):
    before = glue.get_job(JobName="adopted_ingest")["Job"]

    run = adopt(cloud, tmp_path, "--workflow", "Adopted", "--format", "json")

    assert run.returncode == 0, run.stderr
    plan = json.loads((tmp_path / "adopted-v2-migration.json").read_text(encoding="utf-8"))
    assert [(job["old"], job["new"]) for job in plan["jobs"]] == [
        ("adopted_ingest", "adopted-ingest"),
        ("adopted_report", "adopted-report"),
    ]
    script = tmp_path / "glue_jobs" / "adopted_ingest.py"
    assert script.read_text(encoding="utf-8") == "import sys\n"
    assert "not read: the script of adopted_report" in run.stdout
    stack = (tmp_path / "infra" / "adopted_v2_stack.py").read_text(encoding="utf-8")
    assert "after=[adopted_ingest]" in stack
    assert stack.count('tags={"team": "orders"}') == 2
    assert 'starts=[Schedule("cron(0 3 * * ? *)")] if STARTS_BY_ITSELF else []' in stack
    lines = [line for step in plan["steps"] for line in step["commands"]]
    assert any("STARTS_BY_ITSELF = True" in line for line in lines)
    assert glue.get_job(JobName="adopted_ingest")["Job"] == before


def test_a_job_that_is_not_there_is_refused_with_those_that_are(cloud, glue, tmp_path):
    run = adopt(cloud, tmp_path, "absent")

    assert run.returncode == 2
    assert run.stderr.startswith("error: ")
    assert "adopted_ingest" in run.stderr
    assert list(tmp_path.iterdir()) == []
