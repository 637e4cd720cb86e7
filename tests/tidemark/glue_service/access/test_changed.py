"""Signed requests of which one thing is changed: each is refused, whatever it is."""

from __future__ import annotations

import hashlib
import io
import string
from urllib.parse import quote, urlsplit

import pytest
from botocore.auth import S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.signing import REGION, signed
from tidemark.errors import TidemarkError
from tidemark.glue_service.access.gate import Gate
from tidemark.glue_service.access.head import Head, head_of
from tidemark.glue_service.access.payload import checked
from tidemark.glue_service.access.signature_v4 import ChunkSignatures, Scope, signing_key
from tidemark.glue_service.s3.bodies import store_body
from tidemark.glue_service.s3.xml import S3Error
from tidemark.local_state.access_key import AccessKey

KEY = AccessKey("secret of the port")
GATE = Gate(KEY, "secret of the home")
HOST = "http://127.0.0.1:4566"
LETTERS = string.ascii_letters + string.digits
NOT_SIGNED = ("user-agent", "expect")
TARGETS = {"glue": "AWSGlue.GetJob", "logs": "Logs_20140328.GetLogEvents"}
words = st.text(min_size=1, max_size=8).filter(lambda text: text.isprintable() and text != ".")
names = st.text(string.ascii_lowercase, min_size=1, max_size=6)


@st.composite
def requests(draw):
    """Return a request as clients send it: its method, URI, headers, and body."""
    service = draw(st.sampled_from(["s3", "s3", *TARGETS]))
    body = draw(st.binary(min_size=1, max_size=20))
    headers = {f"X-Amz-Meta-{draw(names)}": draw(st.text(LETTERS, min_size=1, max_size=6))}
    if service in TARGETS:
        headers["X-Amz-Target"] = TARGETS[service]
        return _signed("POST", "/", headers, body, service)
    path = "/".join(quote(word, safe="~") for word in ["", *draw(st.lists(words, min_size=1))])
    query = "&".join(
        f"{name}={quote(word, safe='~')}"
        for name, word in draw(st.dictionaries(names, words, max_size=3)).items()
    )
    uri = f"{path}?{query}" if query else path
    method = draw(st.sampled_from(["GET", "PUT", "DELETE"]))
    return _signed(method, uri, headers, body, service)


def _signed(method, uri, headers, body, service):
    sent = signed(KEY, method, f"{HOST}{uri}", headers, body, service)
    return method, uri, {name.lower(): value for name, value in sent.items()}, body


def admit(head: Head, body: bytes) -> bytes:
    payload, _ = GATE.admit(head, len(body))
    return checked(io.BytesIO(body), len(body), payload).read()


@given(requests())
def test_what_a_client_of_aws_signs_is_admitted(request):
    method, uri, headers, body = request

    assert admit(head_of(method, uri, headers), body) == body


def changed(data, text):
    """Return a text of which one letter is another."""
    places = [
        at for at, letter in enumerate(text) if letter in LETTERS and "%" not in text[at - 2 : at]
    ]
    assume(places)
    at = data.draw(st.sampled_from(places))
    other = data.draw(st.sampled_from(LETTERS.replace(text[at], "")))
    return text[:at] + other + text[at + 1 :]


@given(requests(), st.data())
def test_a_request_of_which_one_thing_is_changed_is_refused(request, data):
    method, uri, headers, body = request
    what = data.draw(
        st.sampled_from(["method", "uri", "body", "no header", "new header", "header"])
    )
    if what == "method":
        method = "HEAD"
    elif what == "uri":
        uri = changed(data, uri)
    elif what == "body":
        body = body[:-1] + bytes([body[-1] ^ 1])
    elif what == "new header":
        headers = {**headers, "x-amz-copy-source": "/a/b"}
    else:
        name = data.draw(st.sampled_from(sorted(set(headers) - {"host", *NOT_SIGNED})))
        others = {key: value for key, value in headers.items() if key != name}
        headers = others if what == "no header" else {**others, name: changed(data, headers[name])}

    with pytest.raises(TidemarkError):
        admit(head_of(method, uri, headers), body)


@given(st.lists(words, min_size=1, max_size=3), st.data())
def test_a_presigned_url_of_which_one_letter_is_changed_is_refused(parts, data):
    path = "/".join(quote(word, safe="~") for word in ["", *parts])
    request = AWSRequest("GET", f"{HOST}{path}")
    S3SigV4QueryAuth(Credentials(KEY.key_id, KEY.secret), "s3", REGION).add_auth(request)
    uri, headers = request.url.removeprefix(HOST), {"host": urlsplit(HOST).netloc}

    admit(head_of("GET", uri, headers), b"")

    with pytest.raises(TidemarkError):
        admit(head_of("GET", changed(data, uri), headers), b"")


@given(st.binary(min_size=1, max_size=60), st.integers(1, 30), st.booleans(), st.data())
def test_signed_chunks_of_which_one_byte_is_changed_are_refused(
    tmp_path_factory, body, size, has_trailer, data
):
    sent = framed(body, size, has_trailer)
    at = data.draw(st.integers(0, len(sent) - 3))
    wrong = sent[:at] + bytes([sent[at] ^ data.draw(st.integers(1, 255))]) + sent[at + 1 :]

    assert stored(tmp_path_factory, sent) == body
    try:
        found = stored(tmp_path_factory, wrong)
    except S3Error:
        return
    assert found == body  # such as a size in other letters


def signatures() -> ChunkSignatures:
    scope = Scope("20130524", REGION, "s3")
    return ChunkSignatures(signing_key(KEY.secret, scope), "20130524T000000Z", scope, "seed")


def stored(tmp_path_factory, sent):
    path = tmp_path_factory.mktemp("body") / "body"
    headers = {"content-encoding": "aws-chunked"}
    store_body(io.BytesIO(sent), headers, path, signatures())
    return path.read_bytes()


def framed(body, size, has_trailer):
    """Return a body in signed chunks, as clients send it."""
    signer, sent = signatures(), b""
    for chunk in [*(body[at : at + size] for at in range(0, len(body), size)), b""]:
        signer.is_chunk(hashlib.sha256(chunk).hexdigest(), "")
        head = b"%x;chunk-signature=%s\r\n" % (len(chunk), signer._last.encode())
        sent += head + (chunk + b"\r\n" if chunk else b"")
    if has_trailer:
        signer.is_trailer(b"x-amz-checksum-crc32c:AAAAAA==\n", "")
        sent += b"x-amz-checksum-crc32c:AAAAAA==\r\n"
        sent += b"x-amz-trailer-signature:%s\r\n" % signer._last.encode()
    return sent + b"\r\n"
