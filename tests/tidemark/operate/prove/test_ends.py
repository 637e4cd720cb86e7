"""How the command ends: what it says without data or time, and its exit code."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
import time

import pytest
from click.testing import CliRunner

from tests.tidemark.operate.prove.jobs import BOOKMARK, COMMIT, NEW, WHERE_ANY
from tests.waiting import BOUND_S, wait_until
from tidemark.cli.commands.prove import Deadline
from tidemark.cli.environment import interrupted_once
from tidemark.cli.main import main
from tidemark.operate.prove import prove
from tidemark.operate.prove.bench import NOT_OPENED

APPEND = NEW + WHERE_ANY + 'rows.write.mode("append").parquet(OUT)' + COMMIT
HANGS_IN_A_LATER_RUN = (
    NEW
    + """
import time
import boto3

if boto3.client("s3").list_objects_v2(Bucket="lake", Prefix="out/")["KeyCount"]:
    time.sleep(600)
"""
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TIDEMARK_HOME", str(tmp_path / "home"))
    return tmp_path


@pytest.mark.parametrize(("text", "seconds"), [("90", 90), ("90s", 90), ("1.5m", 90), ("1", 1)])
def test_a_budget_has_a_unit_or_is_in_seconds(text, seconds):
    assert Deadline().convert(text, None, None) - time.monotonic() == pytest.approx(seconds, 0.1)


@pytest.mark.parametrize("text", ["0.5", "0m", "1h", "-5", "", "nan", "s"])
@pytest.mark.usefixtures("folder")
def test_a_budget_that_is_no_time_is_refused(text):
    result = CliRunner().invoke(main, ["prove", "--budget", text, "job.py"])

    assert result.exit_code == 2
    assert f"{text!r} is not a time; allowed: at least 1s" in result.stderr


@pytest.mark.parametrize("option", ["--key", "--ignore"])
@pytest.mark.parametrize("names", ["", " , ", "id,id"])
def test_names_that_name_nothing_or_one_column_twice_are_refused(folder, option, names):
    (folder / "job.py").write_text("", encoding="utf-8")

    result = CliRunner().invoke(main, ["prove", option, names, "job.py"])

    assert result.exit_code == 2
    assert f"{option} {names!r}: give names, each once" in result.stderr


@pytest.mark.usefixtures("folder")
def test_without_anything_to_prove_it_says_what_to_give():
    result = CliRunner().invoke(main, ["prove"])

    assert result.exit_code == 2
    assert "nothing to prove: give a script with its arguments" in result.stderr


@pytest.mark.parametrize("line", ["import psycopg2", "df.write.format('mongodb').save()"])
def test_a_client_of_a_database_that_cannot_be_watched_is_refused(folder, line):
    script = folder / "job.py"
    script.write_text(APPEND + line, encoding="utf-8")

    result = CliRunner().invoke(main, ["prove", str(script), *BOOKMARK])

    assert result.exit_code == 2
    assert "job.py:" in result.stderr
    assert "JDBC, whose changes" in result.stderr


def test_such_a_client_in_a_module_of_the_script_is_refused(folder):
    (folder / "job.py").write_text(APPEND, encoding="utf-8")
    (folder / "store.py").write_text("import psycopg2\n", encoding="utf-8")

    result = CliRunner().invoke(main, ["prove", "job.py", "--extra-py-files", "store.py"])

    assert result.exit_code == 2
    assert "store.py:1" in result.stderr


@pytest.mark.usefixtures("folder")
def test_a_state_that_no_proof_has_kept_is_refused():
    result = CliRunner().invoke(main, ["prove", "--replay", "zzzzzz"])

    assert result.exit_code == 2
    assert "--replay zzzzzz: no state of the last proof has this name" in result.stderr


WAITS = """
import time
import boto3

s3, lock = boto3.client("s3"), {"Bucket": "lake", "Key": "locks/orders"}
while s3.list_objects_v2(Bucket="lake", Prefix="locks/")["KeyCount"]:
    time.sleep(0.2)
s3.put_object(**lock)
s3.put_object(Bucket="lake", Key="out/day1.json", Body=b'{"id": 1}')
s3.delete_object(**lock)
"""


@pytest.mark.spark
@pytest.mark.nightly
def test_a_run_that_waits_for_ever_is_stopped_and_told(project, monkeypatch):
    monkeypatch.setattr(prove, "MIN_PATIENCE_S", 20.0)
    monkeypatch.setattr(prove, "PATIENCE", 1.0)
    (project / "job.py").write_text(WAITS, encoding="utf-8")

    result = CliRunner().invoke(main, ["prove", "--kind", "crash", "job.py"])

    assert result.exit_code == 1, result.output
    assert "fix job.py line 8" in result.output
    assert "the run had not ended after" in result.output
    assert "(TM514)" in result.output


BY_DAY = """
from datetime import UTC, datetime
import boto3

s3, folder = boto3.client("s3"), f"out/{datetime.now(UTC):%Y-%m-%d}"
for entry in s3.list_objects_v2(Bucket="lake", Prefix="in/").get("Contents", []):
    body = s3.get_object(Bucket="lake", Key=entry["Key"])["Body"].read()
    s3.put_object(Bucket="lake", Key=f"{folder}/{entry['Key'][3:]}", Body=body)
    s3.delete_object(Bucket="lake", Key=entry["Key"])
