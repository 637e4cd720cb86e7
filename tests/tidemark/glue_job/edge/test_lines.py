"""Which line of a script makes a change: that of the thread that works, not of one that waits."""

from __future__ import annotations

import threading
from collections.abc import Callable
from textwrap import dedent

import pytest

from tidemark.glue_job.edge.announce import Calls, calls_of, is_own

SCRIPT = "job.py"


def line_of(script: str) -> int | None:
    """Return the innermost line of a script that makes a change now."""
    lines = [line for name, line in calls_of(script).lines if name == script]
    return lines[-1] if lines else None


def run(text: str) -> list[int | None]:
    """Run a script whose functions find its line; return what was found.

    A call of the JVM ends in `send_command`: the line is looked for from another thread, as by the
    one that the JVM asks. `awaitTermination` waits for the batch of a stream, if there is one; the
    change of a stream without one is made meanwhile. `look` looks from its own thread.
    """
    found: list[int | None] = []

    def send_command() -> None:
        elsewhere = threading.Thread(target=lambda: found.append(line_of(SCRIPT)))
        elsewhere.start()
        elsewhere.join()

    def look() -> None:
        found.append(line_of(SCRIPT))

    def awaitTermination(each: Callable[[], None] | None = None) -> None:  # noqa: N802 (Spark's)
        if each is None:
            send_command()
            return
        callback = threading.Thread(target=each)
        callback.start()
        callback.join()

    names = {
        "send_command": send_command,
        "look": look,
        "awaitTermination": awaitTermination,
        "threading": threading,
    }
    exec(compile(dedent(text), SCRIPT, "exec"), names)  # noqa: S102 (the script above)
    return found


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x = 1\nsend_command()\n", 2),
        (
            """\
            def write():
                send_command()
            worker = threading.Thread(target=write)
            worker.start()
            worker.join()
            """,
            2,
        ),
        (
            """\
            def each():
                send_command()
            awaitTermination(each)
            """,
            2,
        ),
        ("x = 1\nawaitTermination()\n", 2),
        (
            """\
            def upload():
                look()
            worker = threading.Thread(target=upload)
            worker.start()
            worker.join()
            """,
            2,
        ),
    ],
    ids=["main thread", "thread", "batch of a stream", "stream", "own thread"],
)
def test_the_line_is_that_of_the_thread_that_makes_the_change(text, line):
    assert run(text) == [line]


def test_another_script_has_no_line():
    assert line_of("another.py") is None


GUARDED = """\
import timeit
import lib
def put():
    look()
put()
try:
    put()
except ValueError:
    pass
with open("/dev/null"):
    lib.write(look)
lib.write(look)
timeit.timeit(lambda: look(), number=1)
"""


def test_the_calls_of_a_change_and_whether_the_run_may_go_on_after_an_error(tmp_path, monkeypatch):
    script = tmp_path / "job.py"
    script.write_text(GUARDED, encoding="utf-8")
    (tmp_path / "lib.py").write_text("def write(call):\n    call()\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    found: list[Calls] = []
    names = {"look": lambda: found.append(calls_of(str(script))), "__name__": "__main__"}

    exec(compile(GUARDED, str(script), "exec"), names)  # noqa: S102 (the script above)

    lines = [
        [(name, line) for name, line in calls.lines if name != "test_lines.py"] for calls in found
    ]
    assert lines == [
        [("job.py", 5), ("job.py", 4)],
        [("job.py", 7), ("job.py", 4)],
        [("job.py", 11), ("lib.py", 2)],
        [("job.py", 12), ("lib.py", 2)],
        [("job.py", 13), ("job.py", 13)],
    ]
    assert [calls.may_go_on for calls in found] == [False, True, True, False, True]


@pytest.mark.parametrize(
    ("file", "own"),
    [
        ("/home/me/etl/job.py", True),
        ("/home/me/etl/libs.zip/lib.py", True),
        ("/home/me/libs.zip/watermarks/api.py", False),
        ("/usr/lib/python3/site-packages/boto3/session.py", False),
        (threading.__file__, False),
        ("<frozen runpy>", False),
    ],
)
def test_own_code_is_told_from_libraries(file, own):
    assert is_own(file, "/home/me/etl/main.py") is own
