"""Evaluates JSONata in a process of its own, which an expression cannot hold for long.

The other end sends an expression with its time, and gets a value or an error. In between it may be
asked for a value that is made once: a chance or a UUID. The process ends with the other end.
"""

import hashlib
import json
import resource
import signal
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

import jsonata

MOST_BYTES = 2 << 30
DEPTH = 5_000  # of calls in Python, which an expression without end comes to


def hash_of(value: Any, algorithm: str = "SHA-256") -> str:
    """Return the hash of a text, or of a value as JSON, in hexadecimal digits.

    >>> hash_of("a", "MD5")
    '0cc175b9c0f1b6a831c399e269772661'
    """
    text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    return hashlib.new(algorithm.replace("-", "").lower(), text.encode()).hexdigest()


def serve(other: Connection) -> None:
    """Answer requests until the other end is closed; an expression over the limit ends this."""
    while True:
        request = _received(other)
        signal.setitimer(signal.ITIMER_PROF, request["limit_s"])
        answer = _answer(other, request)
        signal.setitimer(signal.ITIMER_PROF, 0)
        _send(other, answer)


def _answer(other: Connection, request: dict[str, Any]) -> dict[str, Any]:
    def ask(kind: str) -> Any:
        _send(other, {"ask": kind})
        return _received(other)

    try:
        program = jsonata.Jsonata(request["expression"])
        program.register_lambda("millis", lambda: request["millis"])
        program.register_lambda("now", lambda *_: request["now"])
        program.register_lambda("uuid", lambda: ask("uuid"))
        program.register_lambda("random", lambda: ask("chance"))
        program.register_lambda("hash", hash_of)
        value = program.evaluate(None)
        json.dumps(value, allow_nan=False)
    except Exception as error:  # noqa: BLE001 (whatever it is, it is of the expression)
        return {"error": str(error) or type(error).__name__}
    return {"value": value}


def _send(other: Connection, value: Any) -> None:
    other.send_bytes(json.dumps(value).encode())


def _received(other: Connection) -> Any:
    return json.loads(other.recv_bytes())


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the port, which ends this
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.setrecursionlimit(DEPTH)
    with suppress(EOFError, OSError):
        serve(Connection(int(sys.argv[1])))
