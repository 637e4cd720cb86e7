"""Decides by the head of a request whether the port answers it, before reading its body."""

import hmac
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from tidemark.errors import TidemarkError, UsageError, show
from tidemark.glue_service.access.check import S3, check_expiry, check_signature
from tidemark.glue_service.access.head import Head
from tidemark.glue_service.access.payload import Payload
from tidemark.glue_service.http.pages import MAX_FORM_BYTES, is_page, is_typed_object, page_refusal
from tidemark.glue_service.http.routes import HOME, service_of
from tidemark.glue_service.protocol.service_errors import ServiceError
from tidemark.glue_service.served import SECRET_HEADER
from tidemark.local_state.access_key import AccessKey, access_key
from tidemark.local_state.home import Home
from tidemark.local_state.machine.loopback import LOOPBACK_NAMES, refusal_reason
from tidemark.local_state.machine.peers import shows_owners

MAX_BODY_BYTES = 10_000_000  # bytes of a JSON or form request
MAX_SIZE = {"dynamodb": 20_000_000, S3: 6 * 1024**3}  # the largest part in S3 is 5 GB
VARIABLE = "TIDEMARK_ANY_KEY"
WORDS = {"1": True, "true": True, "": False, "0": False, "false": False}


class NotAnsweredError(TidemarkError):
    """A request that is not from an AWS client of this user: from a web page."""


@dataclass(frozen=True)
class Gate:
    """The access rules of a port.

    Attributes:
        key: the key that signs requests; None accepts every key, and no key.
        secret: the secret that commands of the home know.
        hosts: the names under which clients may reach the port.
        has_pages: whether browsers get pages.
    """

    key: AccessKey | None
    secret: str
    hosts: frozenset[str] = LOOPBACK_NAMES
    has_pages: bool = False

    def admit(self, head: Head, length: int) -> tuple[Payload, int]:
        """Return the check for the body of a request, and the maximum size of it."""
        if self.has_pages and is_page(head):
            return _admitted_page(head, self.hosts, length)
        service = service_of(head.headers, head.query)
        headers = dict(head.headers)
        if service == S3 and is_typed_object(head):
            del headers["sec-fetch-site"]
        if why := refusal_reason(headers, self.hosts):
            raise NotAnsweredError(why)
        now, payload = datetime.now(UTC), Payload()
        if service == HOME:
            check_secret(head.headers, self.secret)
        elif self.key is None:
            check_expiry(head, service, now)
        else:
            payload = check_signature(head, service, self.key, now)
        largest = MAX_SIZE.get(service, MAX_BODY_BYTES)
        if length > largest:
            raise too_large(largest)
        return payload, largest


def _admitted_page(head: Head, hosts: frozenset[str], length: int) -> tuple[Payload, int]:
    if why := page_refusal(head, hosts):
        raise NotAnsweredError(why)
    if length > MAX_FORM_BYTES:
        raise too_large(MAX_FORM_BYTES)
    return Payload(), MAX_FORM_BYTES


def too_large(largest: int) -> ServiceError:
    """Return the error for a body that is too large."""
    text = f"the body of the request has more than {largest:,} bytes"
    return ServiceError("RequestEntityTooLargeException", text, 413)


def check_secret(headers: Mapping[str, str], secret: str) -> None:
    """Refuse operations for commands of the home without its secret."""
    given = headers.get(SECRET_HEADER.lower(), "")
    if not hmac.compare_digest(secret.encode(), given.encode("utf-8", "replace")):
        text = "only commands of this home may ask for this: the secret is not the one in port.json"
        raise ServiceError("AccessDeniedException", text, 403)


def is_any_key(value: str) -> bool:
    """Return whether the environment variable makes the port answer every key."""
    is_on = WORDS.get(value.strip().lower())
    if is_on is None:
        raise UsageError(
            f"{VARIABLE} is {show(value)}; allowed: 1 to answer every access key, or 0; unset it "
            "to answer that of the port only"
        )
    return is_on


def any_key_warning() -> str:
    """Return what to say of a port that answers every key."""
    users = "programs of this user" if shows_owners() else "users of this machine"
    return f"warning: the port answers every access key: all {users} can run code as you through it"


def key_of_port(home: Home) -> AccessKey | None:
    """Return the key of the port; None, with a warning, if it answers every key."""
    if is_any_key(os.environ.get(VARIABLE, "")):
        sys.stderr.write(f"{any_key_warning()} ({VARIABLE})\n")
        return None
    return access_key(home)
