"""The engine's thread: a signal to the thread that asks it does not stop it."""

import subprocess
import sys

from tests.waiting import BOUND_S

# Each signal raises at another moment of a question, as Ctrl-C does. A lock that it left held, or
# that was released twice, would end the program or let it wait for ever.
INTERRUPTED = """
import random, signal, sys
from pathlib import Path

from tidemark.glue_service.http.serving import Options, serving
from tidemark.local_state.home import Home


class Interrupted(BaseException):
    pass


def interrupt(number, frame):
    raise Interrupted


signal.signal(signal.SIGALRM, interrupt)
chance, count = random.Random(0), 0
with serving(Home.open(Path(sys.argv[1])), Options()) as (_, engine):
    for _ in range(1_000):
        try:
            signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-6, 3e-4))
            while True:
                engine.ask(lambda glue: glue.runner.has_runs)
        except Interrupted:
            count += 1
    print(count, engine.ask(lambda glue: "answers"))
"""


def test_signals_at_any_moment_of_questions_leave_an_engine_that_answers(tmp_path):
    program = [sys.executable, "-c", INTERRUPTED, str(tmp_path / "home")]

    run = subprocess.run(program, capture_output=True, text=True, timeout=BOUND_S)

    assert (run.stdout, run.stderr) == ("1000 answers\n", "")
