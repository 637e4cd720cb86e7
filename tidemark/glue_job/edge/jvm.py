"""Takes the announcements of a run's JVM: a socket that only this user can reach.

A connection sends `open<TAB>URI` for an object that it reads, and `list<TAB>URI` for a folder that
it has listed. Before a change it sends `enter`; it makes the change after the answer `go`, and
sends what it was: `leave<TAB>put<TAB>s3://bucket/key`, or only `leave` if the change failed. A
backslash, a tab and the ends of lines within a key are escaped as in Java.
"""

import contextlib
import os
import re
import shutil
import signal
import socket
import socketserver
import sys
import tempfile
import threading
from pathlib import Path
from typing import cast

from tidemark.glue_job.edge.announce import Edge, calls_of
from tidemark.local_state.home import Home
from tidemark.local_state.lost_executor import moment_of, note_lost
from tidemark.local_state.machine.peers import peer_of, stranger
from tidemark.local_state.operations import FOLDER, InjectedError

LOOK_S = 0.02  # how often the server looks whether it ends
PREFIX = "tidemark-edge-"
PLACE = ".tidemark-edge"  # in the folder of a run: a link to that of the socket
SETTING = "tidemark.edge"  # the Hadoop property with the path of the socket
MAX_FOLDER_LENGTH = 70  # bytes: the path of a socket has at most 107, on a Mac 103
GO = b"go\n"
REFUSAL = "503 Slow Down: an experiment lets this request fail once"
ESCAPES = {r"\\": "\\", r"\t": "\t", r"\n": "\n", r"\r": "\r"}
EXECUTOR = b"org.apache.spark.executor.CoarseGrainedExecutorBackend"


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
    pid, _ = peer_of(connection)
    words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return pid if EXECUTOR in words else None


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    edge: Edge
    losses: Losses

    def verify_request(self, request: socket.socket, client_address: object) -> bool:  # type: ignore[override]
        """Return whether a connection may be read."""
        return stranger(request) is None


class _Connection(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        """Answer one connection until it ends."""
        edge = cast(_Server, self.server).edge
        while words := self._words():
            try:
                if words[0] == "open":
                    if edge.note_opened(words[1]):
                        raise InjectedError(REFUSAL)
                elif words[0] == "list":
                    edge.recorder.note_listed(f"{words[1].rstrip('/')}/", is_deep=False)
                elif not self._change(edge):
                    return
            except InjectedError as error:
                self.wfile.write(f"{error}\n".encode())
                continue
            self.wfile.write(GO)

    def _change(self, edge: Edge) -> bool:
        """Let the JVM make a change while nobody else does; return whether it still lives."""
        losses = cast(_Server, self.server).losses
        with edge.recorder.alone() as failure:
            if failure:
                raise InjectedError(REFUSAL)
            if losses.is_killed(self.request, is_before=True):
                return False
            self.wfile.write(GO)
            left, *change = self._words() or [""]
            if change:
                kind, *places = change
                edge.record(kind, tuple(places), calls_of(edge.script), is_of_jvm=True)
            return left != "" and not losses.is_killed(self.request, is_before=False)

    def _words(self) -> list[str]:
        line = self.rfile.readline().decode().rstrip("\n")
        words = line.split("\t") if line else []
        return [re.sub(r"\\[\\tnr]", lambda match: ESCAPES[match[0]], word) for word in words]


def delete_left_socket(run_folder: Path) -> None:
    """Delete the folder of the socket of a run that was killed."""
    with contextlib.suppress(OSError):  # it is missing, or the script has another file there
        folder = (run_folder / PLACE).readlink()
        if folder.name.startswith(PREFIX):
            shutil.rmtree(folder, ignore_errors=True)


class JvmEdge:
    """A socket for the JVM of a run, in a folder of its own."""

    def __init__(self, edge: Edge, home: Home, run_folder: Path) -> None:
        """Answer from now on, in threads of this process."""
        # The new folder is in that of the operations, and goes with the home if a run is killed;
        # where that makes too long a path for a socket, it is in the machine's for such files.
        parent = home.root / FOLDER
        is_short = len(os.fsencode(parent)) <= MAX_FOLDER_LENGTH and parent.is_dir()
        self._folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent if is_short else None))
        (run_folder / PLACE).symlink_to(self._folder)
        self.path = self._folder / "socket"
        self._server = _Server(str(self.path), _Connection)
        self._server.edge, self._server.losses = edge, Losses(home)
        # Each run of a proof waits at its end until the server has looked.
        threading.Thread(target=self._server.serve_forever, args=(LOOK_S,), daemon=True).start()

    def close(self) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._server.server_close()
        shutil.rmtree(self._folder, ignore_errors=True)
