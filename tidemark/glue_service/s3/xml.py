"""The XML of S3's requests, answers and errors."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from tidemark.glue_service.protocol.replies import Reply, reply
from tidemark.glue_service.protocol.service_errors import ServiceError
from tidemark.model.messages import visible

NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
MAX_SIZE = 2_000_000  # bytes of the document in a request: 1,000 keys, 10,000 parts
ENCODING = re.compile(rb"""(?:\xef\xbb\xbf)?\s*<\?xml[^>]*?encoding\s*=\s*["']([^"']*)""")
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
STATUS = {
    code: status
    for status, codes in {
        304: "NotModified",
        403: "AccessDenied InvalidAccessKeyId RequestTimeTooSkewed SignatureDoesNotMatch",
        404: "NoSuchBucket NoSuchKey NoSuchTagSet NoSuchUpload",
        405: "MethodNotAllowed",
        409: "BucketAlreadyOwnedByYou BucketNotEmpty",
        412: "PreconditionFailed",
        416: "InvalidPartNumber InvalidRange",
        501: "NotImplemented",
    }.items()
    for code in codes.split()
}


class Markup(str):
    """A string that is XML already: elements, for a member with thousands of them."""

    __slots__ = ()


def xml_reply(root: str, members: Mapping[str, Any] | Markup) -> Reply:
    """Return a document; members that are None are left out, lists are repeated."""
    inner = members if isinstance(members, Markup) else _elements(members)
    text = f'{HEAD}<{root} xmlns="{NAMESPACE}">{inner}</{root}>'
    return reply(200, "application/xml", text.encode())


def _elements(members: Mapping[str, Any]) -> str:
    return "".join(_element(name, value) for name, value in members.items() if value is not None)


def _element(name: str, value: Any) -> str:
    if isinstance(value, Markup):
        return value
    if isinstance(value, Mapping):
        return f"<{name}>{_elements(value)}</{name}>"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "".join(_element(name, item) for item in value)
    if isinstance(value, bool):
        value = str(value).lower()
    return f"<{name}>{escaped(str(value))}</{name}>"


def escaped(text: str) -> str:
    """Return a string for XML; a reader would turn a carriage return into a line feed."""
    return escape(text, {"\r": "&#13;"})


def error_xml(error: ServiceError, resource: str, request_id: str) -> Reply:
    """Return an error in the form of S3."""
    members = {
        "Code": error.code,
        "Message": visible(str(error)),  # XML has no control characters
        "Condition": getattr(error, "condition", None),
        "Resource": visible(resource),
        "RequestId": request_id,
    }
    text = f"{HEAD}<Error>{_elements(members)}</Error>"
    return reply(error.status, "application/xml", text.encode())


def timestamp(epoch_ns: int) -> str:
    """Return a time in the form of documents: S3 shows milliseconds, and counts whole seconds."""
    return f"{_second(epoch_ns // 10**9)}.000Z"


@lru_cache(maxsize=1024)
def _second(epoch_s: int) -> str:
    return datetime.fromtimestamp(epoch_s, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def read_xml(body: bytes) -> ElementTree.Element:
    """Return the document of a request, which is in UTF-8.

    Python's parser knows other encodings, in which declarations would not be seen.
    """
    declared = ENCODING.match(body)
    if declared and declared[1].lower() not in (b"utf-8", b"us-ascii"):
        named = declared[1][:40].decode("latin-1")
        raise S3Error("MalformedXML", f"the encoding of the document is {named!r}; allowed: UTF-8")
    if b"<!" in body:
        raise S3Error("MalformedXML", "the document has declarations, which S3 does not accept")
    try:
        return ElementTree.fromstring(body.decode("utf-8-sig"))  # noqa: S314 (no entities: see above)
    except (ElementTree.ParseError, UnicodeDecodeError) as error:
        raise S3Error("MalformedXML", f"the body is not XML: {error}") from error


def local_name(element: ElementTree.Element) -> str:
    """Return the name of an element without its namespace."""
    return element.tag.rpartition("}")[2]


def members_of(element: ElementTree.Element) -> dict[str, str]:
    """Return the strings of the elements in an element, by name."""
    return {local_name(child): child.text or "" for child in element}


class S3Error(ServiceError):
    """An error with the code of S3; a failed precondition names its condition, such as If-Match."""

    def __init__(self, code: str, text: str, condition: str | None = None) -> None:
        super().__init__(code, text, STATUS.get(code, 400))
        self.condition = condition


def no_such_key(key: str) -> S3Error:
    """Return the error for a missing object."""
    return S3Error("NoSuchKey", f"The specified key does not exist: {key!r}")
