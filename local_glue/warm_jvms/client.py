"""Talks to the pool that another process owns."""

import json
import os
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection
from pathlib import Path
from typing import Any

from local_glue.warm_jvms.pool_file import PoolFile, read_pool_file

HOST = "127.0.0.1"


class PoolGoneError(Exception):
    """There is no pool, or it does not answer."""


def connect(file: Path) -> Connection:
    """Connect to the pool that a file names.

    Raises:
        PoolGoneError: there is none, or it does not answer.
    """
    try:
        pool = read_pool_file(file)
        if pool is None or not is_running(pool):
            raise PoolGoneError("there is no pool")
        return Client((HOST, pool.port), authkey=bytes.fromhex(pool.key))
    except (OSError, EOFError, ValueError, AuthenticationError) as error:
        raise PoolGoneError(f"{type(error).__name__}: {error}") from error


def ask(connection: Connection, question: object) -> dict[str, Any]:
    """Send a message; return the answer.

    Raises:
        PoolGoneError: there is none.
    """
    try:
        connection.send_bytes(json.dumps(question).encode())
        answer: dict[str, Any] = json.loads(connection.recv_bytes())
    except (OSError, EOFError, ValueError) as error:
        raise PoolGoneError(f"{type(error).__name__}: {error}") from error
    return answer


def is_running(pool: PoolFile) -> bool:
    """Return whether the process that owns a pool runs."""
    try:
        os.kill(pool.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
