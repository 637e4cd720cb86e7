"""State machines of templates, as aws_stepfunctions synthesizes them."""

from __future__ import annotations

import json
import sys

import pytest

from tests.tidemark.glue_service.conftest import Port
from tests.tidemark.glue_service.state_machines.conftest import PASS, States, steps, task
from tests.waiting import wait_until
from tidemark.errors import UsageError
from tidemark.glue_service.deployments import deploy_on_port
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


def test_a_task_on_aws_only_is_refused_at_deployment_with_its_stand_in(port, write_assembly):
    folder = write_assembly({"one": ""}, others=lambda_app())

    with pytest.raises(UsageError) as refused:
        deploy(port, folder)

    assert "the state machine notifies cannot be deployed: the task Notify is of lambda" in str(
        refused.value
    )
    assert "--task Notify=python:MODULE.FUNCTION" in str(refused.value)


@pytest.mark.parametrize(
    ("given", "output", "error"),
    [({"n": 1}, {"seen": {"FunctionName": "f"}}, None), (None, None, "ValueError")],
)
def test_a_function_stands_in_for_a_task(
    tmp_path, monkeypatch, write_assembly, given, output, error
):
    body = "return {'seen': given}" if error is None else "raise ValueError('no')"
    module = f"stand_in_{error or 'good'}"
    (tmp_path / f"{module}.py").write_text(f"def notify(given):\n    {body}\n", encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    home, options = (
        Home.open(tmp_path / "home"),
        Options(tasks={"Notify": f"python:{module}.notify"}),
    )

    with serving(home, options) as (url, engine):
        port = Port(home, url, engine)
        deploy(port, write_assembly({"one": ""}, others=lambda_app()))
        states = States(port)
        arn = "arn:aws:states:us-east-1:000000000000:stateMachine:notifies"
        answer = states.ended(states.start(arn, given))

    assert answer.get("error") == error
    assert json.loads(answer.get("output", "null")) == output
