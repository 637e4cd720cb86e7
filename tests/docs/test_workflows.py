"""The GitHub workflows: what they run is what a developer runs, with no more rights than needed."""

import re
from pathlib import Path

import pytest
import yaml

PROJECT = Path(__file__).parents[2]
WORKFLOWS = sorted((PROJECT / ".github" / "workflows").glob("*.yml"))
OF_A_NEW_PROJECT = PROJECT / "tidemark/scaffold/templates/project/.github/workflows/ci.yml"
EVERY = [*WORKFLOWS, OF_A_NEW_PROJECT]
TARGETS = set(re.findall(r"^([a-z0-9-]+):", (PROJECT / "Makefile").read_text(), re.MULTILINE))
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


@pytest.mark.parametrize("path", EVERY, ids=str)
def test_every_action_of_others_is_pinned_to_a_commit_and_names_its_version(path):
    used = re.findall(r"uses: (.*)", path.read_text())

    assert used
    pinned = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
    assert [uses for uses in used if not pinned.fullmatch(uses)] == []


@pytest.mark.parametrize("path", EVERY, ids=str)
def test_no_checkout_leaves_its_credentials_to_the_steps_after_it(path):
    steps = [step for job in jobs(path).values() for step in job["steps"]]
    checkouts = [step for step in steps if "/checkout@" in step.get("uses", "")]

    assert checkouts
    assert {step["with"]["persist-credentials"] for step in checkouts} == {False}


def test_an_action_has_one_commit_in_all_workflows():
    used = {uses for path in EVERY for uses in re.findall(r"uses: (.*)", path.read_text())}

    assert len({uses.partition("@")[0] for uses in used}) == len(used)


def test_the_gate_goes_from_the_cheap_to_the_dear():
    gate = jobs(PROJECT / ".github" / "workflows" / "ci.yml")["gate"]
    commands = [step["run"].split() for step in gate["steps"] if "run" in step]
    targets = [words[1] for words in commands if words[0] == "make"]

    assert targets == [
        "setup",
        "check",
        "lint",
        "test",
        "test-install",
        "demo",
    ]


def test_checkov_looks_at_both_stages():
    steps = jobs(PROJECT / ".github" / "workflows" / "ci.yml")["checkov"]["steps"]

    runs = {step["run"] for step in steps if "run" in step}
    assert runs == {f"make checkov STAGE={stage}" for stage in STAGES}


def test_a_pull_request_of_a_fork_asks_aws_for_nothing():
    diff = jobs(PROJECT / ".github" / "workflows" / "ci.yml")["diff"]

    assert "pull_request.head.repo.full_name == github.repository" in diff["if"]


def test_nobody_is_asked_at_a_terminal_and_an_approval_holds_up_its_own_stage_only():
    workflow = yaml.safe_load((PROJECT / ".github" / "workflows" / "deploy.yml").read_text())

    assert workflow["env"] == {"CDK_REQUIRE_APPROVAL": "never"}
    groups = {stage: job["concurrency"]["group"] for stage, job in workflow["jobs"].items()}
    assert groups == {stage: f"deploy-{stage}" for stage in STAGES}


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
