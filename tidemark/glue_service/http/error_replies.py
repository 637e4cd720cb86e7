"""Errors in the protocol of the client, so that it shows their messages.

Source: https://smithy.io/2.0/aws/protocols/index.html
"""

import json
from collections.abc import Mapping
from functools import cache
from xml.sax.saxutils import escape

from botocore.exceptions import DataNotFoundError, UnknownServiceError

from tidemark.glue_service.protocol import json_protocol, query_protocol
from tidemark.glue_service.protocol.models import service_model
from tidemark.glue_service.protocol.replies import Reply, reply
from tidemark.glue_service.protocol.service_errors import ServiceError
from tidemark.glue_service.s3.xml import error_xml

CBOR = "application/cbor"
FORM = "application/x-www-form-urlencoded"
SHORT, BYTE_FOLLOWS, TWO_BYTES_FOLLOW = 24, 0x18, 0x19  # lengths of CBOR values
TEXT, MAP_OF_TWO = 0x60, b"\xa2"


def error_reply(
    service: str, error: ServiceError, request_id: str, path: str, headers: Mapping[str, str]
) -> Reply:
    """Return an error in the form that clients of a service read."""
    protocol = protocol_of(service, path, headers)
    if protocol == "s3":
        return error_xml(error, path, request_id)
    if protocol == "cbor":
        fields = {"Content-Type": CBOR, "smithy-protocol": "rpc-v2-cbor"}
        words = ("__type", error.code, "message", str(error))
        return Reply(error.status, fields, MAP_OF_TWO + b"".join(map(_cbor_text, words)))
    if protocol == "ec2":
        inner = f"<Code>{escape(error.code)}</Code><Message>{escape(str(error))}</Message>"
        inner = f"<Errors><Error>{inner}</Error></Errors><RequestID>{request_id}</RequestID>"
        body = f"<Response>{inner}</Response>".encode()
        return reply(error.status, query_protocol.CONTENT_TYPE, body)
    if protocol == "xml":
        body = query_protocol.xml_error(error, request_id)
        return reply(error.status, query_protocol.CONTENT_TYPE, body)
    text = json.dumps(json_protocol.error_body(error)).encode()
    return reply(error.status, json_protocol.CONTENT_TYPE, text)


def protocol_of(service: str, path: str, headers: Mapping[str, str]) -> str:
    """Return the protocol in which a client of a service reads errors: s3, json, cbor, xml or ec2.

    An unsigned request names no service: a form without a bucket is not for S3.
    """
    content_type = headers.get("content-type", "")
    if service == "s3" and not (path == "/" and content_type.startswith(FORM)):
        return service
    if content_type.startswith(CBOR) or "smithy-protocol" in headers:
        return "cbor"
    if content_type.startswith(FORM):
        return "ec2" if service == "ec2" else "xml"
    return "xml" if _is_rest_xml(service) else "json"


@cache
def _is_rest_xml(service: str) -> bool:
    try:
        return bool(service_model(service).metadata["protocol"] == "rest-xml")
    except (DataNotFoundError, UnknownServiceError):
        return False


def _cbor_text(text: str) -> bytes:
    content = text.encode()
    if len(content) < SHORT:
        return bytes([TEXT + len(content)]) + content
    if len(content) < 1 << 8:
        return bytes([TEXT + BYTE_FOLLOWS, len(content)]) + content
    return bytes([TEXT + TWO_BYTES_FOLLOW]) + len(content).to_bytes(2) + content
