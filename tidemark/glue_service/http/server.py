"""Serves the port with waitress: on loopback, unless another address is given.

A connection of another user is refused when it is accepted: it takes no place, and nothing that it
sends is read. Where all places are taken, the connection that is silent for longest makes room.

Source: https://docs.pylonsproject.org/projects/waitress/en/stable/arguments.html
"""

import logging
import os
import selectors
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from operator import attrgetter
from typing import Any

from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.server import TcpWSGIServer

from tidemark.errors import UsageError
from tidemark.glue_service.access.gate import Gate
from tidemark.glue_service.http.connections import Channel
from tidemark.local_state.machine.peers import stranger


class Waits:
    """The requests of one port that wait now.

    Attributes:
        count: how many.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._lock = threading.Lock()
        self.count = 0

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count one more during the block."""
        with self._lock:
            self.count += 1
        try:
            yield
        finally:
            with self._lock:
                self.count -= 1


THREADS = 64  # up to half of them wait for others: a queue of SQS for up to 20 seconds
MAX_CONNECTIONS = 500
MAX_IN_PROGRESS = 520  # connections, if none of them is silent
MAX_REFUSED = 32
REACHED = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 (where programs of this machine ask)
BACKLOG = 128
SHUTDOWN_S = 5
LOOK_S = 0.02
WAITS_S = 0.5  # how long the end waits for requests that wait for others
MAX_BODY_BYTES = 7 * 1024**3  # bytes: the gate allows less
Wsgi = Callable[..., Any]


@contextmanager
def listening(host: str, port: int) -> Iterator["Listener"]:
    """Bind the port, so that its number is known before anything starts."""
    listener = Listener(host, port)
    try:
        yield listener
    finally:
        listener.close()


# More requests than threads wait a moment, and some are cut off at the end; the operator need not
# know.
for _name in ("waitress", "waitress.queue"):
    logging.getLogger(_name).setLevel(logging.ERROR)


class _Server(TcpWSGIServer):  # type: ignore[misc] # waitress has no types
    """Judges each connection at once, and asks a gate about each request before its body."""

    channel_class = Channel
    gate: Gate
    any_user = False

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._refused: deque[socket.socket] = deque()  # until their clients had time to read why

    def handle_accept(self) -> None:
        """Accept the connections that wait."""
        # A client may be gone already, and it may be that no file can be opened.
        with suppress(OSError):
            for _ in range(BACKLOG):
                accepted = self.accept()
                if accepted is None:
                    return
                connection, address = accepted
                self.set_socket_options(connection)
                who = None if self.any_user else stranger(connection)
                if who is not None:
                    self._refuse(connection, who)
                    continue
                self._make_room()
                self.channel_class(self, connection, address, self.adj, map=self._map)

    def _refuse(self, connection: socket.socket, who: str) -> None:
        self._refused.append(connection)
        while len(self._refused) > MAX_REFUSED:
            self._refused.popleft().close()
        connection.setblocking(False)
        # Nothing is read: to close at once would discard the answer.
        connection.send(refusal_of_user(who))
        connection.shutdown(socket.SHUT_WR)

    def _make_room(self) -> None:
        if len(self.active_channels) < MAX_CONNECTIONS:
            return
        silent = [channel for channel in self.active_channels.values() if channel.is_silent]
        # Where none is silent, the new one is one too many, and those after it wait.
        if silent:
            min(silent, key=attrgetter("last_activity")).handle_close()

    def close_refused(self) -> None:
        """Close the connections that were refused."""
        while self._refused:
            self._refused.popleft().close()


def refusal_of_user(who: str) -> bytes:
    """Return the answer to a connection of another user."""
    text = (
        f"the connection is from {who}, and this port answers user {os.geteuid()} only; to answer "
        "every user of this machine, who can then run code as that user: "
        "`tidemark serve --port NUMBER --any-user`"
    ).encode()
    head = f"HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: {len(text)}\r\n"
    return f"{head}Connection: close\r\n\r\n".encode() + text


