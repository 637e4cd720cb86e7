"""Lends the JVMs of a pool to job processes of the same user, over a port of this machine."""

import contextlib
import errno
import json
import os
import secrets
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, Listener, answer_challenge, deliver_challenge
from pathlib import Path

from tidemark.glue_job.process.pool import (
    HOST,
    PoolFile,
    delete_pool_file,
    fingerprint,
    write_pool_file,
)
from tidemark.glue_service.runs.jvms.control import JvmSettings
from tidemark.glue_service.runs.jvms.pool import JvmRequest, Loan, NoJvmError, Pool
from tidemark.local_state.home import JVM_POOL_FILE
from tidemark.local_state.machine.peers import stranger
from tidemark.local_state.machine.processes import is_running
from tidemark.local_state.sparks.installed import Spark

RETRY_S = 0.1
BROKEN_OFF = (OSError, EOFError, ValueError, KeyError, TypeError)  # or an invalid message


@contextmanager
def serve_pool(
    folder: Path,
    java_home: Path,
    size: int,
    file: Path | None = None,
    is_quick: Callable[[], bool] = lambda: False,
) -> Iterator[tuple[Pool, Path]]:
    """Own a pool as long as the block runs; yield it, and the file with its address.

    `is_quick` tells whether its JVMs compile quickly, see `Pool`.
    """
    key = secrets.token_bytes(32)
    with ExitStack() as stack:
        listener = stack.enter_context(Listener((HOST, 0), backlog=64))
        own = stack.enter_context(_own_folder(folder))
        file = file or own / JVM_POOL_FILE
        pool = Pool(own, java_home, size, is_quick)
        stack.callback(pool.close)
        jvms, port = fingerprint(java_home), listener.address[1]
        write_pool_file(file, PoolFile(os.getpid(), port, key.hex(), jvms, size))
        stack.callback(delete_pool_file, file, key.hex())
        threading.Thread(target=_accept, args=(listener, key, pool), daemon=True).start()
        yield pool, file


@contextmanager
def _own_folder(folder: Path) -> Iterator[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.iterdir():
        pid = left.name.partition("-")[0]
        if not (pid.isdecimal() and is_running(int(pid))):
            # Its owner was killed.
            shutil.rmtree(left, ignore_errors=True)
    own = folder / f"{os.getpid()}-{secrets.token_hex(4)}"
    own.mkdir(mode=0o700)
    try:
        yield own
    finally:
        shutil.rmtree(own, ignore_errors=True)
        # Another process may have its JVMs there.
        with contextlib.suppress(OSError):
            folder.rmdir()


def _accept(listener: Listener, key: bytes, pool: Pool) -> None:
    while True:
        try:
            connection = listener.accept()
            with socket.fromfd(connection.fileno(), socket.AF_INET, socket.SOCK_STREAM) as end:
                who = stranger(end)
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE, errno.ECONNABORTED, errno.ENOMEM):
                # Some of the many connections have to be closed first.
                time.sleep(RETRY_S)
                continue
            return  # closed: the command is over
        if who is None:
            threading.Thread(target=_serve, args=(connection, key, pool), daemon=True).start()
        else:
            connection.close()


def _serve(connection: Connection, key: bytes, pool: Pool) -> None:
    with connection, contextlib.suppress(*BROKEN_OFF, AuthenticationError):
        deliver_challenge(connection, key)
        answer_challenge(connection, key)
        message = _read(connection)
        if isinstance(message, Path):
            pool.end_jvm_of(message)
            _send(connection, {})
            return
        try:
            loan = pool.lend(message)
        except NoJvmError as error:
            _send(connection, {"refused": str(error)})
            return
        try:
            _send(
                connection,
                {
                    "port": loan.gateway.port,
                    "secret": loan.gateway.secret,
                    "runs_before": loan.runs_before,
                    "folder": str(loan.warm.jvm.folder),
                },
            )
            failure = json.loads(connection.recv_bytes())["failure"]
        except BaseException:
            # The connection broke: nobody else will end the JVM on loan.
            pool.discard(loan.warm)
            raise
        _take_back(connection, pool, loan, failure)


def _take_back(connection: Connection, pool: Pool, loan: Loan, failure: str | None) -> None:
    why_not = pool.end_run(loan, failure)
    # The run continues while its JVM is reset.
    with contextlib.suppress(OSError):
        _send(connection, {})
    pool.take_back(loan, why_not)


def _read(connection: Connection) -> JvmRequest | Path:
    message = json.loads(connection.recv_bytes())
    try:
        if "end" in message:
            return Path(message["end"])
        return JvmRequest(
            Spark(
                message["version"],
                Path(message["python"]),
                Path(message["home"]),
                tuple(map(Path, message["format_jars"])),
            ),
            JvmSettings(message["settings"], message["file"], message["conf"]),
            dict(message["environment"]),
            Path(message["stdout"]),
            Path(message["stderr"]),
        )
    except (KeyError, TypeError) as error:
        raise ValueError("no message of a job process") from error


def _send(connection: Connection, fields: object) -> None:
    connection.send_bytes(json.dumps(fields).encode())
