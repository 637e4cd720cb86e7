"""Tells requests of a browser for the pages of the port from those of AWS clients.

A browser signs nothing, so a page is served on loopback only, to the user who serves it, under a
name of this machine, and to no page of another place. No bucket begins with an underscore.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeAlias
from urllib.parse import urlsplit

from tidemark.glue_service.access.head import Head

ROOT, PREFIX = "/", "/_tidemark/"
MAX_FORM_BYTES = 10_000
OWN = ("none", "same-origin")  # values of Sec-Fetch-Site: typed in, or sent by our own page
Start: TypeAlias = Callable[[str, list[tuple[str, str]]], object]


class Pages(Protocol):
    """What answers browsers, by WSGI.

    Attributes:
        home: the path of the first page.
    """

    home: str

    def __call__(self, environ: Mapping[str, Any], start_response: Start) -> Iterable[bytes]:
        """Answer one request."""


def is_page(head: Head) -> bool:
    """Return whether a browser asks, and not a client of S3."""
    host = urlsplit(f"//{head.headers.get('host', '')}").hostname or ""
    # The keys of a bucket may begin like a path of ours.
    if host.endswith(".localhost"):
        return False
    if head.path.startswith(PREFIX):
        return True
    is_root = head.method in ("GET", "HEAD") and head.path == ROOT and not head.query
    has_signature = "authorization" in head.headers
    return is_root and not has_signature and "text/html" in head.headers.get("accept", "")


def is_opened(head: Head) -> bool:
    """Return whether a browser opens what it asks for in a window, where no other page reads it.

    Source: https://www.w3.org/TR/fetch-metadata/
    """
    fetched_as = tuple(head.headers.get(f"sec-fetch-{name}") for name in ("mode", "dest"))
    return head.method == "GET" and fetched_as == ("navigate", "document")


def is_typed_object(head: Head) -> bool:
    """Return whether a person gave a browser a presigned URL: no page has linked to it."""
    is_presigned = bool({name for name, _ in head.pairs} & {"X-Amz-Signature", "Signature"})
    return is_presigned and is_opened(head) and head.headers.get("sec-fetch-site") == "none"


def page_refusal(head: Head, hosts: frozenset[str]) -> str | None:
    """Return why a browser is not answered; None if it is.

    A page of another place could send requests here, or have a name that leads here (DNS
    rebinding): its Origin, its Sec-Fetch-Site or its Host says so. It may link to a page here,
    which opens in a window without it.
    """
    headers = head.headers
    host = headers.get("host", "")
    if (urlsplit(f"//{host}").hostname or "") not in hosts:
        return f"the host {host!r} is not this machine; allowed: {', '.join(sorted(hosts))}"
    if headers.get("origin", f"http://{host}") != f"http://{host}":
        return "requests of other web pages are not answered"
    if headers.get("sec-fetch-site", "none") not in OWN and not is_opened(head):
        return "requests of other web pages are not answered: type the address of this page"
    return None
