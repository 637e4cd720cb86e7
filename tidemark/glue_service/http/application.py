"""The WSGI application of the port: finds the service, reads the request, writes the answer."""

import http.client
import json
import secrets
import threading
import urllib.parse
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from tidemark.errors import TidemarkError
from tidemark.glue_service.access.gate import NotAnsweredError
from tidemark.glue_service.access.head import Head
from tidemark.glue_service.access.payload import PAYLOAD, Payload, checked
from tidemark.glue_service.access.refused import RefusedError, refusal_of
from tidemark.glue_service.engine import Engine
from tidemark.glue_service.eventbridge.bus import deliver_created
from tidemark.glue_service.eventbridge.documents import CreatedObject
from tidemark.glue_service.home_operations import call_of_home
from tidemark.glue_service.http.connections import REFUSAL, SANDBOX
from tidemark.glue_service.http.error_replies import error_reply, protocol_of
from tidemark.glue_service.http.forward import forward
from tidemark.glue_service.http.other_services import OtherServices
from tidemark.glue_service.http.pages import Pages, is_page
from tidemark.glue_service.http.routes import HOME, operation_of, service_of
from tidemark.glue_service.http.services import IDENTITY, OPERATIONS, call, unsupported
from tidemark.glue_service.lazy import Lazy
from tidemark.glue_service.protocol import json_protocol, query_protocol
from tidemark.glue_service.protocol.json_protocol import json_answer
from tidemark.glue_service.protocol.models import find_operation
from tidemark.glue_service.protocol.replies import Reply, reply
from tidemark.glue_service.protocol.service_errors import SERVER_ERROR, ServiceError, service_error
from tidemark.local_state.home import Home, has_uploads

if TYPE_CHECKING:
    from tidemark.glue_service.s3.service import S3
    from tidemark.glue_service.state_machines.threads import ExecutionThreads

SYNC = "StartSyncExecution"  # waits for minutes
WITHOUT_BODY = (204, 304)
StartResponse = Callable[[str, list[tuple[str, str]]], object]


