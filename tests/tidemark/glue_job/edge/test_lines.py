"""Which line of a script makes a change: that of the thread that works, not of one that waits."""

from __future__ import annotations

import threading
from collections.abc import Callable
from textwrap import dedent

import pytest

from tidemark.glue_job.edge.announce import line_of

SCRIPT = "job.py"


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
