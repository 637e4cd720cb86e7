"""The statements of a session: outputs, errors, cancellations, and code that does harm."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from tests.waiting import wait_until
from tidemark.glue_job.session.statement_files import statement_files
from tidemark.local_state.store.database import Store

pytestmark = pytest.mark.spark
FOREVER = "import time\nwhile True:\n    time.sleep(0.01)"


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("1 + 1", "2"),
        ("a = 5", ""),
        ("print('b')\n'c'", "b\n'c'"),
        ("None", ""),
        ("import sys\nprint('out')\nprint('err', file=sys.stderr)", "out\nerr"),
        ("def twice(x):\n    return 2 * x\n[twice(n) for n in range(3)]", "[0, 2, 4]"),
        ("spark.range(2).show()", "+---+\n| id|\n+---+\n|  0|\n|  1|\n+---+"),
        ("sc is spark.sparkContext, type(glueContext).__name__", "(True, 'GlueContext')"),
        ("spark.createDataFrame([(1,)], 'n int').rdd.map(lambda r: r.n + 1).collect()", "[2]"),
        ("print('é', '\\U0001f30a')", "é 🌊"),
        ("", ""),
        ("# only a comment", ""),
    ],
)
def test_what_a_statement_shows_is_as_in_a_shell(sessions, session, code, shown):
    assert sessions.text(session, code) == shown


def test_names_stay_from_statement_to_statement(sessions, session):
    sessions.text(session, "kept = [1]")
    sessions.text(session, "kept.append(2)")

    assert sessions.text(session, "kept") == "[1, 2]"


def test_clients_without_pictures_read_the_text_beside_one(sessions, session):
    figure = "type('Figure', (), {'savefig': lambda self, file, format: file.write(b'image')})()"
    code = f"drawn = {figure}\nprint('a bar')\n%matplot drawn"

    assert sessions.text(session, code) == "a bar"


def test_arguments_are_those_of_a_session_and_not_of_a_job(sessions, session):
    arguments = sessions.text(session, "import sys\nsys.argv[1:]")

    assert "'--SESSION_ID', 'shared'" in arguments
    assert "'--of', 'tests'" in arguments
    assert "JOB_NAME" not in arguments
    # Source: https://docs.aws.amazon.com/glue/latest/dg/interactive-sessions-chapter.html
    assert "'--job-bookmark-option', 'job-bookmark-disable'" in arguments


@pytest.mark.parametrize(
    ("code", "name", "value", "last"),
    [
        ("x = 1\nx / 0", "ZeroDivisionError", "division by zero", 'statement {number}>", line 2'),
        ("def (", "SyntaxError", "invalid syntax", "SyntaxError: invalid syntax"),
        ("import sys\nsys.exit(3)", "SystemExit", "3", "SystemExit: 3"),
        ("exit()", "SystemExit", "None", "SystemExit: None"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt", "", "KeyboardInterrupt"),
        ("spark.table('nowhere')", "AnalysisException", "nowhere", "nowhere"),
    ],
)
def test_an_error_is_of_the_statement_and_the_session_goes_on(
    sessions, session, code, name, value, last
):
    number = sessions.send(session, code)
    statement = sessions.ended(session, number)

    output = statement["Output"]
    assert (statement["State"], output["Status"]) == ("AVAILABLE", "error")
    assert output["ErrorName"] == name
    assert value in output["ErrorValue"]
    assert last.replace("{number}", str(number)) in "\n".join(output["Traceback"])
    assert "serve.py" not in str(output["Traceback"])
    assert sessions.text(session, "'on'") == "'on'"


def test_statements_run_in_order_and_are_listed(sessions, session):
    first = sessions.send(session, "import time\ntime.sleep(0.3)\norder = ['first']")
    second = sessions.send(session, "order.append('second')\norder")

    assert sessions.ended(session, second)["Output"]["Data"]["TextPlain"] == "['first', 'second']"
    listed = sessions.glue.list_statements(SessionId=session)["Statements"]
    by_number = {statement["Id"]: statement for statement in listed}
    assert by_number[first]["CompletedOn"] <= by_number[second]["StartedOn"]
    assert by_number[second]["Code"].startswith("order.append")
    assert by_number[second]["Progress"] == 1.0


def test_much_output_is_cut_and_the_log_has_all_of_it(sessions, session, port):
    text = sessions.text(session, "print('x' * 3_000_000)\n'the end'")

    assert len(text) < 1_000_100
    assert text.endswith("2,000,011 more characters are in the log of the run")
    run_id = sessions.glue.get_job_runs(JobName=f"session-{session}")["JobRuns"][0]["Id"]
    assert "'the end'" in port.printed(run_id)


def test_a_fork_runs_no_second_session(sessions, session):
    code = "import os\npid = os.fork()\nif pid:\n    os.waitpid(pid, 0)\nprint(pid > 0)"

    assert sessions.text(session, code) == "True"
    assert sessions.text(session, "'one'") == "'one'"


@pytest.mark.parametrize(
    "code",
    [
        FOREVER,
        "while True: pass",
        "spark.range(0, 10**12, 1, 4).selectExpr('sum(id * 2)').collect()",
        "sc._jvm.java.lang.Thread.sleep(60_000)",
    ],
)
def test_a_statement_that_never_ends_is_cancelled(sessions, session, code):
    number = sessions.send(session, code)
    waiting = sessions.send(session, "never = 1")
    wait_until(lambda: sessions.is_running(session, number))

    sessions.glue.cancel_statement(SessionId=session, Id=waiting)
    sessions.glue.cancel_statement(SessionId=session, Id=number)

    assert sessions.ended(session, number)["State"] == "CANCELLED"
    assert sessions.ended(session, waiting)["State"] == "CANCELLED"
    assert sessions.text(session, "'never' in globals()") == "False"
    assert sessions.text(session, "spark.range(3).count()") == "3"


def test_a_waiting_statement_that_is_cancelled_ends_nothing_else(sessions, session):
    long = sessions.send(session, "import time\nfor _ in range(60):\n    time.sleep(0.05)\n'done'")
    waiting = sessions.send(session, "2")
    wait_until(lambda: sessions.is_running(session, long))

    sessions.glue.cancel_statement(SessionId=session, Id=waiting)

    assert sessions.ended(session, waiting)["State"] == "CANCELLED"
    assert sessions.ended(session, long)["Output"]["Data"]["TextPlain"] == "'done'"


def test_a_forked_process_that_is_ended_leaves_the_session_open(sessions, session):
    code = """
