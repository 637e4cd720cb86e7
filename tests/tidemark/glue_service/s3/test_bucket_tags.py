"""Tags of buckets, by boto3."""

from __future__ import annotations

import shutil

import pytest
from botocore.exceptions import ClientError

NAME = "of-tags"
NONE = ("NoSuchTagSet", 404)
TAGS = [{"Key": "team", "Value": "<&>"}, {"Key": "é", "Value": ""}]


@pytest.fixture
def s3(port):
    s3 = port.client("s3")
    s3.create_bucket(Bucket=NAME)
    yield s3
    s3.delete_bucket(Bucket=NAME)


def tags_of(s3):
    try:
        return s3.get_bucket_tagging(Bucket=NAME)["TagSet"]
    except ClientError as error:
        return code_of(error)


def code_of(error):
    return error.response["Error"]["Code"], error.response["ResponseMetadata"]["HTTPStatusCode"]


def test_tags_are_replaced_and_deleted(s3):
    before = tags_of(s3)
    s3.put_bucket_tagging(Bucket=NAME, Tagging={"TagSet": [{"Key": "a", "Value": "b"}]})
    s3.put_bucket_tagging(Bucket=NAME, Tagging={"TagSet": TAGS})
    found = tags_of(s3)
    s3.create_bucket(Bucket=NAME)  # its own, in us-east-1: no error, and no change
    kept = tags_of(s3)
    s3.delete_bucket_tagging(Bucket=NAME)

    assert (before, found, kept, tags_of(s3)) == (NONE, TAGS, TAGS, NONE)


@pytest.mark.parametrize("by", ["client", "hand"])
def test_a_new_bucket_of_the_name_has_none(s3, port, by):
    s3.put_bucket_tagging(Bucket=NAME, Tagging={"TagSet": TAGS})

    if by == "client":
        s3.delete_bucket(Bucket=NAME)
    else:
        shutil.rmtree(port.home.lake / NAME)
    s3.create_bucket(Bucket=NAME)

    assert tags_of(s3) == NONE


@pytest.mark.parametrize(
    ("tags", "code"),
    [
        ([{"Key": str(n), "Value": ""} for n in range(51)], "BadRequest"),
        ([{"Key": "a", "Value": "1"}, {"Key": "a", "Value": "2"}], "InvalidTag"),
        ([{"Key": "aws:a", "Value": "1"}], "InvalidTag"),
    ],
)
def test_what_aws_refuses_changes_nothing(s3, tags, code):
    s3.put_bucket_tagging(Bucket=NAME, Tagging={"TagSet": TAGS})

    with pytest.raises(ClientError) as caught:
        s3.put_bucket_tagging(Bucket=NAME, Tagging={"TagSet": tags})

    assert code_of(caught.value) == (code, 400)
    assert tags_of(s3) == TAGS


def test_fifty_tags_are_kept_and_a_bucket_that_is_not_there_has_none(s3):
    many = [{"Key": str(n), "Value": ""} for n in range(50)]

    s3.put_bucket_tagging(Bucket=NAME, Tagging={"TagSet": many})

    assert tags_of(s3) == many
    with pytest.raises(s3.exceptions.NoSuchBucket):
        s3.get_bucket_tagging(Bucket="no-such-bucket")
