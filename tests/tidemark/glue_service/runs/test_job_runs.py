"""Glue's operations on job runs and bookmarks, by boto3, on Python shell jobs."""

from __future__ import annotations

import contextlib
import json
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.sampled import at_night
from tests.tidemark.glue_service.conftest import Port
from tests.waiting import wait_until
from tidemark.glue_service.http.serving import Options
from tidemark.glue_service.runs import runner
from tidemark.glue_service.runs.job_runs import start_job_run
from tidemark.local_state.bookmarks.versions import commit_bookmark
from tidemark.local_state.store.database import Store
from tidemark.local_state.store.stored_warnings import texts_of_run

pytestmark = pytest.mark.stress  # starts many processes

SHELL = {"Name": "pythonshell", "PythonVersion": "3.9", "ScriptLocation": "s3://scripts/a.py"}
TWO_AT_ONCE = {"ExecutionProperty": {"MaxConcurrentRuns": 2}}
SLEEP = "import time; print('asleep', flush=True); time.sleep(60)"
FAIL = "raise ValueError('no')"
WITH_CHILD = """
import json, os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
sleep = [sys.executable, "-c", "import time; time.sleep(60)"]
children = [subprocess.Popen(sleep, start_new_session=is_own) for is_own in (False, True)]
with open("unfinished", "w") as file:
    json.dump([os.getpid(), *[child.pid for child in children]], file)
os.replace("unfinished", "pids")
time.sleep(60)
"""
LEAVES_CHILD = """
import subprocess, sys
sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
print(subprocess.Popen(sleep, start_new_session=True).pid)
"""
ARGUMENTS = "import sys, json; print(json.dumps(dict(zip(sys.argv[1::2], sys.argv[2::2]))))"


def own_arguments(port, run_id):
    """Return the arguments of one letter that a script printed: on AWS there are others."""
    found = json.loads(port.printed(run_id))
    return {name: value for name, value in found.items() if len(name) == len("--a")}


def is_alive(pid):
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        return stat.rpartition(")")[2].split()[0] not in "ZX"
    return False


def test_a_run_has_what_clients_read(port):
    port.job("plain", "print('hello')", DefaultArguments={"--a": "1"})
    started = port.start("plain", Arguments={"--b": "2"})

    run = port.ended("plain", started)

    assert (run["Id"], run["JobName"], run["JobRunState"]) == (started, "plain", "SUCCEEDED")
    assert (run["Attempt"], run["Arguments"], run["Timeout"]) == (0, {"--b": "2"}, 480)
    assert (run["MaxCapacity"], run["LogGroupName"]) == (0.0625, "/aws-glue/python-jobs")
    assert run["StartedOn"] <= run["LastModifiedOn"] == run["CompletedOn"]
    assert run["PredecessorRuns"] == []
    assert {"ErrorMessage", "PreviousRunId", "TriggerName", "DPUSeconds"} & set(run) == set()


def test_the_end_of_a_run_ends_what_it_has_left_in_a_session_of_its_own(port):
    port.job("leaves", LEAVES_CHILD)
    started = port.start("leaves")

    assert port.ended("leaves", started)["JobRunState"] == "SUCCEEDED"
    wait_until(lambda: not is_alive(int(port.printed(started))))


@pytest.mark.on_aws
@pytest.mark.rule("The API on a port", source="ARG")
def test_arguments_of_the_job_of_the_run_and_those_no_run_can_change(port):
    port.job(
        "merged",
        ARGUMENTS,
        DefaultArguments={"--a": "job", "--b": "job", "--c": "job"},
        NonOverridableArguments={"--c": "fixed", "--d": "fixed"},
    )
    run_id = port.start("merged", Arguments={"--b": "run", "--c": "run", "--e": "run"})
    port.ended("merged", run_id)

    assert own_arguments(port, run_id) == {
        "--a": "job",
        "--b": "run",
        "--c": "fixed",
        "--d": "fixed",
        "--e": "run",
    }


def test_a_failed_run_says_why(port):
    port.job("failing", FAIL)

    run = port.ended("failing", port.start("failing"))

    assert run["JobRunState"] == "FAILED"
    assert run["ErrorMessage"] == "ValueError: no (failing.py, line 1)"


@pytest.mark.on_aws
@pytest.mark.rule("The API on a port", source="RUNS, MNT")
def test_a_failed_run_is_retried_under_the_id_of_its_attempt(port):
    port.job("retried", FAIL, MaxRetries=1)
    first = port.start("retried", Arguments={"--mark": "retried"})
    retry = f"{first}_attempt_1"
    wait_until(lambda: port.states("retried") == ["FAILED", "FAILED"])

    runs = port.glue.get_job_runs(JobName="retried")["JobRuns"]

    assert [(run["Id"], run["Attempt"]) for run in runs] == [(retry, 1), (first, 0)]
    assert (runs[0]["PreviousRunId"], runs[0]["Arguments"]) == (first, {"--mark": "retried"})


