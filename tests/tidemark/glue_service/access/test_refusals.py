"""Real clients with a wrong key, no key, another clock, and requests that were changed."""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import shutil
import subprocess
import urllib.error
import urllib.request
import zlib
from contextlib import closing
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import boto3
import botocore.auth
import pytest
from botocore import UNSIGNED
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.exceptions import ClientError

from tests.signing import REGION, signed
from tests.waiting import BOUND_S
from tidemark.glue_service.access.signature_v4 import ChunkSignatures, Scope, signing_key
from tidemark.glue_service.http.serving import Options
from tidemark.local_state.access_key import access_key

JSON, FORM, S3 = ("glue", "list_jobs"), ("sts", "get_caller_identity"), ("s3", "list_buckets")
SERVICES = [JSON, ("dynamodb", "list_tables"), ("logs", "describe_log_groups"), FORM, S3]


def client(port, service, **given):
    key = {**access_key(port.home).arguments, **given}
    options = key.pop("config", {})
    config = Config(retries={"total_max_attempts": 1}, **options)
    return boto3.client(service, endpoint_url=port.url, region_name=REGION, config=config, **key)


def refused(port, service, operation, **given):
    with pytest.raises(ClientError) as caught:
        getattr(client(port, service, **given), operation)()
    answer = caught.value.response
    return answer["Error"], answer["ResponseMetadata"]["HTTPStatusCode"]


@pytest.mark.parametrize(("service", "operation"), SERVICES)
def test_the_key_of_the_port_is_answered(port, service, operation):
    assert getattr(client(port, service), operation)()["ResponseMetadata"]["HTTPStatusCode"] == 200


def test_the_url_by_which_a_client_proves_who_it_is_is_answered(port):
    sts = client(port, "sts")
    url = sts.generate_presigned_url("get_caller_identity", ExpiresIn=60, HttpMethod="GET")

    with urllib.request.urlopen(url, timeout=BOUND_S) as answer:  # noqa: S310 (of our port)
        assert b"<GetCallerIdentityResult>" in answer.read()


@pytest.mark.parametrize(
    ("given", "of_json", "of_form", "of_s3"),
    [
        (
            {"aws_access_key_id": "AKIAIOSFODNN7EXAMPLE"},
            "UnrecognizedClientException",
            "InvalidClientTokenId",
            "InvalidAccessKeyId",
        ),
        (
            {"aws_secret_access_key": "local"},
            "InvalidSignatureException",
            "SignatureDoesNotMatch",
            "SignatureDoesNotMatch",
        ),
        (
            {"config": {"signature_version": UNSIGNED}},
            "MissingAuthenticationTokenException",
            "MissingAuthenticationToken",
            "AccessDenied",
        ),
    ],
    ids=["another key", "another secret", "no key"],
)
def test_another_key_is_refused_with_the_code_of_aws_and_what_to_do(
    port, given, of_json, of_form, of_s3
):
    for (service, operation), code, status in (
        (JSON, of_json, 400),
        (FORM, of_form, 403),
        (S3, of_s3, 403),
    ):
        error, found = refused(port, service, operation, **given)

        assert (error["Code"], found) == (code, status)
        assert "tidemark env" in error["Message"]


@pytest.mark.parametrize("hours", [-1, 1])
def test_another_clock_is_refused(port, monkeypatch, hours):
    moved = datetime.now(UTC) + timedelta(hours=hours)
    monkeypatch.setattr(botocore.auth, "get_current_datetime", lambda: moved.replace(tzinfo=None))

    found = [refused(port, *service)[0] for service in (JSON, FORM, S3)]

    assert [error["Code"] for error in found] == [
        "InvalidSignatureException",
        "SignatureDoesNotMatch",
        "RequestTimeTooSkewed",
    ]
    assert all("15 minutes" in error["Message"] for error in found)


def answer_of(url, method="GET", body=None, **headers):
    request = urllib.request.Request(url, body, headers, method=method)  # noqa: S310 (our own)
    try:
        with urllib.request.urlopen(request, timeout=BOUND_S) as answer:  # noqa: S310
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


@pytest.mark.parametrize("version", ["s3", "s3v4"])
def test_a_presigned_url_is_for_what_it_says_only(port, version):
    s3 = client(port, "s3", config={"signature_version": version})
    bucket = f"presigned-{version}"
    s3.create_bucket(Bucket=bucket)
    for key in ("a", "b"):
        s3.put_object(Bucket=bucket, Key=key, Body=key.encode())
    query = {"Bucket": bucket, "Key": "a"}
    url = s3.generate_presigned_url("get_object", Params=query)
    to_put = s3.generate_presigned_url("put_object", Params=query)
    over = s3.generate_presigned_url("get_object", Params=query, ExpiresIn=-60)
    cut, _, _ = url.rpartition("Signature=")

    assert answer_of(url) == (200, "a")
    for wrong in (cut, url[:-3], url.replace("/a?", "/b?"), url.replace("xpires=", "xpires=9")):
        status, text = answer_of(wrong)
        assert status in (400, 403), wrong
        assert "tidemark env" in text
    assert answer_of(url, "DELETE")[0] == 403
    assert answer_of(over)[0] == 403
    assert "Request has expired" in answer_of(over)[1]
    copies = {"x-amz-copy-source": f"/{bucket}/b"}
    assert answer_of(to_put, "PUT", b"", **copies)[0] == 403
    assert s3.get_object(**query)["Body"].read() == b"a"
    assert answer_of(to_put, "PUT", b"new", **{"Content-Type": ""})[0] == 200


