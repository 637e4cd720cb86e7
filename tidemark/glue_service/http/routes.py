"""Finds the service of a request: by its target or its signature, else it is S3.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html
"""

import re
import socket
from collections.abc import Iterable, Mapping
from urllib.parse import parse_qs

from tidemark.errors import UsageError, show
from tidemark.local_state.machine.loopback import LOOPBACK_NAMES

EVERYWHERE = frozenset(("0.0.0.0", "::"))  # noqa: S104 (compared with, not bound)
HOST_NAME = re.compile(r"[a-z0-9_]([a-z0-9._-]*[a-z0-9_])?|[0-9a-f]*:[0-9a-f:.]*:[0-9a-f:.]*")
SCOPE = re.compile(r"Credential=[^/,\s]*/\d{8}/[^/,\s]*/(?P<service>[^/,\s]+)/aws4_request")
HOME = "tidemark"  # the service for commands of the home
TARGETS = {
    "AWSGlue": "glue",
    "Logs_20140328": "logs",
    "AWSEvents": "events",
    "AWSStepFunctions": "states",
    "Tidemark": HOME,
}


def service_of(headers: Mapping[str, str], query: str) -> str:
    """Return the service by its name in signatures, such as ``glue``; s3 by default."""
    prefix, dot, _ = headers.get("x-amz-target", "").rpartition(".")
    if dot:
        if prefix in ("DynamoDB_20120810", "DynamoDBStreams_20120810"):
            return "dynamodb"
        if prefix in TARGETS:
            return TARGETS[prefix]
    credential = parse_qs(query).get("X-Amz-Credential", [""])[0]
    match = SCOPE.search(headers.get("authorization", "") or f"Credential={credential}")
    return match["service"] if match else "s3"


def names_of_port(host: str, further: Iterable[str]) -> frozenset[str]:
    """Return the hosts that a request to a port may name.

    A web page whose name resolves to the port (DNS rebinding) sends its name as Host, so unknown
    names are refused, even if other machines can reach the port.
    """
    names = set()
    for word in further:
        name = word.strip().lower().strip("[]")
        if not HOST_NAME.fullmatch(name):
            raise UsageError(
                f"--allow-host is {show(word)}; allowed: the name or IP address of a host, without "
                "a port and without a wildcard, such as glue.example.com"
            )
        names.add(name)
    if host in EVERYWHERE and not names:
        raise UsageError(
            f"--host {host} listens at every address of this machine, and requests may name only "
            "known hosts; name the hosts that clients use: --allow-host NAME, such as "
            f"{socket.gethostname()} or this machine's IP address"
        )
    return frozenset(LOOPBACK_NAMES | names | {host.lower()} - EVERYWHERE)


def operation_of(headers: Mapping[str, str]) -> str:
    """Return the operation in the target of a request."""
    return headers.get("x-amz-target", "").rpartition(".")[2]
