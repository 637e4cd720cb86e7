"""Talks to the pool that another process owns."""

import json
from contextlib import ExitStack
from multiprocessing import AuthenticationError
from multiprocessing.connection import (
    Client,
    Connection,
    answer_challenge,
    deliver_challenge,
)
from pathlib import Path
from typing import Any

from tidemark.glue_job.process.pool_file import HOST, read_pool_file
from tidemark.local_state.machine.processes import is_running

HELLO_TIMEOUT_S = 15.0  # a busy machine is slow, not silent
ANSWER_TIMEOUT_S = 600.0  # longer than a JVM may take to start, twice, or to be made as new


class PoolGoneError(Exception):
    """There is no pool, or it does not answer."""


class PoolSilentError(PoolGoneError):
    """The process that owns the pool is there and says nothing, as after Ctrl-Z."""


def connect(file: Path, timeout_s: float | None = HELLO_TIMEOUT_S) -> Connection:
    """Connect to the pool that a file names."""
    try:
        pool = read_pool_file(file)
        if pool is None or not is_running(pool.pid):
            raise PoolGoneError("there is no pool")
        with ExitStack() as stack:
            connection = stack.enter_context(Client((HOST, pool.port)))
            _wait(connection, timeout_s)
            answer_challenge(connection, bytes.fromhex(pool.key))
            deliver_challenge(connection, bytes.fromhex(pool.key))
            stack.pop_all()
        return connection
    except (OSError, EOFError, ValueError, AuthenticationError) as error:
        raise PoolGoneError(f"{type(error).__name__}: {error}") from error


def ask(
    connection: Connection, question: object, timeout_s: float | None = ANSWER_TIMEOUT_S
) -> dict[str, Any]:
    """Send a message; return the answer."""
    try:
        connection.send_bytes(json.dumps(question).encode())
        _wait(connection, timeout_s)
        answer: dict[str, Any] = json.loads(connection.recv_bytes())
    except (OSError, EOFError, ValueError) as error:
        raise PoolGoneError(f"{type(error).__name__}: {error}") from error
    return answer


def _wait(connection: Connection, timeout_s: float | None) -> None:
    if not connection.poll(timeout_s):
        raise PoolSilentError(f"its process said nothing for {timeout_s} s; is it suspended?")
