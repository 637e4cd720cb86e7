"""Sessions from their creation to their end, and after the end of their port."""

from __future__ import annotations

import json
import re
import urllib.request

import pytest
from botocore.exceptions import ClientError

from tests.tidemark.cli.test_cli import tidemark
from tests.tidemark.glue_service.conftest import Port
from tests.tidemark.glue_service.sessions.conftest import ROLE, Sessions
from tests.tidemark.glue_service.sessions.test_statements import FOREVER
from tests.tidemark.glue_service.test_crashes import kill, start_server
from tests.waiting import wait_until
from tidemark.glue_service.http.serving import Options, serving
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import Store
from tidemark.local_state.store.stored_warnings import texts_of_run
from tidemark.model.clock import now_ms
from tidemark.model.messages import JVM_GONE

pytestmark = pytest.mark.spark
COMMAND = {"Name": "glueetl", "PythonVersion": "3"}
ENDED = ("STOPPED", "FAILED", "TIMEOUT")
STUBBORN = """
import time
while True:
    try:
        time.sleep(1)
    except BaseException:
        pass
"""


def test_a_session_from_its_creation_to_its_deletion(sessions, port):
    tags = {"owner": "me"}
    sessions.create("whole", Tags=tags, IdleTimeout=7, Description="of a test")

    session = sessions.becomes("whole", "READY")
    assert (session["Role"], session["Command"]) == (ROLE, COMMAND)
    assert (session["IdleTimeout"], session["Description"]) == (7, "of a test")
    assert (session["WorkerType"], session["NumberOfWorkers"]) == ("G.1X", 5)
    assert sessions.glue.list_sessions(Tags=tags)["Ids"] == ["whole"]
    arn = "arn:aws:glue:us-east-1:000000000000:session/whole"
    assert sessions.glue.get_tags(ResourceArn=arn)["Tags"] == tags

    with pytest.raises(ClientError, match=r"IllegalSessionStateException.*READY state"):
        sessions.glue.delete_session(Id="whole")
    number = sessions.send("whole", FOREVER)
    wait_until(lambda: sessions.is_running("whole", number))
    assert sessions.glue.stop_session(Id="whole")["Id"] == "whole"
    assert sessions.becomes("whole", "STOPPED")["CompletedOn"]
    assert sessions.ended("whole", number)["State"] == "CANCELLED"
    with pytest.raises(ClientError, match=r"IllegalSessionStateException.*STOPPED state"):
        sessions.send("whole", "1")
    (run,) = sessions.glue.get_job_runs(JobName="session-whole")["JobRuns"]
    assert run["JobRunState"] == "STOPPED"

    sessions.glue.delete_session(Id="whole")
    with pytest.raises(ClientError, match="EntityNotFoundException"):
        sessions.glue.get_session(Id="whole")


@pytest.mark.nightly
def test_a_session_that_is_stopped_at_rest_is_a_run_that_succeeded(
    sessions, port, monkeypatch, tmp_path
):
    sessions.create("rests")
    port.home.create_bucket("rests")
    sessions.text("rests", "spark.range(3).write.parquet('s3://rests/out/')")

    sessions.glue.stop_session(Id="rests")
    assert sessions.becomes("rests", "STOPPED")["Status"] == "STOPPED"
    (run,) = sessions.glue.get_job_runs(JobName="session-rests")["JobRuns"]
    assert run["JobRunState"] == "SUCCEEDED"
    with Store(port.home.database) as store:
        assert store.job_run(run["Id"]).rows_written == 3
    monkeypatch.setenv("TIDEMARK_HOME", str(port.home.root))
    tidemark("lineage", str(tmp_path / "events"), "--job", "session-rests")
    event = json.loads((tmp_path / "events").read_text(encoding="utf-8").splitlines()[-1])
    assert event["eventType"] == "COMPLETE"
    assert [target["name"] for target in event["outputs"]] == ["out"]


