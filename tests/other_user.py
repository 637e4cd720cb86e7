"""Another UNIX user, who tries to enter; and the addresses from which one can."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

NOBODY = 65534
as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user")
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose a socket is")
SYSTEM_PYTHON = Path("/usr/bin/python3")  # other users may not read the environment of a test
# Opens connections; arguments: the place to connect to, the address to bind, how many.
HOLD = """
import socket, sys
host, port, source, count = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
opened = [
    socket.create_connection((host, port), 60, (source, 0) if source else None)
    for _ in range(count)
]
print("held", flush=True)
sys.stdin.read()
"""


def run_as(user: int, program: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a program of Python as another user, to its end."""
    done = subprocess.run(
        [_python(), "-c", program, *words],
        user=user,
        group=user,
        extra_groups=[],
        cwd="/",
        capture_output=True,
        text=True,
        timeout=120,
    )
    if "Permission denied" in done.stderr:
        pytest.skip("another user of this machine cannot run Python")
    return done


@contextmanager
def held(
    host: str, port: int, count: int = 1, *, user: int | None = None, source: str = ""
) -> Iterator[None]:
    """Hold silent connections, of another user or of this one."""
    with holding(HOLD, host, str(port), source, str(count), user=user):
        yield


@contextmanager
def holding(program: str, *words: str, user: int | None = None) -> Iterator[None]:
    """Run a program, which prints `held` when it holds what it should, as long as the block."""
    ids = {} if user is None else {"user": user, "group": user, "extra_groups": []}
    with subprocess.Popen(
        [_python(), "-c", program, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd="/",
        **ids,  # type: ignore[arg-type]
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield
        process.kill()


def card_address(family: socket.AddressFamily = socket.AF_INET) -> str:
    """Return an address of this machine that is not on loopback."""
    far = "192.0.2.9" if family == socket.AF_INET else "2001:db8::9"
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((far, 9))  # sends nothing
            return str(probe.getsockname()[0])
    except OSError:
        pytest.skip("this machine has no network card with an address")


def _python() -> str:
    return str(SYSTEM_PYTHON) if SYSTEM_PYTHON.exists() else sys.executable
