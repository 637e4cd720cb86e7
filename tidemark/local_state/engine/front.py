"""The front of a home's DynamoDB: the way in for jobs and commands, which have its URL.

The URL ends in a secret path, such as ``http://127.0.0.1:40123/3kJ...``. Jobs get it in their
environment, which other users cannot read. A request without the path is refused, and so is one
that a web page sends, even with the path. No answer has a CORS header. Connections of other users
are closed before a byte is read.
"""

import hmac
import http.client
import json
import secrets
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Protocol

from tidemark.errors import TidemarkError
from tidemark.local_state.engine.closed_port import Answer
from tidemark.local_state.machine.loopback import FRONT, LOOPBACK, LOOPBACK_NAMES, refusal_reason
from tidemark.local_state.machine.peers import stranger

MAX_BODY_BYTES = 20_000_000
LINGER_S, LINGER_BYTES, LINGER_READS = 1, 65_536, 64
JSON = "application/x-amz-json-1.0"
CORS = "access-control-"
SENT_ON = tuple(
    "authorization content-type user-agent x-amz-date x-amz-target x-amz-security-token".split()
)
CONNECTION_HEADERS = frozenset({"connection", "keep-alive", "content-length", "date", "server"})
NOT_ALLOWED = "AccessDeniedException"
REMEDY = "use AWS_ENDPOINT_URL_DYNAMODB of the job, or the port of `tidemark serve`"
LOOK_S = 0.01  # each command waits at its end until the front has looked
SECRET_BYTES = 32


class Engine(Protocol):
    """The engine that gets the requests of a front."""

    def request(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Return the response to a request."""


@contextmanager
def front_of(engine: Engine) -> Iterator[str]:
    """Answer DynamoDB requests for as long as the block takes; yield the secret URL."""
    path = f"/{secrets.token_urlsafe(SECRET_BYTES)}"
    server = _Server(engine, path)
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": LOOK_S}, name="dynamodb", daemon=True
    )
    thread.start()
    try:
        yield f"http://{LOOPBACK}:{server.server_port}{path}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # a client that is silent holds nothing up
    request_queue_size = 128

    def __init__(self, engine: Engine, secret_path: str) -> None:
        super().__init__((LOOPBACK, 0), _Handler)
        self.engine, self.secret_path = engine, secret_path

    def verify_request(self, request: socket.socket, client_address: object) -> bool:  # type: ignore[override]
        """Return whether a connection may be read."""
        return stranger(request) is None


def is_front(url: str) -> bool:
    """Return whether a URL is that of a front, as a job has it in its environment."""
    return FRONT.fullmatch(url) is not None


def refusal(path: str, secret_path: str, headers: dict[str, str]) -> str | None:
    """Return why a request is not answered; None if it is."""
    if why := refusal_reason(headers, LOOPBACK_NAMES):
        return why
    if not hmac.compare_digest(path.rstrip("/").encode(), secret_path.encode()):
        return f"the URL lacks the secret path of this DynamoDB; {REMEDY}"
    return None


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # the head and the body of an answer in one packet

    def do_POST(self) -> None:
        """Answer a request of DynamoDB's protocol."""
        headers = {name.lower(): value for name, value in self.headers.items()}
        if why := refusal(self.path, self.server.secret_path, headers):
            self._refuse(403, why)
            return
        length = headers.get("content-length", "")
        if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
            self._refuse(413, f"a request has a Content-Length of at most {MAX_BODY_BYTES:,} bytes")
            return
        body = self.rfile.read(int(length))
        sent = {name: headers[name] for name in SENT_ON if name in headers}
        try:
            answer = self.server.engine.request("POST", "/", sent, body)
        except TidemarkError as error:
            # The engine cannot be started: the class of the error becomes the code of the answer.
            kind = f"com.amazon.coral.service#{type(error).__name__}"
            text = json.dumps({"__type": kind, "message": str(error)})
            answer = 400, [("content-type", JSON)], text.encode()
        except (OSError, http.client.HTTPException) as error:
            kind = "com.amazon.coral.service#InternalServerError"
            text = json.dumps({"__type": kind, "message": f"the engine does not answer: {error!r}"})
            answer = 500, [("content-type", JSON)], text.encode()
        self._answer(*answer)

    def do_GET(self) -> None:
        """Refuse: DynamoDB's protocol has POST only."""
        self._refuse(403, f"only POST is answered; {REMEDY}")

    do_OPTIONS = do_PUT = do_HEAD = do_DELETE = do_GET  # noqa: N815 (the names of the library)

    def _refuse(self, status: int, why: str) -> None:
        self.close_connection = True  # the body is not read
        text = json.dumps({"__type": f"com.amazon.coral.service#{NOT_ALLOWED}", "message": why})
        self._answer(status, [("content-type", JSON)], text.encode())
        # Closing before the rest of the request is read would discard the answer.
        with suppress(OSError):
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_WR)
            self.connection.settimeout(LINGER_S)
            for _ in range(LINGER_READS):
                if not self.connection.recv(LINGER_BYTES):
                    break

    def _answer(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in CONNECTION_HEADERS and not name.lower().startswith(CORS):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (of the library)
        """Log nothing: the output is that of the user's commands."""