import multiprocessing
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(abs, [-1, -2]))
"""
    assert sessions.text(session, code) == "[1, 2]"
    assert sessions.text(session, "'open'") == "'open'"


def test_a_handler_of_a_signal_that_raises_between_statements_ends_nothing(sessions, session):
    code = """
import signal
def late(*_):
    heard.append(1)
    raise ValueError("late")
heard = []
signal.signal(signal.SIGALRM, late)
_ = signal.setitimer(signal.ITIMER_REAL, 0.2)
"""
    sessions.text(session, code)
    time.sleep(0.4)

    assert sessions.text(session, "heard") == "[1]"


def test_a_statement_that_cannot_be_sent_is_none(sessions, session, port):
    pid = int(sessions.text(session, "import os\nos.getpid()"))
    (run,) = sessions.glue.get_job_runs(JobName=f"session-{session}")["JobRuns"]
    with Store(port.home.database) as store:
        folder = Path(store.job_run(run["Id"]).log_path).parent
    before = statement_files(folder).numbers()
    os.kill(pid, signal.SIGSTOP)
    try:
        pipe = os.open(statement_files(folder).requests, os.O_WRONLY | os.O_NONBLOCK)
        stat = Path(f"/proc/{pid}/stat")
        wait_until(lambda: ") T " in stat.read_text(encoding="utf-8"))
        for size in (4096, 1):  # to the last byte
            with suppress(BlockingIOError):
                while True:
                    os.write(pipe, b"\n" * size)
        os.close(pipe)
        with pytest.raises(ClientError, match=r"IllegalSessionState.*cannot take a statement"):
            sessions.send(session, "1")
        assert statement_files(folder).numbers() == before
    finally:
        os.kill(pid, signal.SIGCONT)

    assert sessions.text(session, "'on'") == "'on'"


def test_an_error_without_a_text_is_of_its_statement(sessions, session):
    code = """
class Mute(Exception):
    def __str__(self):
        raise ValueError("no text")
raise Mute()
"""
    output = sessions.run(session, code)

    assert (output["ErrorName"], "ValueError" in output["ErrorValue"]) == ("Mute", True)
    assert sessions.text(session, "'open'") == "'open'"


def test_code_that_closes_all_files_ends_its_session_by_name(sessions):
    sessions.create("closes")
    sessions.send("closes", "import os\nos.closerange(3, 400)")

    # The thread that reads the pipe says so, or the one that writes the record.
    assert "Bad file descriptor" in sessions.becomes("closes", "FAILED")["ErrorMessage"]


def test_a_statement_that_has_ended_stays_as_it_is_when_it_is_cancelled(sessions, session):
    number = sessions.send(session, "'done'")
    before = sessions.ended(session, number)

    sessions.glue.cancel_statement(SessionId=session, Id=number)

    assert sessions.ended(session, number) == before


def test_unknown_numbers_and_too_much_code_are_refused(sessions, session):
    with pytest.raises(ClientError, match=r"EntityNotFoundException.*no statement 9999"):
        sessions.statement(session, 9999)
    with pytest.raises(ClientError, match=r"ValidationException|InvalidInputException"):
        sessions.send(session, "#" * 68_001)
    with pytest.raises(ClientError, match="EntityNotFoundException"):
        sessions.send("nobody", "1")
