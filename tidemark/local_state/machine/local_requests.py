"""Tells requests of this machine's programs from those that web pages send to loopback."""

from collections.abc import Mapping
from urllib.parse import urlsplit

LOOPBACK = "127.0.0.1"
LOOPBACK_NAMES = frozenset((LOOPBACK, "localhost", "::1"))


def refusal_reason(headers: Mapping[str, str], hosts: frozenset[str]) -> str | None:
    """Return why a request is not answered; None if it is.

    Web pages that a browser on this machine shows could reach a port. Their requests carry an
    Origin, or, where a name leads here (DNS rebinding), a Host that is not ours.
    """
    if "origin" in headers or "sec-fetch-site" in headers:
        return "requests of web pages are not answered"
    host = headers.get("host", "")
    name = urlsplit(f"//{host}").hostname or ""
    if name in hosts or name.endswith(".localhost"):  # a bucket's name
        return None
    return f"the host {host!r} is not this machine; allowed: {', '.join(sorted(hosts))}"
