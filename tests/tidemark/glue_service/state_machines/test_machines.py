"""Step Functions' operations on state machines."""

from __future__ import annotations

import json

import pytest
from botocore.exceptions import ClientError

from tests.tidemark.glue_service.state_machines.conftest import END, PASS, ROLE, steps, task

ONE = steps("A", A=PASS)
MAP = {"Type": "Map", **END}


def refusal(call, **members):
    with pytest.raises(ClientError) as caught:
        call(**members)
    error = caught.value.response["Error"]
    return error["Code"], error["Message"]


def test_a_machine_is_described_as_it_was_created(states):
    arn = states.machine("described", ONE, tags=[{"key": "team", "value": "data"}])

    answer = states.client.describe_state_machine(stateMachineArn=arn)

    assert arn == "arn:aws:states:us-east-1:000000000000:stateMachine:described"
    assert (answer["name"], answer["type"], answer["status"]) == ("described", "STANDARD", "ACTIVE")
    assert json.loads(answer["definition"]) == ONE
    assert answer["roleArn"] == ROLE


def test_the_same_machine_again_is_no_error_and_another_one_is(states):
    first = states.machine("again", ONE)

    assert states.machine("again", ONE) == first
    code, text = refusal(
        states.client.create_state_machine,
        name="again",
        definition=json.dumps(steps("B", B=PASS)),
        roleArn=ROLE,
    )
    assert (code, text) == ("StateMachineAlreadyExists", f"State Machine Already Exists: '{first}'")


def test_an_update_changes_later_executions_alone(states):
    arn = states.machine("updated", steps("W", W={"Type": "Wait", "Seconds": 60, **END}))
    execution = states.start(arn)

    answer = states.client.update_state_machine(stateMachineArn=arn, definition=json.dumps(ONE))
    old = states.client.describe_state_machine_for_execution(executionArn=execution)
    states.client.stop_execution(executionArn=execution)

    assert "Wait" in old["definition"]
    assert states.ended(states.start(arn))["status"] == "SUCCEEDED"
    now = states.client.describe_state_machine(stateMachineArn=arn)
    assert now["revisionId"] == answer["revisionId"]


def test_lists_come_in_pages(states):
    for number in range(3):
        states.machine(f"page-{number}", ONE)

    pages = states.client.get_paginator("list_state_machines").paginate(
        PaginationConfig={"PageSize": 2}
    )
    names = [machine["name"] for page in pages for machine in page["stateMachines"]]

    assert {"page-0", "page-1", "page-2"} <= set(names)
    assert len(names) == len(set(names))
    assert refusal(states.client.list_state_machines, nextToken="none")[0] == "InvalidToken"


def test_tags_are_added_and_removed(states):
    arn = states.machine("tagged", ONE, tags=[{"key": "a", "value": "1"}])

    states.client.tag_resource(resourceArn=arn, tags=[{"key": "b", "value": "2"}])
    states.client.untag_resource(resourceArn=arn, tagKeys=["a"])

    tags = states.client.list_tags_for_resource(resourceArn=arn)["tags"]
    assert tags == [{"key": "b", "value": "2"}]


def test_a_deleted_machine_is_gone_with_its_executions(states):
    arn = states.machine("deleted", ONE)
    execution = states.start(arn)
    states.ended(execution)

    states.client.delete_state_machine(stateMachineArn=arn)

    code, text = refusal(states.client.describe_state_machine, stateMachineArn=arn)
    assert (code, text) == ("StateMachineDoesNotExist", f"State Machine Does Not Exist: '{arn}'")
    code, _ = refusal(states.client.describe_execution, executionArn=execution)
    assert code == "ExecutionDoesNotExist"


