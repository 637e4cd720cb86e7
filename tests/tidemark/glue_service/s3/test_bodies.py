"""Bodies of uploads: in chunks, with checksums."""

from __future__ import annotations

import io
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.signing import raw_upload
from tests.waiting import BOUND_S
from tidemark.glue_service.s3.bodies import store_body
from tidemark.glue_service.s3.xml import S3Error


@given(st.binary(max_size=300), st.lists(st.integers(1, 50), max_size=10))
def test_a_body_in_chunks_is_the_body(tmp_path_factory, body, sizes):
    chunks, left = [], body
    for size in sizes:
        chunks.append(left[:size])
        left = left[size:]
    chunks = [chunk for chunk in [*chunks, left] if chunk]
    framed = b"".join(b"%x;chunk-signature=0\r\n%s\r\n" % (len(c), c) for c in chunks)
    path = tmp_path_factory.mktemp("body") / "body"
    headers = {"x-amz-content-sha256": "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"}

    stored = store_body(io.BytesIO(framed + b"0\r\n\r\n"), headers, path)

    assert (path.read_bytes(), stored.size) == (body, len(body))


@pytest.mark.parametrize(
    ("headers", "body", "code"),
    [
        ({"content-md5": "AAAA"}, b"x", "BadDigest"),
        ({"x-amz-checksum-crc32": "AAAAAA=="}, b"x", "BadDigest"),
        ({"content-encoding": "aws-chunked"}, b"5\r\nabc", "IncompleteBody"),
        ({"content-encoding": "aws-chunked"}, b"zz\r\n", "IncompleteBody"),
        ({"content-encoding": "aws-chunked"}, b"0_1\r\nx\r\n0\r\n\r\n", "IncompleteBody"),
        ({"x-amz-decoded-content-length": "2"}, b"x", "IncompleteBody"),
        (
            {"content-encoding": "aws-chunked", "x-amz-trailer": "x-amz-checksum-crc32"},
            b"1\r\nx\r\n0\r\n\r\n",
            "MalformedTrailerError",
        ),
        (
            {"content-encoding": "aws-chunked"},
            b"1\r\nx\r\n0\r\nx-amz-checksum-crc32: AAAAAA==\r\n\r\n",
            "BadDigest",
        ),
    ],
)
def test_a_body_that_is_not_what_was_sent_is_refused(tmp_path, headers, body, code):
    with pytest.raises(S3Error) as caught:
        store_body(io.BytesIO(body), headers, tmp_path / "body")

    assert caught.value.code == code


def test_a_client_that_waits_to_be_told_to_go_on_is_told(port, bucket):
    """Pyarrow asks so before each body in chunks, and goes on by itself after a second only."""
    host, _, number = port.url.removeprefix("http://").rpartition(":")
    asked = {"Transfer-Encoding": "chunked", "Expect": "100-continue"}
    head = raw_upload(port.client("s3"), bucket, "a", **asked)
    with socket.create_connection((host, int(number)), timeout=BOUND_S) as connection:
        connection.sendall(head)
        told = connection.recv(100)
        connection.sendall(b"1\r\nx\r\n0\r\n\r\n")
        answered = connection.recv(100)

    assert told.startswith(b"HTTP/1.1 100")
    assert answered.startswith(b"HTTP/1.1 200")
    assert (port.home.lake / bucket / "a").read_bytes() == b"x"
