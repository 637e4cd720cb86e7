"""The WSGI application of the port: finds the service, reads the request, writes the answer."""

import http.client
import json
import secrets
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tidemark.errors import TidemarkError
from tidemark.local_glue.home import Home
from tidemark.local_glue.port.engine import Engine
from tidemark.local_glue.port.home_operations import call_of_home
from tidemark.local_glue.port.http.forward import forward
from tidemark.local_glue.port.http.routes import HOME, operation_of, service_of, why_refused
from tidemark.local_glue.port.http.services import IDENTITY, OPERATIONS, call, unsupported
from tidemark.local_glue.port.protocol import json_protocol, query_protocol
from tidemark.local_glue.port.protocol.answers import json_answer
from tidemark.local_glue.port.protocol.models import find_operation
from tidemark.local_glue.port.protocol.replies import Reply, reply
from tidemark.local_glue.port.protocol.service_errors import (
    SERVER_ERROR,
    ServiceError,
    service_error,
)
from tidemark.local_glue.port.s3.calls import call_of
from tidemark.local_glue.port.s3.service import S3
from tidemark.local_glue.port.s3.xml import error_xml
from tidemark.local_glue.port.served import SECRET_HEADER

LARGEST_BODY = 10_000_000  # bytes of a request of JSON or of a form
LARGEST_OF_DYNAMODB = 20_000_000
WITHOUT_BODY = (204, 304)
StartResponse = Callable[[str, list[tuple[str, str]]], object]


class Application:
    """Answers requests; called by many threads."""

    def __init__(
        self, engine: Engine, home: Home, region: str, hosts: frozenset[str] | None, secret: str
    ) -> None:
        """Serve an engine.

        Args:
            engine: which does what is asked for.
            home: whose lake S3 is.
            region: of its buckets.
            hosts: the names by which the port is reached; None if any may be.
            secret: which commands of the home know.
        """
        self._secret = secret
        self._engine = engine
        self._s3 = S3(home, region)
        self._hosts = hosts

    def __call__(
        self, environ: Mapping[str, Any], start_response: StartResponse
    ) -> Iterable[bytes]:
        """Answer one request, as WSGI has it."""
        request_id = secrets.token_hex(16)
        headers = headers_of(environ)
        answer = self._reply(environ, headers, request_id)
        fields = [
            *answer.headers.items(),
            ("x-amzn-RequestId", request_id),
            ("x-amz-request-id", request_id),
        ]
        if answer.status not in WITHOUT_BODY:
            fields.append(("Content-Length", str(answer.content_length)))
        reason = http.client.responses.get(answer.status, "Error")
        start_response(f"{answer.status} {reason}", fields)
        body = answer.body
        if environ["REQUEST_METHOD"] == "HEAD" or answer.status in WITHOUT_BODY:
            return []
        return [body] if isinstance(body, bytes) else body

    def _reply(
        self, environ: Mapping[str, Any], headers: Mapping[str, str], request_id: str
    ) -> Reply:
        if why := why_refused(headers, self._hosts):
            return reply(403, "text/plain", why.encode())
        service = service_of(headers, environ.get("QUERY_STRING", ""))
        try:
            if service == "dynamodb":
                return self._forwarded(environ, headers)
            if service == "s3":
                return self._s3.answer(call_of(environ, headers))
            body = body_of(environ, LARGEST_BODY)
            if service == HOME:
                return self._of_home(headers, body)
            if service in IDENTITY:
                return self._of_query(service, body, request_id)
            return self._of_json(service, operation_of(headers), body)
        except TidemarkError as error:
            return error_reply(service, service_error(error), request_id, environ)
        except Exception as error:  # noqa: BLE001 (a fault of ours must not end the port)
            text = f"the local Glue failed: {type(error).__name__}: {error}"
            fault = ServiceError("InternalServiceException", text, SERVER_ERROR)
            return error_reply(service, fault, request_id, environ)

    def _of_home(self, headers: Mapping[str, str], body: bytes) -> Reply:
        given, name = headers.get(SECRET_HEADER.lower(), ""), operation_of(headers)
        answer = call_of_home(self._engine, self._secret, given, name, body)
        return reply(200, json_protocol.CONTENT_TYPE, json.dumps(answer).encode())

    def _of_json(self, service: str, name: str, body: bytes) -> Reply:
        if service not in OPERATIONS:
            raise no_service(service)
        operation = find_operation(service, name)
        if operation is None or name not in OPERATIONS[service]:
            raise unsupported(service, name)
        request = json_protocol.read_request(operation, body)
        answer = call(self._engine, service, name, request)
        return reply(200, json_protocol.CONTENT_TYPE, json_answer(operation, answer))

    def _of_query(self, service: str, body: bytes, request_id: str) -> Reply:
        fields = query_protocol.read_form(body)
        name = fields.get("Action", "")
        operation = find_operation(service, name)
        if operation is None or name not in OPERATIONS[service]:
            raise unsupported(service, name)
        answer = call(self._engine, service, name, query_protocol.parameters(operation, fields))
        text = query_protocol.xml_answer(operation, answer, request_id)
        return reply(200, query_protocol.CONTENT_TYPE, text)

    def _forwarded(self, environ: Mapping[str, Any], headers: Mapping[str, str]) -> Reply:
        endpoint = self._engine.ask(lambda glue: glue.machine.dynamodb_endpoint)
        body = body_of(environ, LARGEST_OF_DYNAMODB)
        return reply(*forward(endpoint, environ["PATH_INFO"], headers, body))


def headers_of(environ: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers of a request, with lower-case names."""
    headers = {
        name[5:].replace("_", "-").lower(): value
        for name, value in environ.items()
        if name.startswith("HTTP_")
    }
    for name in ("CONTENT_TYPE", "CONTENT_LENGTH"):
        if environ.get(name):
            headers[name.replace("_", "-").lower()] = environ[name]
    return headers


def body_of(environ: Mapping[str, Any], largest: int) -> bytes:
    """Return the body of a request.

    Raises:
        ServiceError: it is larger than it may be.
    """
    body: bytes = environ["wsgi.input"].read(largest + 1)
    if len(body) > largest:
        raise ServiceError(
            "RequestEntityTooLargeException",
            f"the body of the request has more than {largest:,} bytes",
            413,
        )
    return body


def no_service(service: str) -> ServiceError:
    """Return the error for a service that is not on the port."""
    variable = f"AWS_ENDPOINT_URL_{service.upper().replace('-', '_')}"
    return ServiceError(
        "UnknownOperationException",
        f"the local Glue has no service {service!r}; it has {', '.join(OPERATIONS)}, s3, dynamodb; "
        f"name an endpoint for it, such as that of an emulator, in {variable}",
    )


def error_reply(
    service: str, error: ServiceError, request_id: str, environ: Mapping[str, Any]
) -> Reply:
    """Return an error in the protocol of a service."""
    if service == "s3":
        return error_xml(error, environ.get("PATH_INFO", ""), request_id)
    if service in IDENTITY:
        body = query_protocol.xml_error(error, request_id)
        return reply(error.status, query_protocol.CONTENT_TYPE, body)
    body = json.dumps(json_protocol.error_body(error)).encode()
    return reply(error.status, json_protocol.CONTENT_TYPE, body)
