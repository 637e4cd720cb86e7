"""Has JSONata evaluated by a process that is kept for the next expression, or killed."""

import atexit
import json
import subprocess
import sys
import threading
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

from tidemark.glue_service.state_machines.places import LOOK_S, Place

CHILD = "tidemark.glue_service.state_machines.jsonata_child"
LIMIT_S = 5.0  # of the processor, for one expression; AWS documents none
LATE = "it took more than {limit:g} seconds of the processor, or too much memory"


class EvaluationError(Exception):
    """An expression has no value; the text says why."""


class Evaluations:
    """Evaluates one expression at a time, for all threads."""

    def __init__(self) -> None:
        """Start no process yet: most homes have no JSONata."""
        self.limit_s = LIMIT_S
        self._lock = threading.Lock()
        self._child: tuple[subprocess.Popen[bytes], Connection] | None = None
        atexit.register(self.close)

    def value(self, expression: str, now: str, place: Place) -> Any:
        """Return the value of an expression for the execution of a place.

        Raises:
            EvaluationError: the expression is wrong, or takes too long.
            CutOffError: the execution was stopped, or has timed out.
        """
        request = {
            "expression": expression,
            "now": now,
            "millis": place.last_ms,
            "seed": place.seed(),
            "limit_s": self.limit_s,
        }
        while not self._lock.acquire(timeout=LOOK_S):
            place.run.check(place.run.environment)
        try:
            answer = self._answer(request, place)
        except BaseException as error:  # the child may be at work still
            self.close()
            if isinstance(error, (EOFError, OSError)):
                raise EvaluationError(LATE.format(limit=self.limit_s)) from error
            raise
        finally:
            self._lock.release()
        if "error" in answer:
            raise EvaluationError(answer["error"])
        return answer["value"]

    def _answer(self, request: dict[str, Any], place: Place) -> dict[str, Any]:
        child = self._connection()
        child.send_bytes(json.dumps(request).encode())
        while not child.poll(LOOK_S):
            place.run.check(place.run.environment)
        answer: dict[str, Any] = json.loads(child.recv_bytes())
        return answer

    def _connection(self) -> Connection:
        if self._child is None:
            here, there = Pipe()
            with there:
                command = [sys.executable, "-P", "-m", CHILD, str(there.fileno())]
                process = subprocess.Popen(command, pass_fds=[there.fileno()])  # noqa: S603 (ours)
            self._child = process, here
        return self._child[1]

    def close(self) -> None:
        """End the process."""
        if self._child is not None:
            process, connection = self._child
            self._child = None
            connection.close()
            process.kill()
            process.wait()


EVALUATIONS = Evaluations()
