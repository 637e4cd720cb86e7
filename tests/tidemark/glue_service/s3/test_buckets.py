"""Buckets, and what is not there, by boto3."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

from tests.tidemark.glue_service.conftest import Port
from tests.tidemark.glue_service.s3.conftest import code_of, keys_of, prefixes_of, put
from tidemark.glue_service.http.serving import serving
from tidemark.local_state.home import Home


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


def test_buckets_are_in_the_region_of_this_machine(tmp_path, monkeypatch):
    monkeypatch.setenv("AWS_REGION", "eu-west-2")
    home = Home.open(tmp_path / "home")
    home.create_bucket("here")
    with serving(home) as (url, engine):
        s3 = Port(home, url, engine).client("s3")

        assert s3.get_bucket_location(Bucket="here")["LocationConstraint"] == "eu-west-2"
        assert s3.head_bucket(Bucket="here")["BucketRegion"] == "eu-west-2"


def test_a_bucket_of_one_s_own_is_made_again_in_us_east_1_only(tmp_path, monkeypatch, s3, bucket):
    s3.put_object(Bucket=bucket, Key="kept", Body=b"x")
    s3.create_bucket(Bucket=bucket)
    assert keys_of(s3.list_objects_v2(Bucket=bucket)) == ["kept"]

    monkeypatch.setenv("AWS_REGION", "eu-west-2")
    home = Home.open(tmp_path / "home")
    with serving(home) as (url, engine):
        there = Port(home, url, engine).client("s3")
        there.create_bucket(Bucket="one")
        assert code_of(there.create_bucket, Bucket="one") == "BucketAlreadyOwnedByYou"


def test_what_is_not_there_says_so(s3, bucket):
    with pytest.raises(ClientError, match="The specified bucket does not exist: s3://none") as one:
        s3.get_object(Bucket="none-such", Key="a")
    assert str(one.value).count("does not exist") == 1
    assert one.value.response["Error"]["Code"] == "NoSuchBucket"
    assert code_of(s3.list_objects_v2, Bucket="none-such") == "NoSuchBucket"
    assert code_of(s3.get_bucket_acl, Bucket=bucket) == "NotImplemented"
    assert code_of(s3.get_object, Bucket=bucket, Key="a", VersionId="1") == "NotImplemented"


def test_buckets_are_listed_in_pages_and_by_prefix(s3):
    for name in ("paged-a", "paged-b", "paged-c"):
        s3.create_bucket(Bucket=name)

    first = s3.list_buckets(Prefix="paged-", MaxBuckets=2)
    rest = s3.list_buckets(Prefix="paged-", ContinuationToken=first["ContinuationToken"])

    names = [[one["Name"] for one in answer["Buckets"]] for answer in (first, rest)]
    assert names == [["paged-a", "paged-b"], ["paged-c"]]
    assert "ContinuationToken" not in rest


@pytest.mark.parametrize(
    ("members", "named"),
    [
        ({"WriteOffsetBytes": 1}, "x-amz-write-offset-bytes"),
        ({"SSECustomerAlgorithm": "AES256", "SSECustomerKey": b"0" * 32}, "customer-algorithm"),
        ({"WebsiteRedirectLocation": "/x"}, "x-amz-website-redirect-location"),
        ({"ObjectLockLegalHoldStatus": "ON"}, "x-amz-object-lock-legal-hold"),
    ],
)
def test_what_would_be_lost_is_refused_by_name(s3, bucket, members, named):
    with pytest.raises(ClientError, match=named):
        s3.put_object(Bucket=bucket, Key="a", Body=b"x", **members)


def test_what_a_new_bucket_would_lose_is_refused_by_name(s3):
    tags = {"Tags": [{"Key": "team", "Value": "x"}]}
    with pytest.raises(ClientError, match="keeps no Tags of buckets"):
        s3.create_bucket(Bucket="with-tags", CreateBucketConfiguration=tags)
    with pytest.raises(ClientError, match="x-amz-bucket-object-lock-enabled"):
        s3.create_bucket(Bucket="with-lock", ObjectLockEnabledForBucket=True)

    region = {"LocationConstraint": "us-east-2"}
    s3.create_bucket(Bucket="plain", CreateBucketConfiguration=region)
    s3.create_bucket(Bucket="unlocked", ObjectLockEnabledForBucket=False)
    names = {one["Name"] for one in s3.list_buckets()["Buckets"]}
    assert {"plain", "unlocked"} <= names
    assert not {"with-tags", "with-lock"} & names


def test_an_object_has_one_part(s3, bucket):
    put(s3, bucket, "a")
    of_part = {"Bucket": bucket, "Key": "a"}

    assert s3.get_object(**of_part, PartNumber=1)["Body"].read() == b"x"
    assert code_of(s3.get_object, **of_part, PartNumber=2) == "InvalidPartNumber"


def test_the_owner_is_told_where_it_is_asked_for(s3, bucket):
    put(s3, bucket, "a")

    plain = s3.list_objects_v2(Bucket=bucket)["Contents"]
    owned = s3.list_objects_v2(Bucket=bucket, FetchOwner=True)["Contents"]

    assert [one.get("Owner", {}).get("ID") for one in (*plain, *owned)] == [None, "local"]


@pytest.mark.parametrize(
    ("operation", "members"),
    [
        ("list_objects_v2", {"ContinuationToken": "garbage"}),
        ("list_objects_v2", {"ContinuationToken": "a/key"}),
        ("list_objects_v2", {"ContinuationToken": ""}),
        ("list_objects_v2", {"EncodingType": "base64"}),
        ("list_objects", {"EncodingType": "base64"}),
        ("list_objects", {"MaxKeys": -1}),
        ("list_multipart_uploads", {"EncodingType": "base64"}),
        ("list_multipart_uploads", {"MaxUploads": -1}),
    ],
)
def test_a_listing_refuses_what_s3_refuses(s3, bucket, operation, members):
    assert code_of(getattr(s3, operation), Bucket=bucket, **members) == "InvalidArgument"


@pytest.mark.parametrize("members", [{"ContinuationToken": "garbage"}, {"MaxBuckets": 10_001}])
def test_a_listing_of_buckets_refuses_what_s3_refuses(s3, members):
    assert code_of(s3.list_buckets, **members) == "InvalidArgument"


def test_a_marker_may_be_any_text_and_a_number_any_that_fits(s3, bucket):
    s3.put_object(Bucket=bucket, Key="b", Body=b"x")

    assert keys_of(s3.list_objects(Bucket=bucket, Marker="a text")) == ["b"]
    assert keys_of(s3.list_objects_v2(Bucket=bucket, StartAfter="a text")) == ["b"]
    assert keys_of(s3.list_objects_v2(Bucket=bucket, MaxKeys=2**31 - 1)) == ["b"]
    assert s3.list_buckets(BucketRegion="eu-central-1")["Buckets"] == []


def test_what_s3_refuses_of_metadata_tags_and_deletions_is_refused(s3, bucket):
    put = {"Bucket": bucket, "Key": "k", "Body": b""}
    assert code_of(s3.put_object, **put, Metadata={"a": "x" * 2048}) == "MetadataTooLarge"
    assert code_of(s3.put_object, **put, Tagging="aws%3Aa=b") == "InvalidTag"
    assert code_of(s3.delete_objects, Bucket=bucket, Delete={"Objects": []}) == "MalformedXML"
