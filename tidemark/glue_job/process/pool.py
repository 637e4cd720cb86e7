"""The pool of warm JVMs: the file that names it, and how another process talks to it."""

import contextlib
import hashlib
import json
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, answer_challenge, deliver_challenge
from pathlib import Path
from typing import Any

from tidemark.glue_job.process.lake_fs.jar import jar_name
from tidemark.glue_job.process.own_jvm import JVM_VARIABLES
from tidemark.local_state.machine.own_files import read_own_file, write_own_file
from tidemark.local_state.machine.processes import inherited, is_running
from tidemark.local_state.sparks.installed import Spark

POOL_VARIABLE = "TIDEMARK_JVM_POOL"  # names the file of a pool outside the home
HOST = "127.0.0.1"
MAX_PID = 2**31 - 1


@dataclass(frozen=True)
class PoolFile:
    """Address of a pool, and the kind of its JVMs.

    Attributes:
        pid: the process that owns it.
        port: its port on 127.0.0.1.
        key: the secret, in hexadecimal digits.
        jvms: the `fingerprint` of its JVMs.
        size: how many it may have at once.
    """

    pid: int
    port: int
    key: str
    jvms: str
    size: int = 1


def fingerprint(java_home: Path, spark: Spark | None = None) -> str:
    """Return a text that is the same for two JVMs only if a run may have either."""
    variables = {
        name: value
        for name, value in inherited().items()
        if name.startswith(JVM_VARIABLES) and name != "JAVA_HOME"
    }
    parts = (str(java_home.resolve()), jar_name(spark), *map(str, sorted(variables.items())))
    return hashlib.sha256("|".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def write_pool_file(file: Path, content: PoolFile) -> None:
    """Write it, readable by this user only."""
    write_own_file(file, asdict(content))


def delete_pool_file(file: Path, key: str) -> None:
    """Delete the file of the pool with this key; leave the file of another pool."""
    with contextlib.suppress(ValueError, OSError):
        content = read_pool_file(file)
        if content is not None and content.key == key:
            file.unlink(missing_ok=True)


def read_pool_file(file: Path) -> PoolFile | None:
    """Return the content of the file; None if it is missing."""
    content = read_own_file(file)
    if content is None:
        return None
    try:
        pool = PoolFile(**json.loads(content))
        bytes.fromhex(pool.key)
        types = [type(value) for value in (pool.pid, pool.port, pool.jvms, pool.size)]
        is_right = types == [int, int, str, int] and 0 < pool.pid <= MAX_PID
        if is_right and 0 < pool.port < 65536:
            return pool
    except (TypeError, ValueError):
        pass
    raise ValueError(f"{file} is not a file of a JVM pool")


HELLO_TIMEOUT_S = 15.0  # a busy machine is slow, not silent
ANSWER_TIMEOUT_S = 600.0  # longer than a JVM may take to start twice, or to be reset


class PoolGoneError(Exception):
    """There is no pool, or it does not answer."""


class PoolSilentError(PoolGoneError):
    """The process that owns the pool exists but does not answer, as after Ctrl-Z."""


def connect(file: Path, timeout_s: float | None = HELLO_TIMEOUT_S) -> Connection:
    """Connect to the pool that a file names."""
    try:
        pool = read_pool_file(file)
        if pool is None or not is_running(pool.pid):
            raise PoolGoneError("there is no pool")
        with ExitStack() as stack:
            connection = stack.enter_context(Client((HOST, pool.port)))
            _wait(connection, timeout_s)
            # Each side proves that it knows the key.
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
        raise PoolSilentError(f"its process did not answer for {timeout_s} s; is it suspended?")
