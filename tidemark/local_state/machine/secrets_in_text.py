"""Hides in strings what only one user's programs may know: URLs of fronts, the access key.

Output and errors of a run go into files, pages and events, which people pass on.
"""

import os
import re
from urllib.parse import urlsplit

from tidemark.local_state.machine.local_requests import LOOPBACK

# The URL of a front (`engine.front`): 32 bytes in base64 after the port.
FRONT = re.compile(rf"(http://{re.escape(LOOPBACK)}:\d+)/[\w-]{{43}}(?![\w-])")
KEY_VARIABLE = "AWS_SECRET_ACCESS_KEY"
FRONT_VARIABLE = "AWS_ENDPOINT_URL_DYNAMODB"
MIN_SECRET_LENGTH = 20  # shorter ones, such as "test", are words
HIDDEN = "***"


def without_secrets(text: str) -> str:
    """Return a string without the secret paths of fronts and the secret key of this process.

    Example: without_secrets("no answer from http://127.0.0.1:4/AbC..43../") ends in "127.0.0.1:4/".
    """
    text = FRONT.sub(r"\1", text)
    front = FRONT.fullmatch(os.environ.get(FRONT_VARIABLE, "").rstrip("/"))
    path = front[0].rpartition("/")[2] if front else ""  # libraries name it without the host too
    for secret in (path, os.environ.get(KEY_VARIABLE, "")):
        text = text.replace(secret, HIDDEN) if len(secret) >= MIN_SECRET_LENGTH else text
    return text


def show_endpoint(endpoint: str) -> str:
    """Return an endpoint as messages have it: without its path and user, which may be secrets."""
    place = urlsplit(endpoint)
    return f"{place.scheme}://{place.netloc.rpartition('@')[2]}"
