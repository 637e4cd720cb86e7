"""The commands of Step Functions of the AWS CLI, against the port."""

from __future__ import annotations

import json

import pytest

from tests.waiting import wait_until

pytestmark = pytest.mark.clients
ROLE = "arn:aws:iam::000000000000:role/anyone"
LOAD = {
    "Type": "Task",
    "Resource": "arn:aws:states:::glue:startJobRun.sync",
    "Parameters": {"JobName": "cli-load"},
    "ResultSelector": {"state.$": "$.JobRunState"},
    "End": True,
}
DEFINITION = json.dumps({"StartAt": "Load", "States": {"Load": LOAD}})
PAUSE = json.dumps(
    {"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 600, "End": True}}}
)


@pytest.fixture
def states(aws):
    """Return what runs `aws stepfunctions NAME --OPTION VALUE...`."""

    def run(name, /, *, code=0, **options):
        words = ["stepfunctions", name]
        for option, value in options.items():
            words.append(f"--{option.replace('_', '-')}")
            words += [] if value is True else [value] if isinstance(value, str) else value
        return aws(*words, code=code)

    return run


def ended(states, execution):
    return wait_until(
        lambda: (
            answer
            if (answer := states("describe-execution", execution_arn=execution))["status"]
            != "RUNNING"
            else None
        )
    )


def test_a_machine_is_made_run_looked_at_changed_and_deleted(states, port):
    port.job("cli-load")
    made = states(
        "create-state-machine",
        name="cli",
        definition=DEFINITION,
        role_arn=ROLE,
        tags="key=team,value=data",
    )
    machine = {"state_machine_arn": made["stateMachineArn"]}
    begun = states("start-execution", **machine, name="one", input='{"day": 1}')
    execution = begun["executionArn"]
    answer = ended(states, execution)
    history = states("get-execution-history", execution_arn=execution, reverse_order=True)
    listed = states("list-executions", **machine, status_filter="SUCCEEDED")["executions"]
    page = states("get-execution-history", execution_arn=execution, max_items="2")
    machines = states("list-state-machines")["stateMachines"]
    described = states("describe-state-machine", **machine)
    states("update-state-machine", **machine, definition=PAUSE)
    long = states("start-execution", **machine, name="two")["executionArn"]
    stopped = states("stop-execution", execution_arn=long, error="Mine", cause="enough")
    after = states("describe-execution", execution_arn=long)
    began_with = states("describe-state-machine-for-execution", execution_arn=execution)

    assert json.loads(answer["output"]) == {"state": "SUCCEEDED"}
    assert [event["type"] for event in history["events"]][:2] == [
        "ExecutionSucceeded",
        "TaskStateExited",
    ]
    assert [run["name"] for run in listed] == ["one"]
    assert (len(page["events"]), "NextToken" in page) == (2, True)
    assert "cli" in [machine["name"] for machine in machines]
    assert json.loads(described["definition"]) == json.loads(DEFINITION)
    assert "stopDate" in stopped
    assert (after["status"], after["error"], after["cause"]) == ("ABORTED", "Mine", "enough")
    assert json.loads(began_with["definition"]) == json.loads(DEFINITION)
    states("delete-state-machine", **machine)
    assert "StateMachineDoesNotExist" in states("describe-state-machine", **machine, code=255)


def test_tags_and_validation(states):
    made = states("create-state-machine", name="cli-tags", definition=PAUSE, role_arn=ROLE)
    of_machine = {"resource_arn": made["stateMachineArn"]}
    states("tag-resource", **of_machine, tags=["key=a,value=1", "key=b,value=2"])
    states("untag-resource", **of_machine, tag_keys="a")
    bad = PAUSE.replace("600", "-1")

    assert states("list-tags-for-resource", **of_machine)["tags"] == [{"key": "b", "value": "2"}]
    assert states("validate-state-machine-definition", definition=PAUSE)["result"] == "OK"
    refused = states("validate-state-machine-definition", definition=bad)
    assert refused["result"] == "FAIL"
    assert refused["diagnostics"][0]["location"] == "/States/Wait/Seconds"
    told = states("create-state-machine", name="bad", definition=bad, role_arn=ROLE, code=255)
    assert "InvalidDefinition" in told
