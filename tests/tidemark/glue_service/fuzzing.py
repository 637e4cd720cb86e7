"""Requests made at random from botocore's models of the services, the same ones for a seed."""

from __future__ import annotations

import base64
import json
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from botocore.model import ListShape, MapShape, OperationModel, Shape, StructureShape
from botocore.serialize import create_serializer

from tidemark.glue_service.protocol.models import find_operation

SERVICES = (
    *("glue", "events", "logs", "s3", "sts", "iam"),
    *("dynamodb", "dynamodbstreams", "sns", "sqs", "ssm", "secretsmanager", "states"),
)
DEEPEST = 6
KNOWN = "fuzzed"  # the name of everything that a world has
RULE = f"rule/{KNOWN}"
ARN = "arn:aws:{0}:us-east-1:000000000000:{1}"
MANY = "9" * 5000  # digits: more than Python reads as a number
NESTED = '{"a":' * 400 + '["x"]' + "}" * 400
STRINGS = (
    *("", "a", "*", "[", "(", "{", "%", "é", "\0", "\x1b[2J", "\u202e", "\ud800", "\U0001f980"),
    *("..", "../..", "a/b", "/", "//", "a//b", "'", '"', "<a>&", "${a}", "{{a}}", "-1", "0", "1"),
    *("x" * 255, "x" * 256, "x" * 300, "é" * 200, "x" * 1025, "x" * 5000, "x/" * 600, "<" * 99),
    *("x" * 300 + "/a", "s3://", "s3://lake", "s3://no-such-bucket/a", "s3://lake/" + "x" * 300),
    *("[" * 500, NESTED, MANY, "null", "1e400", "NaN", "a=b&c", "utf-7", "a" * 250, "id", "year"),
    *(f"arn:aws:{about}" for about in ("", "sns", f"glue:us-east-1:000000000000:job/{MANY}")),
)
NUMBERS = (
    *(0, 1, 2, 3, 10, 100, 1000, 1001, -1, 0.5, -0.0, 1e-320, 1e16, 1e308, -1e308),
    *(2**31 - 1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64, -(2**63) - 1, 10**18, 10**30, 10**400),
    *(1_700_000_000, 1_700_000_000_000, 253_402_300_799, 253_402_300_800, -62_135_596_801),
)
NEVER = ("WaitTimeSeconds",)
SELDOM = ("CatalogId", "TransactionId", "QueryAsOfTime", "EventBusName")
_PLACES = (f"from {MANY}", "from 1", "from -1", "behind a", "behind \0", "\xff")
_TOKENS = tuple(base64.urlsafe_b64encode(place.encode()).decode() for place in _PLACES)
# Values by a part of the name of their member or header: good ones, and bad ones.
HINTS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "key of": ((KNOWN, "id", ":a", "#a", "--a"), ("", "aws:a", "x" * 300)),
    "Schedule": (
        ("cron(0 12 * * ? *)", "cron(0/1 * ? * MON-FRI *)", "rate(1 minute)"),
        ("cron(", f"cron({MANY} * * * ? *)", "cron(0 0 31 2 ? *)", f"rate({MANY} days)", "at()"),
    ),
    "EventPattern": (
        ('{"source": ["a"]}', '{"detail": {"a": [{"numeric": [">", 1]}]}}'),
        ("{}", NESTED, '{"detail": {"a": [{"wildcard": "' + "*a" * 30 + '"}]}}', '{"a": [1e400]}'),
    ),
    "Detail": (('{"a": 1}', '{"a": "' + "a" * 250 + '"}'), (NESTED, "a", "[]", '{"a": 1e400}')),
    "Path": (("$.detail.a", "/"), (f"$.a[{MANY}]", "$.a[\u0663]", "$")),
    "Expression": (
        ("year = 1", "year > 0 AND year < 9", "id = :a", "SET a = :a", "*", "a*", "fuz.*"),
        ("year >", "(a+)+$", "a?" * 40 + "a" * 40, "*a" * 30, "a{9999999999}", "x = 1 AND (", "'"),
    ),
    "Pattern": (("ERROR -b", "fuzzed"), ("{", '"', "?" * 99)),
    "logGroup": (("/aws-glue/python-jobs/output", "/aws-glue/jobs/error"), ("a:*",)),
    "RunId": (("jr_1", KNOWN), ()),
    "Arn": (
        (
            *(ARN.format("glue", f"{kind}/{KNOWN}") for kind in ("job", "workflow", "database")),
            *(ARN.format("sns", KNOWN), ARN.format("sqs", KNOWN), ARN.format("events", RULE)),
        ),
        ("arn:aws:sns", ":::::", "arn:aws:glue:us-east-1:1:job/a"),
    ),
    "ARN": ((ARN.format("events", RULE), ARN.format("sns", KNOWN)), (":::::",)),
    "QueueUrl": ((f"http://127.0.0.1/000000000000/{KNOWN}",), ("http://[", "http://a:b/c")),
    "Location": (("s3://fuzzed/a.py", "s3://fuzzed/t/"), ("s3://lake/" + "x/" * 600,)),
    "Type": (("int", "string", "STANDARD"), ("decimal(", "struct<" * 99)),
    "Value": (("1", "2", "x"), ()),
    "oken": (_TOKENS, _TOKENS),
    "ange": (("bytes=0-", "bytes=-1"), (f"bytes={MANY}-", f"bytes=0-{MANY}", "bytes=2-1")),
    "ince": (("Thu, 01 Jan 2026 00:00:00 GMT",), ("1 Jan 99999999999 00:00:00 GMT", "Thu, 99 Jan")),
    "opy-source": ((f"{KNOWN}/{KNOWN}",), ("%", "%00/a", f"{KNOWN}/..%2f..", "a/" + "x" * 300)),
    "content-sha256": (("UNSIGNED-PAYLOAD",), ("STREAMING-UNSIGNED-PAYLOAD-TRAILER", "STREAMING-")),
    "umber": (("1",), (MANY, "-1", "1_0", "\u0663")),
}


