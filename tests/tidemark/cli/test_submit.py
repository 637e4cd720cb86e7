"""What `tidemark submit` shows of a script, when, and how it ends."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.tidemark.cli.processes import read_until, started
from tests.waiting import BOUND_S, wait_until
from tidemark.errors import UsageError
from tidemark.glue_service.submission import read_submission
from tidemark.local_state.store.database import Store

pytestmark = pytest.mark.stress


@pytest.fixture
def submit(home, tmp_path):
    """Return a starter of `tidemark submit` of a script of this text."""

    def submit(text: str):
        path = tmp_path / "count_rows.py"
        path.write_text(text, encoding="utf-8")
        return started("submit", str(path))

    return submit


def log(home: Path, name: str) -> bytes:
    (path,) = home.glob(f"runs/*/{name}")
    return path.read_bytes()


def test_output_is_shown_while_the_script_runs_byte_by_byte(submit, home, tmp_path):
    mark = tmp_path / "mark"
    script = (
        "import pathlib, sys, time\n"
        "sys.stdout.buffer.write(b'half a line, \\xff')\n"
        f"while not pathlib.Path({str(mark)!r}).exists(): time.sleep(0.01)\n"
        "print(' and the rest')\n"
    )

    with submit(script) as process:
        read_until(process, b"half a line, \xff")
        mark.touch()
        rest, _ = process.communicate(timeout=BOUND_S)

    assert rest.startswith(b" and the rest\n")
    assert b"SUCCEEDED" in rest
    assert log(home, "stdout.log") == b"half a line, \xff and the rest\n"


@pytest.mark.nightly
def test_no_line_of_many_is_lost_when_the_process_ends_at_once(submit):
    script = (
        "import os\n"
        "os.write(1, b''.join(b'%d\\n' % n for n in range(1_000_000)))\n"
        "print('the end', end='')\n"
        "os._exit(0)\n"
    )

    with submit(script) as process:
        output, _ = process.communicate(timeout=BOUND_S)

    lines = output.splitlines()
    assert lines[1:1_000_001] == [b"%d" % n for n in range(1_000_000)]
    assert lines[1_000_001] == b"the end"
    assert b"SUCCEEDED" in lines[1_000_002]


@pytest.mark.nightly
def test_what_a_killed_script_wrote_last_is_shown(submit):
    with submit("import os\nprint('last words', end='')\nos.kill(os.getpid(), 9)\n") as process:
        output, _ = process.communicate(timeout=BOUND_S)

    assert process.returncode == 1
    assert b"last words\n" in output
    assert output.count(b"killed by SIGKILL") == 1


def test_stderr_of_the_script_goes_to_stderr_without_that_of_others(submit, home):
    script = (
        "import os, sys, warnings\n"
        "print('half a line', end='')\n"
        "print('from the script', file=sys.stderr)\n"
        "warnings.warn('of Python')\n"
        "os.write(2, b'from the JVM\\n')\n"
    )

    with submit(script) as process:
        output, errors = process.communicate(timeout=BOUND_S)

    assert b"half a line\n" in output
    assert b"from the script\n" in errors
    assert b"of Python" in errors
    assert b"JVM" not in output + errors
    assert b"from the script\n" in log(home, "stderr.log")
    assert b"from the JVM\n" in log(home, "stderr.log")


def test_reader_that_leaves_does_not_stop_the_run(submit, home, tmp_path):
    mark = tmp_path / "mark"
    script = (
        "import pathlib, time\nprint('first')\n"
        f"while not pathlib.Path({str(mark)!r}).exists(): time.sleep(0.01)\n"
        "for n in range(100): print(n)\npathlib.Path('finished').touch()\n"
    )

    with submit(script) as process:
        read_until(process, b"first")
        process.stdout.close()
        mark.touch()
        process.wait(BOUND_S)

    assert list(home.glob("runs/*/finished"))


def test_ctrl_c_stops_the_script_shows_its_output_and_ends_with_130(submit, tmp_path):
    mark = tmp_path / "mark"
    script = (
        f"import pathlib, time\nprint('at work', end='')\npathlib.Path({str(mark)!r}).touch()\n"
    )

    with submit(f"{script}time.sleep(600)\n") as process:
        wait_until(mark.exists)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=BOUND_S)

    assert process.returncode == 130
    assert b"at work\n" in output
    assert output.count(b"STOPPED") == 1
    assert b"continues from what was committed" in errors
    assert b"Traceback" not in errors


def test_failure_is_told_once_and_names_the_file_that_was_submitted(submit, home, tmp_path):
    with submit("def work():\n    return {}['day']\n\nwork()\n") as process:
        output, errors = process.communicate(timeout=BOUND_S)

    assert process.returncode == 1
    assert output.count(b"KeyError: 'day' (count_rows.py, line 2)") == 1
    assert output.count(b"log: ") == 1
    assert b"Traceback" not in output + errors
    traceback = log(home, "stderr.log").decode()
    assert f'File "{tmp_path}/count_rows.py", line 4, in <module>\n    work()' in traceback
    assert "return {}['day']" in traceback


@pytest.mark.nightly
@pytest.mark.parametrize("closed", ["<&- >&-", ">&- 2>&-"])
def test_closed_stream_stops_no_command(home, tmp_path, closed):
    script = tmp_path / "ok.py"
    script.write_text("print('x')\nopen('finished', 'w').close()\n", encoding="utf-8")
    command = f"exec {sys.executable} -m tidemark"

    submitted = subprocess.run(["sh", "-c", f"{command} submit {script} {closed}"], check=False)
    listed = subprocess.run(["sh", "-c", f"{command} catalog list {closed}"], check=False)

    assert (submitted.returncode, listed.returncode) == (0, 0)
    assert list(home.glob("runs/*/finished"))


@pytest.mark.nightly
def test_full_disk_behind_stdout_is_not_taken_for_that_of_the_home(submit, home, tmp_path):
    script = tmp_path / "ok.py"
    script.write_text("print('x')\n", encoding="utf-8")

    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "tidemark", "submit", str(script)],
            stdout=full,
            stderr=subprocess.PIPE,
        )

    assert (done.returncode, str(home) in done.stderr.decode()) == (1, False)
    with Store(home / "glue.sqlite") as store:
        assert store.latest_job_run("ok").state == "STOPPED"


@pytest.mark.nightly
def test_error_and_warning_with_a_name_that_is_not_utf_8_are_shown_and_kept(submit, home):
    script = (
        "from tidemark.local_state.run_warnings import RunWarning, note\n"
        "note(RunWarning.OLD_FILES, 's3://b/\\udcff.json [bold]')\n"
        "raise ValueError('no file \\udcff [/bold]')\n"
    )

    with submit(script) as process:
        output, errors = process.communicate(timeout=BOUND_S)

    assert b"Traceback" not in output + errors.replace(b"Traceback (most recent call last)", b"", 1)
    assert b"no file \\udcff [/bold]" in output
    assert b"s3://b/\\udcff.json [bold] arrived" in output
    with Store(home / "glue.sqlite") as store:
        assert store.latest_job_run("count-rows").state == "FAILED"


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\nb", "\udcff", "é" * 126])
def test_name_that_cannot_be_that_of_a_file_is_refused(tmp_path, name):
    script = tmp_path / "ok.py"
    script.touch()

    with pytest.raises(UsageError, match="--JOB_NAME"):
        read_submission(script, ["--JOB_NAME", name])


def test_several_confs_are_one_as_glue_chains_them(tmp_path):
    script = tmp_path / "ok.py"
    script.touch()

    submission = read_submission(script, ["--conf", "spark.a=1", "--x", "y", "--conf=spark.b=2"])

    assert submission.arguments == {"--conf": "spark.a=1 --conf spark.b=2", "--x": "y"}


def test_an_argument_given_twice_is_refused(tmp_path):
    script = tmp_path / "ok.py"
    script.touch()

    with pytest.raises(UsageError, match="--day is given twice"):
        read_submission(script, ["--day", "1", "--day", "2"])


@pytest.mark.nightly
def test_job_reaches_the_local_dynamodb_past_proxies_and_profiles(submit, monkeypatch):
    foreign = {"AWS_PROFILE": "nope", "HADOOP_CONF_DIR": "x", "HIVE_CONF_DIR": "x"}
    proxy = {"http_proxy": "http://127.0.0.1:9", "no_proxy": "intranet"}
    for name, value in {**foreign, **proxy}.items():
        monkeypatch.setenv(name, value)
    script = (
        "import os, boto3\n"
        f"print([name for name in {list(foreign)} if name in os.environ], os.environ['no_proxy'])\n"
        "print(boto3.client('dynamodb').list_tables()['TableNames'])\n"
    )

    with submit(script) as process:
        output, _ = process.communicate(timeout=BOUND_S)

    assert b"[] intranet,127.0.0.1,localhost\n[]\n" in output


@pytest.mark.nightly
def test_boto3_in_a_script_finds_the_lake_and_the_data_catalog(submit, home):
    (home / "lake" / "shop").mkdir(parents=True)
    (home / "lake" / "shop" / "a.csv").write_text("id\n1\n", encoding="utf-8")
    script = (
        "import boto3\n"
        "s3 = boto3.client('s3')\n"
        "found = s3.list_objects_v2(Bucket='shop')['Contents']\n"
        "s3.put_object(Bucket='shop', Key=f'archive/{found[0][\"Key\"]}', Body=b'x')\n"
        "print([one['Name'] for one in boto3.client('glue').get_databases()['DatabaseList']])\n"
        "boto3.client('athena').list_work_groups()\n"
    )

    with submit(script) as process:
        output, errors = process.communicate(timeout=BOUND_S)

    assert b"['default']\n" in output
    assert (home / "lake" / "shop" / "archive" / "a.csv").read_bytes() == b"x"
    assert b"has no service 'athena'" in output + (errors or b"")
    assert process.returncode == 1


def test_a_breakpoint_has_the_terminal_of_the_command(home, tmp_path):
    script = tmp_path / "totals.py"
    script.write_text("total = 40 + 2\nbreakpoint()\nprint('the end')\n", encoding="utf-8")
    keys, screen = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "tidemark", "submit", str(script)],
        stdin=screen,
        stdout=screen,
        stderr=screen,
        close_fds=True,
    ) as process:
        os.close(screen)
        try:
            shown = read_terminal(keys, b"(Pdb) ")
            os.write(keys, b"p total\n")
            answer = read_terminal(keys, b"(Pdb) ")
            os.write(keys, b"c\n")
            rest = read_terminal(keys, b"SUCCEEDED")
            process.wait(BOUND_S)
        finally:
            process.kill()
            os.close(keys)

    assert b"totals.py(3)<module>()" in shown
    assert b"42" in answer
    assert b"the end" in rest
    assert process.returncode == 0


def read_terminal(keys: int, wanted: bytes) -> bytes:
    found = b""
    while wanted not in found:
        found += os.read(keys, 65_536)
    return found


@pytest.mark.nightly
def test_a_breakpoint_without_a_terminal_says_where_it_stops(submit):
    with submit("breakpoint()\n") as process:
        output, _ = process.communicate(timeout=BOUND_S)

    assert process.returncode == 1
    assert b"breakpoint() stops where a terminal is" in output
    assert b"(count_rows.py, line 1)" in output


@pytest.mark.nightly
@pytest.mark.parametrize("served", [False, True])
def test_a_time_limit_ends_the_run(home, tmp_path, served):
    script = tmp_path / "waits.py"
    script.write_text("import time\ntime.sleep(600)\n", encoding="utf-8")
    with ExitStack() as stack:
        if served:
            serves = stack.enter_context(started("serve", "--port", "0"))
            stack.callback(serves.terminate)
            read_until(serves, b"http://")
        with started("submit", "--timeout", "1", str(script)) as process:
            output, _ = process.communicate(timeout=BOUND_S)

    assert process.returncode == 1
    assert b"TIMEOUT" in output
    assert b"timed out after 1 minute" in output


def test_a_time_limit_is_minutes_of_a_job(home, tmp_path):
    script = tmp_path / "waits.py"
    script.write_text("", encoding="utf-8")

    with started("submit", "--timeout", "0", str(script)) as process:
        _, errors = process.communicate(timeout=BOUND_S)

    assert process.returncode == 2
    assert b"1<=x<=10080" in errors