def test_a_run_that_is_stopped_before_it_could_start_is_not_retried(port):
    port.job("hurried", MaxRetries=3)
    (port.home.lake / "scripts" / "hurried.py").unlink()

    def start_and_stop(glue):
        run_id = start_job_run(glue, {"JobName": "hurried"})["JobRunId"]
        glue.runner.step()  # its process is being started, which fails
        return run_id, glue.runner.stop(run_id)

    run_id, is_stopping = port.engine.ask(start_and_stop)

    assert is_stopping
    assert port.ended("hurried", run_id)["JobRunState"] == "FAILED"
    assert port.states("hurried") == ["FAILED"]


def test_runs_are_listed_in_the_order_in_which_they_were_asked_for(serve):
    with serve(options=Options(max_parallel=0)) as (url, engine):
        port = Port(engine.ask(lambda glue: glue.machine.home), url, engine)
        port.glue.create_job(Name="ordered", Role="anyone", Command=SHELL, **TWO_AT_ONCE)
        ids = [port.start("ordered") for _ in range(2)]

        def begin_the_first_one(glue):
            run = glue.store.job_run(ids[0])
            glue.store.put_job_run(replace(run, started_at_ms=run.started_at_ms + 60_000))

        engine.ask(begin_the_first_one)
        runs = port.glue.get_job_runs(JobName="ordered")["JobRuns"]

    assert [run["Id"] for run in runs] == ids[::-1]


@pytest.mark.on_aws
@pytest.mark.rule(
    "The API on a port", source="RUNS", choice="it is the next attempt, with the same arguments"
)
def test_start_job_run_with_a_run_id_retries_that_run(port):
    port.job("again", ARGUMENTS)
    first = port.start("again", Arguments={"--a": "1"})
    port.ended("again", first)

    second = port.start("again", JobRunId=first)
    port.ended("again", second)
    third = port.start("again", JobRunId=second, Arguments={"--a": "2"})
    run = port.ended("again", third)

    assert (second, third) == (f"{first}_attempt_1", f"{first}_attempt_2")
    assert own_arguments(port, second) == {"--a": "1"}
    assert own_arguments(port, third) == {"--a": "2"}
    assert (run["Attempt"], run["PreviousRunId"]) == (2, second)


@pytest.mark.on_aws
@pytest.mark.rule("The API on a port", source="BOTO, STAT")
def test_a_start_beyond_max_concurrent_runs_is_refused_and_leaves_no_run(port):
    port.job("single", SLEEP)
    run_id = port.start("single")

    with pytest.raises(port.glue.exceptions.ConcurrentRunsExceededException, match="single"):
        port.start("single")

    assert len(port.states("single")) == 1
    port.glue.batch_stop_job_run(JobName="single", JobRunIds=[run_id])
    assert port.ended("single", run_id)["JobRunState"] == "STOPPED"


@pytest.mark.on_aws
@pytest.mark.rule("The API on a port", source="STAT, BOTO")
def test_a_start_that_queues_waits_and_then_runs(port):
    port.job("queued", "import time; time.sleep(0.5)", JobRunQueuingEnabled=True)
    first, second = port.start("queued"), port.start("queued")

    waiting = port.run("queued", second)
    assert (waiting["JobRunState"], waiting["JobRunQueuingEnabled"]) == ("WAITING", True)
    assert waiting["StateDetail"]
    with pytest.raises(port.glue.exceptions.ConcurrentRunsExceededException):
        port.start("queued", JobRunQueuingEnabled=False)
    assert port.ended("queued", second)["JobRunState"] == "SUCCEEDED"
    assert port.run("queued", first)["CompletedOn"] <= port.run("queued", second)["StartedOn"]


def test_a_run_that_waits_can_be_stopped_before_it_starts(port):
    port.job("never", SLEEP, JobRunQueuingEnabled=True)
    first, second = port.start("never"), port.start("never")

    answer = port.glue.batch_stop_job_run(JobName="never", JobRunIds=[second, first])

    assert [item["JobRunId"] for item in answer["SuccessfulSubmissions"]] == [second, first]
    assert port.run("never", second)["JobRunState"] == "STOPPED"
    assert not (port.home.runs / second).exists()
    assert port.ended("never", first)["JobRunState"] == "STOPPED"


