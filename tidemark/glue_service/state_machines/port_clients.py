"""Clients of AWS whose requests this process answers itself, without a network.

The answer of each request is recorded with the execution. A request to Glue, EventBridge or Step
Functions is done in the transaction that records its answer: after a restart it is done, and has
its answer, or neither. Any other request is sent again if the port was killed before its answer
was recorded.
"""

import io
import threading
import urllib.parse
import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from wsgiref.util import FileWrapper

import botocore.session
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.client import BaseClient
from botocore.config import Config
from botocore.utils import parse_timestamp
from moto.core.botocore_stubber import MockRawResponse

from tidemark.errors import TidemarkError
from tidemark.glue_service.access.payload import PAYLOAD, UNCHECKED
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.http.error_replies import error_reply
from tidemark.glue_service.http.routes import TARGETS, operation_of
from tidemark.glue_service.http.services import ENGINE_SERVICES, OPERATIONS, unsupported
from tidemark.glue_service.protocol import json_protocol
from tidemark.glue_service.protocol.models import find_operation
from tidemark.glue_service.protocol.service_errors import service_error
from tidemark.glue_service.state_machines.execution_rows import Execution
from tidemark.glue_service.state_machines.executions import start_execution
from tidemark.glue_service.state_machines.formats import MS_PER_S, as_text

Wsgi = Callable[[Mapping[str, Any], Callable[..., object]], Iterable[bytes]]
SavedReply = dict[str, Any]
EngineWork = Callable[[GlueState], Any]
HOST = "127.0.0.1"
OK = 200


class PortClients:
    """Makes the clients; each is made once."""

    def __init__(
        self, application: Wsgi, region: str, send: Callable[[AWSPreparedRequest], SavedReply]
    ) -> None:
        """Have ``send`` called with each request that a client makes."""
        self._application = application
        self._region = region
        self._send = send
        self._clients: dict[tuple[str, bool], BaseClient] = {}
        self._lock = threading.Lock()

    def client(self, service: str, *, in_millis: bool) -> BaseClient:
        """Return a client by botocore's name of a service.

        Its answers have times in milliseconds since 1970, or as texts.
        """
        with self._lock:
            key = service, in_millis
            if key not in self._clients:
                self._clients[key] = self._made(service, _millis if in_millis else _text)
            return self._clients[key]

    def _made(self, service: str, as_time: Callable[[Any], Any]) -> BaseClient:
        session = botocore.session.Session()
        factory = session.get_component("response_parser_factory")
        factory.set_parser_defaults(timestamp_parser=as_time)
        client: BaseClient = session.create_client(
            service,
            region_name=self._region,
            endpoint_url=f"http://{HOST}",
            aws_access_key_id="local",
            aws_secret_access_key="local",  # noqa: S106 (signs nothing that is sent)
            config=Config(
                parameter_validation=False,
                retries={"total_max_attempts": 1},
                s3={"addressing_style": "path"},
            ),
        )
        # What this returns is taken for the answer, and nothing is sent.
        client.meta.events.register("before-send", self._answer)  # type: ignore[arg-type]
        return client

    def _answer(self, request: AWSPreparedRequest, **_: Any) -> AWSResponse:
        saved = self._send(request)
        raw = MockRawResponse(saved["body"].encode("latin-1"))
        return AWSResponse(request.url, saved["status"], saved["headers"], raw)

    def forward(self, request: AWSPreparedRequest) -> SavedReply:
        """Have the port answer a request."""
        status, fields = "", []

        def start_response(line: str, names_and_values: list[tuple[str, str]]) -> None:
            nonlocal status, fields
            status, fields = line, names_and_values

        body = b"".join(self._application(_environ(request), start_response))
        return _saved(int(status.partition(" ")[0]), dict(fields), body)


def of_engine(
    request: AWSPreparedRequest, parent: Execution, *, is_awaited: bool
) -> EngineWork | None:
    """Return what answers a request in the engine's thread; None if it is not for the engine.

    The task that has made the request may wait for the end of what it starts.
    """
    service = _service_of(request)
    if service not in ENGINE_SERVICES:
        return None
    name = operation_of(headers_of(request))

    def work(glue: GlueState) -> SavedReply:
        operation = find_operation(service, name)
        if operation is None or name not in OPERATIONS[service]:
            raise unsupported(service, name)
        parameters = json_protocol.read_request(operation, _body(request))
        answer = (
            start_execution(glue, parameters, parent.arn, is_awaited=is_awaited)
            if name == "StartExecution"
            else ENGINE_SERVICES[service][name](glue, parameters)
        )
        body = json_protocol.json_answer(operation, answer)
        return _saved(OK, {"Content-Type": json_protocol.CONTENT_TYPE}, body)

    return work


def refused(request: AWSPreparedRequest, error: TidemarkError) -> SavedReply:
    """Return the answer of a request that was refused."""
    fault = service_error(error)
    answer = error_reply(_service_of(request), fault, "local", "/", headers_of(request))
    return _saved(answer.status, answer.headers, bytes(answer.body))  # type: ignore[arg-type]


def _service_of(request: AWSPreparedRequest) -> str:
    return TARGETS.get(headers_of(request).get("x-amz-target", "").rpartition(".")[0], "")


def headers_of(request: AWSPreparedRequest) -> dict[str, str]:
    """Return the headers of a request, with lower-case names."""
    return {
        name.lower(): bytes(value).decode() if isinstance(value, bytes) else str(value)  # type: ignore[redundant-expr]
        for name, value in request.headers.items()
    }


def _saved(status: int, headers: Mapping[str, str], body: bytes) -> SavedReply:
    headers = {"x-amzn-RequestId": str(uuid.uuid4()), **headers}
    return {"status": status, "headers": headers, "body": body.decode("latin-1")}


def _body(request: AWSPreparedRequest) -> bytes:
    body: Any = request.body or b""
    if isinstance(body, str):
        return body.encode()
    return bytes(body) if isinstance(body, (bytes, bytearray)) else bytes(body.read())


def _environ(request: AWSPreparedRequest) -> dict[str, Any]:
    url, body, headers = urllib.parse.urlsplit(request.url), _body(request), headers_of(request)
    names = {f"HTTP_{name.upper().replace('-', '_')}": text for name, text in headers.items()}
    return {
        **names,
        "HTTP_HOST": HOST,
        "REQUEST_METHOD": request.method,
        "PATH_INFO": urllib.parse.unquote(url.path, "latin-1"),
        "QUERY_STRING": url.query,
        "CONTENT_TYPE": headers.get("content-type", ""),
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": io.BytesIO(body),
        "wsgi.file_wrapper": FileWrapper,
        PAYLOAD: UNCHECKED,
    }


def _millis(value: Any) -> int:
    return round(parse_timestamp(value).timestamp() * MS_PER_S)


def _text(value: Any) -> str:
    return as_text(parse_timestamp(value))
