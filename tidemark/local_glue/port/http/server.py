"""Serves the port by waitress: on loopback, unless another address is asked for.

Source: https://docs.pylonsproject.org/projects/waitress/en/stable/arguments.html
"""

import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from waitress.adjustments import Adjustments
from waitress.buffers import ReadOnlyFileBasedBuffer
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import TcpWSGIServer
from waitress.task import WSGITask

from tidemark.errors import UsageError
from tidemark.local_glue.port.access.gate import Admission, Gate, too_large
from tidemark.local_glue.port.access.head import head_of
from tidemark.local_glue.port.access.payload import PAYLOAD, Payload
from tidemark.local_glue.port.http.peers import why_not_ours

REFUSAL = "tidemark.refusal"  # of the environment: why a request is refused, if it is
LINGER_S = 10  # for which the body of a request that was refused is read on, and forgotten
THREADS = 64  # up to half of them wait for others: a queue of SQS for up to 20 seconds
MOST_CONNECTIONS = 500
ROOM = 50  # connections that are closed at once where there are that many
SILENT_S = 1  # of a connection that may be closed then
UNREAD_S = 10  # the same, of one whose client does not read its answer on
SLOW_S = 5  # after which a body may be too slow for that
LEAST_RATE = 10_000  # bytes a second of a body
HEAD_S = 10  # for the head of a request, from its first byte on
CLEANUP_S = 1
BACKLOG = 128
SHUTDOWN_S = 5
AS_IT_IS = "x-amz-"  # beginning of the names of headers that waitress would capitalise
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


class _Parser(HTTPRequestParser):  # type: ignore[misc] # waitress has no types
    """Reads a request; one that is refused by its head is whole without its body."""

    def __init__(self, adj: Adjustments, channel: "_Channel") -> None:
        super().__init__(adj)
        self.begun_s = time.time()
        self.refusal: Exception | None = None
        self.payload = Payload()
        self._channel = channel
        self._largest: int | None = None  # bytes of a body; None before the head was judged

    @property
    def has_body(self) -> bool:
        """Whether a body is sent."""
        return bool(self.content_length or self.chunked)

    def parse_header(self, header_plus: bytes) -> None:
        """Read the head of a request.

        waitress would wait for ever for the body of a PUT of an empty object with
        Expect: 100-continue.
        """
        super().parse_header(header_plus)
        if not self.has_body:
            self.expect_continue = False

    def received(self, data: bytes) -> int:
        """Read on; return how many bytes are of this request."""
        consumed: int = super().received(data)
        if self.headers_finished and self._largest is None and not (self.error or self.empty):
            self._judge()
        if self._largest is not None and self.body_bytes_received > self._largest:
            self.refusal = too_large(self._largest)
        if self.refusal is None or not self.has_body:
            return consumed
        self.completed, self.expect_continue = True, False
        self._channel.is_refused = True
        return len(data)  # what follows is of the body

    def _judge(self) -> None:
        self._largest = 0
        try:
            admission = self._channel.admit(self)
            self.payload, self._largest = admission.payload, admission.largest
        except Exception as error:  # noqa: BLE001 (whatever it is, nothing is answered but this)
            self.refusal = error


class _File(ReadOnlyFileBasedBuffer):  # type: ignore[misc] # waitress has no types
    """The body of a response, read as its client takes it: no thread waits for that."""

    def get(self, numbytes: int = -1, skip: bool = False) -> bytes:
        """Return the next bytes.

        Raises:
            OSError: the file was cut meanwhile, which closes the connection.
        """
        found: bytes = super().get(numbytes, skip)
        if self.remain and not found:
            raise OSError("the file is shorter than it was")
        return found


class _Task(WSGITask):  # type: ignore[misc] # waitress has no types
    """Writes a response; the names of user metadata stay in lower case, as S3 sends them."""

    def get_environment(self) -> dict[str, Any]:
        """Return the environment of WSGI."""
        own = {REFUSAL: self.request.refusal, PAYLOAD: self.request.payload}
        return {**super().get_environment(), "wsgi.file_wrapper": _File, **own}

    def execute(self) -> None:
        """Answer the request; one whose body is not read ends its connection."""
        if self.request.refusal is not None and self.request.has_body:
            self.set_close_on_finish()
        super().execute()

    def build_response_header(self) -> bytes:
        """Return the head of the response."""
        names = [name for name, _ in self.response_headers if name.startswith(AS_IT_IS)]
        head: bytes = super().build_response_header()
        for name in names:
            written = "-".join(part.capitalize() for part in name.split("-"))
            head = head.replace(f"\r\n{written}: ".encode(), f"\r\n{name}: ".encode(), 1)
        return head


class _Channel(HTTPChannel):  # type: ignore[misc] # waitress has no types
    task_class = _Task
    is_ours = False
    is_refused = False  # what comes now is the body of a request that was refused
    lingers_until_s: float | None = None
    close_when_flushed = False

    def parser_class(self, adj: Adjustments) -> _Parser:
        """Return what reads the next request."""
        return _Parser(adj, self)

    def admit(self, request: _Parser) -> Admission:
        """Return what a request may send.

        Raises:
            TidemarkError: it is refused.
        """
        names = ((name.replace("_", "-").lower(), text) for name, text in request.headers.items())
        head = head_of(request.command, request.request_uri, dict(names))
        admission: Admission = self.server.gate.admit(
            head, self._why_not_ours(), request.content_length
        )
        return admission

    def _why_not_ours(self) -> str | None:
        if self.is_ours:  # as long as the connection stands
            return None
        here, port = self.socket.getsockname()[:2]
        why = why_not_ours(self.addr[0], int(self.addr[1]), port, here)
        self.is_ours = why is None
        return why

    def received(self, data: bytes) -> bool:
        """Read what the client sends."""
        return False if self.is_refused else bool(super().received(data))

    def handle_write(self) -> None:
        """Send on; a client that was refused while it sends can read why, and is then left."""
        if not (self.is_refused and self.close_when_flushed):
            super().handle_write()
            return
        self._flush_exception(self._flush_some)
        if self.will_close:
            self.handle_close()
        elif self.connected and not self.total_outbufs_len:
            self.close_when_flushed = False
            self.lingers_until_s = time.time() + LINGER_S
            with suppress(OSError):
                self.socket.shutdown(socket.SHUT_WR)

    def handle_close(self) -> None:
        """Close the connection, and the file that an unfinished body is in."""
        super().handle_close()
        if self.request is not None:
            self.request.close()


class _Server(TcpWSGIServer):  # type: ignore[misc] # waitress has no types
    """Has room for one more client, whatever others began and do not go on with."""

    channel_class = _Channel
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


def _holds_up(channel: _Channel, now: float) -> bool:
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
        self.url = f"http://[{host}]:{number}" if ":" in host else f"http://{host}:{number}"
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
            if isinstance(channel, _Channel):
                channel.handle_close()
            else:
                channel.close()
