"""The commands about runs on this machine: of a port that serves the home, and without one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.tidemark.cli.test_cli import assert_one_clear_line, tidemark
from tests.tidemark.glue_service.conftest import Port
from tests.waiting import wait_until
from tidemark.glue_service.http.serving import serving
from tidemark.local_state.bookmarks.versions import commit_bookmark
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import JobRun, Store

pytestmark = pytest.mark.stress  # starts many processes


def define(port: Port) -> None:
    """Define a workflow of two jobs, of which the first fails until a file is there."""
    mark = port.home.root.parent / "mended"
    port.job(
        "load", f"import pathlib\nprint('loading')\nassert pathlib.Path({str(mark)!r}).exists()"
    )
    port.job("report")
    port.glue.create_workflow(Name="flow")
    port.glue.create_trigger(
        Name="start", Type="ON_DEMAND", WorkflowName="flow", Actions=[{"JobName": "load"}]
    )
    condition = {"LogicalOperator": "EQUALS", "JobName": "load", "State": "SUCCEEDED"}
    port.glue.create_trigger(
        Name="then",
        Type="CONDITIONAL",
        WorkflowName="flow",
        StartOnCreation=True,
        Predicate={"Conditions": [condition]},
        Actions=[{"JobName": "report"}],
    )


def test_a_served_home_is_asked_through_its_port_whatever_the_environment_says_of_aws(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(Home.open(home)) as (url, engine):
        port = Port(Home.open(home), url, engine)
        define(port)
        monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
        monkeypatch.setenv("AWS_PROFILE", "none-of-this-name")

        fired = tidemark("trigger", "start")
        wait_until(lambda: port.states("load") == ["FAILED"])
        logs = tidemark("logs", "load", "--follow", "--stdout")

    assert fired.output == "trigger start has fired: load\n"
    assert (logs.exit_code, logs.stdout) == (1, "loading\n")


def test_a_home_that_no_one_serves_is_looked_at_and_resumed(home: Path) -> None:
    with serving(Home.open(home)) as (url, engine):
        port = Port(Home.open(home), url, engine)
        define(port)
        port.glue.start_workflow_run(Name="flow")
        wait_until(lambda: port.states("load") == ["FAILED"])

    (run,) = json.loads(tidemark("runs", "load", "--format", "json").stdout)
    none = tidemark("runs", "load", "--since", "2200-01-01").stdout
    logs = tidemark("logs", "load", "--stderr")
    stopped = tidemark("stop", "load")
    (home.parent / "mended").touch()
    resumed = tidemark("resume")

    assert (run["state"], run["rows_read"]) == ("FAILED", None)
    assert none == f"load has no run in {home} that started since 2200-01-01 00:00Z\n"
    assert "AssertionError" in logs.stderr
    assert stopped.output == f"load has no run in progress in {home}: nothing to stop\n"
    assert resumed.exit_code == 0, resumed.output
    assert "✓ report  SUCCEEDED" in resumed.stdout


def test_a_run_whose_engine_is_gone_is_not_running(home: Path) -> None:
    with serving(Home.open(home)) as (url, engine):
        port = Port(Home.open(home), url, engine)
        port.job("load")
        port.ended("load", port.start("load"))
    with Store(home / "glue.sqlite") as store:
        left = replace(store.latest_job_run("load"), state="RUNNING", completed_at_ms=None)
        store.put_job_run(left)

    (run,) = json.loads(tidemark("runs", "--format", "json").stdout)

    assert (run["state"], "was killed" in run["message"]) == ("FAILED", True)
    with Store(home / "glue.sqlite") as store:
        assert store.latest_job_run("load") == left


def test_stages_are_asked_with_deployed_only(home: Path) -> None:
    assert_one_clear_line(tidemark("runs", "--app", "cdk.out"), 2, "--deployed STAGE")


def test_a_reset_under_a_run_says_what_becomes_of_the_run(home: Path) -> None:
    opened = Home.open(home)
    run = JobRun("jr_1", "load", None, None, 0, "RUNNING", 7, "log", "job-bookmark-enable")
    with Store(opened.database) as store:
        store.put_job_run(run)
        commit_bookmark(store, "load", "jr_0", {}, 0, 1)

    with opened.exclusive():
        during = tidemark("bookmark", "reset", "load", "--yes")
    after = tidemark("bookmark", "reset", "load", "--yes")

    assert (during.exit_code, after.exit_code) == (0, 0), during.output + after.output
    assert "jr_1 of load has not ended" in during.stderr
    assert "has not ended" not in after.stderr
