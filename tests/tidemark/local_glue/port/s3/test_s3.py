"""S3 over the lake's folders, by boto3."""

from __future__ import annotations

import hashlib
import io
import os
import urllib.error
import urllib.request

import pytest
from botocore.exceptions import ClientError
from hypothesis import given
from hypothesis import strategies as st

from tests.tidemark.local_glue.port.conftest import Port
from tidemark.local_glue.home import Home
from tidemark.local_glue.port.http.serving import serving
from tidemark.local_glue.port.s3.bodies import store_body
from tidemark.local_glue.port.s3.conditions import byte_range
from tidemark.local_glue.port.s3.errors import S3Error
from tidemark.local_glue.port.s3.listing import walk
from tidemark.local_glue.port.s3.places import why_no_file


@pytest.fixture(scope="module")
def s3(port):
    return port.client("s3")


@pytest.fixture
def bucket(port, s3, request):
    """A bucket of the test's own."""
    name = f"b{abs(hash(request.node.name))}"
    s3.create_bucket(Bucket=name)
    return name


def put(s3, bucket, *keys, body=b"x"):
    for key in keys:
        s3.put_object(Bucket=bucket, Key=key, Body=body)


def keys_of(answer):
    return [item["Key"] for item in answer.get("Contents", [])]


def prefixes_of(answer):
    return [item["Prefix"] for item in answer.get("CommonPrefixes", [])]


def code_of(call, **members):
    with pytest.raises(ClientError) as caught:
        call(**members)
    return caught.value.response["Error"]["Code"]


def test_an_object_is_the_file_that_spark_sees(port, s3, bucket):
    body = b"a,b\n1,2\n"
    answer = s3.put_object(
        Bucket=bucket,
        Key="in/a b.csv",
        Body=body,
        ContentType="text/csv",
        Metadata={"who": "me"},
        Tagging="k=v",
    )
    file = port.home.lake / bucket / "in" / "a b.csv"

    found = s3.get_object(Bucket=bucket, Key="in/a b.csv")
    head = s3.head_object(Bucket=bucket, Key="in/a b.csv")

    assert file.read_bytes() == found["Body"].read() == body
    assert answer["ETag"] == found["ETag"] == head["ETag"] == f'"{hashlib.md5(body).hexdigest()}"'  # noqa: S324
    assert (head["ContentLength"], head["ContentType"], head["Metadata"]) == (
        *(8, "text/csv", {"who": "me"}),
    )
    assert found["TagCount"] == 1
    file.write_bytes(b"rewritten by Spark")
    rewritten = s3.head_object(Bucket=bucket, Key="in/a b.csv")
    assert (rewritten["ContentLength"], rewritten["Metadata"]) == (18, {})
    assert rewritten["ETag"].endswith('-1"')


def test_files_that_are_there_are_objects(port, s3, bucket):
    folder = port.home.lake / bucket / "out" / "day=1"
    folder.mkdir(parents=True)
    (folder / "part-0.parquet").write_bytes(b"PAR1")
    (port.home.lake / bucket / "empty").mkdir()

    assert keys_of(s3.list_objects_v2(Bucket=bucket)) == ["out/day=1/part-0.parquet"]
    assert prefixes_of(s3.list_objects_v2(Bucket=bucket, Delimiter="/")) == ["out/"]
    assert bucket in [one["Name"] for one in s3.list_buckets()["Buckets"]]
    assert s3.get_bucket_location(Bucket=bucket)["LocationConstraint"] is None
    assert code_of(s3.get_object, Bucket=bucket, Key="empty") == "NoSuchKey"
    assert code_of(s3.get_object, Bucket=bucket, Key="out") == "NoSuchKey"


@pytest.mark.parametrize("version", ["list_objects", "list_objects_v2"])
def test_keys_come_in_the_order_of_their_bytes_in_pages(s3, bucket, version):
    keys = ["a", "a-b", "a.b/c", "a/b", "aé", "b/1", "b/2/3", "b0", "z &<>+%"]
    put(s3, bucket, *[key for key in keys if key != "a"])

    pages = s3.get_paginator(version).paginate(Bucket=bucket, PaginationConfig={"PageSize": 2})
    found = [keys_of(page) for page in pages]
    folders = s3.get_paginator(version).paginate(
        Bucket=bucket, Delimiter="/", PaginationConfig={"PageSize": 3}
    )

    assert [key for page in found for key in page] == sorted(keys[1:], key=str.encode)
    assert max(map(len, found)) == 2
    rolled = [item for page in folders for item in keys_of(page) + prefixes_of(page)]
    assert sorted(rolled) == sorted(["a-b", "a.b/", "a/", "aé", "b/", "b0", "z &<>+%"])
    below = getattr(s3, version)(Bucket=bucket, Prefix="b/", Delimiter="/")
    assert (keys_of(below), prefixes_of(below)) == (["b/1"], ["b/2/"])
    assert keys_of(getattr(s3, version)(Bucket=bucket, Prefix="a.")) == ["a.b/c"]
    assert prefixes_of(getattr(s3, version)(Bucket=bucket, Delimiter="b/")) == ["a.b/", "b/"]
    after = "StartAfter" if version.endswith("v2") else "Marker"
    assert keys_of(getattr(s3, version)(Bucket=bucket, **{after: "b/1"})) == [
        *("b/2/3", "b0", "z &<>+%"),
    ]


