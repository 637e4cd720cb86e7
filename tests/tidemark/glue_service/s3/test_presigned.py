"""URLs that are signed for those who have no credentials."""

from __future__ import annotations

import socket
import urllib.error
import urllib.request
from urllib.parse import urlsplit

import pytest
from botocore.exceptions import ClientError

from tests.tidemark.glue_service.s3.conftest import ask, put

OPENED = {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


def presigned(port, bucket, version="s3v4", operation="get_object", **members):
    """Return the path of a presigned URL."""
    s3 = port.client("s3", signature_version=version)
    members = {"Bucket": bucket, "Key": "page.html", **members}
    place = urlsplit(s3.generate_presigned_url(operation, Params=members))
    return f"{place.path}?{place.query}"


@pytest.fixture
def page(s3, bucket):
    text = b"<script>fetch('/')</script>"
    s3.put_object(Bucket=bucket, Key="page.html", Body=text, ContentType="text/html")
    return text


@pytest.mark.parametrize("version", ["s3", "s3v4"])
def test_a_presigned_url_that_a_person_typed_opens_without_rights(port, bucket, page, version):
    answer = ask(port, "GET", presigned(port, bucket, version), b"", OPENED, is_signed=False)

    assert (answer.status, answer.body) == (200, page)
    assert answer.headers["content-security-policy"] == "sandbox"
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Dest": "iframe"},
        {"Sec-Fetch-Dest": "script", "Sec-Fetch-Mode": "no-cors"},
        {"Sec-Fetch-Dest": "empty", "Sec-Fetch-Mode": "cors"},
        {"Origin": "null"},
        {"Origin": "http://evil.example"},
        {"Host": "evil.example"},
    ],
)
def test_a_presigned_url_of_another_page_is_refused(port, bucket, page, headers):
    sent = {**OPENED, **headers}
    answer = ask(port, "GET", presigned(port, bucket), b"", sent, is_signed=False)

    assert (answer.status, page in answer.body) == (403, False)
    assert answer.headers["content-security-policy"] == "sandbox"


def test_a_browser_that_no_url_was_signed_for_gets_nothing(port, bucket, page):
    put_path = presigned(port, bucket, operation="put_object")
    wrong = presigned(port, bucket).replace("X-Amz-Signature=", "X-Amz-Signature=0")
    for method, path in (("GET", f"/{bucket}/page.html"), ("PUT", put_path), ("GET", wrong)):
        answer = ask(port, method, path, b"", OPENED, is_signed=False)

        assert (answer.status, page in answer.body) == (403, False)


def test_what_a_program_reads_is_no_page_either(port, s3, bucket, page):
    got = [
        s3.get_object(Bucket=bucket, Key="page.html", Range="bytes=0-1"),
        s3.head_object(Bucket=bucket, Key="page.html"),
        s3.list_buckets(),
    ]
    headers = [answer["ResponseMetadata"]["HTTPHeaders"] for answer in got]

    assert {one["content-security-policy"] for one in headers} == {"sandbox"}
    assert {one["x-content-type-options"] for one in headers} == {"nosniff"}


def test_an_answer_to_what_is_not_http_is_no_page_either(port):
    place = urlsplit(port.url)
    with socket.create_connection((place.hostname, place.port)) as connection:
        connection.sendall(b"GET <script> HTTP/1.1\r\nHost : x\r\n\r\n")
        head = connection.makefile("rb").read().partition(b"\r\n\r\n")[0].lower().splitlines()

    assert b" 400 " in head[0]
    assert {b"content-security-policy: sandbox", b"x-content-type-options: nosniff"} < set(head)


@pytest.mark.parametrize("version", ["s3", "s3v4"])
def test_a_presigned_url_is_read_until_its_time_is_over(port, bucket, version):
    s3 = port.client("s3", signature_version=version)
    put(s3, bucket, "a", body=b"1")
    query = {"Bucket": bucket, "Key": "a", "ResponseContentType": "text/x"}
    url = s3.generate_presigned_url("get_object", Params=query, ExpiresIn=60)

    with urllib.request.urlopen(url) as answer:  # noqa: S310 (our own)
        assert (answer.read(), answer.headers["Content-Type"]) == (b"1", "text/x")
    old = s3.generate_presigned_url("get_object", Params=query, ExpiresIn=-1)
    with pytest.raises(urllib.error.HTTPError, match="403") as caught:
        urllib.request.urlopen(old)  # noqa: S310
    caught.value.close()


@pytest.mark.parametrize("value", ["a\r\nX: 1", "a\rX", "\x00", "\x1b[31m", "\u20ac", "\x85"])
def test_a_url_gives_a_header_no_value_that_headers_cannot_have(s3, bucket, value):
    put(s3, bucket, "a", body=b"1")

    with pytest.raises(ClientError) as refused:
        s3.get_object(Bucket=bucket, Key="a", ResponseContentDisposition=value)

    assert refused.value.response["Error"]["Code"] == "InvalidArgument"
    assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400
