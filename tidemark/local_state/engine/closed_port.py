"""Connections to the embedded DynamoDB engine, whose port is closed to everybody else.

The engine listens on TCP, asks for no secret, and answers every web page. So this process takes
the listening socket out of the engine, lets it hear only the few connections that it opens, and
shuts it: the kernel refuses every later connection, and those that stand remain. Linux allows that
for a child of the same user (`pidfd_getfd`). Where it is not possible, the port stays open, and
`is_closed` is false.
"""

import ctypes
import http.client
import os
import queue
import secrets
import select
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TypeAlias

from tidemark.local_state.engine.held_listen import hear_only, let_listen
from tidemark.local_state.machine.child import NOTIFIER

CONNECTIONS = 4
TIMEOUT_S = 60
POLL_S = 0.002
RECHECK_S = 0.5  # whether those in use have broken meanwhile
PIDFD_GETFD = 438  # the number of the system call on every architecture of Linux since 5.6
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
            # The engine may have closed it after its answer.
            is_usable = connection.sock is not None
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
        connections: list[http.client.HTTPConnection] = []
        try:
            self._connect_all(connections)
        except BaseException:
            for connection in connections:
                connection.close()
            raise
        for connection in connections:
            self._free.put(connection)
        self._count = len(connections)

    def _connect_all(self, connections: list[http.client.HTTPConnection]) -> None:
        if self._listener is None:
            connections.extend(self._connect() for _ in range(CONNECTIONS))
            return
        clients = [_bound_somewhere() for _ in range(CONNECTIONS)]
        hear_only(self._listener, clients)
        self._listener.listen(CONNECTIONS)
        try:
            connections.extend(self._connect(client) for client in clients)
        finally:
            self._listener.shutdown(socket.SHUT_RDWR)
        ours = {connection.sock.getsockname() for connection in connections}
        if _peers(self._pid, self._place[1]) - ours:
            raise ForeignConnectionError

    def _connect(self, client: socket.socket | None = None) -> http.client.HTTPConnection:
        connection = http.client.HTTPConnection(*self._place, timeout=TIMEOUT_S)
        if client is None:
            connection.connect()
        else:
            client.settimeout(TIMEOUT_S)
            client.connect(self._place)
            connection.sock = client
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # Nobody may connect later, and neither may this one.
        connection.auto_open = 0
        # The engine has taken it from the queue once it answers.
        connection.request("GET", "/")
        connection.getresponse().read()
        return connection


def can_copy_sockets() -> bool:
    """Return whether the kernel gives the sockets of a child."""
    if sys.platform == "linux":
        with suppress(OSError), _pidfd(os.getpid()) as pidfd:
            os.close(_copy(pidfd, pidfd))
            return True
    return False


def wait_and_hear_nobody(pid: int, is_over: Callable[[], bool]) -> None:
    """Let a child that asks before it listens do so, with a socket that hears nobody."""
    notifier = f"/proc/{pid}/fd/{NOTIFIER}"
    while not is_over():
        with suppress(OSError):
            if "seccomp" in os.readlink(notifier):  # noqa: PTH115 (not the path of a file)
                break
        time.sleep(POLL_S)
    else:
        return
    with suppress(OSError), _pidfd(pid) as pidfd:  # it may end at any moment
        copy = _copy(pidfd, NOTIFIER)
        try:
            asked = select.poll()  # takes any number, where select takes those below 1024
            asked.register(copy, select.POLLIN)
            while not asked.poll(POLL_S * 1000):
                if is_over():
                    return
            let_listen(copy, lambda number: _copy_of_socket(pidfd, number))
        finally:
            os.close(copy)


@contextmanager
def _pidfd(pid: int) -> Iterator[int]:
    pidfd = os.pidfd_open(pid)
    try:
        yield pidfd
    finally:
        os.close(pidfd)


def _bound_somewhere() -> socket.socket:
    # Nobody else has this address and port, so that a filter can tell our connections.
    client = socket.socket()
    client.bind((some_loopback(), 0))
    return client


def some_loopback() -> str:
    """Return one of the 16 million addresses that Linux has for a machine alone."""
    return ".".join(["127", *(str(1 + secrets.randbelow(254)) for _ in range(3))])


def _take_listener(pid: int, port: int) -> socket.socket | None:
    """Return the listening socket of the engine; None if the kernel does not show it."""
    with suppress(OSError), _sockets(pid) as sockets:
        for candidate in sockets:
            is_listening = candidate.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
            if is_listening and candidate.getsockname()[1] == port:
                return candidate.dup()
    return None


def _peers(pid: int, port: int) -> set[tuple[str, int]]:
    peers = set()
    with _sockets(pid) as sockets:
        for candidate in sockets:
            if candidate.getsockname()[1] == port:
                with suppress(OSError):  # the listening socket has none
                    peers.add(candidate.getpeername())
    return peers


@contextmanager
def _sockets(pid: int) -> Iterator[list[socket.socket]]:
    if sys.platform != "linux":
        raise OSError("only Linux gives the sockets of a child")
    sockets: list[socket.socket] = []
    with _pidfd(pid) as pidfd:
        try:
            for name in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208 (names of files, not paths)
                with suppress(FileNotFoundError):  # closed meanwhile
                    if os.readlink(f"/proc/{pid}/fd/{name}").startswith("socket:"):  # noqa: PTH115
                        sockets.append(_copy_of_socket(pidfd, int(name)))
            yield [candidate for candidate in sockets if candidate.family == socket.AF_INET]
        finally:
            for candidate in sockets:
                candidate.close()


def _copy_of_socket(pidfd: int, number: int) -> socket.socket:
    return socket.socket(fileno=_copy(pidfd, number))


def _copy(pidfd: int, number: int) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    copy = libc.syscall(PIDFD_GETFD, pidfd, number, 0)
    if copy < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return int(copy)
