"""Programs that speak DynamoDB's protocol, started as a user starts them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from tests import servers
from tests.waiting import wait_until
from tidemark.errors import UsageError
from tidemark.local_state.engine.executable import find_engine
from tidemark.local_state.engine.other import ENDPOINT_VARIABLE, OtherEngine

MINISTACK = Path(__file__).parents[1] / ".venv-ministack" / "bin" / "python"
Started = AbstractContextManager[subprocess.Popen[bytes]]


def url_of(port: int) -> str:
    return f"http://127.0.0.1:{port}"


@contextmanager
def started(
    command: Sequence[str], port: int, settings: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Yield a program once it answers at a port; kill it afterwards."""
    with subprocess.Popen(
        command,
        env={**os.environ, **(settings or {})},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as program:
        try:
            wait_until(lambda: answers(port) or program.poll() is not None)
            assert program.poll() is None, f"{command[0]} ended with {program.returncode}"
            yield program
        finally:
            program.kill()


def answers(port: int) -> bool:
    try:
        OtherEngine(url_of(port)).tables()
    except UsageError:
        return False
    return True


def dynoxide(port: int, tables: Path | None = None) -> Started:
    """Start the embedded engine as a program of the user: in memory, or with a file."""
    kept = ("--db-path", str(tables)) if tables else ()
    engine = str(find_engine(ENDPOINT_VARIABLE))
    return started([engine, "serve", "--host", "127.0.0.1", "--port", str(port), *kept], port)


def ministack(port: int, folder: Path) -> Started:
    """Start ministack as docs/dynamodb.md says; it writes its state into a folder as it ends."""
    settings = {
        **servers.MINISTACK,
        "GATEWAY_PORT": str(port),
        "SERVICES": "dynamodb",
        "PERSIST_STATE": "1",
        "STATE_DIR": str(folder),
        "TMPDIR": str(folder),
    }
    return started([str(MINISTACK), "-m", "ministack"], port, settings)
