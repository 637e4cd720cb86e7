"""Objects of the lake, by boto3."""

from __future__ import annotations

import hashlib

from tests.tidemark.glue_service.s3.conftest import code_of, keys_of, put
from tidemark.glue_service.s3.records import ONE_PART


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
        8,
        "text/csv",
        {"who": "me"},
    )
    assert found["TagCount"] == 1
    file.write_bytes(b"rewritten by Spark")
    rewritten = s3.head_object(Bucket=bucket, Key="in/a b.csv")
    assert (rewritten["ContentLength"], rewritten["Metadata"]) == (18, {})
    assert rewritten["ETag"] == f'"{hashlib.md5(b"rewritten by Spark").hexdigest()}"'  # noqa: S324


def test_an_error_about_a_key_with_controls_is_xml(s3, bucket):
    asked = {"Bucket": bucket, "Key": "a\x1b\x08"}

    assert code_of(s3.get_object, **asked) == "NoSuchKey"


def test_a_file_has_the_etag_of_its_bytes_and_a_large_one_that_of_its_time(s3, bucket, port):
    folder = port.home.lake / bucket / "in"
    folder.mkdir(parents=True)
    (folder / "a").write_bytes(b"1")
    (folder / "large").write_bytes(bytes(ONE_PART + 1))
    (folder / "b").write_bytes(b"1")

    listed = {
        one["Key"]: one["ETag"]
        for one in s3.list_objects_v2(Bucket=bucket, Prefix="in/")["Contents"]
    }
    (folder / "a").write_bytes(b"2")
    changed = s3.head_object(Bucket=bucket, Key="in/a")["ETag"]

    assert listed["in/a"] == listed["in/b"] == f'"{hashlib.md5(b"1").hexdigest()}"'  # noqa: S324
    assert listed["in/large"] == s3.head_object(Bucket=bucket, Key="in/large")["ETag"]
    assert listed["in/large"].endswith('-1"')
    assert changed == f'"{hashlib.md5(b"2").hexdigest()}"'  # noqa: S324


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


def test_tags_that_s3_would_not_take_are_refused(s3, bucket):
    put(s3, bucket, "a")
    many = [{"Key": str(number), "Value": ""} for number in range(11)]
    twice = [{"Key": "k", "Value": "1"}, {"Key": "k", "Value": "2"}]
    long = [{"Key": "k", "Value": "x" * 257}]

    for tags, code in ((many, "BadRequest"), (twice, "InvalidTag"), (long, "InvalidTag")):
        text = "&".join(f"{tag['Key']}={tag['Value']}" for tag in tags)
        tagging = {"TagSet": tags}
        assert code_of(s3.put_object_tagging, Bucket=bucket, Key="a", Tagging=tagging) == code
        assert code_of(s3.put_object, Bucket=bucket, Key="b", Tagging=text) == code
    assert keys_of(s3.list_objects_v2(Bucket=bucket)) == ["a"]
    assert s3.get_object_tagging(Bucket=bucket, Key="a")["TagSet"] == []
