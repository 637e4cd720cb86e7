"""Topics of SNS as rules use them: those of templates, and what is published to them.

moto is loaded when SNS is first used, and an endpoint that a topic is delivered to may take its
time: what rules publish is handed to a thread of its own.
"""

import queue
import threading
from collections.abc import Callable, Iterable, Mapping
from urllib.parse import urlencode

from tidemark.glue_service.protocol.replies import Reply

SNS = ":sns:"
VERSION = "2010-03-31"
FORM = "application/x-www-form-urlencoded"
SCOPE = "AWS4-HMAC-SHA256 Credential=local/20260101/{region}/sns/aws4_request, SignedHeaders=host"
OK = 200
CLOSE_S = 10  # for what was published just before
Ask = Callable[[Mapping[str, str], bytes], Reply]


class Topics:
    """SNS of one home; called by any thread."""

    def __init__(
        self,
        ask: Ask,
        why_absent: Callable[[], str | None],
        is_used: Callable[[], bool],
        say: Callable[[str], None],
    ) -> None:
        """Expect no topic yet."""
        self._ask = ask
        self.why_absent = why_absent
        self._is_used = is_used
        self._say = say
        self._expected: frozenset[str] = frozenset()
        self._made: set[str] = set()
        self._lock = threading.Lock()
        self._work: queue.SimpleQueue[tuple[str, str, str] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def expect(self, arns: Iterable[str]) -> None:
        """Have topics made before SNS is used next."""
        self._expected = frozenset(arns)

    def make(self) -> None:
        """Make the topics that are expected and not there; call it before SNS is used."""
        with self._lock:
            for arn in sorted(self._expected - self._made):
                if self._do(arn, "GetTopicAttributes", TopicArn=arn).status != OK:
                    self._do(arn, "CreateTopic", Name=arn.rpartition(":")[2])
                self._made.add(arn)

    def publish(self, rule_name: str, arn: str, message: str) -> None:
        """Publish what a rule sends to a topic, in a thread of its own."""
        if not self._is_used():
            return
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._main, name="sns", daemon=True)
                self._thread.start()
        self._work.put((rule_name, arn, message))

    def close(self) -> None:
        """Wait a while for what is being published."""
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
        region = arn.split(":")[3]
        headers = {"authorization": SCOPE.format(region=region), "content-type": FORM}
        form = {"Action": operation, "Version": VERSION, **fields}
        return self._ask(headers, urlencode(form).encode())


def is_topic(arn: str) -> bool:
    """Return whether an ARN names a topic of SNS."""
    return arn.startswith("arn:") and SNS in arn
