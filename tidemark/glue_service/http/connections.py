"""Connections of clients: the heads of their requests are checked, and answers come in order.

Source: https://docs.pylonsproject.org/projects/waitress/en/stable/design.html
"""

import socket
import time
from contextlib import suppress
from typing import Any

from waitress.adjustments import Adjustments
from waitress.buffers import ReadOnlyFileBasedBuffer
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError, get_header_lines
from waitress.task import ErrorTask, WSGITask

from tidemark.glue_service.access.gate import too_large
from tidemark.glue_service.access.head import head_of
from tidemark.glue_service.access.payload import PAYLOAD, Payload

# No answer is a page of this port: in a browser it has no origin, and runs no script.
SANDBOX = {"Content-Security-Policy": "sandbox", "X-Content-Type-Options": "nosniff"}
REFUSAL = "tidemark.refusal"  # key in the environment: why a request is refused
LINGER_S = 10  # how long the body of a refused request is read and dropped
LOWER_CASE_PREFIX = "x-amz-"  # prefix of headers that waitress would capitalise


class _Parser(HTTPRequestParser):  # type: ignore[misc] # waitress has no types
    """Reads a request; a request that is refused by its head ends before its body."""

    def __init__(self, adj: Adjustments, channel: "Channel") -> None:
        super().__init__(adj)
        self.refusal: Exception | None = None
        self.payload = Payload()
        self.repeated: dict[str, str] = {}  # headers that came several times, as they are signed
        self._channel = channel
        self._largest: int | None = None  # bytes of a body; None before the check of the head

    @property
    def has_body(self) -> bool:
        """Whether a body is sent."""
        return bool(self.content_length or self.chunked)

    def parse_header(self, header_plus: bytes) -> None:
        """Read the head of a request.

        waitress would wait forever for the body of a PUT of an empty object with
        Expect: 100-continue.
        """
        try:
            super().parse_header(header_plus)
        except ValueError as error:
            # Content-Length may have more digits than Python converts.
            raise ParsingError("Content-Length is invalid") from error
        # Headers that came several times, joined for the signature: waitress adds a space.
        # Source:
        # https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
        values: dict[str, list[str]] = {}
        for line in get_header_lines(header_plus.partition(b"\r\n")[2]):
            name, _, value = line.decode("latin-1").partition(":")
            values.setdefault(name.lower(), []).append(value.strip(" \t"))
        self.repeated = {name: ",".join(texts) for name, texts in values.items() if len(texts) > 1}
        if not self.has_body:
            self.expect_continue = False

    def received(self, data: bytes) -> int:
        """Read more; return how many bytes belong to this request."""
        consumed: int = super().received(data)
        if self.headers_finished and self._largest is None and not (self.error or self.empty):
            self._largest = 0
            try:
                self.payload, self._largest = self._channel.admit(self)
            except Exception as error:  # noqa: BLE001 (whatever it is, it is the answer)
                self.refusal = error
        if self._largest is not None and self.body_bytes_received > self._largest:
            self.refusal = too_large(self._largest)
        if self.refusal is None or not self.has_body:
            return consumed
        self.completed, self.expect_continue = True, False
        self._channel.is_refused = True
        return len(data)  # the rest belongs to the body


class _File(ReadOnlyFileBasedBuffer):  # type: ignore[misc] # waitress has no types
    """The body of a response, read at the pace of its client: no thread waits for that."""

    def get(self, numbytes: int = -1, skip: bool = False) -> bytes:
        """Return the next bytes."""
        block: bytes = super().get(numbytes, skip)
        if self.remain and not block:
            raise OSError("the file is shorter than it was")
        return block


class _Task(WSGITask):  # type: ignore[misc] # waitress has no types
    """Writes a response; the names of user metadata stay in lower case, as S3 sends them."""

    def get_environment(self) -> dict[str, Any]:
        """Return the environment of WSGI."""
        own = {REFUSAL: self.request.refusal, PAYLOAD: self.request.payload}
        return {**super().get_environment(), "wsgi.file_wrapper": _File, **own}

    def execute(self) -> None:
        """Answer the request; if its body is not read, close the connection."""
        if self.request.refusal is not None and self.request.has_body:
            self.set_close_on_finish()
        super().execute()

    def build_response_header(self) -> bytes:
        """Return the head of the response."""
        names = [name for name, _ in self.response_headers if name.startswith(LOWER_CASE_PREFIX)]
        head: bytes = super().build_response_header()
        for name in names:
            written = "-".join(part.capitalize() for part in name.split("-"))
            head = head.replace(f"\r\n{written}: ".encode(), f"\r\n{name}: ".encode(), 1)
        return head


class _ErrorTask(ErrorTask):  # type: ignore[misc] # waitress has no types
    """Answers what is not HTTP, and a failure of the application."""

    def build_response_header(self) -> bytes:
        """Return the head of the response."""
        self.response_headers.extend(SANDBOX.items())
        head: bytes = super().build_response_header()
        return head


class Channel(HTTPChannel):  # type: ignore[misc] # waitress has no types
    """One connection."""

    task_class = _Task
    error_task_class = _ErrorTask
    is_refused = False  # the body of a refused request is arriving
    ends_s: float | None = None  # when a refused client had time to read why
    _is_last = False  # the response that is being sent

    def parser_class(self, adj: Adjustments) -> _Parser:
        """Return the parser of the next request."""
        return _Parser(adj, self)

    def admit(self, request: _Parser) -> tuple[Payload, int]:
        """Return the check for the body of a request, and the maximum size of it."""
        sent = {name.replace("_", "-").lower(): text for name, text in request.headers.items()}
        sent |= request.repeated
        if request.chunked:  # waitress removes the header, but it may be signed
            sent["transfer-encoding"] = "chunked"
        head = head_of(request.command, request.request_uri, sent)
        admission: tuple[Payload, int] = self.server.gate.admit(head, request.content_length)
        return admission

    @property
    def is_silent(self) -> bool:
        """Whether no request is being answered."""
        return not (self.requests or self.total_outbufs_len)

    def received(self, data: bytes) -> bool:
        """Read what the client sends; drop the body of a refused request."""
        if not self.is_refused:
            return bool(super().received(data))
        if self.ends_s is not None and self.ends_s < time.monotonic():
            self.will_close = True
        return False

    @property
    def close_when_flushed(self) -> bool:
        """Whether waitress closes the connection after the response."""
        # Not that of a refused client: it would be reset while it sends, before it reads why.
        return self._is_last and not self.is_refused

    @close_when_flushed.setter
    def close_when_flushed(self, is_last: bool) -> None:
        self._is_last = is_last

    def writable(self) -> bool:
        """Whether there is something to send, or to end."""
        return bool(super().writable() or self._must_say_end())

    def _must_say_end(self) -> bool:
        return self.is_refused and self._is_last and self.ends_s is None

    def handle_write(self) -> None:
        """Send more; a client that is refused while it sends can read why before the end."""
        super().handle_write()
        if self._must_say_end() and self.connected and not self.total_outbufs_len:
            self.ends_s = time.monotonic() + LINGER_S
            with suppress(OSError):
                self.socket.shutdown(socket.SHUT_WR)

    def handle_close(self) -> None:
        """Close the connection, and the file of an unfinished body."""
        super().handle_close()
        if self.request is not None:
            self.request.close()