def test_a_stopped_run_is_stopping_until_every_process_of_it_is_gone(port):
    port.job("stubborn", WITH_CHILD)
    run_id = port.start("stubborn")
    pids = port.home.runs / run_id / "pids"
    wait_until(pids.exists)

    answer = port.glue.batch_stop_job_run(JobName="stubborn", JobRunIds=[run_id, "jr_none"])
    assert port.run("stubborn", run_id)["JobRunState"] == "STOPPING"
    begin = time.monotonic()
    port.glue.get_jobs()
    assert time.monotonic() - begin < 2  # the others are answered meanwhile
    run = port.ended("stubborn", run_id)

    assert (run["JobRunState"], run["ErrorMessage"]) == ("STOPPED", "Job run stopped")
    assert [pid for pid in json.loads(pids.read_text()) if is_alive(pid)] == []
    assert [error["JobRunId"] for error in answer["Errors"]] == ["jr_none"]
    assert answer["Errors"][0]["ErrorDetail"]["ErrorCode"] == "EntityNotFoundException"
    (again,) = port.glue.batch_stop_job_run(JobName="stubborn", JobRunIds=[run_id])["Errors"]
    assert again["ErrorDetail"]["ErrorCode"] == "JobRunInTerminalStateException"


@pytest.mark.nightly
def test_runs_come_newest_first_in_pages(port):
    port.job("many")
    ids = []
    for _ in range(5):
        ids.append(port.start("many"))
        port.ended("many", ids[-1])

    pages = port.glue.get_paginator("get_job_runs").paginate(
        JobName="many", PaginationConfig={"PageSize": 2}
    )

    found = [[run["Id"] for run in page["JobRuns"]] for page in pages]
    assert found == [ids[:2:-1], ids[2:0:-1], ids[:1]]


def test_what_does_not_run_here_is_refused_by_name_and_leaves_no_run(port):
    command = {"Name": "gluestreaming", "ScriptLocation": "s3://scripts/a.py"}
    port.glue.create_job(Name="stream", Role="anyone", Command=command)
    port.job("iceberg", "")

    for name, arguments, named in (
        ("stream", {}, "gluestreaming"),
        ("iceberg", {"--job-language": "scala"}, "scala"),
        ("iceberg", {"--a": "x" * 260_001}, "260,000"),
    ):
        with pytest.raises(port.glue.exceptions.InvalidInputException, match=named):
            port.start(name, Arguments=arguments)
    assert port.states("iceberg") == port.states("stream") == []


def test_a_script_that_is_not_there_fails_the_run(port):
    port.job("gone", "")
    (port.home.lake / "scripts" / "gone.py").unlink()

    run = port.ended("gone", port.start("gone"))

    assert run["JobRunState"] == "FAILED"
    assert "s3://scripts/gone.py" in run["ErrorMessage"]