def test_a_body_that_is_not_that_which_was_signed_is_refused(port):
    key, url = access_key(port.home), f"{port.url}/bodies/a"
    client(port, "s3").create_bucket(Bucket="bodies")
    for body in (b"x" * 10, b"x" * (2 << 20)):  # one is checked before, one while it is read
        headers = signed(key, "PUT", url, {}, body, "s3")

        status, text = answer_of(url, "PUT", b"y" + body[1:], **headers)

        assert (status, "XAmzContentSHA256Mismatch" in text) == (400, True)
        assert "Contents" not in client(port, "s3").list_objects_v2(Bucket="bodies")
        assert answer_of(url, "PUT", body, **headers)[0] == 200
        client(port, "s3").delete_object(Bucket="bodies", Key="a")


def test_a_request_of_json_is_refused_with_another_body(port):
    target = {"X-Amz-Target": "AWSGlue.GetJob", "Content-Type": "application/x-amz-json-1.1"}
    headers = signed(access_key(port.home), "POST", port.url, target, b'{"JobName": "a"}')

    status, text = answer_of(port.url, "POST", b'{"JobName": "b"}', **headers)

    assert (status, json.loads(text)["__type"]) == (400, "InvalidSignatureException")


@pytest.mark.parametrize(
    ("authorization", "code"),
    [
        ("Bearer abc", "InvalidRequest"),
        (
            "AWS4-ECDSA-P256-SHA256 Credential=a, SignedHeaders=b, Signature=0",
            "InvalidRequest",
        ),
        ("AWS4-HMAC-SHA256", "AuthorizationHeaderMalformed"),
        (
            "AWS4-HMAC-SHA256 Credential=local, SignedHeaders=host, Signature=0",
            "AuthorizationHeaderMalformed",
        ),
        ("AWS local:AAAA", "AccessDenied"),
    ],
)
def test_another_way_to_sign_is_named(port, authorization, code):
    status, text = answer_of(port.url, Authorization=authorization)

    assert status in (400, 403)
    assert f"<Code>{code}</Code>" in text


def test_the_scope_of_a_signature_is_the_service_that_is_asked(port):
    target = {"X-Amz-Target": "AWSGlue.ListJobs", "Content-Type": "application/x-amz-json-1.1"}
    headers = signed(access_key(port.home), "POST", port.url, target, b"{}", "logs")

    status, text = answer_of(port.url, "POST", b"{}", **headers)

    assert (status, json.loads(text)["__type"]) == (400, "InvalidSignatureException")
    assert "'glue'" in text


def test_a_header_of_amazon_that_is_not_signed_is_refused(port):
    body, key = b'{"Name": "a"}', access_key(port.home)
    headers = signed(key, "POST", port.url, {"Content-Type": "application/x-amz-json-1.1"}, body)
    headers["X-Amz-Target"] = "AWSGlue.DeleteJob"

    status, text = answer_of(port.url, "POST", body, **headers)

    assert (status, json.loads(text)["__type"]) == (400, "InvalidSignatureException")
    assert "x-amz-target" in text


def test_a_session_token_that_a_shell_still_has_does_not_matter(port):
    assert client(port, "glue", aws_session_token="of AWS").list_jobs()["JobNames"] is not None  # noqa: S106


def test_every_key_is_answered_where_that_is_asked_for(serve):
    with serve(options=Options(any_key=True)) as (url, _):
        for key in ("AKIAIOSFODNN7EXAMPLE", "test"):
            given = {"aws_access_key_id": key, "aws_secret_access_key": "x"}
            s3 = boto3.client("s3", endpoint_url=url, region_name=REGION, **given)
            s3.create_bucket(Bucket=f"of-{key.lower()}")
        over = s3.generate_presigned_url("get_object", {"Bucket": "of-test", "Key": "a"}, -60)

        assert len(s3.list_buckets()["Buckets"]) == 2
        assert answer_of(over)[0] == 403
        assert answer_of(f"{url}/of-test?list-type=2")[0] == 200  # without any
        assert answer_of(url, Origin="http://evil.test")[0] == 403


class InChunks(S3SigV4Auth):
    """Signs the head of an upload in chunks, which botocore does not send itself."""

    def payload(self, request):
        return "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER"


