"""What `tidemark submit` shows of a script, when, and how it ends."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.ops.processes import BOUND_S, read_until, started, wait_until

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