def test_buckets_are_in_the_region_of_this_machine(tmp_path, monkeypatch):
    monkeypatch.setenv("AWS_REGION", "eu-west-2")
    home = Home.open(tmp_path / "home")
    home.create_bucket("here")
    with serving(home) as (url, engine):
        s3 = Port(home, url, engine).client("s3")

        assert s3.get_bucket_location(Bucket="here")["LocationConstraint"] == "eu-west-2"
        assert s3.head_bucket(Bucket="here")["BucketRegion"] == "eu-west-2"


def test_a_range_and_the_end_of_an_object_are_read(s3, bucket):
    put(s3, bucket, "a", body=b"0123456789")

    parts = [
        s3.get_object(Bucket=bucket, Key="a", Range=text)
        for text in ("bytes=2-4", "bytes=-3", "bytes=8-99", "bytes=5-")
    ]

    assert [part["Body"].read() for part in parts] == [b"234", b"789", b"89", b"56789"]
    assert parts[0]["ContentRange"] == "bytes 2-4/10"
    assert code_of(s3.get_object, Bucket=bucket, Key="a", Range="bytes=10-") == "InvalidRange"


def test_objects_are_deleted_and_empty_folders_with_them(port, s3, bucket):
    put(s3, bucket, "a/b/c", "a/d", "e")

    answer = s3.delete_objects(
        Bucket=bucket, Delete={"Objects": [{"Key": k} for k in ("a/b/c", "none", "e")]}
    )
    s3.delete_object(Bucket=bucket, Key="a/d")
    s3.delete_object(Bucket=bucket, Key="a/d")

    assert [item["Key"] for item in answer["Deleted"]] == ["a/b/c", "none", "e"]
    assert list((port.home.lake / bucket).iterdir()) == []
    s3.delete_bucket(Bucket=bucket)
    assert code_of(s3.head_bucket, Bucket=bucket) == "404"


def test_a_folder_that_a_client_puts_is_an_object_and_stays(port, s3, bucket):
    put(s3, bucket, "in/", body=b"")
    put(s3, bucket, "in/a")

    assert keys_of(s3.list_objects_v2(Bucket=bucket)) == ["in/", "in/a"]
    s3.delete_object(Bucket=bucket, Key="in/a")
    assert keys_of(s3.list_objects_v2(Bucket=bucket, Prefix="in/", Delimiter="/")) == ["in/"]
    assert s3.head_object(Bucket=bucket, Key="in/")["ContentLength"] == 0
    assert code_of(s3.delete_bucket, Bucket=bucket) == "BucketNotEmpty"
    s3.delete_object(Bucket=bucket, Key="in/")
    assert not (port.home.lake / bucket / "in").exists()


def test_conditions_of_reads_and_writes_hold(s3, bucket):
    put(s3, bucket, "a", body=b"1")
    etag = s3.head_object(Bucket=bucket, Key="a")["ETag"]
    common = {"Bucket": bucket, "Key": "a"}

    assert code_of(s3.put_object, **common, Body=b"2", IfNoneMatch="*") == "PreconditionFailed"
    assert code_of(s3.put_object, **common, Body=b"2", IfMatch='"x"') == "PreconditionFailed"
    assert code_of(s3.put_object, Bucket=bucket, Key="b", IfMatch=etag) == "NoSuchKey"
    assert code_of(s3.get_object, **common, IfMatch='"x"') == "PreconditionFailed"
    assert code_of(s3.get_object, **common, IfNoneMatch=etag) == "304"
    assert s3.get_object(**common, IfMatch=etag)["Body"].read() == b"1"
    s3.put_object(**common, Body=b"3", IfMatch=etag)
    s3.put_object(Bucket=bucket, Key="b", Body=b"4", IfNoneMatch="*")
    assert s3.get_object(**common)["Body"].read() == b"3"


