"""Workflows and their runs, by boto3."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from tests.tidemark.glue_service.conftest import Port
from tests.tidemark.glue_service.test_restart import PIDS, SERVE
from tests.tidemark.glue_service.workflows.test_triggers import FAIL, watch
from tests.waiting import wait_until
from tidemark.glue_service.commands import open_machine
from tidemark.glue_service.http.serving import serving
from tidemark.local_state.home import Home

pytestmark = pytest.mark.stress  # starts many processes

SLEEP = "import time; time.sleep(60)"
PROPERTIES = """
import boto3, sys
from awsglue.utils import getResolvedOptions
args = getResolvedOptions(sys.argv, ["WORKFLOW_NAME", "WORKFLOW_RUN_ID"])
run = {"Name": args["WORKFLOW_NAME"], "RunId": args["WORKFLOW_RUN_ID"]}
glue = boto3.client("glue")
before = glue.get_workflow_run_properties(**run)["RunProperties"]
print(sorted(before.items()))
glue.put_workflow_run_properties(**run, RunProperties={"rows": str(len(before) + 40)})
"""


def flow(port, name, *first, then=(), **members):
    """Define a workflow: its first jobs, then (job, watched job, state) each."""
    port.glue.create_workflow(Name=name, **members)
    actions = [{"JobName": job} for job in first]
    port.glue.create_trigger(
        Name=f"{name}-start", Type="ON_DEMAND", WorkflowName=name, Actions=actions
    )
    for job, watched, state in then:
        port.glue.create_trigger(
            Name=f"{name}-{watched}-{job}",
            Type="CONDITIONAL",
            StartOnCreation=True,
            WorkflowName=name,
            Predicate={"Conditions": [watch(watched, state)]},
            Actions=[{"JobName": job}],
        )


def start(port, name, **members):
    return port.glue.start_workflow_run(Name=name, **members)["RunId"]


def found(port, name, run_id, **members):
    return port.glue.get_workflow_run(Name=name, RunId=run_id, **members)["Run"]


def finished(port, name, run_id):
    wait_until(lambda: found(port, name, run_id)["Status"] not in ("RUNNING", "STOPPING"))
    return found(port, name, run_id, IncludeGraph=True)


def node(run, name):
    (one,) = [n for n in run["Graph"]["Nodes"] if (n["Type"], n["Name"]) == ("JOB", name)]
    return one


def states_of(run, name):
    return [r["JobRunState"] for r in node(run, name)["JobDetails"]["JobRuns"]]


@pytest.mark.on_aws
@pytest.mark.rule("Triggers and workflows", source="WFA, WFR")
def test_a_run_is_completed_even_if_jobs_failed_and_counts_them(port):
    port.job("count-1")
    port.job("count-2", FAIL)
    port.job("count-3")
    then = [("count-2", "count-1", "SUCCEEDED"), ("count-3", "count-2", "SUCCEEDED")]
    flow(port, "count", "count-1", then=then)

    run_id = start(port, "count")
    run = finished(port, "count", run_id)

    assert run_id.startswith("wr_")
    assert run["Status"] == "COMPLETED"
    counts = {name: count for name, count in run["Statistics"].items() if count}
    assert counts == {"TotalActions": 3, "SucceededActions": 1, "FailedActions": 1}
    assert [states_of(run, f"count-{n}") for n in (1, 2, 3)] == [["SUCCEEDED"], ["FAILED"], []]
    assert run["CompletedOn"] >= run["StartedOn"]
    workflow = port.glue.get_workflow(Name="count", IncludeGraph=True)["Workflow"]
    assert workflow["LastRun"]["WorkflowRunId"] == run_id
    names = {n["UniqueId"]: n["Name"] for n in workflow["Graph"]["Nodes"]}
    edges = [(names[e["SourceId"]], names[e["DestinationId"]]) for e in workflow["Graph"]["Edges"]]
    assert sorted(edges) == [
        ("count-1", "count-count-1-count-2"),
        ("count-2", "count-count-2-count-3"),
        ("count-count-1-count-2", "count-2"),
        ("count-count-2-count-3", "count-3"),
        ("count-start", "count-1"),
    ]


@pytest.mark.on_aws
@pytest.mark.rule("Triggers and workflows", source="WFP, WFA")
def test_run_properties_pass_from_job_to_job_and_stay_in_their_run(port):
    port.job("props-1", PROPERTIES)
    port.job("props-2", PROPERTIES)
    flow(
        port,
        "props",
        "props-1",
        then=[("props-2", "props-1", "SUCCEEDED")],
        DefaultRunProperties={"day": "1", "kind": "full"},
    )

    run_id = start(port, "props", RunProperties={"day": "2"})
    run = finished(port, "props", run_id)
    again = found(port, "props", start(port, "props"))
    port.glue.stop_workflow_run(Name="props", RunId=again["WorkflowRunId"])

    (second,) = port.glue.get_job_runs(JobName="props-2")["JobRuns"]
    printed = port.printed(second["Id"])
    assert printed == "[('day', '2'), ('kind', 'full'), ('rows', '42')]\n"
    expected = {"day": "2", "kind": "full", "rows": "43"}
    assert run["WorkflowRunProperties"] == expected
    assert again["WorkflowRunProperties"] == {"day": "1", "kind": "full"}
    runs = port.glue.get_workflow_runs(Name="props")["Runs"]
    assert [r["WorkflowRunId"] for r in runs] == [again["WorkflowRunId"], run_id]


def test_a_stopped_run_stops_its_jobs_and_starts_none(port):
    port.job("stop-1", SLEEP)
    port.job("stop-2")
    flow(port, "stop", "stop-1", then=[("stop-2", "stop-1", "STOPPED")])
    run_id = start(port, "stop")
    wait_until(lambda: port.states("stop-1") == ["RUNNING"])

    port.glue.stop_workflow_run(Name="stop", RunId=run_id)
    run = finished(port, "stop", run_id)

    assert run["Status"] == "STOPPED"
    assert (port.states("stop-1"), port.states("stop-2")) == (["STOPPED"], [])
    for call in (port.glue.stop_workflow_run, port.glue.resume_workflow_run):
        more = {"NodeIds": [node(run, "stop-1")["UniqueId"]]} if "resume" in call.__name__ else {}
        with pytest.raises(port.glue.exceptions.ClientError, match="IllegalWorkflowState"):
            call(Name="stop", RunId=run_id, **more)


@pytest.mark.nightly
@pytest.mark.on_aws
@pytest.mark.rule("Triggers and workflows", source="WFR")
def test_a_resumed_run_repeats_the_chosen_and_downstream_jobs(port):
    port.job("resume-1")
    port.job("resume-2", FAIL)
    port.job("resume-3")
    then = [("resume-2", "resume-1", "SUCCEEDED"), ("resume-3", "resume-2", "SUCCEEDED")]
    flow(port, "resume", "resume-1", then=then, DefaultRunProperties={"a": "1"})
    first = finished(port, "resume", start(port, "resume"))
    port.script("resume-2", "import time; time.sleep(0.5)")
    chosen = [node(first, "resume-2")["UniqueId"]]
    port.glue.update_workflow(Name="resume", MaxConcurrentRuns=1)

    answer = port.glue.resume_workflow_run(
        Name="resume", RunId=first["WorkflowRunId"], NodeIds=chosen
    )
    with pytest.raises(port.glue.exceptions.ConcurrentRunsExceededException):
        port.glue.resume_workflow_run(Name="resume", RunId=first["WorkflowRunId"], NodeIds=chosen)
    run = finished(port, "resume", answer["RunId"])

    assert answer["NodeIds"] == chosen
    assert run["PreviousRunId"] == first["WorkflowRunId"]
    assert run["WorkflowRunProperties"] == {"a": "1"}
    assert [states_of(run, f"resume-{n}") for n in (1, 2, 3)] == [["SUCCEEDED"]] * 3
    assert len(port.states("resume-1")) == 1
    kept = node(run, "resume-1")["JobDetails"]["JobRuns"][0]["Id"]
    assert kept == node(first, "resume-1")["JobDetails"]["JobRuns"][0]["Id"]
    both = [node(run, f"resume-{n}")["UniqueId"] for n in (2, 3)]
    again = port.glue.resume_workflow_run(Name="resume", RunId=answer["RunId"], NodeIds=both)
    assert again["NodeIds"] == both[:1]  # the other one is behind it
    finished(port, "resume", again["RunId"])
    with pytest.raises(port.glue.exceptions.ClientError, match="IllegalWorkflowState"):
        port.glue.resume_workflow_run(Name="resume", RunId=answer["RunId"], NodeIds=both)
    with pytest.raises(port.glue.exceptions.InvalidInputException, match="NodeIds"):
        port.glue.resume_workflow_run(
            Name="resume", RunId=again["RunId"], NodeIds=[node(first, "resume-1")["UniqueId"] + "x"]
        )


@pytest.mark.on_aws
@pytest.mark.rule("Triggers and workflows", source="WFA, WFR")
def test_runs_beyond_the_maximum_of_a_workflow_are_refused(port):
    port.job("limit-1", SLEEP)
    flow(port, "limit", "limit-1", MaxConcurrentRuns=1)
    run_id = start(port, "limit")

    with pytest.raises(port.glue.exceptions.ConcurrentRunsExceededException, match="limit"):
        start(port, "limit")

    port.glue.stop_workflow_run(Name="limit", RunId=run_id)
    finished(port, "limit", run_id)


@pytest.mark.on_aws
@pytest.mark.rule("Triggers and workflows", source="WFR")
def test_a_run_uses_the_triggers_at_its_start(port):
    port.job("snapshot-1", "import time; time.sleep(0.5)")
    port.job("snapshot-2")
    flow(port, "snapshot", "snapshot-1", then=[("snapshot-2", "snapshot-1", "SUCCEEDED")])

    run_id = start(port, "snapshot")
    port.glue.delete_trigger(Name="snapshot-snapshot-1-snapshot-2")
    run = finished(port, "snapshot", run_id)

    assert states_of(run, "snapshot-2") == ["SUCCEEDED"]


@pytest.mark.on_aws
@pytest.mark.rule("Triggers and workflows", source="BWR, WF")
def test_a_job_watched_inside_and_outside_fires_only_the_triggers_of_its_workflow(port):
    for name in ("inside-1", "inside-2", "outside-2"):
        port.job(name)
    flow(port, "inside", "inside-1", then=[("inside-2", "inside-1", "SUCCEEDED")])
    port.glue.create_trigger(
        Name="outside",
        Type="CONDITIONAL",
        StartOnCreation=True,
        Predicate={"Conditions": [watch("inside-1")]},
        Actions=[{"JobName": "outside-2"}],
    )

    port.glue.start_trigger(Name="inside-start")  # which starts the workflow
    (run,) = port.glue.get_workflow_runs(Name="inside")["Runs"]
    finished(port, "inside", run["WorkflowRunId"])

    assert (port.states("inside-2"), port.states("outside-2")) == (["SUCCEEDED"], [])


def test_workflows_are_listed_changed_and_deleted(port):
    glue = port.glue
    for name in ("list-b", "list-a"):
        glue.create_workflow(Name=name, Description="old", Tags={"k": "v"})
    glue.update_workflow(Name="list-a", Description="new", MaxConcurrentRuns=3)

    workflow = glue.get_workflow(Name="list-a")["Workflow"]
    several = glue.batch_get_workflows(Names=["list-b", "nobody"])
    names = [
        n for page in glue.get_paginator("list_workflows").paginate() for n in page["Workflows"]
    ]

    assert (workflow["Description"], workflow["MaxConcurrentRuns"]) == ("new", 3)
    assert "LastRun" not in workflow
    assert [w["Name"] for w in several["Workflows"]] == ["list-b"]
    assert several["MissingWorkflows"] == ["nobody"]
    assert [name for name in names if name.startswith("list")] == ["list-a", "list-b"]
    with pytest.raises(glue.exceptions.InvalidInputException, match="no start trigger"):
        start(port, "list-a")
    arn = "arn:aws:glue:us-east-1:000000000000:workflow/list-a"
    assert glue.get_tags(ResourceArn=arn)["Tags"] == {"k": "v"}
    glue.delete_workflow(Name="list-a")
    with pytest.raises(glue.exceptions.EntityNotFoundException):
        start(port, "list-a")


@pytest.mark.on_aws
@pytest.mark.rule("Triggers and workflows", source="BWR, WF")
def test_a_workflow_has_one_start_trigger(port):
    port.job("one-start")
    flow(port, "one-start", "one-start")

    with pytest.raises(
        port.glue.exceptions.InvalidInputException, match=port.says("one-start-start")
    ):
        port.glue.create_trigger(
            Name="second",
            Type="ON_DEMAND",
            WorkflowName="one-start",
            Actions=[{"JobName": "one-start"}],
        )


def killed_in_a_workflow(tmp_path, retries):
    """Kill a server while the first job of a workflow runs; return the home and the run."""
    home = Home.open(tmp_path / "home")
    server = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(home.root)], stdout=subprocess.PIPE, text=True
    )
    port = Port(home, server.stdout.readline().strip(), None)
    port.job("first", PIDS, MaxRetries=retries)
    port.job("good", "")
    port.job("bad", "")
    flow(port, "f", "first", then=[("good", "first", "SUCCEEDED"), ("bad", "first", "FAILED")])
    run_id = start(port, "f")
    wait_until(lambda: list(home.runs.glob("*/pid")))
    server.send_signal(signal.SIGKILL)
    server.communicate()
    port.script("first", "")
    return home, run_id


@pytest.mark.parametrize(("retries", "runs"), [(0, ["bad"]), (1, ["good"])])
def test_after_a_kill_a_workflow_run_goes_on_from_where_it_stood(tmp_path, retries, runs):
    home, run_id = killed_in_a_workflow(tmp_path, retries)

    with serving(home) as (url, engine):
        port = Port(home, url, engine)
        run = finished(port, "f", run_id)

    assert run["Status"] == "COMPLETED"
    assert [name for name in ("good", "bad") if states_of(run, name)] == runs
    assert states_of(run, "first") == ["FAILED", "SUCCEEDED"][: retries + 1]


def test_a_command_in_between_records_the_killed_run_and_the_workflow_still_goes_on(tmp_path):
    home, run_id = killed_in_a_workflow(tmp_path, 0)
    with open_machine(home):
        pass

    with serving(home) as (url, engine):
        port = Port(home, url, engine)
        run = finished(port, "f", run_id)

    assert [states_of(run, name) for name in ("first", "good", "bad")] == [
        ["FAILED"],
        [],
        ["SUCCEEDED"],
    ]
