"""The tests that also run on AWS: which they are, and how they ask an account, played by a port."""

from __future__ import annotations

import ast
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.tidemark.glue_service.aws_port import AwsPort
from tests.tidemark.glue_service.runs import test_job_runs as runs
from tests.tidemark.glue_service.workflows import test_workflows as workflows

HERE = Path(__file__).parent
ONLY_HERE = ("SILENT", "port.engine", "port.home")  # what AWS does not say, and has not


def functions_of(file):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    if not any(node.name == "port" for node in functions):  # a home with a clock of its own
        yield from (node for node in functions if node.name.startswith("test_"))


def rules_for_aws():
    """Return the tests that show a rule of AWS on a port, and those that are marked for it."""
    shown, marked = set(), set()
    for file in sorted(HERE.rglob("test_*.py")):
        for test in functions_of(file):
            markers = [ast.unparse(decorator) for decorator in test.decorator_list]
            is_rule = any(one.startswith("pytest.mark.rule(") for one in markers)
            takes_port = "port" in [argument.arg for argument in test.args.args]
            if is_rule and takes_port and not any(word in ast.unparse(test) for word in ONLY_HERE):
                shown.add(test.name)
            if "pytest.mark.on_aws" in markers:
                marked.add(test.name)
    return shown, marked


def test_every_rule_of_aws_that_a_port_shows_runs_on_aws_too():
    shown, marked = rules_for_aws()

    assert marked == shown
    assert len(marked) > 15


def test_with_aws_the_same_tests_are_collected_for_an_account():
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "--aws", "-m", "aws"]
    files = [file for file in HERE.rglob("test_*.py") if "mark.on_aws\n" in file.read_text("utf-8")]

    done = subprocess.run([*command, "-n", "0", *files], capture_output=True, text=True)

    found = {line.partition("::")[2] for line in done.stdout.splitlines() if "::" in line}
    assert {test.partition("[")[0] for test in found} == rules_for_aws()[1], done.stdout
    assert all("[aws" in test for test in found)


@pytest.fixture
def account(port):
    """An account that a port plays; all that was made is deleted."""
    port.home.create_bucket("account")

    def client(service):
        return port.client(service, s3={"addressing_style": "path"})

    with closing(AwsPort(client, "account", "arn:role", poll_s=0.02, quiet_s=0.1)) as account:
        yield account
    assert port.glue.list_jobs()["JobNames"] == port.glue.list_workflows()["Workflows"] == []
    assert port.glue.list_triggers()["TriggerNames"] == []
    assert "Contents" not in port.client("s3").list_objects_v2(Bucket="account")


@pytest.mark.nightly
def test_the_tests_ask_an_account_as_they_ask_a_port(account):
    runs.test_arguments_of_the_job_of_the_run_and_those_no_run_can_change(account)
    workflows.test_run_properties_pass_from_job_to_job_and_stay_in_their_run(account)

    assert account.glue.get_job(JobName="merged")["Job"]["Role"] == "arn:role"
    assert account.arn("job/merged") == "arn:aws:glue:us-east-1:000000000000:job/merged"
