"""The GitHub workflows: what they run is what a developer runs, with no more rights than needed."""

import re
from pathlib import Path

import pytest
import yaml

PROJECT = Path(__file__).parents[2]
WORKFLOWS = sorted((PROJECT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z-]+):", (PROJECT / "Makefile").read_text(), re.MULTILINE))
STAGES = {"dev", "prod"}


def jobs(path):
    return yaml.safe_load(path.read_text())["jobs"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_every_step_of_ours_is_a_target_of_the_makefile(path):
    for name, job in jobs(path).items():
        runs = [step["run"] for step in job["steps"] if "run" in step]
        targets = [run.split()[1] for run in runs if run.startswith("make ")]

        assert set(targets) <= TARGETS, name
        assert targets


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_no_job_has_a_key_and_only_those_that_ask_aws_get_a_token(path):
    text = path.read_text()
    assert "secrets." not in text
    assert yaml.safe_load(text)["permissions"] == {}
    for job in jobs(path).values():
        asks_aws = any("aws-actions" in step.get("uses", "") for step in job["steps"])
        expected = {"contents": "read"} | ({"id-token": "write"} if asks_aws else {})
        assert job["permissions"] == expected
        assert job["timeout-minutes"] <= 60


def test_prod_waits_for_dev_and_each_deploys_its_own_stage():
    deploy = jobs(PROJECT / ".github" / "workflows" / "deploy.yml")

    assert deploy["prod"]["needs"] == "dev"
    assert set(deploy) == STAGES
    for stage, job in deploy.items():
        assert job["environment"] == stage
        runs = [step["run"] for step in job["steps"] if "run" in step]
        assert runs == [f"make diff STAGE={stage}", f"make deploy STAGE={stage}"]


def test_requests_are_compared_with_the_manifest_of_their_base():
    steps = jobs(PROJECT / ".github" / "workflows" / "ci.yml")["gate"]["steps"]

    (guard,) = (step for step in steps if "state check" in step.get("run", ""))
    assert guard["if"] == "github.event_name == 'pull_request'"
    assert guard["run"].endswith("tidemark state check --since HEAD^1")
    assert steps[0]["with"]["fetch-depth"] == 2