@pytest.mark.parametrize(
    ("definition", "text"),
    [
        ("{", "INVALID_JSON_DESCRIPTION: Expecting property name"),
        ("[]", "SCHEMA_VALIDATION_FAILED: The definition is not a JSON object"),
        ({"States": {"A": PASS}}, "The field 'StartAt' is missing at /StartAt"),
        (steps("A"), "The field 'States' must have at least one state"),
        (steps("Z", A=PASS), "MISSING_TRANSITION_TARGET: Missing 'Next' target: Z at /StartAt"),
        (
            steps("A", A={"Type": "Pass", "Next": "B"}),
            "MISSING_TRANSITION_TARGET: Missing 'Next' target: B at /States/A/Next",
        ),
        (steps("A", A=PASS, B=PASS), 'State "B" is not reachable. at /States/B'),
        (steps("A", A={"Type": "Pass"}), "These fields are required, one of them: [Next, End]"),
        (steps("A", A={"Type": "Sleep"}), "Value is not one of Task, Pass, Choice"),
        (
            steps("A", A={**PASS, "Colour": 1}),
            "Field 'Colour' is not supported at /States/A/Colour",
        ),
        (steps("A", A={**MAP, "Catch": 5}), "Value is not of type array at /States/A/Catch"),
        (steps("A", A={**MAP, "ItemProcessor": []}), "Value is not of type object"),
        (steps("A", A={"Type": "Pass", "Next": []}), "Value is not of type string"),
        (
            steps("A", A=task("lambda:invoke")),
            "the task A is of lambda; it is on AWS only; give a function in its place: "
            "`--task A=python:MODULE.FUNCTION`",
        ),
        (steps("A", A=task("athena:startQueryExecution.sync")), "the task A is of athena"),
        (
            steps("A", A=task("arn:aws:states:us-east-1:000000000000:activity:x")),
            "has the resource arn:aws:states:us-east-1:000000000000:activity:x",
        ),
        (
            steps("A", A=task("aws-sdk:glue:getClassifiers")),
            "the task A calls getClassifiers of glue, which is not here",
        ),
        (steps("A", A=task("aws-sdk:ec2:runInstances")), "the task A calls ec2"),
        (
            steps("A", A=task("glue:startJobRun.waitForTaskToken")),
            "of glue there are startJobRun, startJobRun.sync",
        ),
        (
            steps(
                "M",
                M={
                    "Type": "Map",
                    "ItemProcessor": {
                        "ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
                        **ONE,
                    },
                    **END,
                },
            ),
            "the Map state M is distributed, which is on AWS only; use the mode INLINE",
        ),
        (
            steps(
                "M",
                M={
                    "Type": "Map",
                    "ItemBatcher": {},
                    "ToleratedFailureCount": 1,
                    "ItemProcessor": ONE,
                    **END,
                },
            ),
            "use the mode INLINE without ItemBatcher, ToleratedFailureCount",
        ),
    ],
)
def test_a_definition_that_cannot_run_is_refused_with_its_place(states, definition, text):
    written = definition if isinstance(definition, str) else json.dumps(definition)

    code, refused = refusal(
        states.client.create_state_machine, name="bad", definition=written, roleArn=ROLE
    )
    result = states.client.validate_state_machine_definition(definition=written)

    assert code == "InvalidDefinition"
    assert text in refused
    assert result["result"] == "FAIL"
    assert result["diagnostics"][0]["severity"] == "ERROR"


def test_a_valid_definition_has_no_diagnostics(states):
    answer = states.client.validate_state_machine_definition(definition=json.dumps(ONE))

    assert (answer["result"], answer["diagnostics"]) == ("OK", [])


@pytest.mark.parametrize(
    ("operation", "members", "code"),
    [
        ("describe_state_machine", {"stateMachineArn": "none"}, "InvalidArn"),
        (
            "describe_state_machine",
            {"stateMachineArn": "arn:aws:states:us-east-1:000000000000:execution:a:b"},
            "InvalidArn",
        ),
        (
            "create_state_machine",
            {"name": "a b", "definition": "{}", "roleArn": ROLE},
            "InvalidName",
        ),
        (
            "create_state_machine",
            {"name": "v", "definition": json.dumps(ONE), "roleArn": ROLE, "publish": True},
            "ValidationException",
        ),
        ("list_activities", {}, "UnknownOperationException"),
        (
            "redrive_execution",
            {"executionArn": "arn:aws:states:us-east-1:000000000000:execution:a:b"},
            "ExecutionDoesNotExist",
        ),
        ("send_task_success", {"taskToken": "none", "output": "{}"}, "InvalidToken"),
    ],
)
def test_errors_have_the_codes_of_aws(states, operation, members, code):
    assert refusal(getattr(states.client, operation), **members)[0] == code


def test_without_the_interpreter_a_start_says_what_to_install(states, monkeypatch):
    arn = states.machine("bare", ONE)
    without = {"antlr4": None}
    monkeypatch.setattr("tidemark.extras.find_spec", lambda name: without.get(name, name))

    _, text = refusal(states.client.start_execution, stateMachineArn=arn)

    assert "pip install 'tidemark-glue[states]'" in text