class Application:
    """Answers requests; called by many threads."""

    def __init__(
        self,
        engine: Engine,
        home: Home,
        region: str,
        others: OtherServices | None = None,
        wants_objects: threading.Event | None = None,
        pages: Pages | None = None,
    ) -> None:
        """Serve an engine, and pages for browsers if there are some."""
        self._engine = engine
        self._home = home
        self._region = region
        self._wants_objects = wants_objects or threading.Event()
        self._pages = pages
        self._s3 = Lazy(self._made_s3)
        self._threads = Lazy(self._made_threads)
        self._others = others or OtherServices(home, {})
        if has_uploads(home):
            # Making it deletes the remains of dead uploads.
            self._s3()

    def __call__(
        self, environ: Mapping[str, Any], start_response: StartResponse
    ) -> Iterable[bytes]:
        """Answer one request, by WSGI."""
        request_id = secrets.token_hex(16)
        headers = headers_of(environ)
        if self._pages is not None and environ.get(REFUSAL) is None:
            query = environ.get("QUERY_STRING", "")
            if is_page(Head(environ["REQUEST_METHOD"], environ["PATH_INFO"], query, headers)):
                return self._pages(environ, start_response)
        answer = self._reply(environ, headers, request_id)
        fields = [
            *{**answer.headers, **SANDBOX}.items(),
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
        return [body] if isinstance(body, bytes) else environ["wsgi.file_wrapper"](body)

    def _reply(
        self, environ: Mapping[str, Any], headers: Mapping[str, str], request_id: str
    ) -> Reply:
        service = service_of(headers, environ.get("QUERY_STRING", ""))
        try:
            if (refusal := environ.get(REFUSAL)) is not None:
                raise refusal
            return self._answer(service, with_checked_body(environ), headers, request_id)
        except NotAnsweredError as error:
            return reply(403, "text/plain", str(error).encode())
        except RefusedError as error:
            fault = refusal_of(error, protocol_of(service, environ["PATH_INFO"], headers))
        except TidemarkError as error:
            fault = service_error(error)
        except Exception as error:  # noqa: BLE001 (a fault of ours must not end the port)
            text = f"the local Glue failed: {type(error).__name__}: {error}"
            fault = ServiceError("InternalServiceException", text, SERVER_ERROR)
        return error_reply(service, fault, request_id, environ.get("PATH_INFO", ""), headers)

    def _answer(
        self, service: str, environ: Mapping[str, Any], headers: Mapping[str, str], request_id: str
    ) -> Reply:
        if service == "dynamodb":
            endpoint = self._engine.ask(lambda glue: glue.machine.dynamodb_endpoint)
            path, method = environ["PATH_INFO"], environ["REQUEST_METHOD"]
            return forward(endpoint, method, path, headers, environ["wsgi.input"].read())
        if service == "s3":
            from tidemark.glue_service.s3.calls import call_of

            return self._s3().answer(call_of(environ, headers))
        body = environ["wsgi.input"].read()
        if service == HOME:
            answer = call_of_home(self._engine, operation_of(headers), body)
            return reply(200, json_protocol.CONTENT_TYPE, json.dumps(answer).encode())
        if self._others.has(service):
            path, method = path_of(environ), environ["REQUEST_METHOD"]
            return self._others.answer(service, method, path, headers, body)
        if service in IDENTITY:
            form = body or environ.get("QUERY_STRING", "").encode()  # of a signed URL
            return self._answer_query(service, form, request_id)
        name = operation_of(headers)
        operation = find_operation(service, name)
        if operation is None or name not in OPERATIONS[service]:
            raise unsupported(service, name)
        request = json_protocol.read_request(operation, body)
        with self._others.waits.one() if name == SYNC else nullcontext():
            answer = call(self._engine, service, name, request)
        return reply(200, json_protocol.CONTENT_TYPE, json_answer(operation, answer))

    def begin_executions(self) -> None:
        """Start a thread for each execution of a state machine that has none."""
        self._threads().begin()

    def _made_threads(self) -> "ExecutionThreads":
        # moto takes a second to import.
        from tidemark.glue_service.state_machines.threads import ExecutionThreads

        return ExecutionThreads(self._engine, self, self._region)

    def _made_s3(self) -> "S3":
        # Most clients ask for other services, because Spark reads the lake's files itself.
        from tidemark.glue_service.s3.service import S3

        return S3(self._home, self._region, self._notify_of_object, self._wants_objects)

    def _notify_of_object(self, created: CreatedObject) -> None:
        self._engine.tell(lambda glue: deliver_created(glue, created))

    def _answer_query(self, service: str, form: bytes, request_id: str) -> Reply:
        fields = query_protocol.read_form(form)
        name = fields.get("Action", "")
        operation = find_operation(service, name)
        if operation is None or name not in OPERATIONS[service]:
            raise unsupported(service, name)
        answer = call(self._engine, service, name, query_protocol.parameters(operation, fields))
        text = query_protocol.xml_answer(operation, answer, request_id)
        return reply(200, query_protocol.CONTENT_TYPE, text)


def path_of(environ: Mapping[str, Any]) -> str:
    """Return the path of a request in the form to forward, with its query."""
    path = urllib.parse.quote(environ.get("PATH_INFO", ""), safe="/%:@", encoding="latin-1")
    query = environ.get("QUERY_STRING", "")
    return f"{path}?{query}" if query else path


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


def with_checked_body(environ: Mapping[str, Any]) -> dict[str, Any]:
    """Return the environment of a request whose body is checked against its signature."""
    payload: Payload = environ[PAYLOAD]
    length = int(environ.get("CONTENT_LENGTH") or 0)
    return {**environ, "wsgi.input": checked(environ["wsgi.input"], length, payload)}