def test_a_run_that_cannot_start_has_failed_with_the_error_and_others_run(port, monkeypatch):
    port.job("unlucky", "")
    port.job("next", "")
    monkeypatch.setattr(runner, "start_or_skip", lambda *_: 1 // 0)
    unlucky = port.ended("unlucky", port.start("unlucky"))
    monkeypatch.undo()

    after = port.ended("next", port.start("next"))

    assert unlucky["JobRunState"] == "FAILED"
    assert unlucky["ErrorMessage"].startswith("ZeroDivisionError")
    assert after["JobRunState"] == "SUCCEEDED"


@pytest.mark.parametrize("file", ["warnings.jsonl", "snapshots.jsonl", "tidemark-datasets.jsonl"])
def test_a_file_of_a_script_with_a_name_of_ours_keeps_no_run_from_its_end(port, file):
    lines = ['{"id": "1"}', "[]", "7", '["COMMIT_MISSING"]', '["OF_MINE", "x"]', "[" * 5000, "\xff"]
    port.job(file, f"open({file!r}, 'w').write({chr(10).join(lines)!r})")

    assert port.ended(file, port.start(file))["JobRunState"] == "SUCCEEDED"
    assert port.ended(file, port.start(file))["JobRunState"] == "SUCCEEDED"


def test_a_report_that_fails_stops_no_run_and_is_a_warning(serve):
    def report(run):
        raise PermissionError(13, "Permission denied", "job.py")

    with serve(options=Options(on_start=report, observe=report)) as (url, engine):
        port = Port(engine.ask(lambda glue: glue.machine.home), url, engine)
        port.job("plain", "")
        runs = [port.ended("plain", port.start("plain")) for _ in range(2)]
        with Store(port.home.database) as store:
            texts = texts_of_run(store, runs[0]["Id"])

    assert [run["JobRunState"] for run in runs] == ["SUCCEEDED", "SUCCEEDED"]
    assert [text.split()[2] for text in texts] == ["RUNNING", "SUCCEEDED"]


@pytest.mark.parametrize("name", ["../../up", "日本 語", "x" * 255, *at_night("a/b", ".", "-rf")])
def test_any_name_of_glue_is_the_name_of_a_job_and_nothing_is_written_elsewhere(port, name):
    before = sorted(path.name for path in port.home.root.parent.iterdir())
    port.job(name, "print('ran')")

    run_id = port.start(name)

    assert port.ended(name, run_id)["JobRunState"] == "SUCCEEDED"
    assert port.printed(run_id) == "ran\n"
    assert sorted(path.name for path in port.home.root.parent.iterdir()) == before


def test_a_run_of_another_job_is_not_found(port):
    port.job("mine", "")
    port.job("other", "")
    run_id = port.start("mine")

    with pytest.raises(port.glue.exceptions.EntityNotFoundException):
        port.run("other", run_id)
    assert port.ended("mine", run_id)["JobRunState"] == "SUCCEEDED"


def test_dpu_seconds_are_told_of_flexible_runs(port):
    script = port.script("flex", "import time; time.sleep(1)")  # no Spark in it, so no JVM
    command = {"Name": "glueetl", "ScriptLocation": script}
    port.glue.create_job(Name="flex", Role="anyone", Command=command)

    run = port.ended("flex", port.start("flex", ExecutionClass="FLEX", MaxCapacity=2.0))

    assert run["ExecutionTime"] >= 1
    assert (run["ExecutionClass"], run["MaxCapacity"]) == ("FLEX", 2.0)
    assert run["DPUSeconds"] == run["ExecutionTime"] * 2


@pytest.mark.nightly
def test_a_script_finds_the_port_and_no_cloud(port, monkeypatch, tmp_path):
    """Whatever credentials and profiles the developer has: they are for AWS."""
    config = tmp_path / "config"
    config.write_text("[default]\nignore_configured_endpoint_urls = true\n", encoding="utf-8")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    monkeypatch.setenv("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIA2E0A8F3B244C9986")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "7CE556A3BC234CC1FF9E8A5C324C0BB70AA21B6D")
    script = """
import boto3, os
glue = boto3.client("glue")
print(glue.get_job(JobName="calls")["Job"]["Name"])
print(boto3.client("sts").get_caller_identity()["Account"])
print(len(boto3.client("dynamodb").list_tables()["TableNames"]))
try:
    boto3.client("lambda").list_functions()
except Exception as error:
    print("no service 'lambda'" in str(error) and "--forward" in str(error))
print(boto3.Session().get_credentials().access_key)
"""
    port.job("calls", script)
    run_id = port.start("calls")

    run = port.ended("calls", run_id)

    assert run["JobRunState"] == "SUCCEEDED", run["ErrorMessage"]
    assert port.printed(run_id).split() == ["calls", "000000000000", "0", "True", "local"]


def test_bookmarks_are_read_reset_and_rewound(port):
    port.job("marked", "")
    missing = port.glue.exceptions.EntityNotFoundException
    with pytest.raises(missing):
        port.glue.get_job_bookmark(JobName="marked")
    port.engine.ask(lambda glue: commit_bookmark(glue.store, "marked", "jr_1", {"a": 1}, 0, 5))
    port.engine.ask(lambda glue: commit_bookmark(glue.store, "marked", "jr_2", {"a": 2}, 1, 6))

    newest = port.glue.get_job_bookmark(JobName="marked")["JobBookmarkEntry"]
    rewound = port.glue.reset_job_bookmark(JobName="marked", RunId="jr_1")["JobBookmarkEntry"]
    reset = port.glue.reset_job_bookmark(JobName="marked")["JobBookmarkEntry"]

    assert (newest["Version"], newest["RunId"], newest["Run"]) == (2, "jr_2", 2)
    assert json.loads(rewound["JobBookmark"])["states"] == {"a": 1}
    assert json.loads(reset["JobBookmark"])["states"] == {}
    port.glue.delete_job(JobName="marked")
    with pytest.raises(missing):
        port.glue.get_job_bookmark(JobName="marked")


def test_as_many_processes_run_at_once_as_there_are_cores(port):
    port.job("wide", SLEEP, ExecutionProperty={"MaxConcurrentRuns": 50})
    ids = [port.start("wide") for _ in range((os.cpu_count() or 1) + 2)]

    wait_until(lambda: port.states("wide").count("RUNNING") == os.cpu_count())
    assert port.states("wide").count("STARTING") == 2

    port.glue.batch_stop_job_run(JobName="wide", JobRunIds=ids)
    wait_until(lambda: set(port.states("wide")) == {"STOPPED"})


def test_a_script_that_a_link_puts_outside_the_lake_does_not_run(port, tmp_path):
    outside = tmp_path / "outside.py"
    outside.write_text("open('ran', 'w').close()", encoding="utf-8")
    port.job("linked")
    script = port.home.lake / "scripts" / "linked.py"
    script.unlink()
    script.symlink_to(outside)

    run = port.ended("linked", port.start("linked"))

    assert (run["JobRunState"], "leads out of the lake" in run["ErrorMessage"]) == ("FAILED", True)
