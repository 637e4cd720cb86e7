"""State machines on the command line: run, shown with their steps, stopped."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner

from tidemark.cli.main import main
from tidemark.glue_service.http.serving import serving
from tidemark.local_state.home import Home
from tidemark.operate.executions import Step, steps_of

BEGAN = datetime(2026, 3, 1, tzinfo=UTC)
CHECK = {
    "Type": "Choice",
    "Choices": [{"Variable": "$.ok", "BooleanEquals": True, "Next": "Good"}],
    "Default": "Bad",
}
STATES = {
    "Check": CHECK,
    "Good": {"Type": "Pass", "Result": {"n": 1}, "End": True},
    "Bad": {"Type": "Fail", "Error": "NotOk", "Cause": "it is not"},
}
MACHINE = {
    "Type": "AWS::StepFunctions::StateMachine",
    "Properties": {
        "StateMachineName": "nightly",
        "Definition": {"StartAt": "Check", "States": STATES},
    },
}


def told(*events):
    """Return a history: each event with its state, or with its error, a second after another."""
    history = []
    for number, (kind, text) in enumerate(events):
        details = {}
        if kind.endswith("StateEntered"):
            details = {"stateEnteredEventDetails": {"name": text}}
        elif kind.endswith("StateExited"):
            details = {"stateExitedEventDetails": {"name": text}}
        elif text:
            details = {"taskFailedEventDetails": {"error": text}}
        history.append({"type": kind, "timestamp": BEGAN + timedelta(seconds=number), **details})
    return history


def at(seconds):
    return BEGAN + timedelta(seconds=seconds)


def test_steps_are_read_from_a_history():
    history = told(
        ("ExecutionStarted", ""),
        ("TaskStateEntered", "A"),
        ("TaskFailed", "Glue.X"),
        ("TaskScheduled", ""),
        ("TaskSucceeded", ""),
        ("TaskStateExited", "A"),
        ("TaskStateEntered", "B"),
        ("TaskFailed", "Glue.Y"),
        ("TaskStateExited", "B"),
        ("TaskStateEntered", "C"),
    )

    assert steps_of(history, "RUNNING") == [
        Step("A", "SUCCEEDED", at(1), at(5)),
        Step("B", "CAUGHT", at(6), at(8), "Glue.Y"),
        Step("C", "RUNNING", at(9)),
    ]


def test_a_step_without_an_end_has_the_state_of_its_execution():
    history = told(("TaskStateEntered", "A"), ("TaskFailed", "E"), ("ExecutionFailed", "E"))

    assert steps_of(history, "FAILED") == [Step("A", "FAILED", at(0), at(2), "E")]


@pytest.mark.stress
def test_a_machine_runs_and_its_executions_are_shown(home, write_assembly):
    folder = write_assembly({"one": ""}, others={"M": MACHINE})
    runner = CliRunner()

    def call(*words):
        return runner.invoke(main, list(map(str, words)))

    run = ("run", "--app", folder, "--machine", "nightly", "--input")
    good, bad = call(*run, '{"ok": true}'), call(*run, '{"ok": false}', "--format", "json")
    shown = json.loads(call("runs", "--machine", "nightly", "--format", "json").output)

    assert good.exit_code == 0, good.output
    assert "Check SUCCEEDED" in good.output
    assert bad.exit_code == 1
    assert [execution["status"] for execution in shown] == ["FAILED", "SUCCEEDED"]
    assert [step["name"] for step in shown[0]["steps"]] == ["Check", "Bad"]
    assert (shown[0]["error"], shown[1]["output"]) == ("NotOk", {"n": 1})
    assert "State machine nightly" in call("status", "--app", folder).output
    with serving(Home.open(home)):
        assert "nothing to stop" in call("stop", "--machine", "nightly").output


def test_a_step_that_is_started_again_has_the_state_of_its_execution():
    history = told(
        ("TaskStateEntered", "A"),
        ("TaskFailed", "E"),
        ("ExecutionFailed", "E"),
        ("ExecutionRedriven", ""),
    )

    assert steps_of(history, "RUNNING") == [Step("A", "RUNNING", at(0))]


@pytest.mark.stress
def test_an_execution_that_failed_is_resumed_at_the_step_that_failed(home, write_assembly):
    get = {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getJob", "End": True}
    states = {
        "Begin": {"Type": "Pass", "Next": "Get"},
        "Get": {**get, "Parameters": {"JobName": "later"}, "OutputPath": "$.Job.Name"},
    }
    properties = {**MACHINE["Properties"], "Definition": {"StartAt": "Begin", "States": states}}
    others = {"M": {**MACHINE, "Properties": properties}}
    runner = CliRunner()

    def call(verb, **scripts):
        folder = write_assembly({"one": "", **scripts}, others=others)
        return runner.invoke(main, [verb, "--app", str(folder), "--machine", "nightly"])

    failed, still = call("run"), call("resume")
    resumed = call("resume", later="")
    over = call("resume", later="")

    assert (failed.exit_code, still.exit_code, over.exit_code) == (1, 1, 2)
    assert "Begin SUCCEEDED" in failed.output
    assert "Get FAILED" in still.output
    assert resumed.exit_code == 0, resumed.output
    assert "Get SUCCEEDED" in resumed.output
    assert "Begin" not in resumed.output  # it is not repeated
    assert "is SUCCEEDED: nothing to resume; tidemark run --machine nightly starts" in over.output


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["resume", "--machine", "m", "--workflow", "w"], "leave out --workflow and --from"),
        (["run", "--input", "{}"], "give --machine NAME too"),
        (["run", "--machine", "m", "--workflow", "w"], "leave out --from, --isolated"),
        (["run", "--machine", "m", "--input", "{"], "--input is not JSON"),
        (["run", "--machine", "m", "--task", "A"], "allowed: STATE=python:MODULE.FUNCTION"),
        (["run", "--machine", "m", "--task", "A=python:none.f"], "cannot be imported"),
        (["runs", "one", "--machine", "m"], "leave out JOB and --since"),
        (["stop", "one", "--machine", "m"], "leave out JOB and --workflow"),
    ],
)
def test_options_that_do_not_go_together_are_refused(home, words, text):
    result = CliRunner().invoke(main, words)

    assert result.exit_code == 2
    assert text in " ".join(result.output.split())