def test_an_object_is_copied_with_its_metadata_unless_they_are_replaced(s3, bucket):
    key = "from/ä +%.txt"
    s3.put_object(Bucket=bucket, Key=key, Body=b"1", Metadata={"a": "1"}, Tagging="k=v")
    source = {"Bucket": bucket, "Key": key}

    s3.copy_object(Bucket=bucket, Key="same", CopySource=source)
    s3.copy_object(
        Bucket=bucket,
        Key="other",
        CopySource=source,
        Metadata={"b": "2"},
        MetadataDirective="REPLACE",
        TaggingDirective="REPLACE",
        Tagging="l=w",
    )

    assert s3.head_object(Bucket=bucket, Key="same")["Metadata"] == {"a": "1"}
    assert s3.head_object(Bucket=bucket, Key="other")["Metadata"] == {"b": "2"}
    tags = [s3.get_object_tagging(Bucket=bucket, Key=one)["TagSet"] for one in ("same", "other")]
    assert tags == [[{"Key": "k", "Value": "v"}], [{"Key": "l", "Value": "w"}]]
    copied = {"Bucket": bucket, "Key": key, "CopySource": source}
    assert code_of(s3.copy_object, **copied) == "InvalidRequest"


def test_tags_are_replaced_and_deleted(s3, bucket):
    put(s3, bucket, "a")
    tags = [{"Key": "k", "Value": "<&>"}]

    s3.put_object_tagging(Bucket=bucket, Key="a", Tagging={"TagSet": tags})
    found = s3.get_object_tagging(Bucket=bucket, Key="a")["TagSet"]
    s3.delete_object_tagging(Bucket=bucket, Key="a")

    assert (found, s3.get_object_tagging(Bucket=bucket, Key="a")["TagSet"]) == (tags, [])


def test_a_large_file_goes_up_in_parts_and_comes_down_whole(port, s3, bucket, tmp_path):
    body = os.urandom(20 * 1024**2)
    s3.upload_fileobj(io.BytesIO(body), bucket, "big", ExtraArgs={"Metadata": {"a": "1"}})
    down = io.BytesIO()
    s3.download_fileobj(bucket, "big", down)

    head = s3.head_object(Bucket=bucket, Key="big")
    assert down.getvalue() == body == (port.home.lake / bucket / "big").read_bytes()
    assert (head["ETag"].endswith('-3"'), head["Metadata"]) == (True, {"a": "1"})
    assert list((port.home.root / "uploads").iterdir()) == []


def test_parts_that_are_wrong_make_no_object(s3, bucket):
    upload = s3.create_multipart_upload(Bucket=bucket, Key="m")["UploadId"]
    common = {"Bucket": bucket, "Key": "m", "UploadId": upload}
    etags = [s3.upload_part(**common, PartNumber=n, Body=b"x")["ETag"] for n in (1, 2)]

    def complete(*parts):
        listed = [{"PartNumber": n, "ETag": etag} for n, etag in parts]
        return code_of(s3.complete_multipart_upload, **common, MultipartUpload={"Parts": listed})

    assert complete((1, etags[0]), (2, etags[1])) == "EntityTooSmall"
    assert complete((2, etags[1]), (1, etags[0])) == "InvalidPartOrder"
    assert complete((1, '"y"')) == complete((3, etags[0])) == "InvalidPart"
    assert [part["PartNumber"] for part in s3.list_parts(**common)["Parts"]] == [1, 2]
    uploads = s3.list_multipart_uploads(Bucket=bucket)["Uploads"]
    assert [one["UploadId"] for one in uploads] == [upload]
    s3.abort_multipart_upload(**common)
    assert code_of(s3.list_parts, **common) == "NoSuchUpload"
    assert keys_of(s3.list_objects_v2(Bucket=bucket)) == []


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


@pytest.mark.parametrize(
    "key", ["../up", "a/../../up", "a//b", "/a", "./a", "a/..", "x" * 256, "../"]
)
def test_a_key_that_leads_elsewhere_is_refused(port, s3, bucket, key):
    before = sorted(path.name for path in port.home.root.rglob("*") if "sqlite" not in path.name)

    assert code_of(s3.put_object, Bucket=bucket, Key=key, Body=b"x") == "InvalidArgument"
    assert code_of(s3.get_object, Bucket=bucket, Key=key) == "NoSuchKey"
    s3.delete_object(Bucket=bucket, Key=key)
    assert keys_of(s3.list_objects_v2(Bucket=bucket, Prefix=key)) == []
    after = sorted(path.name for path in port.home.root.rglob("*") if "sqlite" not in path.name)
    assert after == before


