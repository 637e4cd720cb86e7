"""Finds the service that a request is for: by its target, its signature, or else it is S3.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html
"""

import re
from collections.abc import Mapping
from urllib.parse import parse_qs, urlsplit

SCOPE = re.compile(r"Credential=[^/,\s]*/\d{8}/[^/,\s]*/(?P<service>[^/,\s]+)/aws4_request")
HOME = "tidemark"  # what commands of the home ask for
TARGETS = {"AWSGlue": "glue", "Logs_20140328": "logs", "AWSEvents": "events", "Tidemark": HOME}
DYNAMODB_TARGETS = ("DynamoDB_20120810", "DynamoDBStreams_20120810")


def service_of(headers: Mapping[str, str], query: str) -> str:
    """Return the service as signatures name it, such as ``glue``; s3 if nothing says another.

    Args:
        headers: of the request, with lower-case names.
        query: the query of its URL.
    """
    prefix, dot, _ = headers.get("x-amz-target", "").rpartition(".")
    if dot:
        if prefix in DYNAMODB_TARGETS:
            return "dynamodb"
        if prefix in TARGETS:
            return TARGETS[prefix]
    credential = parse_qs(query).get("X-Amz-Credential", [""])[0]
    signed = headers.get("authorization", "") or f"Credential={credential}"
    match = SCOPE.search(signed)
    return match["service"] if match else "s3"


def operation_of(headers: Mapping[str, str]) -> str:
    """Return the operation that the target of a request names."""
    return headers.get("x-amz-target", "").rpartition(".")[2]


def why_refused(headers: Mapping[str, str], hosts: frozenset[str] | None) -> str | None:
    """Return why a request is not answered; None if it is.

    Web pages that a browser on this machine shows could reach the port. Their requests carry an
    Origin, or, where a name leads here (DNS rebinding), a Host that is not ours.

    Args:
        headers: of the request, with lower-case names.
        hosts: the names by which the port is reached; None if any may be.
    """
    if "origin" in headers or "sec-fetch-site" in headers:
        return "requests of web pages are not answered"
    host = headers.get("host", "")
    name = urlsplit(f"//{host}").hostname or ""
    is_known = hosts is None or name in hosts or name.endswith(".localhost")  # a bucket's name
    if hosts is not None and not is_known:
        return f"the host {host!r} is not this machine; allowed: {', '.join(sorted(hosts))}"
    return None
