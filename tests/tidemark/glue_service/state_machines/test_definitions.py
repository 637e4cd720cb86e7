"""What AWS refuses in definitions is refused here, with its place."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.tidemark.glue_service.state_machines.conftest import END, PASS, steps, task
from tidemark.glue_service.state_machines.checking import check
from tidemark.glue_service.state_machines.definitions import faults_of

GET_JOB = task("aws-sdk:glue:getJob", Parameters={"JobName": "x"})
WAIT = {"Type": "Wait", **END}
RULE = {"Variable": "$.a", "StringEquals": "x", "Next": "B"}


def one(state, **members):
    return {**steps("A", A=state), **members}


def faults(definition, kind="STANDARD"):
    written = definition if isinstance(definition, str) else json.dumps(definition)
    return [str(fault).partition(": ")[2] for fault in check(written, kind, {})]


def choice(**rule):
    return steps("A", A={"Type": "Choice", "Choices": [rule]}, B=PASS)


def jsonata(**members):
    return one({**PASS, **members}, QueryLanguage="JSONata")


def test_a_definition_of_many_states_and_members_is_checked():
    # Walks that grow with the square of them would take minutes.
    chain = {f"S{number}": {"Type": "Pass", "Next": f"S{number + 1}"} for number in range(5_000)}
    many = dict.fromkeys(map(str, range(100_000)), 1)

    assert faults_of(json.dumps({"StartAt": "S0", "States": {**chain, "S5000": PASS}})) == []
    assert faults_of(json.dumps(one({**PASS, "Result": many}))) == []


REFUSED = {
    "a key twice": ('{"StartAt": "A", "StartAt": "A"}', "Duplicate field 'StartAt'"),
    "a name twice": (
        one({"Type": "Parallel", "Branches": [one(PASS)], **END}),
        "Duplicate State name: A",
    ),
    "a long name": (steps("x" * 81, **{"x" * 81: PASS}), "has 1 to 80 characters"),
    "an island": (
        steps("A", A=PASS, B={"Type": "Pass", "Next": "C"}, C={"Type": "Pass", "Next": "B"}),
        'State "B" is not reachable. at /States/B',
    ),
    "ALL is not last": (
        one({**GET_JOB, "Retry": [{"ErrorEquals": ["States.ALL"]}, {"ErrorEquals": ["X"]}]}),
        "States.ALL must be alone, and in the last element at /States/A/Retry[0]/ErrorEquals",
    ),
    "ALL is not alone": (
        one({**GET_JOB, "Retry": [{"ErrorEquals": ["States.ALL", "X"]}]}),
        "States.ALL must be alone",
    ),
    "an unknown error": (
        one({**GET_JOB, "Retry": [{"ErrorEquals": ["States.No"]}]}),
        "has no error 'States.No'",
    ),
    "a bad retry": (
        one({**GET_JOB, "Retry": [{"ErrorEquals": ["X"], "BackoffRate": 0.5}]}),
        "Value is not allowed: 0.5 at /States/A/Retry[0]/BackoffRate",
    ),
    "a retry of a pass": (
        one({**PASS, "Retry": [{"ErrorEquals": ["X"]}]}),
        "Field 'Retry' is not supported at /States/A/Retry",
    ),
    "no next of a catch": (
        one({**GET_JOB, "Catch": [{"ErrorEquals": ["X"]}]}),
        "The field 'Next' is missing at /States/A/Catch[0]",
    ),
    "an end of a fail": (one({"Type": "Fail", **END}), "Field 'End' is not supported"),
    "a bad path": (one({**PASS, "InputPath": "$.a["}), "Value is not a path such as $.a: '$.a['"),
    "several results": (one({**PASS, "ResultPath": "$.a[*]"}), "Value is not a path"),
    "a path that is none": (one({**PASS, "Parameters": {"a.$": 5}}), "must be a JSONPath"),
    "an unknown function": (
        one({**PASS, "Parameters": {"a.$": "States.Foo(1)"}}),
        "States.Foo(1) is not an intrinsic function, or has other arguments at /States/A",
    ),
    "choices of no list": (one({"Type": "Choice", "Choices": 5}), "Value is not of type array"),
    "a rule without next": (choice(Variable="$.a", StringEquals="x"), "'Next' is missing"),
    "an unknown operator": (
        choice(**{**RULE, "StringEquals": "x"}, StringEqual="y"),
        "The rule must have one operator, and has 2",
    ),
    "an operand of another type": (
        choice(Variable="$.a", NumericEquals="x", Next="B"),
        "Value is not of the type of NumericEquals: 'x'",
    ),
    "branches of no list": (one({"Type": "Parallel", "Branches": 5, **END}), "of type array"),
    "a configuration of no object": (
        one({"Type": "Map", "ItemProcessor": {"ProcessorConfig": 5, **steps("B", B=PASS)}, **END}),
        "Value is not of type object at /States/A/ItemProcessor/ProcessorConfig",
    ),
    "two waits": (one({**WAIT, "Seconds": 1, "SecondsPath": "$.s"}), "one of them: [Seconds, "),
    "a wait for no time": (one({**WAIT, "Timestamp": "2020-01-01T00:00:00"}), "not a time such as"),
    "no time": (one({**GET_JOB, "TimeoutSeconds": 0}), "Value is not an integer from 1"),
    "a late heartbeat": (
        one({**GET_JOB, "TimeoutSeconds": 5, "HeartbeatSeconds": 9}),
        "HeartbeatSeconds must be smaller",
    ),
    "a field of JSONata": (one({**PASS, "Output": 1}), "'Output' is not supported with JSONPath"),
    "a field of JSONPath": (jsonata(InputPath="$"), "'InputPath' is not supported with JSONata"),
    "bad JSONata": (jsonata(Output={"a": ["{% 1 + %}"]}), "is not valid"),
    "eval": (jsonata(Output="{% $eval('1') %}"), "The function $eval is not supported"),
    "a variable": (jsonata(Assign={"states": 1}), "The name of a variable is not allowed: states"),
    "a parameter": (
        one({**GET_JOB, "Parameters": {"JobName": "x", "JobNam": "x"}}),
        'The field "JobNam" is not supported by Step Functions; allowed: JobName '
        "at /States/A/Parameters/JobNam",
    ),
    "a parameter inside": (
        one(task("events:putEvents", Parameters={"Entries": [{"Sourc": "a"}]})),
        'The field "Sourc" is not supported',
    ),
    "no parameter": (
        one(task("sqs:sendMessage", Parameters={"QueueUrl": "q"})),
        'The field "MessageBody" is required but was missing',
    ),
    "an unknown call": (one(task("aws-sdk:s3:fooBar")), "the task A calls fooBar of s3; allowed:"),
    "a call in capitals": (one(task("aws-sdk:glue:GetJob")), "the task A calls GetJob of glue"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_aws_refuses_is_refused_with_its_place(name, capfd):
    definition, text = REFUSED[name]

    assert text in " ".join(faults(definition))
    assert capfd.readouterr() == ("", "")


def test_an_express_machine_has_no_task_that_waits():
    parameters = {"QueueUrl": "q", "MessageBody.$": "$$.Task.Token"}
    waits = one(task("sqs:sendMessage.waitForTaskToken", Parameters=parameters))

    assert faults(waits) == []
    assert "does not support '.waitForTaskToken'" in faults(waits, "EXPRESS")[0]


def test_a_refused_definition_changes_no_other_one():
    bad = jsonata(Output={"a": "x"}) | {"TimeoutSeconds": 0}
    worse = one({**PASS, "Parameters": {"a.$": "States.Foo(1)"}}, Comment="JSONata")
    good = [one({**PASS, "Parameters": {"a": index}}) for index in range(20)]

    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(faults, [bad, worse, *good, worse, bad]))

    assert [bool(result) for result in results] == [True, True, *[False] * 20, True, True]
