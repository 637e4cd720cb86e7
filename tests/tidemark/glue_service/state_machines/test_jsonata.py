"""JSONata as Step Functions evaluates it, and expressions that must not hold the port."""

from __future__ import annotations

import json
import time

import pytest

from tests.tidemark.glue_service.state_machines.conftest import END, PASS, steps
from tidemark.glue_service.state_machines.evaluations import EVALUATIONS, LIMIT_S

GIVEN = {"l": [1, 2, 3], "t": "ok 😀"}
CATASTROPHE = "{% $match('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!', /(a+)+b/) %}"
ENDLESS = "{% ($f := function($n) { 1 + $f($n + 1) }; $f(1)) %}"


def machine(**members):
    return {"QueryLanguage": "JSONata", **steps("A", A={**PASS, **members})}


def output(answer):
    return json.loads(answer["output"]) if "output" in answer else f"!{answer['error']}"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("{% $states.input.l[$ > 2] %}", 3),
        ("{% $states.input.l.($ * 2) %}", [2, 4, 6]),
        ("{% 'cost $5 $$ ' & $states.input.t %}", "cost $5 $$ ok 😀"),
        ("{% '😀' & 'x' %}", "😀x"),
        ("{% $hash('x', 'MD5') = $hash('x', 'MD5') and $length($uuid()) = 36 %}", True),
        ("{% $random() < 1 %}", True),
        ("{% $number('x') %}", "!States.QueryEvaluationError"),
        ("{% function($x) { $x } %}", "!States.QueryEvaluationError"),
        (ENDLESS, "!States.QueryEvaluationError"),
    ],
)
def test_an_expression_has_the_value_of_the_language(states, expression, expected):
    answer = states.run(f"m{abs(hash(expression))}", machine(Output=expression), GIVEN)

    assert output(answer) == expected


def test_an_expression_that_takes_too_long_fails_and_holds_nobody(states, monkeypatch):
    monkeypatch.setattr(EVALUATIONS, "limit_s", 1.0)
    execution = states.start(states.machine("late", machine(Output=CATASTROPHE)))
    states.client.list_state_machines()
    meanwhile = states.client.describe_execution(executionArn=execution)["status"]

    answer = states.ended(execution)

    assert meanwhile == "RUNNING"
    assert output(answer) == "!States.QueryEvaluationError"
    assert "more than 1 second" in answer["cause"]
    assert output(states.run("next", machine(Output="{% 1 + 1 %}"))) == 2


def test_a_stop_ends_an_expression_at_once(states):
    execution = states.start(states.machine("stopped", machine(Output=CATASTROPHE)))
    time.sleep(0.3)

    states.client.stop_execution(executionArn=execution)
    start = time.monotonic()
    after = output(states.run("after", machine(Output="{% 1 %}")))

    assert (after, states.ended(execution)["status"]) == (1, "ABORTED")
    assert time.monotonic() - start < LIMIT_S / 2


def test_a_condition_that_is_no_boolean_fails(states):
    choice = {"Type": "Choice", "Choices": [{"Condition": "{% 5 %}", "Next": "B"}], "Default": "B"}
    definition = {"QueryLanguage": "JSONata", **steps("A", A=choice, B=PASS)}

    assert output(states.run("condition", definition)) == "!States.QueryEvaluationError"


def test_an_error_in_an_output_is_caught(states):
    task = {
        "Type": "Task",
        "Resource": "arn:aws:states:::aws-sdk:glue:getJobs",
        "Arguments": {},
        "Output": "{% $number('x') %}",
        "Catch": [{"ErrorEquals": ["States.QueryEvaluationError"], "Next": "B"}],
        **END,
    }
    definition = {"QueryLanguage": "JSONata", **steps("A", A=task, B={**PASS, "Output": "caught"})}

    answer = states.run("caught", definition)

    assert output(answer) == "caught"
    assert states.types(answer["executionArn"]).count("EvaluationFailed") == 1


def test_arguments_without_a_value_fail_with_one_event(states):
    task = {"Type": "Task", "Resource": "arn:aws:states:::glue:startJobRun"}
    arguments = {"JobName": "{% $states.input.none %}"}
    definition = {
        "QueryLanguage": "JSONata",
        **steps("A", A={**task, "Arguments": arguments, **END}),
    }

    answer = states.run("nothing", definition)

    assert answer["error"] == "States.QueryEvaluationError"
    assert states.types(answer["executionArn"]) == [
        "ExecutionStarted",
        "TaskStateEntered",
        "EvaluationFailed",
        "ExecutionFailed",
    ]
