"""A run in the test's process leaves the tests in charge, and gives a script what Glue gives it."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from pyspark import accumulators

from tidemark.local_state.sparks.installed import own_spark
from tidemark.testing.spark_patches import expect_end
from watermarks import run_notes

pytestmark = pytest.mark.spark


@pytest.fixture
def script(tmp_path):
    """Return a function that writes a script."""

    def write(text: str, name: str = "copy_orders.py") -> Path:
        file = tmp_path / name
        file.write_text(text, encoding="utf-8")
        return file

    return write


@pytest.fixture
def time_limit():
    """Return a function that sets a time limit as pytest-timeout does: by SIGALRM."""

    def stop(*_: object) -> None:
        pytest.fail("too slow")

    before = signal.signal(signal.SIGALRM, stop)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def ctrl_c():
    """Have Ctrl-C raise KeyboardInterrupt, which a process in the background ignores."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


BUSY = (
    "import time\nfrom pyspark.context import SparkContext\n"
    "SparkContext().parallelize([1], 1).foreach(lambda _: time.sleep(30))\n"
)


def test_jvm_that_leaves_the_server_of_accumulators_prints_nothing(capsys):
    of_spark_4 = (False,) if own_spark().major >= 4 else ()  # no socket of Unix
    server = accumulators._start_update_server("", *of_spark_4)
    with socket.create_connection(server.server_address):
        time.sleep(0.1)
        expect_end(server)

    server.shutdown()

    assert capsys.readouterr().err == ""


