"""The query protocol of STS and IAM: form fields in, XML out.

Source: https://smithy.io/2.0/aws/protocols/aws-query-protocol.html
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl
from xml.sax.saxutils import escape

from botocore.model import OperationModel

from tidemark.glue_service.protocol.models import find_faults
from tidemark.glue_service.protocol.service_errors import SERVER_ERROR, ServiceError

CONTENT_TYPE = "text/xml"


def read_form(form: bytes) -> dict[str, str]:
    """Return the fields of a request, with ``Action``, without those of its signature."""
    try:
        pairs = parse_qsl(form.decode(), keep_blank_values=True, strict_parsing=True)
    except ValueError as error:
        raise ServiceError("MalformedQueryString", f"the body is not a form: {error}") from error
    return {name: value for name, value in pairs if not name.startswith("X-Amz-")}


def parameters(operation: OperationModel, fields: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters of a request; all operations here take only strings."""
    request = {name: value for name, value in fields.items() if name not in ("Action", "Version")}
    if faults := find_faults(operation, request):
        raise ServiceError("ValidationError", "; ".join(faults))
    return request


def xml_answer(operation: OperationModel, answer: Mapping[str, Any], request_id: str) -> bytes:
    """Return the body of an answer: strings, times and structures of them."""
    namespace = operation.service_model.metadata["xmlNamespace"]
    name = operation.name
    return (
        f'<{name}Response xmlns="{namespace}"><{name}Result>{_elements(answer)}</{name}Result>'
        f"<ResponseMetadata><RequestId>{request_id}</RequestId></ResponseMetadata>"
        f"</{name}Response>"
    ).encode()


def _elements(value: Any) -> str:
    if isinstance(value, Mapping):
        return "".join(f"<{name}>{_elements(item)}</{name}>" for name, item in value.items())
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return escape(str(value))


def xml_error(error: ServiceError, request_id: str) -> bytes:
    """Return the body of an error."""
    fault = "Receiver" if error.status >= SERVER_ERROR else "Sender"
    return (
        f"<ErrorResponse><Error><Type>{fault}</Type><Code>{error.code}</Code>"
        f"<Message>{escape(str(error))}</Message></Error><RequestId>{request_id}</RequestId>"
        "</ErrorResponse>"
    ).encode()