@pytest.mark.nightly
def test_a_table_replaces_the_files_of_a_folder_only_for_dbt(sessions, port):
    port.home.create_bucket("full")
    create = "spark.sql(\"CREATE TABLE t USING parquet LOCATION 's3://full/t/' AS SELECT 1 AS n\")"
    sessions.create("careful")
    sessions.text("careful", "spark.range(3).write.parquet('s3://full/t/')")

    assert "non-empty directory" in sessions.run("careful", create)["ErrorValue"]
    assert sessions.text("careful", "spark.read.parquet('s3://full/t/').count()") == "3"
    sessions.create("of-dbt", RequestOrigin="dbt-glue", DefaultArguments={"--conf": "spark.a=1"})
    sessions.text("of-dbt", create)
    assert sessions.text("of-dbt", "spark.table('t').count(), spark.conf.get('spark.a')") == (
        "(1, '1')"
    )


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ({"Command": {"Name": "glueray"}}, "'glueray'; sessions here are of glueetl"),
        ({"Command": {"Name": "pythonshell"}}, "sessions here are of glueetl"),
        ({"GlueVersion": "4.0"}, "this machine runs the Spark of"),
        ({"GlueVersion": "9.9"}, "GlueVersion is '9.9'"),
        ({"NumberOfWorkers": 1, "WorkerType": "G.1X"}, "Number of Workers is 2"),
        ({"Tags": {"aws:x": "1"}}, "reserved for AWS"),
        ({"DefaultArguments": {"--job-language": "scala"}}, "only python runs locally"),
        ({"DefaultArguments": {"--conf": "spark.a"}}, "--conf is 'spark.a'"),
        ({"SessionType": "SPARK_CONNECT", "GlueVersion": "5.1"}, "SPARK_CONNECT"),
        ({"Command": {"Name": "glueetl", "PythonVersion": "2"}}, "PythonVersion is '2'"),
        ({"Connections": {"Connections": ["nowhere"]}}, "there is no connection 'nowhere'"),
        ({"SecurityConfiguration": "none"}, "'none', which does not exist; allowed: none"),
    ],
)
def test_what_no_session_can_be_is_refused(sessions, members, why):
    request = {"Id": "refused", "Role": ROLE, "Command": COMMAND, "GlueVersion": "5.1", **members}

    with pytest.raises(ClientError, match="InvalidInputException") as refusal:
        sessions.glue.create_session(**request)
    assert why in str(refusal.value)
    assert "refused" not in sessions.glue.list_sessions()["Ids"]


@pytest.mark.nightly
def test_what_happened_to_sessions_is_told(sessions, port, monkeypatch):
    enable = {"--job-bookmark-option": "job-bookmark-enable"}
    sessions.create("marked", DefaultArguments=enable)
    sessions.text("marked", "import sys\nprint('to the log', file=sys.stderr)")

    url = sessions.glue.get_system_logs_for_session(Id="marked")["SystemLogsUrl"]
    with urllib.request.urlopen(url, timeout=20) as log:  # noqa: S310 (of the port)
        assert b"to the log" in log.read()
    run_id = sessions.glue.get_job_runs(JobName="session-marked")["JobRuns"][0]["Id"]
    of_run = {"JobName": "session-marked", "RunId": run_id}
    assert run_id in sessions.glue.get_system_logs_for_job_run(**of_run)["SystemLogsUrl"]
    with Store(port.home.database) as store:
        assert any("TM282" in text for text in texts_of_run(store, run_id))
    sessions.create("fails")
    sessions.send("fails", "import os\nos._exit(3)")
    sessions.becomes("fails", "FAILED")
    sessions.glue.stop_session(Id="marked")
    sessions.becomes("marked", "STOPPED")
    monkeypatch.setenv("TIDEMARK_HOME", str(port.home.root))
    shown = tidemark("status").stdout
    assert re.search(r"\d+ sessions? ended well, the last of .*: tidemark runs", shown)
    assert "session-fails" in shown
    assert "session-marked  " not in shown


def test_a_name_is_taken_once(sessions, session):
    with pytest.raises(ClientError, match=r"AlreadyExistsException.*Session shared already"):
        sessions.create(session)
    with pytest.raises(ClientError, match=r"OperationNotSupportedException.*LIVY"):
        sessions.glue.get_session_endpoint(SessionId=session)


def test_a_process_that_dies_fails_its_session(sessions):
    sessions.create("dies")
    number = sessions.send("dies", "import os\nos._exit(3)")

    failed = sessions.becomes("dies", "FAILED")
    assert "exit code 3" in failed["ErrorMessage"]
    statement = sessions.ended("dies", number)
    output = statement["Output"]
    assert (statement["State"], output["ErrorName"]) == ("ERROR", "SessionEnded")
    assert "exit code 3" in output["ErrorValue"]
    assert (output["Data"], output["ExecutionCount"]) == ({"TextPlain": ""}, number)
    assert (statement["CompletedOn"] > 0, statement["Progress"]) == (True, 1.0)


