"""Hands a request on to another server of this machine, such as the embedded DynamoDB."""

import http.client
from collections.abc import Mapping
from urllib.parse import urlsplit

from tidemark.local_glue.port.protocol.service_errors import SERVER_ERROR, ServiceError

TIMEOUT_S = 60
OF_THE_CONNECTION = ("connection", "host", "content-length", "transfer-encoding", "expect")


def forward(
    endpoint: str, path: str, headers: Mapping[str, str], body: bytes
) -> tuple[int, str, bytes]:
    """Return the status, the content type and the body that another server answers.

    Raises:
        ServiceError: it does not answer.
    """
    url = urlsplit(endpoint)
    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    connection = kind(url.hostname or "", url.port, timeout=TIMEOUT_S)
    sent = {name: value for name, value in headers.items() if name not in OF_THE_CONNECTION}
    try:
        connection.request("POST", path or "/", body, sent)
        answer = connection.getresponse()
        content_type = answer.headers.get("Content-Type", "application/x-amz-json-1.0")
        return answer.status, content_type, answer.read()
    except (OSError, http.client.HTTPException) as error:
        raise ServiceError(
            "InternalServerError", f"{endpoint} does not answer: {error}", SERVER_ERROR
        ) from error
    finally:
        connection.close()
