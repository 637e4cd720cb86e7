"""Servers of a test session, each a program at a free port."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

from tests.waiting import wait_until

# Of a ministack at a port: its defaults are every interface, and listeners on ports of their own.
MINISTACK = {
    "BIND_HOST": "127.0.0.1",
    "IOT_MTLS_ENABLED": "0",
    "SFTP_ENABLED": "0",
    "PERSIST_STATE": "0",
}


@contextmanager
def served(
    command_at: Callable[[int], tuple[Sequence[str], Mapping[str, str]]], folder: Path
) -> Iterator[int]:
    """Run a program until the block ends; yield the port that it listens at.

    Args:
        command_at: returns the command for a port, and the variables it needs.
        folder: where it finds room for files, and its output goes to `log`.
    """
    for _ in range(5):  # another process may take the free port first
        port = free_port()
        command, variables = command_at(port)
        environment = {**os.environ, "TMPDIR": str(folder), **variables}
        with (
            (folder / "log").open("wb") as log,
            subprocess.Popen(command, env=environment, stdout=log, stderr=log) as program,
        ):
            try:
                wait_until(partial(_is_up_or_gone, program, port))
                if program.poll() is None:
                    yield port
                    return
            finally:
                program.kill()
    raise AssertionError((folder / "log").read_text(encoding="utf-8"))


def _is_up_or_gone(program: subprocess.Popen[bytes], port: int) -> bool:
    return is_listening(port) or program.poll() is not None


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_listening(port: int) -> bool:
    with closing(socket.socket()) as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