EXHAUSTS_FILES = """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (300, 300))
kept = []
try:
    while True:
        kept.append(open("/dev/null"))
except OSError:
    pass
"""
KILLS_JVM = """
import os
os.kill(sc._jvm.java.lang.ProcessHandle.current().pid(), 9)
"""


@pytest.mark.parametrize(
    ("name", "code", "reason"),
    [
        ("exits", "import os\nos._exit(0)", "ended silently (exit code 0)"),
        ("no-files", EXHAUSTS_FILES, "Too many open files"),
        ("no-jvm", KILLS_JVM, JVM_GONE),
    ],
)
def test_a_session_that_cannot_go_on_has_failed_with_the_reason(sessions, name, code, reason):
    sessions.create(name)
    sessions.send(name, code)

    assert reason in sessions.becomes(name, "FAILED", "STOPPED")["ErrorMessage"]
    (run,) = sessions.glue.get_job_runs(JobName=f"session-{name}")["JobRuns"]
    assert run["JobRunState"] == "FAILED"


@pytest.mark.nightly
def test_code_that_does_not_let_itself_be_cancelled_ends_its_session(sessions):
    sessions.create("stubborn")
    number = sessions.send("stubborn", STUBBORN)
    wait_until(lambda: sessions.is_running("stubborn", number))

    sessions.glue.cancel_statement(SessionId="stubborn", Id=number)

    failed = sessions.becomes("stubborn", "FAILED")
    assert f"statement {number} did not end when it was cancelled" in failed["ErrorMessage"]


def test_a_session_that_is_idle_for_too_long_ends(tmp_path):
    home, moved_ms = Home.open(tmp_path / "home"), [0]
    with serving(home, Options(clock=lambda: now_ms() + moved_ms[0])) as (url, engine):
        sessions = Sessions(Port(home, url, engine).glue)
        sessions.create("idle", IdleTimeout=10)
        moved_ms[0] = 9 * 60_000
        assert sessions.text("idle", "1") == "1"
        sessions.becomes("idle", "READY")
        moved_ms[0] = 30 * 60_000

        ended = sessions.becomes("idle", "TIMEOUT")
        (run,) = sessions.glue.get_job_runs(JobName="session-idle")["JobRuns"]
        assert (ended["Status"], run["ErrorMessage"]) == ("TIMEOUT", "Session idle for 10 minutes")


@pytest.mark.nightly
def test_sessions_wait_for_each_other_and_jobs_do_not_wait_for_them(tmp_path):
    home = Home.open(tmp_path / "home")
    with serving(home, Options(max_parallel=1)) as (url, engine):
        port = Port(home, url, engine)
        sessions = Sessions(port.glue)
        for name in ("a", "b"):
            sessions.create(name)
        request = {"Role": ROLE, "Command": COMMAND, "GlueVersion": "5.1"}
        sessions.glue.create_session(Id="c", **request)

        run_id = port.glue.start_job_run(JobName=port.job("beside"))["JobRunId"]
        assert port.ended("beside", run_id)["JobRunState"] == "SUCCEEDED"
        assert sessions.becomes("c", "PROVISIONING", "READY")["Status"] == "PROVISIONING"
        sessions.glue.stop_session(Id="a")
        assert sessions.becomes("c", "READY", "FAILED")["Status"] == "READY"


@pytest.mark.nightly
def test_sessions_that_are_created_at_once_all_begin(tmp_path):
    home = Home.open(tmp_path / "home")
    with serving(home, Options(max_parallel=3)) as (url, engine):
        sessions = Sessions(Port(home, url, engine).glue)
        request = {"Role": ROLE, "Command": COMMAND, "GlueVersion": "5.1"}
        for place in range(6):
            sessions.glue.create_session(Id=str(place), **request)

        states = {sessions.becomes(str(n), "READY", *ENDED)["Status"] for n in range(6)}
        assert states == {"READY"}


def test_after_its_port_was_killed_a_session_has_failed_and_keeps_its_statements(tmp_path):
    home = Home.open(tmp_path / "home")
    server, port = start_server(home)
    sessions = Sessions(port.glue)
    sessions.create("left")
    done = sessions.send("left", "6 * 7")
    assert sessions.ended("left", done)["Output"]["Data"]["TextPlain"] == "42"
    cut = sessions.send("left", FOREVER)
    kill(server)

    with serving(home) as (url, engine):
        sessions = Sessions(Port(home, url, engine).glue)
        assert sessions.becomes("left", "FAILED")["ErrorMessage"]
        assert sessions.statement("left", done)["Output"]["Data"]["TextPlain"] == "42"
        assert sessions.statement("left", cut)["State"] == "ERROR"
