"""Evaluates JSONata in a process of its own, which an expression cannot hold for long.

The other end sends an expression with its time and a seed for what is drawn by chance, and gets a
value or an error. The process ends with the other end.
"""

import hashlib
import json
import random
import resource
import signal
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

import jsonata

from tidemark.glue_service.state_machines.formats import uuid_of

MOST_BYTES = 2 << 30
DEPTH = 5_000  # of calls in Python, which an expression without end comes to


def hash_of(value: Any, algorithm: str = "SHA-256") -> str:
    """Return the hash of a text, or of a value as JSON, in hexadecimal digits.

    >>> hash_of("a", "MD5")
    '0cc175b9c0f1b6a831c399e269772661'
    """
    text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    return hashlib.new(algorithm.replace("-", "").lower(), text.encode()).hexdigest()


def answer_of(request: dict[str, Any]) -> dict[str, Any]:
    """Return the value of a request's expression, or its error."""
    chance = random.Random(request["seed"])  # noqa: S311 (no secret)
    try:
        program = jsonata.Jsonata(request["expression"])
        program.register_lambda("millis", lambda: request["millis"])
        program.register_lambda("now", lambda *_: request["now"])
        program.register_lambda("uuid", lambda: uuid_of(chance))
        program.register_lambda("random", chance.random)
        program.register_lambda("hash", hash_of)
        value = program.evaluate(None)
        json.dumps(value, allow_nan=False)
    except Exception as error:  # noqa: BLE001 (whatever it is, it is of the expression)
        return {"error": str(error) or type(error).__name__}
    return {"value": value}


def serve(other: Connection) -> None:
    """Answer requests until the other end is closed; an expression over the limit ends this."""
    while True:
        request = json.loads(other.recv_bytes())
        signal.setitimer(signal.ITIMER_PROF, request["limit_s"])
        answer = answer_of(request)
        signal.setitimer(signal.ITIMER_PROF, 0)
        other.send_bytes(json.dumps(answer).encode())


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the port, which ends this
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.setrecursionlimit(DEPTH)
    with suppress(EOFError, OSError):
        serve(Connection(int(sys.argv[1])))