def test_time_limit_of_a_test_ends_it_within_a_call_of_spark(glue_job, script, time_limit, spark):
    file = script(BUSY)
    time_limit(1)
    with pytest.raises(pytest.fail.Exception, match="too slow"):
        glue_job(file)

    assert glue_job(script("print('the next one')")).stdout == "the next one\n"


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_a_test_within_a_call_of_spark(glue_job, script, spark):
    main = threading.main_thread().ident
    timer = threading.Timer(1, lambda: signal.pthread_kill(main, signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        glue_job(script(BUSY))
    timer.join()

    assert glue_job(script("print('the next one')")).stdout == "the next one\n"


def test_time_limit_of_a_test_goes_on_after_a_script(glue_job, script, time_limit, spark):
    file = script("import signal\nsignal.alarm(60)\n")
    time_limit(20)
    glue_job(file).check()

    assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 20


@pytest.mark.parametrize("error", [KeyboardInterrupt, pytest.exit.Exception])
def test_ctrl_c_and_the_end_of_a_debugger_are_for_the_tests(error, glue_job, script, monkeypatch):
    def stop() -> None:
        raise error

    monkeypatch.setattr(sys, "stop", stop, raising=False)
    with pytest.raises(error):
        glue_job(script("import sys\nsys.stop()\n"))

    assert glue_job(script("print('the next one')")).stdout == "the next one\n"


STOPPED = """
import os, sys
from pathlib import Path
from pyspark import java_gateway
from pyspark.sql import SparkSession
from tidemark.local_state.home import Home
from tidemark.testing.spark_engine import SparkEngine

def interrupted(*_):
    raise KeyboardInterrupt

folder, when = Path(sys.argv[1]), sys.argv[2]
if when == "launch":
    java_gateway.time.sleep = interrupted
SparkSession.Builder.getOrCreate = interrupted
engine = SparkEngine(Home.open(folder / "home"), folder / "spark", {})
try:
    engine.session
except KeyboardInterrupt:
    print("somebody else has started Spark:", engine.has_foreign_context())
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("no JVM is left")
"""


@pytest.mark.nightly
@pytest.mark.parametrize("when", ["launch", "context"])
def test_spark_that_was_stopped_while_it_started_leaves_nothing(when, tmp_path):
    command = [sys.executable, "-c", STOPPED, str(tmp_path), when]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert done.stdout == "somebody else has started Spark: False\nno JVM is left\n"


def test_libraries_are_there_for_functions_of_users_too(lake, glue_job, script):
    text = (
        "import prices\nfrom pyspark.context import SparkContext\n"
        "print(SparkContext.getOrCreate().parallelize([1, 2]).map(prices.of).collect())\n"
    )
    told = []
    for factor in (2, 3):
        lake.put("code/prices.py", f"def of(x):\n    return {factor} * x\n")
        run = glue_job(script(text), extra_py_files="s3://code/prices.py")
        told.append(run.stdout or run.error)

    assert told == ["[2, 4]\n", "[3, 6]\n"]


def test_threads_and_exit_functions_print_before_a_run_ends(glue_job, script):
    run = glue_job(
        script(
            "import atexit, threading, time\n"
            "atexit.register(print, 'bye')\n"
            "threading.Thread(target=lambda: (time.sleep(0.2), print('late'))).start()\n"
            "print('end')\n"
        )
    )

    assert run.stdout == "end\nlate\nbye\n"


def test_script_sets_up_logging_though_a_call_of_the_jvm_had_to_be_repeated(glue_job, script):
    cut = (
        "import logging, socket\nfrom pyspark.context import SparkContext\nsc = SparkContext()\n"
        "client = sc._gateway._gateway_client\n"
        "client.get_thread_connection().socket.shutdown(socket.SHUT_RDWR)\n"
        "assert sc.parallelize([1, 2]).count() == 2\n"
        "logging.basicConfig(format='mine: %(message)s')\nlogging.warning('told')\n"
    )

    run = glue_job(script(cut))

    assert (run.state, run.where) == ("SUCCEEDED", "in process"), run.error
    assert "mine: told\n" in run.stderr


def test_script_runs_a_loop_of_its_own_in_a_test_that_is_a_coroutine(glue_job, script):
    file = script(
        "import asyncio\nasync def main():\n    print('in a loop')\nasyncio.run(main())\n"
    )

    async def test() -> str:
        run = glue_job(file)
        await asyncio.sleep(0)
        return run.stdout or str(run.error)

    assert asyncio.run(test()) == "in a loop\n"


def test_runs_of_two_threads_wait_for_each_other(glue_job, script):
    here, told = Path.cwd(), []

    def run(name: str) -> None:
        text = f"import time\nprint('{name}')\ntime.sleep(0.3)\nprint('{name}')\n"
        told.append(glue_job(script(text, f"{name}.py")).stdout)

    threads = [threading.Thread(target=run, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(told) == ["one\none\n", "two\ntwo\n"]
    assert Path.cwd() == here


def test_measure_of_coverage_sees_the_script_and_not_its_copy(glue_job, script):
    file = script("x = 1\n")
    seen: list[str] = []

    def trace(frame, *_):
        if frame.f_code.co_filename == str(file):
            seen.append(frame.f_globals["__file__"])

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        glue_job(file)
    finally:
        sys.settrace(before)

    assert seen[0] == str(file)  # for coverage.py, the first decides
    assert seen[-1] != str(file)


@pytest.mark.nightly
def test_stream_that_may_not_end_gets_a_process_that_can_be_ended(glue_job, script):
    run = glue_job(script("def start(query):\n    query.awaitTermination()\n"))

    assert run.where == "isolated: it calls awaitTermination, which may not end"


def test_lines_of_json_end_with_a_newline_only(lake):
    rows = [{"text": "one\u2028two\x85three"}, {"text": "four"}]
    lake.put("landing/1.json", rows)

    assert lake.rows("landing/") == rows


@pytest.mark.nightly
def test_library_that_a_test_has_used_knows_of_a_run_only_what_the_run_did(glue_job, script):
    run_notes.note_committed("s3://of-the-test/")
    shown = (
        "from watermarks import run_notes\n"
        "print(run_notes.committed_reads(), run_notes.code_digests()['script'][:8])\n"
        "run_notes.note_committed('s3://of-the-run/')\n"
    )

    first = glue_job(script(shown)).stdout
    second = glue_job(script(f"{shown}#", "other.py")).stdout

    assert (first[:3], second[:3]) == ("[] ", "[] ")
    assert first != second  # each its own script
    assert run_notes.committed_reads() == ["s3://of-the-test/"]
