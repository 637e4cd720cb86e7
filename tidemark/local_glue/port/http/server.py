"""Serves the port by waitress: on loopback, unless another address is asked for.

Source: https://docs.pylonsproject.org/projects/waitress/en/stable/arguments.html
"""

import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from waitress.adjustments import Adjustments
from waitress.server import TcpWSGIServer

from tidemark.errors import UsageError
from tidemark.local_glue.port.access.gate import Gate
from tidemark.local_glue.port.http.connections import Channel

THREADS = 64  # up to half of them wait for others: a queue of SQS for up to 20 seconds
MOST_CONNECTIONS = 500
ROOM = 50  # connections that are closed at once where there are that many
SILENT_S = 1  # of a connection that may be closed then
UNREAD_S = 10  # the same, of one whose client does not read its answer on
SLOW_S = 5  # after which a body may be too slow for that
LEAST_RATE = 10_000  # bytes a second of a body
REACHED = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 (where programs of this machine ask)
HEAD_S = 10  # for the head of a request, from its first byte on
CLEANUP_S = 1
BACKLOG = 128
SHUTDOWN_S = 5
LARGEST_BODY = 7 * 1024**3  # bytes: the gate allows less
Wsgi = Callable[..., Any]


@contextmanager
def listening(host: str, port: int) -> Iterator["Listener"]:
    """Bind the port, so that its number is known before anything is started.

    Raises:
        UsageError: it is in use, or the address is none of this machine.
    """
    listener = Listener(host, port)
    try:
        yield listener
    finally:
        listener.close()


# More requests than threads wait a moment; that is no news for who runs the server.
logging.getLogger("waitress.queue").setLevel(logging.ERROR)


class _Server(TcpWSGIServer):  # type: ignore[misc] # waitress has no types
    """Has room for one more client, whatever others began and do not go on with."""

    channel_class = Channel
    gate: Gate

    def readable(self) -> bool:
        """Return whether a connection can be accepted; called in every turn of the loop."""
        if len(self._map) >= MOST_CONNECTIONS:
            self._make_room()
        return bool(super().readable())

    def _make_room(self) -> None:
        """Close those that hold others up, the longest silent first; no answer is being made."""
        now = time.time()
        found = [
            channel
            for channel in self.active_channels.values()
            if not channel.requests and _holds_up(channel, now)
        ]
        for channel in sorted(found, key=lambda channel: channel.last_activity)[:ROOM]:
            channel.will_close = True

    def maintenance(self, now: float) -> None:
        """Close connections that are silent, or whose request has no head after its time."""
        super().maintenance(now)
        for channel in self.active_channels.values():
            request, lingers_until_s = channel.request, channel.lingers_until_s
            has_no_head = request and not request.headers_finished
            if (has_no_head and request.begun_s < now - HEAD_S) or (
                lingers_until_s is not None and lingers_until_s < now
            ):
                channel.will_close = True


def _holds_up(channel: Channel, now: float) -> bool:
    """Return whether the client of a connection is silent, or sends a body too slowly."""
    request, silent_s = channel.request, now - channel.last_activity
    if request is not None and request.headers_finished:
        age_s = now - request.begun_s
        if age_s > SLOW_S and request.body_bytes_received < LEAST_RATE * age_s:
            return True
    return bool(silent_s > (UNREAD_S if channel.total_outbufs_len else SILENT_S))


class Listener:
    """A bound port; `serve` begins to answer."""

    def __init__(self, host: str, port: int) -> None:
        self._application: Wsgi | None = None
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
        adjustments = Adjustments(
            sockets=[self._socket],
            threads=THREADS,
            connection_limit=MOST_CONNECTIONS,
            cleanup_interval=CLEANUP_S,
            max_request_body_size=LARGEST_BODY,
            log_socket_errors=False,  # of clients that are gone
            asyncore_use_poll=True,  # select() takes no file number above 1,023
            ident="tidemark",
        )
        about = (family, self._socket.type, self._socket.proto, self._socket.getsockname())
        self._server = _Server(
            self._call,
            map={},
            _sock=self._socket,
            adj=adjustments,
            bind_socket=False,
            sockinfo=about,
        )

    def serve(self, application: Wsgi, gate: Gate) -> None:
        """Answer requests that a gate admits, in threads of its own."""
        self._application, self._server.gate = application, gate
        self._thread = threading.Thread(target=self._server.run, name="port", daemon=True)
        self._thread.start()

    def _call(self, environ: Any, start_response: Any) -> Any:
        assert self._application is not None  # noqa: S101 (no thread serves before)
        return self._application(environ, start_response)

    def close(self) -> None:
        """Stop answering; requests that are being answered get a few seconds."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._thread is None:
            self._server.close()
        else:
            self._server.task_dispatcher.shutdown(timeout=SHUTDOWN_S)
            self._server.trigger.pull_trigger(self._close_all)  # in the thread that serves
            self._thread.join(SHUTDOWN_S)
        self._socket.close()

    def _close_all(self) -> None:
        for channel in list(self._server._map.values()):
            if isinstance(channel, Channel):
                channel.handle_close()
            else:
                channel.close()
