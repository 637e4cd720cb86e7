"""What only this user's programs may reach and know: requests on loopback, and secrets in strings.

Output and errors of a run go into files, pages and events, which people pass on.
"""

import os
import re
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


# The URL of a front (`engine.front`): 32 bytes in base64 after the port.
FRONT = re.compile(rf"(http://{re.escape(LOOPBACK)}:\d+)/[\w-]{{43}}(?![\w-])")
MIN_SECRET_LENGTH = 20  # shorter ones, such as "test", are words
HIDDEN = "***"


def without_secrets(text: str) -> str:
    """Return a string without the secret paths of fronts and the secret key of this process.

    Example: without_secrets("no answer from http://127.0.0.1:4/AbC..43../") ends in "127.0.0.1:4/".
    """
    text = FRONT.sub(r"\1", text)
    front = FRONT.fullmatch(os.environ.get("AWS_ENDPOINT_URL_DYNAMODB", "").rstrip("/"))
    # Libraries name the path without the host, too.
    path = front[0].rpartition("/")[2] if front else ""
    for secret in (path, os.environ.get("AWS_SECRET_ACCESS_KEY", "")):
        text = text.replace(secret, HIDDEN) if len(secret) >= MIN_SECRET_LENGTH else text
    return text


def show_endpoint(endpoint: str) -> str:
    """Return an endpoint as messages have it: without its path and user, which may be secrets."""
    place = urlsplit(endpoint)
    return f"{place.scheme}://{place.netloc.rpartition('@')[2]}"
