"""Secrets Manager, SSM, SNS and SQS of a home, which keep their content between starts."""

import json
import secrets
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import ClassVar
from urllib.parse import parse_qs, parse_qsl, urlencode

from tidemark.emulated.journal import Journal, JournalEntry
from tidemark.emulated.moto_server import Moto, require_moto
from tidemark.errors import UsageError
from tidemark.glue_service.protocol.json_protocol import read_request
from tidemark.glue_service.protocol.models import EMULATED, find_operation
from tidemark.glue_service.protocol.replies import Reply
from tidemark.glue_service.protocol.service_errors import ServiceError
from tidemark.local_state.home_folder import SERVICES

SENT = ("authorization", "content-type", "x-amz-target")  # all that moto reads
FAILED = 300  # and higher
HOST = "127.0.0.1:4566"  # of requests that no client sends
# What changes nothing, and messages, which are not kept.
NOT_KEPT = tuple(
    "Get List Describe BatchGet Check Validate Publish SendMessage ReceiveMessage "
    "DeleteMessage ChangeMessage PurgeQueue".split()
)
WAITING = ("ReceiveMessage",)  # for up to 20 seconds, while others send
MAX_WAITING = 32  # at once; the others are answered at once, so that threads are left


class EmulatedServices:
    """The services of one home; called by any thread.

    All homes of a process share moto, whose state is that of one of them at a time.
    """

    _lock = threading.Lock()
    _in_moto: ClassVar["EmulatedServices | None"] = None

    def __init__(
        self, home: Path, wait: Callable[[], AbstractContextManager[None]] = nullcontext
    ) -> None:
        """Load nothing yet; the first request loads moto, and the home's content.

        A request that waits for messages does so within ``wait``.
        """
        self._wait = wait
        self._path = home / SERVICES
        self._journal = Journal(self._path)
        self._moto: Moto | None = None
        self._waiting = threading.BoundedSemaphore(MAX_WAITING)

    def missing_package(self, service: str) -> str | None:
        """Return which package is to be installed first; None if none is."""
        try:
            require_moto(service)
        except UsageError as error:
            return str(error)
        return None

    def is_used(self) -> bool:
        """Return whether anything was ever defined in them, by whatever process."""
        return self._moto is not None or (self._path.exists() and self._path.stat().st_size > 0)

    def close(self) -> None:
        """Wait a while for what SNS is delivering."""
        if self._moto is not None:
            self._moto.deliveries.close()

    def answer(
        self,
        service: str,
        path: str,
        headers: Mapping[str, str],
        body: bytes,
        host: str | None = None,
    ) -> Reply:
        """Run a request; a change is on the disk when this returns."""
        require_moto(service)
        host = host or HOST
        sent = {name: headers[name] for name in SENT if name in headers}
        check_json(service, sent, body)
        request = JournalEntry(service, path or "/", sent, body, secrets.randbits(48))
        with self._lock, self._journal.locked() as turn:
            moto = self._moto = self._moto or Moto()
            if EmulatedServices._in_moto is not self or turn.is_shorter():
                EmulatedServices._in_moto, turn.place = self, 0
                moto.begin()
            for earlier in turn.unread():
                self._repeat(moto, earlier)
            operation = operation_of(sent, body)
            if operation not in WAITING:
                reply = moto.answer(request, host)
                if reply.status < FAILED and is_kept(operation):
                    turn.add(request)
                return reply
        if not self._waiting.acquire(blocking=False):
            return moto.answer(replace(request, body=without_wait(body)), host)
        try:
            with self._wait():
                return moto.answer(request, host)
        finally:
            self._waiting.release()

    def _repeat(self, moto: Moto, request: JournalEntry) -> None:
        reply = moto.answer(request, HOST)
        if reply.status >= FAILED:
            operation = operation_of(request.headers, request.body)
            raise UsageError(
                f"moto refuses {operation} of {EMULATED[request.service]}, which {self._path} "
                f"keeps: {reply.body!r}; install the version of moto that did it, or take the "
                "line out"
            )


def check_json(service: str, headers: Mapping[str, str], body: bytes) -> None:
    """Refuse a request in JSON that AWS would refuse; moto would fail on it."""
    if "x-amz-target" in headers:
        name = operation_of(headers, body)
        operation = find_operation(service, name)
        if operation is None:
            text = f"{EMULATED[service]} has no operation {name!r}"
            raise ServiceError("UnknownOperationException", text)
        read_request(operation, body)


def operation_of(headers: Mapping[str, str], body: bytes) -> str:
    """Return the operation that a request names: in its target, or in its form."""
    if target := headers.get("x-amz-target"):
        return target.rpartition(".")[2]
    return parse_qs(body.decode("utf-8", "replace")).get("Action", [""])[0]


def without_wait(body: bytes) -> bytes:
    """Return the body of ReceiveMessage, in JSON or as a form, so that it does not wait."""
    try:
        return json.dumps({**json.loads(body), "WaitTimeSeconds": 0}).encode()
    except (TypeError, ValueError):
        fields = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
        return urlencode({**fields, "WaitTimeSeconds": "0"}).encode()


def is_kept(operation: str) -> bool:
    """Return whether an operation changes the home's content."""
    return not operation.startswith(NOT_KEPT)
