"""`tidemark grants`, for who makes roles."""

import json

import pytest
from click.testing import CliRunner

from tests.fixtures.pipelines import ACCOUNT, Declared
from tidemark.cli.main import main

pytestmark = pytest.mark.synth


@pytest.fixture
def app(cdk, tmp_path):
    from aws_cdk import aws_iam as iam

    declared = Declared(cdk, tmp_path)
    arn = f"arn:aws:iam::{ACCOUNT}:role/etl"
    role = iam.Role.from_role_arn(declared.stack, "Role", arn, mutable=False)
    pipeline = declared.pipeline()
    declared.add(pipeline, "one", role=role)
    declared.add(pipeline, "two")
    return declared.app.synth().directory


def test_it_prints_a_policy_that_iam_takes_and_tells_the_rest_apart(app):
    done = CliRunner().invoke(main, ["grants", "one", "--app", app])

    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert set(document) == {"Version", "Statement"}
    actions = {action for it in document["Statement"] for action in it["Action"]}
    assert {"logs:PutLogEvents", "kms:Decrypt", "s3:GetObject"} <= actions
    assert "${" not in done.stdout
    assert f"one runs with arn:aws:iam::{ACCOUNT}:role/etl: not given by the app" in done.stderr


def test_it_prints_one_policy_for_a_role_of_several_jobs(app):
    one, two, both = (
        json.loads(CliRunner().invoke(main, ["grants", *jobs, "--app", app]).stdout)["Statement"]
        for jobs in (["one"], ["two"], ["one", "two"])
    )

    assert both == one + [it for it in two if it not in one]


def test_it_prints_whom_the_role_must_trust(app):
    done = CliRunner().invoke(main, ["grants", "one", "--trust", "--app", app])

    (statement,) = json.loads(done.stdout)["Statement"]
    assert statement["Principal"] == {"Service": "glue.amazonaws.com"}


def test_a_job_that_is_not_there_is_told_in_one_line(app):
    done = CliRunner().invoke(main, ["grants", "three", "--app", app])

    assert done.exit_code == 2
    assert done.stderr == "error: the app has no job or crawler 'three'; it has: one, two\n"


def test_given_policies_leave_only_what_they_do_not_allow(app, tmp_path):
    file = tmp_path / "policy.json"
    statement = {"Effect": "Allow", "Action": ["s3:*", "logs:*"], "Resource": "*"}
    file.write_text(json.dumps({"PolicyDocument": {"Statement": statement}}), encoding="utf-8")

    done = CliRunner().invoke(main, ["grants", "one", "--given", str(file), "--app", app])

    assert done.exit_code == 0, done.output
    actions = [one for it in json.loads(done.stdout)["Statement"] for one in it["Action"]]
    assert "kms:Decrypt" in actions
    assert not [one for one in actions if one.startswith(("s3:", "logs:"))]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"Statement": [5]}'])
def test_a_file_that_is_no_policy_is_told_in_one_line(tmp_path, text):
    file = tmp_path / "policy.json"
    file.write_text(text, encoding="utf-8")

    done = CliRunner().invoke(main, ["grants", "one", "--given", str(file)])

    assert done.exit_code == 2
    assert done.stderr.startswith(f"error: {file} is not a policy")
    assert done.stderr.count("\n") == 1
