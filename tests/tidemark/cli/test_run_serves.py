"""The port that `tidemark run` serves while it works, and the one that it finds and uses."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from tests.fixtures.commands import WriteAssembly
from tests.tidemark.cli.processes import read_until, started
from tests.tidemark.cli.test_cli import assert_one_clear_line, tidemark
from tests.tidemark.glue_service.conftest import Port
from tests.waiting import BOUND_S, wait_until
from tidemark.glue_service.http.serving import serving
from tidemark.glue_service.served import find_port
from tidemark.local_state.home import Home

pytestmark = pytest.mark.stress  # starts many processes

WAITS = "import pathlib, time\nwhile not pathlib.Path({!r}).exists(): time.sleep(0.01)\n"
FAILS_ONCE = """
import pathlib
tried = pathlib.Path({!r})
if not tried.exists():
    tried.touch()
    raise ValueError("no rows yet")
"""
SHELL = {"Name": "pythonshell", "PythonVersion": "3.9"}


def shells(folder: Path, **workflow: object) -> Path:
    """Make the jobs of an assembly Python shell jobs, and give its workflow properties."""
    path = folder / "template.json"
    template = json.loads(path.read_text(encoding="utf-8"))
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::Glue::Job":
            resource["Properties"]["Command"].update(SHELL)
    template["Resources"]["Flow"]["Properties"].update(workflow)
    path.write_text(json.dumps(template), encoding="utf-8")
    return folder


PRODUCER = """
import boto3, sys
from awsglue.utils import getResolvedOptions
args = getResolvedOptions(sys.argv, ["WORKFLOW_NAME", "WORKFLOW_RUN_ID"])
run = {"Name": args["WORKFLOW_NAME"], "RunId": args["WORKFLOW_RUN_ID"]}
glue = boto3.client("glue")
day = glue.get_workflow_run_properties(**run)["RunProperties"]["day"]
boto3.client("s3").put_object(Bucket="landing", Key="a.txt", Body=day.encode())
glue.put_workflow_run_properties(**run, RunProperties={"path": "s3://landing/a.txt"})
print(boto3.client("logs").describe_log_groups()["logGroups"][0]["logGroupName"])
glue.start_job_run(JobName="beside")
"""
CONSUMER = """
import boto3, sys
from awsglue.utils import getResolvedOptions
args = getResolvedOptions(sys.argv, ["WORKFLOW_NAME", "WORKFLOW_RUN_ID"])
run = {"Name": args["WORKFLOW_NAME"], "RunId": args["WORKFLOW_RUN_ID"]}
print(boto3.client("glue").get_workflow_run_properties(**run)["RunProperties"]["path"])
"""


@pytest.mark.nightly
def test_boto3_in_scripts_reaches_glue_logs_and_s3_and_properties_pass_from_job_to_job(
    home: Path, write_assembly: WriteAssembly
) -> None:
    scripts = {"producer": PRODUCER, "consumer": CONSUMER, "beside": "print('ran')"}
    app = shells(
        write_assembly(scripts, {"consumer": ["producer"], "beside": ["consumer"]}),
        DefaultRunProperties={"day": "2026-01-01"},
    )

    result = tidemark("run", "--app", str(app), "--only", "producer")

    assert result.exit_code == 0, result.output
    assert "beside  SUCCEEDED" in result.output  # started by producer, and waited for
    result = tidemark("run", "--app", str(app), "--from", "producer")
    assert result.exit_code == 0, result.output
    assert tidemark("logs", "producer", "--output").stdout == "/aws-glue/jobs/error\n"
    assert tidemark("logs", "consumer", "--output").stdout == "s3://landing/a.txt\n"
    assert (home / "lake" / "landing" / "a.txt").read_text() == "2026-01-01"


@pytest.mark.nightly
def test_a_run_that_goes_on_is_asked_and_stopped_from_elsewhere(
    home: Path, write_assembly: WriteAssembly, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    app = shells(write_assembly({"one": WAITS.format(str(gate)), "two": ""}, {"two": ["one"]}))
    with started("run", "--app", str(app)) as run:
        read_until(run, b"one  started")

        states = [it["state"] for it in json.loads(tidemark("runs", "--format", "json").stdout)]
        second = tidemark("run", "--app", str(app))
        stopped = tidemark("stop")
        said, _ = run.communicate(timeout=BOUND_S)

    assert states == ["RUNNING"]
    assert_one_clear_line(second, 2, f"process {run.pid} is using")
    assert "is being stopped" in stopped.stdout
    assert run.returncode == 1
    assert b"one  STOPPED" in said
    assert b"two was not started" in said


def test_a_killed_run_leaves_nothing_running_and_is_not_continued(
    home: Path, write_assembly: WriteAssembly, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    app = shells(write_assembly({"one": WAITS.format(str(gate)), "two": ""}, {"two": ["one"]}))
    with started("run", "--app", str(app)) as run:
        read_until(run, b"one  started")
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
    wait_until(lambda: not Home.open(home).is_held())

    (left,) = json.loads(tidemark("runs", "--format", "json").stdout)
    with serving(Home.open(home)) as (url, engine):
        port = Port(Home.open(home), url, engine)
        (flow,) = port.glue.get_workflow_runs(Name="flow")["Runs"]
        states = (port.states("one"), port.states("two"))

    assert (left["job"], left["state"]) == ("one", "FAILED")
    assert (flow["Status"], states) == ("STOPPED", (["FAILED"], []))


@pytest.mark.nightly
def test_a_run_and_its_resumption_are_the_same_json(
    home: Path, write_assembly: WriteAssembly
) -> None:
    app = shells(write_assembly({"one": "", "two": "raise SystemExit(3)"}, {"two": ["one"]}))

    run = tidemark("run", "--app", str(app), "--format", "json")
    resumed = tidemark("resume", "--as-deployed", "--format", "json")
    alone = tidemark("run", "--app", str(app), "--only", "one", "--format", "json")
    nothing = tidemark("resume", "--as-deployed")

    assert_one_clear_line(nothing, 2, "resumes the earlier run that has two FAILED")
    assert (run.exit_code, resumed.exit_code, alone.exit_code) == (1, 1, 0)
    first, second = json.loads(run.stdout), json.loads(resumed.stdout)
    assert [(one["job"], one["state"]) for one in first["runs"]] == [
        ("one", "SUCCEEDED"),
        ("two", "FAILED"),
    ]
    assert first["is_success"] is False
    assert first.keys() == second.keys()
    assert first["runs"][1].keys() == second["runs"][-1].keys() == json.loads(alone.stdout).keys()
    assert "two FAILED" in run.stderr

    (home / "lake" / "assets" / "two.py").write_text("", encoding="utf-8")
    assert tidemark("resume", "--as-deployed", "--run", second["run_id"]).exit_code == 0
    superseded = tidemark("resume", "--as-deployed")  # by a run of the whole
    assert_one_clear_line(superseded, 2, "there is nothing to resume")
    assert "earlier run" not in superseded.stderr


def test_a_failed_run_is_resumed(home: Path, write_assembly: WriteAssembly) -> None:
    app = shells(write_assembly({"one": "", "two": "raise SystemExit(3)"}, {"two": ["one"]}))
    failed = tidemark("run", "--app", str(app))
    (home / "lake" / "assets" / "two.py").write_text("", encoding="utf-8")

    resumed = tidemark("resume")

    assert (failed.exit_code, resumed.exit_code) == (1, 0), resumed.output
    assert "✓ two  SUCCEEDED" in resumed.stdout
    assert "one" not in resumed.stdout


def test_a_served_home_is_deployed_to_and_runs_there(
    home: Path, write_assembly: WriteAssembly
) -> None:
    app = shells(write_assembly({"one": "print('ran')", "two": ""}, {"two": ["one"]}))
    with serving(Home.open(home)) as (url, engine):
        port = Port(Home.open(home), url, engine)

        whole = tidemark("run", "--app", str(app))
        part = tidemark("run", "--app", str(app), "--only", "one")
        behind = tidemark("run", "--app", str(app), "--from", "one")
        isolated = tidemark("run", "--app", str(app), "--isolated")

        assert port.states("one") == ["SUCCEEDED", "SUCCEEDED"]
        assert port.states("two") == ["SUCCEEDED"]
    assert whole.exit_code == part.exit_code == 0, whole.output
    assert f"process {os.getpid()} serves {home}, and runs this" in whole.output
    assert "✓ two  SUCCEEDED" in whole.output
    assert_one_clear_line(behind, 2, "tidemark resume --from one")
    assert_one_clear_line(isolated, 2, "--isolated")
    assert find_port(Home.open(home)) is None


def test_a_trigger_that_is_fired_in_a_home_that_no_one_serves_is_waited_for(
    home: Path, write_assembly: WriteAssembly
) -> None:
    app = shells(write_assembly({"one": "", "two": ""}, {"two": ["one"]}))
    tidemark("run", "--app", str(app), "--only", "one")
    triggers = json.loads(tidemark("trigger", "--format", "json").stdout)
    (start,) = [it["name"] for it in triggers if it["type"] == "ON_DEMAND"]

    fired = tidemark("trigger", start)
    runs = json.loads(tidemark("runs", "--format", "json").stdout)

    first, *lines = fired.stdout.splitlines()
    assert (fired.exit_code, first) == (0, f"trigger {start} has fired: one"), fired.output
    assert [line.partition(" in ")[0] for line in lines] == [
        "  one  started",
        "✓ one  SUCCEEDED",
        "  two  started",
        "✓ two  SUCCEEDED",
    ]
    assert [(it["job"], it["state"]) for it in runs] == [
        ("two", "SUCCEEDED"),
        ("one", "SUCCEEDED"),
        ("one", "SUCCEEDED"),
    ]


def test_a_fired_job_that_fails_is_shown_with_its_cause_and_ends_with_one(home: Path) -> None:
    with serving(Home.open(home)) as (url, engine):
        port = Port(Home.open(home), url, engine)
        port.job("load", "raise ValueError('no rows')")
        port.glue.create_trigger(Name="start", Type="ON_DEMAND", Actions=[{"JobName": "load"}])

    fired = tidemark("trigger", "start")

    assert fired.exit_code == 1, fired.output
    assert "✗ load FAILED: ValueError: no rows" in fired.stdout


def test_a_trigger_that_does_not_exist_is_refused_before_a_jvm_starts(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(Home.open(home)) as (url, engine):
        port = Port(Home.open(home), url, engine)
        port.job("load", "")
        port.glue.create_trigger(Name="start", Type="ON_DEMAND", Actions=[{"JobName": "load"}])
    monkeypatch.setattr("tidemark.cli.here.jvms_of", None)

    refused = tidemark("trigger", "strat")

    assert_one_clear_line(refused, 2, "there is no trigger 'strat'; did you mean start?")


@pytest.mark.nightly
def test_a_fired_job_whose_retry_succeeds_ends_with_zero(home: Path, tmp_path: Path) -> None:
    with serving(Home.open(home)) as (url, engine):
        port = Port(Home.open(home), url, engine)
        port.job("load", FAILS_ONCE.format(str(tmp_path / "tried")), MaxRetries=1)
        port.glue.create_trigger(Name="start", Type="ON_DEMAND", Actions=[{"JobName": "load"}])

    fired = tidemark("trigger", "start")

    assert fired.exit_code == 0, fired.output
    assert "✗ load FAILED" in fired.stdout
    assert "✓ load  SUCCEEDED" in fired.stdout


@pytest.mark.nightly
def test_a_resuming_command_that_is_killed_leaves_nothing_open(
    home: Path, write_assembly: WriteAssembly, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    app = shells(write_assembly({"one": "raise SystemExit(3)"}))
    tidemark("run", "--app", str(app))
    (home / "lake" / "assets" / "one.py").write_text(WAITS.format(str(gate)), encoding="utf-8")
    with started("resume") as resumed:
        read_until(resumed, b"one  started")
        os.kill(resumed.pid, signal.SIGKILL)
        resumed.wait()
    wait_until(lambda: not Home.open(home).is_held())
    gate.touch()

    again = tidemark("resume")
    whole = tidemark("run", "--app", str(app))

    assert_one_clear_line(again, 2, "is STOPPED; only a COMPLETED run can be resumed")
    assert whole.exit_code == 0, whole.output


@pytest.mark.nightly
def test_a_job_of_a_run_reads_a_secret_that_was_put_before(
    home: Path, write_assembly: WriteAssembly, tmp_path: Path
) -> None:
    (tmp_path / "password.txt").write_text("open sesame", encoding="utf-8")
    script = (
        'import boto3\nprint(boto3.client("secretsmanager")'
        '.get_secret_value(SecretId="orders/reader")["SecretString"])\n'
    )
    app = shells(write_assembly({"reader": script}))

    put = tidemark("secret", "put", "orders/reader", "--file", f"{tmp_path}/password.txt")
    result = tidemark("run", "--app", str(app))

    assert put.exit_code == 0, put.output
    assert result.exit_code == 0, result.output
    assert tidemark("logs", "reader", "--output").stdout == "open sesame\n"
