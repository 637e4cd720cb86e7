"""Forwards a request to another server: the embedded DynamoDB, or an emulator of the user."""

import http.client
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from botocore.loaders import Loader

from tidemark.errors import UsageError, show
from tidemark.glue_service.protocol.models import service_model, services_signed_as
from tidemark.glue_service.protocol.replies import Reply
from tidemark.glue_service.protocol.service_errors import SERVER_ERROR, ServiceError
from tidemark.local_state.machine.loopback import show_endpoint

CONNECTION_HEADERS = tuple(
    "connection keep-alive host content-length transfer-encoding expect date server".split()
)
OWN_SERVICES = ("glue", "logs", "s3", "dynamodb")  # which jobs and clients share here
AWS = (".amazonaws.com", ".amazonaws.com.cn", ".api.aws")


def read_forwards(words: Iterable[str]) -> dict[str, str]:
    """Return the target URLs of services, by their names in signatures."""
    forwards = {}
    for word in words:
        name, _, url = word.partition("=")
        place = urlsplit(url)
        if place.scheme not in ("http", "https") or not place.hostname:
            raise UsageError(
                f"--forward is {show(word)}; allowed: SERVICE=URL, such as "
                "lambda=http://127.0.0.1:3001"
            )
        if place.hostname.endswith(AWS):
            raise UsageError(
                f"--forward {word} leads to AWS, which refuses requests signed for this port; "
                "allowed: the URL of an emulator"
            )
        forwards[_signing_name(name, url)] = url.rstrip("/")
    return forwards


def _signing_name(name: str, url: str) -> str:
    if name not in Loader().list_available_services("service-2"):
        meant = " or ".join(f"--forward {service}={url}" for service in services_signed_as(name))
        raise UsageError(
            f"--forward is for {show(name)}; allowed: a service by its boto3 name, such as lambda"
            + (f"; write {meant}" if meant else "")
        )
    if name in OWN_SERVICES:
        raise UsageError(f"--forward is for {name}, which this machine serves itself: leave it out")
    metadata = service_model(name).metadata
    return str(metadata.get("signingName", metadata["endpointPrefix"]))


def forward(
    endpoint: str, method: str, path: str, headers: Mapping[str, str], body: bytes
) -> Reply:
    """Return the answer of another server."""
    url = urlsplit(endpoint)
    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    connection = kind(url.hostname or "", url.port, timeout=60)
    sent = {name: value for name, value in headers.items() if name not in CONNECTION_HEADERS}
    try:
        connection.request(method, f"{url.path}{path}" or "/", body, sent)
        answer = connection.getresponse()
        fields = {
            name: value
            for name, value in answer.getheaders()
            if name.lower() not in CONNECTION_HEADERS
        }
        return Reply(answer.status, fields, answer.read())
    except (OSError, http.client.HTTPException) as error:
        raise ServiceError(
            "InternalServerError",
            f"{show_endpoint(endpoint)} does not answer: {error}",
            SERVER_ERROR,
        ) from error
    finally:
        connection.close()
