"""SNS topics in rules: those of templates, and the messages that rules publish to them.

moto is loaded when SNS is first used, and the endpoint of a topic may be slow: a separate
thread publishes the messages of rules.
"""

import queue
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol
from urllib.parse import urlencode

from tidemark.glue_service.protocol.replies import Reply

SNS = ":sns:"
VERSION = "2010-03-31"
FORM = "application/x-www-form-urlencoded"
SCOPE = "AWS4-HMAC-SHA256 Credential=local/20260101/{region}/sns/aws4_request, SignedHeaders=host"
OK = 200
CLOSE_S = 10  # for messages in progress


class Sns(Protocol):
    """SNS of one home."""

    def ask_sns(self, headers: Mapping[str, str], body: bytes) -> Reply:
        """Answer a request."""

    def missing_for_sns(self) -> str | None:
        """Return what must be installed first; None if nothing is missing."""

    def is_sns_used(self) -> bool:
        """Return whether anything was ever defined there."""


class Topics:
    """The topics of one home; called by any thread."""

    def __init__(self, sns: Callable[[], Sns], say: Callable[[str], None]) -> None:
        """Start without topics."""
        self._sns = sns
        self._say = say
        self._expected: frozenset[str] = frozenset()
        self._made: set[str] = set()
        self._lock = threading.Lock()
        self._work: queue.SimpleQueue[tuple[str, str, str] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def missing_package(self) -> str | None:
        """Return what must be installed first; None if nothing is missing."""
        return self._sns().missing_for_sns()

    def expect(self, arns: Iterable[str]) -> None:
        """Have topics created before SNS is used next."""
        self._expected = frozenset(arns)

    def make(self) -> None:
        """Create the expected topics that are missing; call it before SNS is used."""
        with self._lock:
            for arn in sorted(self._expected - self._made):
                if self._do(arn, "GetTopicAttributes", TopicArn=arn).status != OK:
                    self._do(arn, "CreateTopic", Name=arn.rpartition(":")[2])
                self._made.add(arn)

    def publish(self, rule_name: str, arn: str, message: str) -> None:
        """Publish a rule's message to a topic, in a separate thread."""
        if not self._sns().is_sns_used():
            return
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._main, name="sns", daemon=True)
                self._thread.start()
        self._work.put((rule_name, arn, message))

    def close(self) -> None:
        """Wait a while for messages in progress."""
        if self._thread is not None:
            self._work.put(None)
            self._thread.join(CLOSE_S)

    def _main(self) -> None:
        while item := self._work.get():
            rule_name, arn, message = item
            try:
                self.make()
                answer = self._do(arn, "Publish", TopicArn=arn, Message=message)
                why = None if answer.status == OK else bytes(answer.body).decode()  # type: ignore[arg-type]
            except Exception as error:  # noqa: BLE001 (one that fails must not end the others)
                why = str(error)
            if why is not None:
                self._say(f"rule {rule_name} could not publish to {arn}: {why}")

    def _do(self, arn: str, operation: str, **fields: str) -> Reply:
        headers = {"authorization": SCOPE.format(region=arn.split(":")[3]), "content-type": FORM}
        form = {"Action": operation, "Version": VERSION, **fields}
        return self._sns().ask_sns(headers, urlencode(form).encode())


def is_topic(arn: str) -> bool:
    """Return whether an ARN names a topic of SNS."""
    return arn.startswith("arn:") and SNS in arn
