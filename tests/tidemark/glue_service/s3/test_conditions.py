"""Conditions and ranges of requests."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

from tests.tidemark.glue_service.s3.conftest import code_of, keys_of, put
from tidemark.glue_service.s3.conditions import byte_range


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
    with pytest.raises(ClientError) as caught:
        s3.put_object(**common, Body=b"2", IfNoneMatch="*")
    assert caught.value.response["Error"]["Condition"] == "If-None-Match"  # s3fs reads it
    s3.put_object(**common, Body=b"3", IfMatch=etag)
    s3.put_object(Bucket=bucket, Key="b", Body=b"4", IfNoneMatch="*")
    assert s3.get_object(**common)["Body"].read() == b"3"


def test_an_object_that_has_changed_is_not_deleted(s3, bucket):
    put(s3, bucket, "a", "b")
    etag = s3.head_object(Bucket=bucket, Key="b")["ETag"]

    assert code_of(s3.delete_object, Bucket=bucket, Key="a", IfMatch='"x"') == "PreconditionFailed"
    objects = [{"Key": "a", "ETag": '"x"'}, {"Key": "b", "ETag": etag}, {"Key": "c", "ETag": "x"}]
    answer = s3.delete_objects(Bucket=bucket, Delete={"Objects": objects})
    s3.delete_object(Bucket=bucket, Key="none", IfMatch='"x"')

    assert [one["Key"] for one in answer["Deleted"]] == ["b", "c"]
    assert [(one["Key"], one["Code"]) for one in answer["Errors"]] == [("a", "PreconditionFailed")]
    assert keys_of(s3.list_objects_v2(Bucket=bucket)) == ["a"]


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, None),
        ("bytes=0-0", (0, 1)),
        ("bytes=-99", (0, 10)),
        ("items=1-2", None),
        # As the SDK for Java asks for the rest of an object: by the largest number that it has.
        (f"bytes=4-{2**63 - 2}", (4, 10)),
    ],
)
def test_a_range_is_read_from_its_header(header, expected):
    assert byte_range(header, 10) == expected
