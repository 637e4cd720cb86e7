"""Secrets Manager, SSM, SNS and SQS of a home: what they keep is there when they begin again."""

import secrets
import threading
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qs

from tidemark.errors import UsageError
from tidemark.local_glue.port.emulated.journal import Journal, Request
from tidemark.local_glue.port.emulated.moto_server import NAMES, Moto, require_moto
from tidemark.local_glue.port.protocol.replies import Reply

FILE = "services.jsonl"  # of the home
SENT = ("authorization", "content-type", "x-amz-target")  # all that moto looks at
FAILED = 300  # and higher
HOST = "127.0.0.1:4566"  # of requests that no client sends
# What changes nothing, and messages, which are not kept.
NOT_KEPT = (
    *("Get", "List", "Describe", "BatchGet", "Check", "Validate"),
    *("Publish", "SendMessage", "ReceiveMessage", "DeleteMessage", "ChangeMessage", "PurgeQueue"),
)
WAITING = ("ReceiveMessage",)  # for up to 20 seconds, while others send


class EmulatedServices:
    """The services of one home; called by any thread."""

    def __init__(self, home: Path) -> None:
        """Begin without anything loaded; the first request loads moto, and what the home keeps.

        Args:
            home: the folder of the home.
        """
        self._path = home / FILE
        self._journal = Journal(self._path)
        self._moto: Moto | None = None
        self._lock = threading.Lock()

    def answer(
        self, service: str, path: str, headers: Mapping[str, str], body: bytes, host: str = HOST
    ) -> Reply:
        """Do a request; if it changes what is kept, it is on the disk when this returns.

        Args:
            service: one of NAMES.
            path: of the URL: that of a queue, or ``/``.
            headers: with lower-case names.
            body: of the request.
            host: what the client calls the port; URLs of queues have it.

        Raises:
            UsageError: moto is not installed, or the file of the home is damaged.
        """
        require_moto(service)
        sent = {name: headers[name] for name in SENT if name in headers}
        request = Request(service, path or "/", sent, body, secrets.randbits(48))
        with self._lock, self._journal.locked() as turn:
            if self._moto is None or turn.is_shorter():
                self._moto, turn.place = Moto(), 0
            moto = self._moto
            for earlier in turn.unread():
                self._repeat(moto, earlier)
            operation = operation_of(sent, body)
            if operation not in WAITING:
                reply = moto.answer(request, host)
                if reply.status < FAILED and is_kept(operation):
                    turn.add(request)
                return reply
        return moto.answer(request, host)

    def _repeat(self, moto: Moto, request: Request) -> None:
        reply = moto.answer(request, HOST)
        if reply.status >= FAILED:
            operation = operation_of(request.headers, request.body)
            raise UsageError(
                f"moto refuses {operation} of {NAMES[request.service]}, which {self._path} keeps: "
                f"{reply.body!r}; install the version of moto that did it, or take the line out"
            )


def operation_of(headers: Mapping[str, str], body: bytes) -> str:
    """Return the operation that a request names: in its target, or in its form."""
    if target := headers.get("x-amz-target"):
        return target.rpartition(".")[2]
    return parse_qs(body.decode("utf-8", "replace")).get("Action", [""])[0]


def is_kept(operation: str) -> bool:
    """Return whether an operation changes what the home keeps."""
    return not operation.startswith(NOT_KEPT)
