"""moto as an in-process server, called without a network.

Source: https://docs.getmoto.org/en/latest/docs/server_mode.html
"""

import contextlib
import io
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from tidemark.emulated.journal import JournalEntry
from tidemark.errors import UsageError
from tidemark.extras import not_installed, require
from tidemark.glue_service.protocol.models import EMULATED
from tidemark.glue_service.protocol.replies import Reply
from tidemark.glue_service.protocol.service_errors import ServiceError
from tidemark.model.assembly.intrinsics import ACCOUNT_ID

TIMEOUT_S = 15  # of one delivery, as of SNS
CLOSE_S = 2  # for those that are under way at the end


class Deliveries:
    """Posts, and knows what is under way."""

    def __init__(self, post: Callable[..., object]) -> None:
        """Prepare to post."""
        self._post = post
        self._threads: set[threading.Thread] = set()

    def post(self, url: str, **options: Any) -> None:
        """Post to an address that may not answer; what fails is dropped."""

        def deliver() -> None:
            with contextlib.suppress(OSError):
                self._post(url, timeout=TIMEOUT_S, **options)
            self._threads.discard(threading.current_thread())

        thread = threading.Thread(target=deliver, daemon=True)
        self._threads.add(thread)
        thread.start()

    def close(self) -> None:
        """Wait a while for what is under way."""
        deadline = time.monotonic() + CLOSE_S
        for thread in list(self._threads):
            thread.join(max(deadline - time.monotonic(), 0))


PACKAGES = ("moto", "flask", "flask_cors")
SEED = "/moto-api/seed"
ANSWERS = "moto answers this request on this machine"
KEPT = ("x-amzn-errortype", "x-amzn-query-error")
JSON, XML = "application/x-amz-json-1.1", "text/xml"
Wsgi = Callable[..., Any]


def require_moto(service: str) -> None:
    """Raise unless moto is installed."""
    for package in PACKAGES:
        try:
            require(package)
        except UsageError as error:
            raise UsageError(f"{EMULATED[service]} is not on this machine: {error}") from error


class Moto:
    """The services; their state is that of this process."""

    def __init__(self) -> None:
        """Prepare to answer; `begin` comes first."""
        try:
            import requests
            from moto.backends import get_backend
            from moto.moto_server.werkzeug_app import create_backend_app
            from moto.sns import models as sns
        except ImportError as error:
            known = not_installed(error.name or "")
            raise known or UsageError(f"moto cannot be imported: {error}") from error
        self.deliveries = Deliveries(requests.post)
        self._posting, self._backends = vars(sns), get_backend
        self._create: Callable[[Any], Wsgi] = create_backend_app
        self._applications: dict[str, Wsgi] = {}

    def begin(self) -> None:
        """Begin with nothing in the services."""
        self._posting["requests"] = self.deliveries  # what posts to subscribers
        for service in EMULATED:
            for backends in self._backends(service).values():
                backends.reset()

    def answer(self, request: JournalEntry, host: str) -> Reply:
        """Run a request; host is the client's name of the port."""
        self._call("moto_api", SEED, f"a={request.seed}", {}, b"", host)
        headers = {**request.headers, "x-moto-account-id": ACCOUNT_ID}
        return self._call(request.service, request.path, "", headers, request.body, host)

    def _call(
        self,
        service: str,
        path: str,
        query: str,
        headers: Mapping[str, str],
        body: bytes,
        host: str,
    ) -> Reply:
        if service not in self._applications:
            self._applications[service] = self._create(service)
        status, fields = "", []

        def start_response(
            line: str, names_and_values: list[tuple[str, str]], _: Any = None
        ) -> None:
            nonlocal status, fields
            status, fields = line, names_and_values

        environ = _environ(path, query, headers, body, host)
        try:
            content = b"".join(self._applications[service](environ, start_response))
        except NotImplementedError as error:
            raise ServiceError("UnknownOperationException", f"{ANSWERS}: {error}") from error
        except Exception as error:  # whatever it is: no retry helps
            why = f"{ANSWERS}, and fails: {type(error).__name__}: {error}"
            raise ServiceError("UnsupportedOperationException", why) from error
        headers_passed = {name: value for name, value in fields if name.lower() in KEPT}
        kind = JSON if "x-amz-target" in headers else XML
        return Reply(
            int(status.partition(" ")[0]), {**headers_passed, "Content-Type": kind}, content
        )


def _environ(
    path: str, query: str, headers: Mapping[str, str], body: bytes, host: str
) -> dict[str, Any]:
    name, _, port = host.rpartition(":")
    variables = {f"HTTP_{key.upper().replace('-', '_')}": text for key, text in headers.items()}
    return {
        **variables,
        "REQUEST_METHOD": "POST",
        "SCRIPT_NAME": "",
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "SERVER_NAME": name or host,
        "SERVER_PORT": port if name else "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "HTTP_HOST": host,
        "CONTENT_TYPE": headers.get("content-type", ""),
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": io.StringIO(),
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
