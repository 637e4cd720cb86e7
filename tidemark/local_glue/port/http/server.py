"""Serves the port by waitress: on loopback, unless another address is asked for.

Source: https://docs.pylonsproject.org/projects/waitress/en/stable/arguments.html
"""

import logging
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import waitress
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.task import WSGITask

from tidemark.errors import UsageError

LOOPBACK = "127.0.0.1"
LOOPBACK_NAMES = frozenset(("127.0.0.1", "localhost", "::1"))
THREADS = 8
MOST_CONNECTIONS = 500
BACKLOG = 128
SHUTDOWN_S = 5
AS_IT_IS = "x-amz-"  # beginning of the names of headers that waitress would capitalise
LARGEST_BODY = 6 * 1024**3  # bytes: the largest part that S3 takes is 5 GB
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
    """Reads a request; one without a body is whole, even if it asks whether to go on.

    waitress would wait for ever for the body of a PUT of an empty object with Expect: 100-continue.
    """

    def parse_header(self, header_plus: bytes) -> None:
        """Read the head of a request."""
        super().parse_header(header_plus)
        if self.content_length == 0 and not self.chunked:
            self.expect_continue = False


class _Task(WSGITask):  # type: ignore[misc] # waitress has no types
    """Writes a response; the names of user metadata stay in lower case, as S3 sends them."""

    def build_response_header(self) -> bytes:
        """Return the head of the response."""
        names = [name for name, _ in self.response_headers if name.startswith(AS_IT_IS)]
        head: bytes = super().build_response_header()
        for name in names:
            written = "-".join(part.capitalize() for part in name.split("-"))
            head = head.replace(f"\r\n{written}: ".encode(), f"\r\n{name}: ".encode(), 1)
        return head


class _Channel(HTTPChannel):  # type: ignore[misc] # waitress has no types
    parser_class = _Parser
    task_class = _Task

    def handle_close(self) -> None:
        """Close the connection, and the file that an unfinished body is in."""
        super().handle_close()
        if self.request is not None:
            self.request.close()


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
        self._server = waitress.create_server(
            self._call,
            sockets=[self._socket],
            threads=THREADS,
            connection_limit=MOST_CONNECTIONS,
            max_request_body_size=LARGEST_BODY,
            ident="tidemark",
        )
        self._server.channel_class = _Channel

    def serve(self, application: Wsgi) -> None:
        """Answer requests, in threads of its own."""
        self._application = application
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
