"""The embedded DynamoDB engine, a process that ends with its command.

It stores into one SQLite file that several engine processes share safely, so each command starts
its own.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from tidemark.errors import DiskFullError, TidemarkError
from tidemark.local_state.engine.closed_port import (
    ClosedPort,
    ForeignConnectionError,
    can_copy_sockets,
    some_loopback,
    wait_and_hear_nobody,
)
from tidemark.local_state.engine.executable import find_engine
from tidemark.local_state.engine.other import ENDPOINT_VARIABLE
from tidemark.local_state.home import Home
from tidemark.local_state.home_folder import TABLES_FILE
from tidemark.local_state.machine import child
from tidemark.local_state.machine.disk import full_disk_line, has_room
from tidemark.local_state.machine.loopback import LOOPBACK
from tidemark.local_state.machine.processes import is_running
from tidemark.local_state.store.state_record import LISTENS
from tidemark.local_state.store.store_errors import check_database

START_ATTEMPTS = 3
START_TIMEOUT_S = 10.0
POLL_S = 0.005
OPEN_PORT = (
    "warning: this machine does not let Tidemark close the port of the embedded DynamoDB engine: "
    "programs of this machine{and_pages} that find it can change watermarks; see SECURITY.md"
)


def tidy(home: Home) -> None:
    """End the engines that killed commands of a home have left; refuse a damaged database."""
    for pid_file in home.dynamodb.glob("*.pid"):
        owner, engine = (int(part) for part in pid_file.stem.split("-"))
        if not is_running(owner):
            # Process ids come again: another engine may have this one by now.
            if is_running(engine) and str(home.dynamodb / TABLES_FILE) in _command_of(engine):
                os.kill(engine, signal.SIGKILL)  # the kernel has not done it
            pid_file.unlink(missing_ok=True)
    # Of a damaged file, the engine would say that a table does not exist.
    check_database(home.dynamodb_tables)


def runs_here(home: Home) -> bool:
    """Return whether this process has an engine of a home."""
    return any(home.dynamodb.glob(f"{os.getpid()}-*.pid"))


@contextmanager
def embedded_engine(home: Home) -> Iterator[ClosedPort]:
    """Yield the only connections to an engine with the tables of a home; stop it afterwards."""
    process, engine = _start(find_engine(ENDPOINT_VARIABLE), home.dynamodb)
    pid_file = home.dynamodb / f"{os.getpid()}-{process.pid}.pid"
    try:
        pid_file.write_text("", encoding="utf-8")
        yield engine
    except TidemarkError as error:
        if process.poll() is not None:
            raise _ended_error(process.returncode, home.dynamodb) from error
        raise
    finally:
        engine.close()
        process.terminate()
        process.wait()
        pid_file.unlink(missing_ok=True)


def _ended_error(code: int, folder: Path) -> TidemarkError:
    log = folder / "engine.log"
    text = log.read_text(encoding="utf-8", errors="replace").strip()
    return TidemarkError(
        f"the embedded DynamoDB engine ended with {code} while it was needed: "
        f"{text or 'no output'}; commits are kept: run again; see {log}"
    )


def _start(engine: Path, folder: Path) -> tuple[subprocess.Popen[bytes], ClosedPort]:
    log, is_held = folder / "engine.log", can_copy_sockets()
    for _ in range(START_ATTEMPTS):
        host, port = _free_place()
        with log.open("wb") as output:
            process = subprocess.Popen(  # noqa: S603 (our own engine)
                [
                    sys.executable,
                    "-S",
                    "-E",
                    child.__file__,
                    str(os.getpid()),
                    *([child.ASKS] if is_held else []),
                    str(engine),
                    "serve",
                    "--host",
                    host,
                    "--port",
                    str(port),
                    "--db-path",
                    str(folder / TABLES_FILE),
                ],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # Ctrl-C ends the jobs first, then the engine
            )
        if is_held:
            deadline = time.monotonic() + START_TIMEOUT_S
            wait_and_hear_nobody(process.pid, partial(_is_settled, process, log, deadline))
        if _is_ready(process, log):
            # An engine that ended meanwhile is replaced by another one.
            with suppress(ConnectionRefusedError):
                return process, _closed_port(process, host, port)
        process.kill()
        process.wait()
    text = log.read_text(encoding="utf-8", errors="replace").strip()
    if not has_room(folder):
        raise DiskFullError(
            f"{full_disk_line(folder)}, so the embedded DynamoDB engine does not start; nothing "
            "was changed: make room, then run again"
        )
    raise TidemarkError(
        f"the embedded DynamoDB engine did not start in {START_ATTEMPTS} attempts, last on port "
        f"{port}: {text or 'no output'}; see {log}; `npm install` installs the engine again, and "
        f"{ENDPOINT_VARIABLE} may name any other DynamoDB"
    )


def _closed_port(process: subprocess.Popen[bytes], host: str, port: int) -> ClosedPort:
    try:
        engine = ClosedPort(process.pid, host, port)
        if not engine.is_closed:
            pages = "" if sys.platform == "linux" else ", and web pages,"
            sys.stderr.write(OPEN_PORT.format(and_pages=pages) + "\n")
        return engine
    except ForeignConnectionError as error:
        process.kill()
        process.wait()
        raise TidemarkError(
            f"another program connected to the embedded DynamoDB engine at {host}:{port} while it "
            "started, and may have changed the tables; the engine was ended: check the "
            "watermarks (`tidemark watermark show`), then run again"
        ) from error


def _free_place() -> tuple[str, int]:
    """Return an address of this machine only, and a free port of it."""
    host = LOOPBACK
    # Linux has 16 million such addresses: an open port is not found by trying.
    if sys.platform == "linux":
        host = some_loopback()
    with socket.socket() as probe:
        probe.bind((host, 0))
        return host, int(probe.getsockname()[1])


def _is_settled(process: subprocess.Popen[bytes], log: Path, deadline: float) -> bool:
    """Return whether the engine listens or has ended, or has had its time for either."""
    has_ended = process.poll() is not None or time.monotonic() > deadline
    return has_ended or LISTENS in log.read_bytes()


def _is_ready(process: subprocess.Popen[bytes], log: Path) -> bool:
    # The engine's own word counts: a listener on the port might be somebody else's.
    deadline = time.monotonic() + START_TIMEOUT_S
    while process.poll() is None and time.monotonic() < deadline:
        if LISTENS in log.read_bytes():
            return True
        time.sleep(POLL_S)
    return False


def _command_of(pid: int) -> str:
    answer = subprocess.run(  # noqa: S603
        ["ps", "-ww", "-o", "command=", "-p", str(pid)],  # noqa: S607 (POSIX tool)
        capture_output=True,
        text=True,
    )
    return answer.stdout