class Listener:
    """A bound port. What answers is made when the first connection comes: most runs have none."""

    def __init__(self, host: str, port: int) -> None:
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None
        self._is_closed = False
        try:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            self._socket = socket.create_server((host, port), family=family, backlog=BACKLOG)
        except (OSError, OverflowError) as error:
            raise UsageError(
                f"port {port} of {host} cannot be used: {getattr(error, 'strerror', None) or error}"
                "; name another with --port, or 0 for a free one"
            ) from error
        number = self._socket.getsockname()[1]
        name = REACHED.get(host, host)
        self.url = f"http://[{name}]:{number}" if ":" in name else f"http://{name}:{number}"

    def serve(self, application: Callable[[], Wsgi], gate: Gate, *, any_user: bool = False) -> None:
        """Answer requests that a gate admits, in separate threads; of other users if they may."""
        self._end, ends = socket.socketpair()
        self._has_begun = threading.Event()
        self._thread = threading.Thread(
            target=self._main, args=(ends, application, gate, any_user), name="port", daemon=True
        )
        self._thread.start()

    def _main(
        self, ends: socket.socket, application: Callable[[], Wsgi], gate: Gate, any_user: bool
    ) -> None:
        try:
            with ends, selectors.DefaultSelector() as selector:
                selector.register(self._socket, selectors.EVENT_READ)
                selector.register(ends, selectors.EVENT_READ)
                while any(key.fileobj is self._socket for key, _ in selector.select()):
                    with suppress(OSError):  # no file can be opened now
                        self._server = _server_at(self._socket, application)
                        self._server.gate, self._server.any_user = gate, any_user
                    if self._server is not None or self._is_closed:
                        break
                    time.sleep(LOOK_S)
        finally:
            self._has_begun.set()
        if self._server is not None:
            self._server.run()

    def close(self, waits: Waits | None = None) -> None:
        """Stop answering; requests in progress get a few seconds, those that wait hardly any."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._thread is not None:
            is_first = not self._has_begun.is_set()
            self._end.close()
            self._has_begun.wait()
            if self._server is None:
                self._thread.join()
            else:
                if is_first:  # who has asked before the end is read
                    time.sleep(WAITS_S)
                _end(self._server, self._thread, waits or Waits())
        self._socket.close()


def _server_at(bound: socket.socket, application: Callable[[], Wsgi]) -> _Server:
    def answer(environ: Any, start_response: Any) -> Any:
        try:
            made = application()
        except OSError as error:  # which waitress would take for a client that is gone
            raise RuntimeError("the application cannot be made") from error
        return made(environ, start_response)

    adjustments = Adjustments(
        sockets=[bound],
        threads=THREADS,
        connection_limit=MAX_IN_PROGRESS,
        max_request_body_size=MAX_BODY_BYTES,
        log_socket_errors=False,  # of clients that are gone
        asyncore_use_poll=True,  # select() takes no file number above 1,023
        ident="tidemark",
    )
    about = (bound.family, bound.type, bound.proto, bound.getsockname())
    return _Server(answer, map={}, _sock=bound, adj=adjustments, bind_socket=False, sockinfo=about)


def _end(server: _Server, thread: threading.Thread, waits: Waits) -> None:
    server.task_dispatcher.set_thread_count(0)
    begun_s = time.monotonic()
    while left := len(server.task_dispatcher.threads):
        if time.monotonic() - begun_s > (WAITS_S if left <= waits.count else SHUTDOWN_S):
            break
        time.sleep(LOOK_S)
    server.task_dispatcher.shutdown(timeout=0)
    server.trigger.pull_trigger(lambda: _close_all(server))  # in the serving thread
    thread.join(SHUTDOWN_S)
    if not thread.is_alive() and not server.task_dispatcher.threads:
        server.trigger.close()
    server.close_refused()


def _close_all(server: _Server) -> None:
    """Leave the loop of a server nothing to wait for."""
    # The trigger stays open: a thread may be about to write to it, and its number could be another
    # file's by then.
    server.trigger.del_channel()
    for channel in list(server._map.values()):
        if isinstance(channel, Channel):
            channel.handle_close()
        else:
            wasyncore.dispatcher.close(channel)
