"""What is read from a workflow run with its graph."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tidemark.operate.workflow_runs import workflow_run_of

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


def job(name, *states):
    runs = [
        {
            "Id": f"jr_{name}_{number}",
            "JobName": name,
            "JobRunState": state,
            "StartedOn": NOW + timedelta(minutes=number),
        }
        for number, state in enumerate(states)
    ]
    details = {"JobDetails": {"JobRuns": runs}} if runs else {}
    return {"Type": "JOB", "Name": name, "UniqueId": f"wnode_{name}", **details}


def trigger(started, **conditions):
    watched = [{"JobName": name, "State": state} for name, state in conditions.items()]
    definition = {"Actions": [{"JobName": started}], "Predicate": {"Conditions": watched}}
    return {"Type": "TRIGGER", "Name": f"t-{started}", "TriggerDetails": {"Trigger": definition}}


def run(*nodes, status="COMPLETED"):
    graph = {"Nodes": list(nodes)}
    return workflow_run_of(
        {"Name": "flow", "WorkflowRunId": "wr_1", "Status": status, "Graph": graph}
    )


def test_the_last_attempt_of_a_job_counts():
    found = run(job("a", "FAILED", "SUCCEEDED"))

    assert [one.state for one in found.runs] == ["SUCCEEDED"]
    assert found.is_success


def test_a_job_that_was_not_started_is_named_with_what_it_waits_for():
    found = run(job("a", "FAILED"), job("b"), trigger("b", a="SUCCEEDED"), job("c"))

    assert found.waiting == {"b": ("a SUCCEEDED (is FAILED)",), "c": ()}
    assert not found.is_success
    assert found.nodes == {"a": "wnode_a", "b": "wnode_b", "c": "wnode_c"}


def test_a_run_that_was_stopped_is_no_success():
    assert not run(job("a", "SUCCEEDED"), status="STOPPED").is_success
    assert run(job("a", "RUNNING"), status="STOPPING").is_open