@dataclass(frozen=True)
class Wire:
    """A request as it goes over the wire."""

    service: str
    operation: str
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Fuzzer:
    """Makes requests; the same ones for the same seed."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)  # noqa: S311 (no secret)
        self._wildness = 0.0  # how often a value is one that nobody expects
        self._breaks = True  # whether a value may be of another type
        self._makers = {
            "structure": self._structure,
            "list": self._list,
            "map": self._map,
            "boolean": lambda *_: self._is(0.5),
            "timestamp": self._time,
            "blob": lambda *_: self.random.choice(("", "aGk=", "é", "////////////")),
            **dict.fromkeys(("integer", "long", "float", "double"), self._number),
        }

    def _is(self, chance: float) -> bool:
        return self.random.random() < chance

    def value(self, shape: Shape, name: str = "", depth: int = 0) -> Any:
        """Return a value that is mostly of a shape, for a member with a name."""
        if self._breaks and self._is(self._wildness / 20):
            return self.random.choice([None, True, [], {}, "a", 1, [[]], {"a": {}}])
        return self._makers.get(shape.type_name, self._string)(shape, name, depth)

    def _structure(self, shape: StructureShape, _: str, depth: int) -> dict[str, Any]:
        members = dict(shape.members)
        if members and (shape.is_tagged_union or shape.name == "AttributeValue"):
            chosen = self.random.choice([*members])
            return {chosen: self.value(members[chosen], chosen, depth + 1)}
        return {
            name: self.value(member, name, depth + 1)
            for name, member in members.items()
            if self._is_given(shape, name, depth)
        }

    def _is_given(self, shape: StructureShape, name: str, depth: int) -> bool:
        if name in shape.required_members:
            return not (self._breaks and self._is(self._wildness / 10))
        if name in NEVER or depth >= DEEPEST:
            return False
        return self._is(0.02 if name in SELDOM else 0.4 if depth else 0.2)

    def _list(self, shape: ListShape, name: str, depth: int) -> list[Any]:
        counts = (1, 1, 2, 0 if self._wildness > 0.1 else 1)
        count = self.random.choice(counts) if depth < DEEPEST else 0
        return [self.value(shape.member, name, depth + 1) for _ in range(count)]

    def _map(self, shape: MapShape, name: str, depth: int) -> dict[str, Any]:
        count = self.random.choice((0, 1, 2)) if depth < DEEPEST else 0
        keys = [str(self._string(shape.key, f"key of {name}", depth)) for _ in range(count)]
        return {key: self.value(shape.value, name, depth + 1) for key in keys}

    def _time(self, *_: Any) -> Any:
        if self._breaks and self._is(max(self._wildness, 0.3)):
            return self.random.choice((*NUMBERS, *STRINGS))
        return self.random.choice((1_700_000_000, 1))

    def _string(self, shape: Shape, name: str, _: int) -> str:
        if self._is(self._wildness):
            text = self._bad(name)
            return text if self._breaks else text.encode(errors="replace").decode() or KNOWN
        if listed := shape.metadata.get("enum"):
            return str(self.random.choice(listed))
        good, _ = _hint(name)
        return self.random.choice(good or (KNOWN, KNOWN, KNOWN, "a", "new"))

    def _bad(self, name: str) -> str:
        _, bad = _hint(name)
        return self.random.choice(bad if bad and self._is(0.7) else STRINGS)

    def _number(self, shape: Shape, *_: Any) -> float:
        if self._is(self._wildness):
            number = self.random.choice(NUMBERS)
            return number if self._breaks else int(number)
        least, most = shape.metadata.get("min", 0), shape.metadata.get("max", 100)
        return int(self.random.choice((least, least + 1, least + 1, most)))

    def request(self, service: str, operation: str) -> Wire:
        """Return a request for an operation."""
        model = find_operation(service, operation)
        assert model is not None
        metadata = model.service_model.metadata
        self._wildness = self.random.choice((0.0, 0.05, 0.1, 0.6))
        self._breaks = metadata["protocol"] != "rest-xml"  # botocore writes it, from good types
        signing = metadata.get("signingName", metadata["endpointPrefix"])
        scope = f"Credential=a/20260101/us-east-1/{signing}/aws4_request"
        headers = {
            "Authorization": f"AWS4-HMAC-SHA256 {scope}, SignedHeaders=host, Signature=0",
            "X-Amz-Date": "20260101T000000Z",
        }
        given = self.value(model.input_shape) if model.input_shape else {}
        if metadata["protocol"] == "rest-xml":
            return self._rest_xml(model, given, headers)
        if metadata["protocol"] == "query":
            fields = dict(_flat(given, "")) if isinstance(given, dict) else {"": str(given)}
            form = {"Action": operation, "Version": model.service_model.api_version, **fields}
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            body = urlencode(form, errors="replace").encode()
        else:
            headers["X-Amz-Target"] = f"{metadata['targetPrefix']}.{operation}"
            headers["Content-Type"] = f"application/x-amz-json-{metadata['jsonVersion']}"
            body = json.dumps(given).encode()
        return Wire(service, operation, "POST", "/", headers, self._damaged(body))

    def _damaged(self, body: bytes) -> bytes:
        """Return a body that is now and then cut, or changed in one byte."""
        if not body or not self._is(0.03):
            return body
        place = self.random.randrange(len(body))
        if self._is(0.5):
            return body[:place]
        return body[:place] + bytes([self.random.randrange(256)]) + body[place + 1 :]

    def _rest_xml(self, model: OperationModel, given: Any, headers: dict[str, str]) -> Wire:
        made = create_serializer("rest-xml", include_validation=False).serialize_to_request(
            given, model
        )
        path, _, naming = str(made["url_path"]).partition("?")
        named = dict.fromkeys(filter(None, naming.split("&")), "")
        words = self._spoiled({**named, **(made["query_string"] or {})})
        sent = self._spoiled(
            {
                name: str(value)
                for name, value in made["headers"].items()
                if name != "Content-Length" and HEADER_NAME.fullmatch(name)
            }
        )
        if self._is(0.3):
            name = self.random.choice(S3_HEADERS)
            sent[name] = self.random.choice((self._bad(name), *_hint(name)[0]))
        query = urlencode(words, doseq=True, errors="replace").replace("=&", "&").removesuffix("=")
        body = made["body"] or b""
        return Wire(
            "s3",
            model.name,
            made["method"],
            f"{quote(path, safe='/%:@', errors='replace')}?{query}".removesuffix("?"),
            {name: _latin(value) for name, value in {**sent, **headers}.items()},
            self._damaged(self._encoded(body if isinstance(body, bytes) else str(body).encode())),
        )

    def _spoiled(self, words: dict[str, Any]) -> dict[str, Any]:
        """Return words, now and then with one value that nobody expects."""
        if not words or not self._is(0.3):
            return words
        name = self.random.choice([*words])
        return {**words, name: self._bad(name)}

    def _encoded(self, body: bytes) -> bytes:
        """Return a document, now and then in another encoding, or with the name of one."""
        if not body.startswith(b"<") or not self._is(0.2):
            return body
        encoding = self.random.choice(("utf-7", "utf-16", "no-such", "latin-1", "cp037", "idna"))
        declared = f'<?xml version="1.0" encoding="{encoding}"?>'.encode() + body
        if encoding in ("utf-16", "cp037") and self._is(0.5):
            return declared.decode("utf-8", "replace").encode(encoding, "replace")
        return declared


HEADER_NAME = re.compile("[A-Za-z0-9-]+")
S3_HEADERS = (
    *("Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"),
    *("Content-Encoding", "Content-MD5", "x-amz-copy-source", "x-amz-copy-source-range"),
    *("x-amz-decoded-content-length", "x-amz-content-sha256", "x-amz-trailer", "x-amz-tagging"),
    *("x-amz-meta-a", "x-amz-checksum-crc32", "Expires", "x-amz-metadata-directive", "Expect"),
)


def _hint(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return next((values for part, values in HINTS.items() if part in name), ((), ()))


def _latin(text: str) -> str:
    """Return a string that can be the value of a header."""
    return "".join(c if " " <= c <= "~" or "\xa0" <= c <= "\xff" else "?" for c in text)


def _flat(value: Any, path: str) -> Any:
    """Yield the fields of a form, with the names of the query protocol."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _flat(inner, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list):
        for number, inner in enumerate(value, 1):
            yield from _flat(inner, f"{path}.member.{number}")
    else:
        yield path, str(value)
