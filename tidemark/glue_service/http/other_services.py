"""Services other than Glue, Logs, S3 and DynamoDB: forwarded, emulated, or refused by name.

Nothing is sent to AWS: a service without an endpoint or emulator fails here.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Protocol

from tidemark.glue_service.eventbridge.topics import Topics
from tidemark.glue_service.http.forward import forward
from tidemark.glue_service.http.server import Waits
from tidemark.glue_service.http.services import OPERATIONS
from tidemark.glue_service.lazy import Lazy
from tidemark.glue_service.protocol.models import EMULATED, services_signed_as
from tidemark.glue_service.protocol.replies import Reply
from tidemark.glue_service.protocol.service_errors import ServiceError
from tidemark.local_state.home import Home

SNS = "sns"
WING = "tidemark.emulated.services"  # imported by name, at the first request for one of them


class Emulator(Protocol):
    """Answers for the emulated services of one home."""

    def missing_package(self, service: str) -> str | None:
        """Return what must be installed first; None if nothing is missing."""

    def is_used(self) -> bool:
        """Return whether anything was ever defined in them."""

    def close(self) -> None:
        """Wait a while for deliveries in progress."""

    def answer(
        self,
        service: str,
        path: str,
        headers: Mapping[str, str],
        body: bytes,
        host: str | None = None,
    ) -> Reply:
        """Answer a request."""


class OtherServices:
    """Answers for the services of one home; called by any thread."""

    def __init__(
        self, home: Home, forwards: Mapping[str, str], topics: Topics | None = None
    ) -> None:
        """Serve a home; SNS has the topics of its templates, if it is to have them."""
        self.waits = Waits()
        self._home = home
        self._forwards = forwards
        self._emulated: Lazy[Emulator] = Lazy(self._emulator)
        self._topics = topics

    def _emulator(self) -> Emulator:
        emulator: Emulator = import_module(WING).EmulatedServices(self._home.root, self.waits.one)
        return emulator

    def close(self) -> None:
        """Wait a while for messages in progress."""
        if self._emulated.made is not None:
            self._emulated.made.close()

    def has(self, service: str) -> bool:
        """Return whether this machine answers the requests of a service."""
        return service in self._forwards or service in EMULATED or service not in OPERATIONS

    def answer(
        self, service: str, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> Reply:
        """Answer a request."""
        if service == SNS and self._topics is not None:
            self._topics.make()
        if endpoint := self._forwards.get(service):
            with self.waits.one():
                return forward(endpoint, method, path, headers, body)
        if service in EMULATED:
            place, _, _ = path.partition("?")
            return self._emulated().answer(service, place, headers, body, headers.get("host"))
        known = (*OPERATIONS, "s3", "dynamodb", *EMULATED, *self._forwards)
        raise ServiceError(
            "UnknownOperationException",
            f"the local Glue has no service {service!r}; it has {', '.join(known)}; for this one "
            f"name the URL of an emulator: {_remedy(service)}",
        )

    def ask_sns(self, headers: Mapping[str, str], body: bytes) -> Reply:
        """Answer a request of the topics of templates."""
        if endpoint := self._forwards.get(SNS):
            return forward(endpoint, "POST", "/", headers, body)
        return self._emulated().answer(SNS, "/", headers, body)

    def is_sns_used(self) -> bool:
        """Return whether anything was ever defined in SNS."""
        return SNS in self._forwards or self._emulated().is_used()

    def missing_for_sns(self) -> str | None:
        """Return what must be installed first for SNS; None if nothing is missing."""
        return None if SNS in self._forwards else self._emulated().missing_package(SNS)


def _remedy(service: str) -> str:
    # Some services have another name in boto3 than in signatures.
    names = services_signed_as(service)
    if not names:
        return "`tidemark serve --forward SERVICE=URL`, with the service by its boto3 name"
    return " or ".join(f"`tidemark serve --forward {name}=URL`" for name in names)
