"""Kills an executor at a change that it makes in the lake, if the home of its run says so."""

import os
import signal
import socket
import struct
import sys
from pathlib import Path

from tidemark.local_state.home import Home
from tidemark.local_state.lost_executor import moment_of, note_lost

EXECUTOR = b"org.apache.spark.executor.CoarseGrainedExecutorBackend"
CREDENTIALS = struct.Struct("3i")  # of the process at the other end: id, user, group


class Losses:
    """Counts the changes of executors, and kills one of them once."""

    def __init__(self, home: Home) -> None:
        """Count from now on."""
        self._home = home
        self._moment = moment_of(home)
        self._count = 0

    def is_killed(self, connection: socket.socket, *, is_before: bool) -> bool:
        """Kill the executor at the other end of a connection if the moment has come.

        Called before each change and after it, by one thread at a time; returns whether it is dead.
        """
        if self._moment is None or (pid := executor_at(connection)) is None:
            return False
        self._count += is_before
        if (self._count, is_before) != (self._moment.number, self._moment.is_before):
            return False
        self._moment = None
        note_lost(self._home)
        os.kill(pid, signal.SIGKILL)
        return True


def executor_at(connection: socket.socket) -> int | None:
    """Return the process at the other end of a Unix socket if it is an executor of Spark."""
    if sys.platform != "linux":
        return None
    found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)
    pid = int(CREDENTIALS.unpack(found)[0])
    words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return pid if EXECUTOR in words else None
