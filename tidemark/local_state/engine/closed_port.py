"""Connections to the embedded DynamoDB engine, whose port is closed to everybody else.

The engine listens on TCP, asks for no secret, and answers every web page. So this process opens a
few connections, takes the listening socket out of the engine, and shuts it: the kernel refuses
every later connection, and those that stand remain. Linux allows that for a child of the same user
(`pidfd_getfd`). Where it is not possible, the port stays open, and `is_closed` is false.
"""

import ctypes
import http.client
import os
import queue
import socket
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TypeAlias

CONNECTIONS = 4
TIMEOUT_S = 60
RECHECK_S = 0.5  # whether those in use have broken meanwhile
PIDFD_GETFD = 438  # the number of the system call on every architecture of Linux since 5.6
HEALTH = ("GET", "/")
Answer: TypeAlias = tuple[int, list[tuple[str, str]], bytes]
"""Status, headers and body of a response."""


class ForeignConnectionError(ConnectionError):
    """Another process connected to the engine before its port was closed."""


class ClosedPort:
    """Sends requests to an engine; called by any thread.

    Attributes:
        is_closed: whether the engine refuses every other process.
    """

    def __init__(self, pid: int, host: str, port: int) -> None:
        """Connect to an engine that listens, and close its port."""
        self._pid = pid
        self._place = (host, port)
        self._free: queue.LifoQueue[http.client.HTTPConnection] = queue.LifoQueue()
        self._count = 0
        self._opening = threading.Lock()
        self._listener = _take_listener(pid, port)
        self.is_closed = self._listener is not None
        try:
            self._open_connections()
        except BaseException:
            self.close()
            raise

    def request(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Send a request to the engine and return its response."""
        connection = self._borrow()
        is_usable = False
        try:
            connection.request(method, path, body, dict(headers))
            response = connection.getresponse()
            answer = response.status, response.getheaders(), response.read()
            is_usable = connection.sock is not None  # the engine may have closed it after that
            return answer
        finally:
            if is_usable:
                self._free.put(connection)
            else:
                connection.close()
                with self._opening:
                    self._count -= 1

    def close(self) -> None:
        """Close the connections that no request uses."""
        with suppress(queue.Empty):
            while True:
                self._free.get_nowait().close()
        if self._listener is not None:
            self._listener.close()

    def _borrow(self) -> http.client.HTTPConnection:
        while True:
            with self._opening:
                if self._count == 0:
                    self._open_connections()
            with suppress(queue.Empty):
                return self._free.get(timeout=RECHECK_S)

    def _open_connections(self) -> None:
        """Open the port for a moment, connect, close it, and list the other connections."""
        made: list[http.client.HTTPConnection] = []
        try:
            self._connect_all(made)
        except BaseException:
            for connection in made:
                connection.close()
            raise
        for connection in made:
            self._free.put(connection)
        self._count = len(made)

    def _connect_all(self, made: list[http.client.HTTPConnection]) -> None:
        if self._listener is None:
            made.extend(self._connect() for _ in range(CONNECTIONS))
            return
        self._listener.listen(CONNECTIONS)
        try:
            made.extend(self._connect() for _ in range(CONNECTIONS))
        finally:
            self._listener.shutdown(socket.SHUT_RDWR)
        ours = {connection.sock.getsockname() for connection in made}
        if _peers(self._pid, self._place[1]) - ours:
            raise ForeignConnectionError

    def _connect(self) -> http.client.HTTPConnection:
        connection = http.client.HTTPConnection(*self._place, timeout=TIMEOUT_S)
        connection.connect()
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.auto_open = 0  # nobody may connect later, and neither may this one
        connection.request(*HEALTH)  # the engine has taken it from the queue once it answers
        connection.getresponse().read()
        return connection


def _take_listener(pid: int, port: int) -> socket.socket | None:
    """Return the listening socket of the engine; None if the kernel does not show it."""
    with suppress(OSError), _sockets(pid) as found:
        for candidate in found:
            is_listening = candidate.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
            if is_listening and candidate.getsockname()[1] == port:
                return candidate.dup()
    return None


def _peers(pid: int, port: int) -> set[tuple[str, int]]:
    """Return the connections to a port of the engine."""
    peers = set()
    with _sockets(pid) as found:
        for candidate in found:
            if candidate.getsockname()[1] == port:
                with suppress(OSError):  # the listening socket has none
                    peers.add(candidate.getpeername())
    return peers


@contextmanager
def _sockets(pid: int) -> Iterator[list[socket.socket]]:
    """Yield the TCP sockets of a process, as copies."""
    if sys.platform != "linux":
        raise OSError("only Linux gives the sockets of a child")
    pidfd = os.pidfd_open(pid)
    found: list[socket.socket] = []
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208 (names of files, not paths)
            with suppress(FileNotFoundError):  # closed meanwhile
                if os.readlink(f"/proc/{pid}/fd/{name}").startswith("socket:"):  # noqa: PTH115
                    found.append(_copy_of_socket(pidfd, int(name)))
        yield [candidate for candidate in found if candidate.family == socket.AF_INET]
    finally:
        for candidate in found:
            candidate.close()
        os.close(pidfd)


def _copy_of_socket(pidfd: int, number: int) -> socket.socket:
    libc = ctypes.CDLL(None, use_errno=True)
    copy = libc.syscall(PIDFD_GETFD, pidfd, number, 0)
    if copy < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return socket.socket(fileno=copy)
