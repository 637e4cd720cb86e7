"""Terraform with its provider of AWS, unmodified, against the port."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.waiting import wait_until

pytestmark = pytest.mark.clients
DEFINITION = Path(__file__).with_name("terraform") / "main.tf"
ARN = "arn:aws:glue:us-east-1:000000000000:"
NOTHING_TO_CHANGE = "No changes."


@pytest.fixture
def terraform(client, tmp_path):
    """Return what runs `terraform WORDS` in a folder that has the definition.

    Where its provider comes from is told in Terraform's own way: by TF_CLI_CONFIG_FILE.
    """
    program = shutil.which("terraform")
    if program is None:
        pytest.skip("there is no terraform on the PATH")
    shutil.copy(DEFINITION, tmp_path)
    own = {name: value for name, value in os.environ.items() if name.startswith("TF_")}

    def run(*words):
        return client("terraform", program, *words, "-no-color", **own).stdout

    ready = subprocess.run(
        [program, "init", "-no-color"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    if ready.returncode:
        pytest.skip(f"terraform has no provider of AWS: {ready.stderr}")
    return run


def statuses(glue):
    return [run["Status"] for run in glue.get_workflow_runs(Name="of-terraform")["Runs"]]


def test_terraform_defines_changes_and_removes_jobs_tables_and_rules(terraform, port):
    glue = port.glue

    terraform("apply", "-auto-approve")
    planned = terraform("plan")
    wait_until(lambda: statuses(glue) == ["COMPLETED"])  # it starts a trigger that is ON_DEMAND
    changed = terraform("apply", "-auto-approve", "-var", "team=other")
    planned_again = terraform("plan", "-var", "team=other")

    assert NOTHING_TO_CHANGE in planned
    assert NOTHING_TO_CHANGE in planned_again
    assert "0 added" in changed
    states = [port.states(f"of-terraform-{name}") for name in ("first", "second")]
    assert states == [["SUCCEEDED"], ["SUCCEEDED"]]
    for name in ("job/of-terraform-first", "database/of_terraform", "connection/of-terraform"):
        assert glue.get_tags(ResourceArn=ARN + name)["Tags"] == {"owner": "all", "team": "other"}
    tags = port.client("s3").get_bucket_tagging(Bucket="of-terraform")["TagSet"]
    assert tags == [{"Key": "owner", "Value": "all"}]
    terraform("destroy", "-auto-approve", "-var", "team=other")
    assert [name for name in glue.list_jobs()["JobNames"] if "terraform" in name] == []
    with pytest.raises(glue.exceptions.EntityNotFoundException):
        glue.get_database(Name="of_terraform")
    assert not (port.home.lake / "of-terraform").exists()
