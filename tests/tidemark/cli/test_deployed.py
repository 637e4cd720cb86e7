"""Commands with --deployed, on a port of another home in the place of AWS: the same requests."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import boto3
import pytest
from click.testing import Result

from tests.fixtures.commands import WriteAssembly
from tests.signing import variables_of
from tests.tidemark.cli.processes import read_until, started
from tests.tidemark.cli.test_cli import assert_one_clear_line, tidemark
from tests.tidemark.local_glue.port.conftest import Port
from tests.waiting import BOUND_S, wait_until
from tidemark.local_glue.bookmarks.versions import (
    commit_bookmark,
    delete_bookmark,
    latest_bookmark,
)
from tidemark.local_glue.dynamodb import create_tables, dynamodb_client
from tidemark.local_glue.home import Home
from tidemark.local_glue.port.deployments import deploy_on_port
from tidemark.local_glue.port.http.serving import serving
from tidemark.local_glue.port.local_glue import LocalGlue
from tidemark.local_glue.rewinds.steps import WatermarkStep
from tidemark.local_glue.store.database import JobRun
from tidemark.local_glue.watermark_tables import watermark_table
from tidemark.operate.rewind.stage_records import StageRecord
from watermarks import WatermarkAdmin, Watermarks

pytestmark = pytest.mark.stress  # starts many processes

SHELL = {"Name": "pythonshell", "PythonVersion": "3.9"}
WAITS = "import pathlib, time\nwhile not pathlib.Path({!r}).exists(): time.sleep(0.01)\n"


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Port]:
    """A port of another home than that of the commands, which stands for an account."""
    home = Home.open(tmp_path_factory.mktemp("account") / "home")
    with serving(home) as (url, engine):
        yield Port(home, url, engine)


@pytest.fixture
def stage(
    home: Path, account: Port, monkeypatch: pytest.MonkeyPatch, write_assembly: WriteAssembly
) -> Stage:
    """What deploys a stage into the account, in which nothing has run, and what asks it."""
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name, value in variables_of(account.home, account.url).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)  # which keeps the key that it was made with
    account.engine.ask(forget_runs)
    shutil.rmtree(account.home.lake / "assets", ignore_errors=True)  # of a name once published
    return Stage(account, write_assembly)


def forget_runs(glue: LocalGlue) -> None:
    with glue.store.transaction():
        for table in ("job_run", "flow", "flow_open", "flow_fired", "flow_end", "flow_snapshot"):
            glue.store.query(f"DELETE FROM {table}")  # noqa: S608 (our own names)


class Stage:
    def __init__(self, port: Port, write_assembly: WriteAssembly) -> None:
        self.port = port
        self._write_assembly = write_assembly
        self.app = Path()

    def deploy(
        self,
        scripts: Mapping[str, str],
        after: Mapping[str, list[str]] | None = None,
        name: str = "prod",
    ) -> None:
        """Write the assembly of a stage, and deploy it."""
        self.app = self._write_assembly(scripts, after)
        self.edit(
            lambda resource: (
                resource["Properties"].setdefault("Tags", {}).update({"tidemark:stage": name})
            )
        )
        self.port.engine.ask(lambda glue: deploy_on_port(glue, self.app))

    def edit(self, change: Any) -> None:
        """Change every Glue resource of the assembly; Python shell jobs need no Spark."""
        path = self.app / "template.json"
        template = json.loads(path.read_text(encoding="utf-8"))
        for resource in template["Resources"].values():
            if resource["Type"].startswith("AWS::Glue::"):
                change(resource)
            if resource["Type"] == "AWS::Glue::Job":
                resource["Properties"]["Command"].update(SHELL)
        path.write_text(json.dumps(template), encoding="utf-8")

    def ask(self, *words: str, stage: str = "prod") -> Result:
        return tidemark(*words, "--deployed", stage, "--app", str(self.app))


def test_a_workflow_runs_where_the_stage_is_deployed_and_nothing_runs_here(stage, home):
    stage.deploy({"load": "print('there')", "report": ""}, {"report": ["load"]})

    result = stage.ask("run")

    assert result.exit_code == 0, result.output
    assert "✓ load  SUCCEEDED in " in result.output
    assert "✓ report  SUCCEEDED in " in result.output
    assert f"AWS_ENDPOINT_URL: {stage.port.url} answers for stage prod" in result.stderr
    assert stage.port.states("report") == ["SUCCEEDED"]
    assert not list(home.glob("runs/*"))


def test_a_failure_is_told_with_what_it_held_back_and_resumed(stage):
    stage.deploy({"load": "raise ValueError('no rows')", "report": ""}, {"report": ["load"]})

    failed = stage.ask("run", "--format", "json")
    (run,) = json.loads(failed.stdout)["runs"]
    (stage.port.home.lake / "assets" / "load.py").write_text("print('mended')", encoding="utf-8")
    resumed = stage.ask("resume")
    again = stage.ask("resume")

    assert failed.exit_code == 1
    assert (run["job"], run["state"]) == ("load", "FAILED")
    assert "ValueError: no rows" in run["message"]
    assert "tidemark logs load --run " in failed.stderr
    assert "report was not started: it waits for load SUCCEEDED (is FAILED)" in failed.stderr
    assert resumed.exit_code == 0, resumed.output
    assert "resuming flow at load" in resumed.stderr
    assert stage.port.states("load") == ["SUCCEEDED", "FAILED"]
    assert stage.port.states("report") == ["SUCCEEDED"]
    assert_one_clear_line_after(again, 2, "there is nothing to resume")


def assert_one_clear_line_after(result: Result, code: int, *parts: str) -> None:
    """Check an error that comes after what was said of the endpoint."""
    assert result.exit_code == code, result.output
    line = result.stderr.strip().splitlines()[-1]
    assert line.startswith("error: ")
    for part in parts:
        assert part in line


def test_status_runs_and_logs_tell_of_the_deployed_jobs(stage):
    stage.deploy({"load": "import sys\nprint('out')\nsys.stderr.write('err\\n')", "report": ""})
    run_id = stage.port.start("load")
    stage.port.ended("load", run_id)

    status = json.loads(stage.ask("status", "--format", "json").stdout)
    runs = json.loads(stage.ask("runs", "--format", "json").stdout)
    logs = stage.ask("logs", "load", "--run", run_id[:10])
    out = stage.ask("logs", "load", "--output", "--follow")
    err = stage.ask("logs", "load", "--errors")

    assert [(it["job"], it["is_deployed"]) for it in status] == [("load", True), ("report", True)]
    assert status[0]["last_run"]["state"] == "SUCCEEDED"
    assert status[1]["last_run"] is None
    assert [run["run_id"] for run in runs] == [run_id]
    assert runs[0]["ended_at"] > runs[0]["started_at"]
    assert (logs.stdout, logs.stderr.splitlines()[-1]) == ("out\n", "err")
    assert out.stdout == "out\n"
    assert out.stderr.splitlines()[-1] == f"{run_id} SUCCEEDED"
    assert (out.exit_code, err.stdout, err.stderr.splitlines()[-1]) == (0, "", "err")


def test_a_run_is_shown_with_what_it_recorded_in_its_table(stage, monkeypatch):
    stage.deploy({"load": "print('out')", "report": ""})
    arguments = {"--watermark_table": "runs-of-prod"}
    stage.edit(lambda it: it["Properties"].setdefault("DefaultArguments", {}).update(arguments))
    stage.port.engine.ask(lambda glue: deploy_on_port(glue, stage.app))
    first, second = stage.port.start("load"), stage.port.start("report")
    for job, run_id in (("load", first), ("report", second)):
        stage.port.ended(job, run_id)
    with dynamodb_client(stage.port.url, "us-east-1") as client:
        create_tables(client, [watermark_table("runs-of-prod")])
        watermarks = Watermarks("runs-of-prod", client)
        watermarks.checkpoint("load", first, read=["s3://raw/"], written={"s3://lake/": "append"})

    shown = json.loads(stage.ask("run", "show", first[:12], "--format", "json").stdout)
    text = stage.ask("run", "show", first[:12]).stdout
    without = stage.ask("run", "show", second).stdout
    unknown = stage.ask("run", "show", "jr_of_no_one")

    (read,), (written,) = shown["checkpoint"]["read"], shown["checkpoint"]["written"]
    assert (shown["run_id"], shown["job"], shown["log"]) == (first, "load", ["out"])
    assert (read["dataset"], written["dataset"]) == ("s3://raw/", "s3://lake/")
    assert written["mode"] == "append"
    assert "s3://lake/" in text
    assert "No checkpoint: it has committed nothing" in without
    assert_one_clear_line_after(unknown, 2, "no run 'jr_of_no_one' in stage prod", second)


def test_a_report_and_the_freshness_of_a_stage_are_of_its_runs(stage, home, tmp_path):
    mart = {"writes": [{"uri": "s3://landing/mart/", "published": True}]}
    stage.deploy({"load": "print(1)", "report": ""}, {"report": ["load"]})
    stage.edit(lambda resource: resource.setdefault("Metadata", {}).update({"Tidemark": mart}))
    run_id = stage.port.start("load")
    stage.port.ended("load", run_id)
    file = tmp_path / "page.html"

    result = stage.ask("report", "--output", str(file))
    other = stage.ask("report", "--output", str(file), stage="test")
    status = json.loads(stage.ask("status", "--format", "json").stdout)

    assert result.exit_code == 0, result.output
    assert run_id[:12] in file.read_text(encoding="utf-8")
    assert "An estimate" not in file.read_text(encoding="utf-8")
    assert_one_clear_line_after(other, 2, "the assembly is of the stage prod, not 'test'")
    assert status[0]["freshness"][0]["held_back_by"] == "report"  # writes it too, and never ran
    assert not list(home.glob("*.html"))


def test_one_job_runs_alone_with_the_arguments_of_its_trigger(stage):
    stage.deploy({"load": "", "report": "import sys\nprint(sys.argv[-1])"}, {"report": ["load"]})
    for trigger in stage.port.glue.get_triggers()["Triggers"]:
        actions = [{**action, "Arguments": {"--day": "1"}} for action in trigger["Actions"]]
        kept = {"Predicate": trigger["Predicate"]} if "Predicate" in trigger else {}
        update = {**kept, "Actions": actions}
        stage.port.glue.update_trigger(Name=trigger["Name"], TriggerUpdate=update)

    result = stage.ask("run", "--only", "report")

    assert result.exit_code == 0, result.output
    assert stage.ask("logs", "report").stdout == "1\n"
    assert stage.port.states("load") == []


def test_ctrl_c_of_a_run_stops_it_and_of_logs_does_not(stage, tmp_path):
    gate = tmp_path / "gate"
    stage.deploy(
        {"load": f"print('begun')\n{WAITS.format(str(gate))}", "report": ""}, {"report": ["load"]}
    )
    options = ("--deployed", "prod", "--app", str(stage.app))
    with started("run", *options) as run:
        read_until(run, b"started")
        with started("logs", "load", "--follow", *options) as logs:
            read_until(logs, b"begun")
            logs.send_signal(signal.SIGINT)
            _, said = logs.communicate(timeout=BOUND_S)
        assert stage.port.states("load") == ["RUNNING"]
        run.send_signal(signal.SIGINT)
        _, stopped = run.communicate(timeout=BOUND_S)
    wait_until(lambda: stage.port.states("load") == ["STOPPED"])

    assert (logs.returncode, run.returncode) == (130, 130)
    assert "stopped following" in said.decode()
    assert "is being stopped" in stopped.decode()
    assert stage.port.states("report") == []
    assert stage.ask("stop").output.rstrip().endswith("nothing to stop")


def test_runs_of_a_job_and_of_a_workflow_are_stopped(stage, tmp_path):
    gate = tmp_path / "gate"
    stage.deploy({"load": WAITS.format(str(gate))})
    by_hand = stage.port.start("load")

    assert stage.ask("stop", "load").exit_code == 0
    assert stage.port.ended("load", by_hand)["JobRunState"] == "STOPPED"
    of_workflow = stage.port.glue.start_workflow_run(Name="flow")["RunId"]
    result = stage.ask("stop")

    assert f"flow {of_workflow} is being stopped" in result.stdout
    wait_until(lambda: stage.port.states("load") == ["STOPPED", "STOPPED"])


def test_a_trigger_fires_and_triggers_are_listed(stage):
    stage.deploy({"load": "", "report": ""}, {"report": ["load"]})
    triggers = json.loads(stage.ask("trigger", "--format", "json").stdout)
    (start,) = [it["name"] for it in triggers if it["type"] == "ON_DEMAND"]

    result = stage.ask("trigger", start)

    assert f"trigger {start} has fired: load" in result.stdout
    wait_until(lambda: stage.port.states("report") == ["SUCCEEDED"])
    assert [it["starts"] for it in triggers if it["type"] == "CONDITIONAL"] == [["report"]]


@pytest.mark.parametrize("words", [("runs", "laod"), ("logs", "laod"), ("stop", "laod")])
def test_a_misspelt_job_is_told_with_the_nearest(stage, words):
    stage.deploy({"load": "", "report": ""})

    assert_one_clear_line_after(stage.ask(*words), 2, "no job 'laod'", "did you mean load?")


def test_a_job_of_the_same_name_of_another_stage_is_left_alone(stage):
    stage.deploy({"load": ""}, name="dev")
    stage.edit(lambda it: it["Properties"]["Tags"].update({"tidemark:stage": "prod"}))

    for words in (
        ("run",),
        ("runs",),
        ("logs", "load"),
        ("stop", "load"),
        ("resume",),
        ("run", "show", "jr_1"),
        ("status",),
    ):
        result = stage.ask(*words)

        assert_one_clear_line_after(result, 2, "is not of stage prod", "'dev'")
    assert stage.port.states("load") == []
    assert_one_clear_line_after(stage.ask("run", stage="test"), 2, "of the stage prod, not 'test'")


def test_without_credentials_nothing_is_asked_and_one_line_says_so(stage, monkeypatch):
    stage.deploy({"load": ""})
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)

    for words in (
        ("run",),
        ("status",),
        ("runs",),
        ("logs", "load"),
        ("stop",),
        ("resume",),
        ("trigger",),
    ):
        assert_one_clear_line(stage.ask(*words), 2, "there are no AWS credentials")


def test_credentials_of_another_account_are_refused(stage):
    stage.deploy({"load": ""})
    manifest = json.loads((stage.app / "manifest.json").read_text(encoding="utf-8"))
    manifest["artifacts"]["stack"]["environment"] = "aws://123456789012/eu-west-1"
    (stage.app / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")

    assert_one_clear_line(stage.ask("run"), 2, "into the account 123456789012", "000000000000")


def test_a_stage_that_does_not_answer_is_told(stage, monkeypatch):
    stage.deploy({"load": ""})
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")

    assert_one_clear_line(stage.ask("runs"), 1, "stage prod does not answer", "127.0.0.1:9")


def test_a_stage_without_what_the_app_has_is_told(stage):
    stage.deploy({"load": ""})
    stage.edit(lambda it: it["Properties"].update({"Name": f"{it['Properties'].get('Name')}-new"}))

    run, status = stage.ask("run"), stage.ask("status")

    assert_one_clear_line_after(run, 1, "EntityNotFoundException", "flow-new")
    assert "not deployed" in status.stdout


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("run", "--isolated"), ("--isolated",)),
        (("run", "--from", "load"), ("tidemark resume --from load --deployed prod",)),
        (("run", "--context", "stage=dev"), ("--context stage=dev", "--deployed prod")),
        (("runs", "--since", "yesterday"), ("'yesterday'", "12h")),
        (("logs", "load", "--errors", "--output"), ("--errors",)),
        (("stop", "load", "--workflow", "flow"), ("--workflow",)),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_asked(words, parts):
    result = tidemark(*words, "--deployed", "prod", "--app", "nowhere")

    assert_one_clear_line(result, 2, *parts)


def have_run(stage: Stage, job: str, *runs: str) -> None:
    """Record runs of a job that have committed its bookmark, as if they had run there."""

    def record(glue: LocalGlue) -> None:
        for number, run_id in enumerate(runs):
            at = 1000 * (number + 1)
            run = JobRun(run_id, job, None, None, 0, "SUCCEEDED", at, "", "job-bookmark-enable")
            glue.store.put_job_run(replace(run, completed_at_ms=at + 500))
            latest = latest_bookmark(glue.store, job)
            version = latest.version if latest else 0
            commit_bookmark(glue.store, job, run_id, {"ctx": {"n": number}}, version, at + 400)

    stage.port.engine.ask(record)


def bookmark_of(stage: Stage, job: str) -> tuple[str, str]:
    entry = stage.port.glue.get_job_bookmark(JobName=job)["JobBookmarkEntry"]
    return entry.get("RunId", ""), json.loads(entry["JobBookmark"])["states"]


@pytest.fixture
def rewindable(stage):
    """A stage of a job with a watermark and one with a bookmark behind it, each run three times."""
    names = [f"jr_{job}{n}" for job in "lr" for n in (1, 2, 3)]
    stage.port.engine.ask(lambda glue: [delete_bookmark(glue.store, j) for j in ("load", "report")])
    stage.deploy({"load": "", "report": ""}, {"report": ["load"]})
    arguments = {"--watermark_table": "rewinds-of-prod"}
    stage.edit(lambda it: it["Properties"].setdefault("DefaultArguments", {}).update(arguments))
    stage.port.engine.ask(lambda glue: deploy_on_port(glue, stage.app))
    have_run(stage, "report", *names[3:])
    with dynamodb_client(stage.port.url, "us-east-1") as client:
        if "rewinds-of-prod" in client.list_tables()["TableNames"]:
            client.delete_table(TableName="rewinds-of-prod")
        create_tables(client, [watermark_table("rewinds-of-prod")])
        watermarks = WatermarkAdmin("rewinds-of-prod", client)
        for number, run_id in enumerate(names[:3]):
            base = watermarks.latest("load")
            watermarks.advance(job_id="load", run_id=run_id, to={"id": number}, base=base)
            watermarks.checkpoint("load", run_id, written={"s3://lake/": "overwrite"})
        yield stage, watermarks


def test_jobs_of_a_stage_are_rewound_and_that_is_undone(rewindable):
    stage, watermarks = rewindable
    to = ("rewind", "load", "report", "--to", "jr_l1")

    planned = json.loads(stage.ask(*to, "--dry-run", "--format", "json").stdout)
    refused = stage.ask(*to, "--yes", "--why", "x", "--clear")
    reset = stage.ask("rewind", "report", "--to", "beginning", "--yes", "--why", "a bad day")
    done = stage.ask("rewind", "load", "--to", "jr_l1", "--yes", "--why", "a bad day")

    (load, *_) = planned["jobs"]
    assert (load["job"], load["states"][0]["after"]) == ("load", {"id": "0"})
    assert_one_clear_line(refused, 1, "--clear deletes files of this machine's lake")
    assert reset.exit_code == done.exit_code == 0, reset.output + done.output
    assert watermarks.latest("load").watermarks == {"id": 0}
    assert bookmark_of(stage, "report") == ("", {})
    listed = json.loads(stage.ask("rewind", "--list", "--format", "json").stdout)
    assert [(one["number"], one["state"], one["why"]) for one in listed] == [
        (2, "done", "a bad day"),
        (1, "done", "a bad day"),
    ]

    undone = [stage.ask("rewind", "--undo", number, "--yes") for number in ("2", "1")]

    assert [one.exit_code for one in undone] == [0, 0], undone[0].output + undone[1].output
    assert watermarks.latest("load").watermarks == {"id": 2}
    assert bookmark_of(stage, "report") == ("jr_r3", {"ctx": {"n": 2}})


def test_a_rewind_of_a_stage_that_was_interrupted_is_finished_or_taken_back(rewindable):
    stage, watermarks = rewindable
    step = WatermarkStep("rewinds-of-prod", "load", "", 3, "jr_l3", "jr_l1")
    runs = (("report", "jr_r3", "jr_r1"),)
    record = StageRecord(1, "begun", 1, "ada", "a bad day", "jr_l1", runs, (step,))
    client = watermarks.dynamodb_client
    just_now = replace(record, holder="another", held_ms=time.time_ns() // 1_000_000)
    client.put_item(TableName="rewinds-of-prod", Item=just_now.to_item())
    for words in (["--resume"], ["--undo", "1", "--yes"]):
        other = stage.ask("rewind", *words)
        assert_one_clear_line_after(other, 2, "rewind 1, of ada, was worked on ")
    assert bookmark_of(stage, "report") == ("jr_r3", {"ctx": {"n": 2}})
    client.put_item(TableName="rewinds-of-prod", Item=record.to_item())

    refused = stage.ask("rewind", "load", "--to", "jr_l1", "--yes", "--why", "x")
    finished = stage.ask("rewind", "--resume")

    assert_one_clear_line_after(refused, 2, "rewind 1 was interrupted and is half done")
    assert finished.exit_code == 0, finished.output
    assert watermarks.latest("load").watermarks == {"id": 0}
    assert bookmark_of(stage, "report") == ("jr_r1", {"ctx": {"n": 0}})
    assert stage.ask("rewind", "--undo", "--yes").exit_code == 0
    assert watermarks.latest("load").watermarks == {"id": 2}

    half = replace(record, number=2, watermarks=(replace(step, expected=5),))
    client.put_item(TableName="rewinds-of-prod", Item=half.to_item())
    stage.port.glue.reset_job_bookmark(JobName="report", RunId="jr_r1")
    assert stage.ask("rewind", "--undo", "2", "--yes").exit_code == 0
    assert bookmark_of(stage, "report") == ("jr_r3", {"ctx": {"n": 2}})
    assert watermarks.latest("load").watermarks == {"id": 2}