def test_a_link_that_leads_out_of_the_lake_is_not_followed(port, s3, bucket, tmp_path):
    (tmp_path / "secret").write_text("s", encoding="utf-8")
    (port.home.lake / bucket / "out").symlink_to(tmp_path)
    (port.home.lake / bucket / "loop").symlink_to(port.home.lake / bucket)
    put(s3, bucket, "a")

    assert keys_of(s3.list_objects_v2(Bucket=bucket)) == ["a"]
    assert code_of(s3.get_object, Bucket=bucket, Key="out/secret") == "AccessDenied"
    assert code_of(s3.put_object, Bucket=bucket, Key="out/new", Body=b"") == "AccessDenied"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["secret"]


def test_a_key_where_a_folder_is_and_below_a_file_is_refused(port, s3, bucket):
    put(s3, bucket, "a/b", "f")

    assert code_of(s3.put_object, Bucket=bucket, Key="a", Body=b"") == "InvalidArgument"
    assert code_of(s3.put_object, Bucket=bucket, Key="f/g", Body=b"") == "InvalidArgument"
    assert code_of(s3.get_object, Bucket=bucket, Key="f/g") == "NoSuchKey"


def test_what_is_not_there_says_so(s3, bucket):
    assert code_of(s3.get_object, Bucket="none-such", Key="a") == "NoSuchBucket"
    assert code_of(s3.list_objects_v2, Bucket="none-such") == "NoSuchBucket"
    assert code_of(s3.create_bucket, Bucket=bucket) == "BucketAlreadyOwnedByYou"
    assert code_of(s3.get_bucket_acl, Bucket=bucket) == "NotImplemented"
    assert code_of(s3.get_object, Bucket=bucket, Key="a", VersionId="1") == "NotImplemented"


def test_a_job_reads_and_writes_the_lake_by_boto3(port, s3, bucket):
    put(s3, bucket, "in", body=b"abc")
    script = f"""
import boto3
s3 = boto3.client("s3")
text = s3.get_object(Bucket="{bucket}", Key="in")["Body"].read().decode()
boto3.resource("s3").Object("{bucket}", "out").put(Body=text.upper())
"""
    port.job("s3-job", script)

    run = port.ended("s3-job", port.start("s3-job"))

    assert run["JobRunState"] == "SUCCEEDED", run["ErrorMessage"]
    assert (port.home.lake / bucket / "out").read_text() == "ABC"


def test_the_pages_of_a_listing_are_of_one_walk_and_a_token_is_good_without_it(s3, bucket):
    put(s3, bucket, *"abcde")
    first = s3.list_objects_v2(Bucket=bucket, MaxKeys=2)
    put(s3, bucket, "bb")
    s3.delete_object(Bucket=bucket, Key="d")
    token = first["NextContinuationToken"]

    of_the_walk = s3.list_objects_v2(Bucket=bucket, ContinuationToken=token)
    walked_again = s3.list_objects_v2(Bucket=bucket, ContinuationToken=token)

    assert keys_of(of_the_walk) == ["c", "e"]
    assert keys_of(walked_again) == ["bb", "c", "e"]


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


@given(st.sets(st.text("ab/.-é", min_size=1, max_size=6), max_size=12), st.text("ab/.", max_size=4))
def test_a_listing_is_that_of_s3_on_any_keys(tmp_path_factory, keys, prefix):
    bucket = tmp_path_factory.mktemp("bucket")
    there = set()
    for key in sorted(keys):
        parents = {key[:n] for n, letter in enumerate(key) if letter == "/"}
        is_free = not any(k.startswith(f"{key}/") for k in there) and not parents & there
        if why_no_file(key) or key.endswith("/") or not is_free:
            continue
        (bucket / key).parent.mkdir(parents=True, exist_ok=True)
        (bucket / key).touch()
        there.add(key)
    below = [key for key in there if key.startswith(prefix)]
    rolled = {
        key[: key.index("/", len(prefix)) + 1] if "/" in key[len(prefix) :] else key
        for key in below
    }

    assert walk(bucket, prefix, "", []) == sorted(below, key=str.encode)
    assert walk(bucket, prefix, "/", []) == sorted(rolled, key=str.encode)


@pytest.mark.parametrize(
    ("header", "expected"),
    [(None, None), ("bytes=0-0", (0, 1)), ("bytes=-99", (0, 10)), ("items=1-2", None)],
)
def test_a_range_is_read_from_its_header(header, expected):
    assert byte_range(header, 10) == expected


@pytest.mark.parametrize("key", ["a\0b", "\ud800", "é" * 513, "a/" * 2 + "/"])
def test_what_no_file_can_be_called_is_told(key):
    assert why_no_file(key) is not None
