"""State machines of templates, as aws_stepfunctions synthesizes them."""

from __future__ import annotations

import json
import sys

import pytest

from tests.tidemark.glue_service.conftest import Port
from tests.tidemark.glue_service.state_machines.conftest import PASS, States, steps, task
from tests.waiting import wait_until
from tidemark.errors import UsageError
from tidemark.glue_service.commands import load_app
from tidemark.glue_service.deployments import define, deploy_on_port, prepare
from tidemark.glue_service.http.serving import Options, serving
from tidemark.local_state.home import Home

ROLE = {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": {}}}
GET_JOB = steps("A", A=task("aws-sdk:glue:getJob", Parameters={"JobName": "JOB"}))
BEFORE, _, AFTER = json.dumps(GET_JOB).partition("JOB")
MACHINE = {
    "Type": "AWS::StepFunctions::StateMachine",
    "Properties": {
        "RoleArn": {"Fn::GetAtt": ["Role", "Arn"]},
        "DefinitionString": {"Fn::Join": ["", [BEFORE, "${job}", AFTER]]},
        "DefinitionSubstitutions": {"job": "one"},
        "Tags": [{"Key": "team", "Value": "data"}],
    },
}
RULE = {
    "Type": "AWS::Events::Rule",
    "Properties": {
        "EventPattern": {"source": ["mine"]},
        "Targets": [{"Id": "T", "Arn": {"Ref": "Nightly"}, "InputPath": "$.detail"}],
    },
}
APP = {"Role": ROLE, "Nightly": MACHINE, "Starts": RULE}


def deploy(port, folder):
    return port.engine.ask(lambda glue: deploy_on_port(glue, folder))


def test_a_machine_of_a_template_runs_and_a_rule_starts_it(port, states, write_assembly):
    text = deploy(port, write_assembly({"one": ""}, others=APP))
    (machine,) = states.client.list_state_machines()["stateMachines"]
    arn = machine["stateMachineArn"]

    entry = {"Source": "mine", "DetailType": "any", "Detail": '{"day": 1}'}
    port.client("events").put_events(Entries=[entry])
    (execution,) = wait_until(
        lambda: states.client.list_executions(stateMachineArn=arn)["executions"]
    )
    answer = states.ended(execution["executionArn"])

    assert "1 state machine" in text
    assert "not on this machine" not in text
    assert arn.endswith(":stateMachine:stack-nightly")
    assert json.loads(answer["input"]) == {"day": 1}
    assert json.loads(answer["output"])["Job"]["Name"] == "one"
    tags = states.client.list_tags_for_resource(resourceArn=arn)["tags"]
    assert {"key": "team", "value": "data"} in tags


def test_a_machine_that_a_deployment_drops_is_deleted(port, states, write_assembly):
    deploy(port, write_assembly({"one": ""}, others=APP))
    deploy(port, write_assembly({"one": ""}))

    assert states.client.list_state_machines()["stateMachines"] == []


def test_a_definition_may_be_an_object(port, states, write_assembly):
    properties = {"StateMachineName": "named", "Definition": steps("A", A=PASS), "RoleArn": "r"}
    machine = {"Type": MACHINE["Type"], "Properties": {**properties, "StateMachineType": "EXPRESS"}}

    deploy(port, write_assembly({"one": ""}, others={"M": machine}))

    answer = states.client.start_sync_execution(
        stateMachineArn="arn:aws:states:us-east-1:000000000000:stateMachine:named"
    )
    assert answer["status"] == "SUCCEEDED"


def lambda_app():
    state = task("arn:aws:states:::lambda:invoke", Parameters={"FunctionName": "f"})
    notify = {"Definition": steps("Notify", Notify=state), "StateMachineName": "notifies"}
    return {"M": {"Type": MACHINE["Type"], "Properties": notify}}


def test_a_machine_with_a_task_on_aws_only_is_left_out_and_told(port, states, write_assembly):
    text = deploy(port, write_assembly({"one": ""}, others={**APP, **lambda_app()}))

    (machine,) = states.client.list_state_machines()["stateMachines"]
    assert machine["name"] == "stack-nightly"
    assert "the state machine notifies cannot be deployed: the task Notify is of lambda" in text
    assert "--task Notify=python:MODULE.FUNCTION" in text


LOCATION = {"Bucket": "definitions", "Key": "k"}


@pytest.mark.parametrize(
    ("properties", "text"),
    [
        ({}, "it has no definition; give DefinitionString"),
        ({"DefinitionS3Location": {**LOCATION, "Key": "../../access-key.json"}}, "a part '..'"),
        ({"DefinitionS3Location": {**LOCATION, "Key": "/etc/passwd"}}, "cannot be read as UTF-8"),
        ({"DefinitionS3Location": {**LOCATION, "Key": "binary"}}, "can't decode byte"),
        ({"DefinitionS3Location": {**LOCATION, "Bucket": "none"}}, "has no folder"),
        ({"Definition": steps("A", A=PASS), "Tags": [{"Key": "a"}]}, "allowed: an object with Key"),
        ({"Definition": steps("A", A={**PASS, "Colour": 1})}, "Field 'Colour' is not supported"),
        ({"Definition": steps("A", A=PASS), "StateMachineType": "FAST"}, "allowed: STANDARD,"),
    ],
)
def test_a_machine_that_aws_refuses_refuses_the_app(port, write_assembly, properties, text):
    port.home.create_bucket("definitions")
    (port.home.lake / "definitions/binary").write_bytes(b"\xff\xfe")
    machine = {"Type": MACHINE["Type"], "Properties": {"StateMachineName": "m", **properties}}

    with pytest.raises(UsageError) as refused:
        deploy(port, write_assembly({"one": ""}, others={"M": machine}))

    assert "the state machine m cannot be deployed: " in str(refused.value)
    assert text in str(refused.value)


def test_a_run_of_a_workflow_needs_no_machine(port, write_assembly):
    app = load_app(write_assembly({"one": ""}, others={"M": {**MACHINE, "Properties": {}}}))

    def define_app(glue):
        deployment = prepare(app, glue.machine.home, glue.machine.dynamodb_endpoint)
        return define(glue, app, deployment)

    deleted, (left_out,) = port.engine.ask(define_app)

    assert deleted == []
    assert "cannot be deployed: it has no definition" in str(left_out)


BODIES = {
    "seen": ("return {'seen': given}", None),
    "raises": ("raise ValueError('no')", "ValueError"),
    "exits": ("import sys; sys.exit(3)", "SystemExit"),
    "interrupts": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "nan": ("return float('nan')", "States.TaskFailed"),
    "no_json": ("return {1, 2}", "States.TaskFailed"),
    "never": ("import time; time.sleep(60)", "States.Timeout"),
}


def test_a_function_stands_in_for_a_task_whatever_it_does(tmp_path, monkeypatch):
    text = "".join(f"def {name}(given):\n    {body}\n" for name, (body, _) in BODIES.items())
    (tmp_path / "stand_in_bodies.py").write_text(text, encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    tasks = {name: f"python:stand_in_bodies.{name}" for name in BODIES}
    home = Home.open(tmp_path / "home")

    with serving(home, Options(tasks=tasks)) as (url, engine):
        states = States(Port(home, url, engine))
        started = {}
        for name in BODIES:
            state = task("lambda:invoke", Parameters={"FunctionName": "f"}, TimeoutSeconds=1)
            started[name] = states.start(states.machine(name, steps(name, **{name: state})))
        late = {**steps("never", never=task("lambda:invoke")), "TimeoutSeconds": 1}
        ends_late = states.start(states.machine("late", late))
        answers = {name: states.ended(execution) for name, execution in started.items()}
        status = states.ended(ends_late)["status"]

    errors = {name: answer.get("error") for name, answer in answers.items()}
    assert errors == {name: error for name, (_, error) in BODIES.items()}
    assert json.loads(answers["seen"]["output"]) == {"seen": {"FunctionName": "f"}}
    assert status == "TIMED_OUT"