def in_chunks(key, url, body):
    """Return the headers and the body of an upload in chunks with a trailer."""
    credentials = Credentials(key.key_id, key.secret)
    request = AWSRequest("PUT", url, {"x-amz-decoded-content-length": str(len(body))}, b"")
    auth = InChunks(credentials, "s3", REGION)
    auth.add_auth(request)
    day, seed = request.context["timestamp"][:8], request.headers["Authorization"][-64:]
    scope = Scope(day, REGION, "s3")
    time = request.context["timestamp"]
    signer = ChunkSignatures(signing_key(key.secret, scope), time, scope, seed)
    sent = b""
    for chunk in (body[:70_000], body[70_000:], b""):
        signer.is_chunk(hashlib.sha256(chunk).hexdigest(), "")
        head = b"%x;chunk-signature=%s\r\n" % (len(chunk), signer._last.encode())
        sent += head + (chunk + b"\r\n" if chunk else b"")
    trailer = f"x-amz-checksum-crc32:{base64.b64encode(zlib.crc32(body).to_bytes(4)).decode()}"
    signer.is_trailer(f"{trailer}\n".encode(), "")
    sent += f"{trailer}\r\nx-amz-trailer-signature:{signer._last}\r\n\r\n".encode()
    return dict(request.headers.items()), sent


def test_an_upload_in_chunks_is_stored_and_a_changed_one_is_not(port):
    key, url, body = access_key(port.home), f"{port.url}/chunks/a", b"x" * 100_000
    s3 = client(port, "s3")
    s3.create_bucket(Bucket="chunks")
    headers, sent = in_chunks(key, url, body)

    for wrong in (
        sent.replace(b"x" * 70_000, b"x" * 69_999 + b"y"),
        sent.replace(b"chunk-signature=", b"chunk-signature=0", 1),
        sent.replace(b"crc32:", b"crc32c:"),
        sent.replace(b"trailer-signature:", b"trailer-signature:0"),
    ):
        status, text = answer_of(url, "PUT", wrong, **headers)
        assert (status, "<Code>SignatureDoesNotMatch</Code>" in text) == (403, True)
    assert "Contents" not in s3.list_objects_v2(Bucket="chunks")
    assert answer_of(url, "PUT", sent, **headers)[0] == 200
    assert s3.get_object(Bucket="chunks", Key="a")["Body"].read() == body


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl signs requests too")
def test_curl_signs_requests_as_clients_of_aws_do(port, tmp_path):
    client(port, "s3").create_bucket(Bucket="of-curl")
    key = access_key(port.home)
    (tmp_path / "data").write_bytes(b"data")
    curl = ["curl", "-sS", "--user", f"{key.key_id}:{key.secret}"]
    target = ["-H", "X-Amz-Target: AWSGlue.ListJobs", "-d", "{}"]
    unsigned = ["-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD"]
    of_s3 = [*unsigned, f"{port.url}/of-curl?list-type=2&prefix=ab"]

    answers = [
        subprocess.run([*curl, *words], capture_output=True, text=True, timeout=BOUND_S).stdout
        for words in (
            ["--aws-sigv4", "aws:amz:us-east-1:glue", *target, port.url],
            ["--aws-sigv4", "aws:amz:eu-west-1:s3", *of_s3],
        )
    ]

    assert json.loads(answers[0])["JobNames"] is not None
    assert "<KeyCount>0</KeyCount>" in answers[1]


def test_a_script_with_a_key_of_its_own_is_told_to_leave_it_out(port):
    given = 'aws_access_key_id="AKIAIOSFODNN7EXAMPLE", aws_secret_access_key="x"'
    port.job("own-key", f"import boto3; boto3.client('s3', {given}).list_buckets()")

    run = port.ended("own-key", port.start("own-key"))

    assert run["JobRunState"] == "FAILED"
    assert "InvalidAccessKeyId" in run["ErrorMessage"]
    assert "leave it out" in run["ErrorMessage"]


@pytest.mark.parametrize(
    "values", [["a", "b"], [" a  b ", "c"], ["a, b", "c"], ["b", "", "a"], ["a,b"]]
)
def test_a_header_that_is_sent_again_is_signed_as_botocore_signs_it(port, values):
    place, key = urlsplit(port.url), access_key(port.home)
    request = AWSRequest("GET", f"{port.url}/")
    for value in values:
        request.headers.add_header("my-header", value)
    S3SigV4Auth(Credentials(key.key_id, key.secret), "s3", REGION).add_auth(request)
    sent = [("Host", place.netloc), *request.headers.items()]
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=BOUND_S)
    with closing(connection):
        connection.putrequest("GET", "/", skip_host=True)
        for name, value in sent:
            connection.putheader(name, value)
        connection.endheaders()

        assert connection.getresponse().status == 200