"""


@pytest.mark.spark
@pytest.mark.nightly
@pytest.mark.parametrize(("options", "code"), [((), 4), (("--ignore", "another day"), 0)])
def test_what_is_named_after_the_day_is_not_judged(project, options, code):
    (project / "job.py").write_text(BY_DAY, encoding="utf-8")

    result = CliRunner().invoke(main, ["prove", "--kind", "crash", *options, "job.py"])

    assert result.exit_code == code, result.output
    assert ("another day: the run names s3://lake/out/" in result.output) is (code == 4)


@pytest.mark.spark
@pytest.mark.nightly
def test_a_job_that_takes_messages_proves_nothing(project):
    script = project / "job.py"
    takes = """
import boto3

sqs = boto3.client("sqs")
queue = sqs.create_queue(QueueName="work")["QueueUrl"]
getattr(sqs, "receive_" + "message")(QueueUrl=queue)
"""
    write = WHERE_ANY + 'rows.write.mode("append").parquet(OUT)' + COMMIT
    script.write_text(NEW + takes + write, encoding="utf-8")

    result = CliRunner().invoke(main, ["prove", str(script), *BOOKMARK])

    assert result.exit_code == 3
    assert re.search(r"job.py line \d+ takes messages from a queue", result.stderr)


@pytest.mark.spark
@pytest.mark.nightly
def test_a_bucket_is_named_by_its_folder_in_a_lake_without_a_home(project):
    script = project / "job.py"
    write = WHERE_ANY + 'rows.write.mode("append").parquet("s3://nowhere/out/")' + COMMIT
    script.write_text(NEW + write, encoding="utf-8")

    lake = project / "home" / "lake"
    result = CliRunner().invoke(main, ["prove", "--lake", str(lake), str(script), *BOOKMARK])

    assert result.exit_code == 3
    assert f"mkdir {lake}/nowhere" in result.stderr


@pytest.mark.spark
@pytest.mark.nightly
def test_a_job_of_an_app_that_has_not_run_is_tried_with_crashes(project, write_assembly):
    script = APPEND.replace("job.commit()", "pass")
    app = write_assembly({"load": script})
    for day in (2, 3, 4):  # of one file, and so without a later run: quick
        (project / f"home/lake/lake/in/day{day}.json").unlink()

    words = ["prove", "--app", str(app), "--kind", "crash", "--format", "json", "load"]
    result = CliRunner().invoke(main, words)

    assert result.exit_code == 1, result.stderr
    assert json.loads(result.stdout)["verdict"] == "doubled"


@pytest.mark.spark
@pytest.mark.nightly
def test_a_job_that_fails_by_itself_proves_nothing(project):
    script = project / "job.py"
    script.write_text(NEW + "raise ValueError('no')", encoding="utf-8")

    result = CliRunner().invoke(main, ["prove", str(script), *BOOKMARK])

    assert result.exit_code == 3
    assert "it fails without any experiment: job: ValueError: no" in result.stderr


@pytest.mark.spark
@pytest.mark.nightly
def test_the_budget_ends_a_run_that_hangs(project):
    script = project / "job.py"
    write = WHERE_ANY + 'rows.write.mode("append").parquet(OUT)' + COMMIT
    script.write_text(HANGS_IN_A_LATER_RUN + write, encoding="utf-8")
    began = time.monotonic()

    words = ["prove", "--budget", "90s", "--kind", "again,twice", str(script), *BOOKMARK]
    result = CliRunner().invoke(main, words)

    assert time.monotonic() - began < 150  # a busy machine also starts and stops JVMs
    assert result.exit_code == 3, result.output
    lines = [line for line in result.stdout.splitlines() if "the budget" in line]
    assert [line[:11] for line in lines] == ["- not tried"] * 2
    assert "a run with nothing new: the budget ended while it ran" in lines[0]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_interruption_is_noted_and_the_second_one_ends_the_proof(number):
    event, before = threading.Event(), signal.getsignal(number)

    with interrupted_once(event):
        signal.raise_signal(number)
        assert event.is_set()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)

    assert signal.getsignal(number) == before


@pytest.mark.spark
@pytest.mark.nightly
def test_an_interrupted_proof_shows_what_it_has_found(project):
    script, marker = project / "job.py", project / "hangs"
    hangs = HANGS_IN_A_LATER_RUN.replace("time.sleep", f"open({str(marker)!r}, 'w'); time.sleep")
    write = WHERE_ANY + 'rows.write.mode("append").parquet(OUT)' + COMMIT
    script.write_text(hangs + write, encoding="utf-8")
    words = ["prove", "--kind", "again,twice", str(script), *BOOKMARK]
    command = [sys.executable, "-m", "tidemark", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        wait_until(marker.exists)

        process.send_signal(signal.SIGINT)
        stdout, _ = process.communicate(timeout=BOUND_S)

    assert process.returncode == 130, stdout
    assert "a run with nothing new: the proof was interrupted while it ran" in stdout


@pytest.mark.parametrize(
    "failure",
    [
        "j: ERROR XSDB6: Another instance of Derby may have already booted the database /a/b.c. "
        "(j.py, line 16)",
        "ERROR XSDB6: Another instance of Derby may have already booted the database /a/b.c.",
        "ERROR XBM0A: The database directory '/a/b.c' exists. However, it does not contain",
        "java.sql.SQLException: Failed to start database '/a/b.c' with class loader, see the next",
    ],
)
def test_a_database_that_another_process_of_the_proof_has_open_is_found(failure):
    found = NOT_OPENED.search(failure)

    assert found is not None
    assert found[1] == "/a/b.c"
