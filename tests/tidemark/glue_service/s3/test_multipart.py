"""Objects that are uploaded in parts, by boto3."""

from __future__ import annotations

import io
import os

from tests.tidemark.glue_service.s3.conftest import code_of, keys_of


def test_a_large_file_goes_up_in_parts_and_comes_down_whole(port, s3, bucket, tmp_path):
    body = os.urandom(20 * 1024**2)
    s3.upload_fileobj(
        io.BytesIO(body), bucket, "big", ExtraArgs={"Metadata": {"a": "1"}, "Tagging": "k=v"}
    )
    down = io.BytesIO()
    s3.download_fileobj(bucket, "big", down)

    head = s3.head_object(Bucket=bucket, Key="big")
    assert down.getvalue() == body == (port.home.lake / bucket / "big").read_bytes()
    assert (head["ETag"].endswith('-3"'), head["Metadata"]) == (True, {"a": "1"})
    assert s3.get_object_tagging(Bucket=bucket, Key="big")["TagSet"] == [{"Key": "k", "Value": "v"}]
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


def test_parts_and_uploads_are_listed_in_pages(s3, bucket):
    keys = ("a", "a", "b", "c/d", "c/e")
    ids = [s3.create_multipart_upload(Bucket=bucket, Key=key)["UploadId"] for key in keys]
    common = {"Bucket": bucket, "Key": "a", "UploadId": ids[0]}
    for number in (1, 2, 5):
        s3.upload_part(**common, PartNumber=number, Body=b"x")

    def pages(operation, **members):
        return s3.get_paginator(operation).paginate(**members, PaginationConfig={"PageSize": 2})

    parts = [[one["PartNumber"] for one in page["Parts"]] for page in pages("list_parts", **common)]
    assert parts == [[1, 2], [5]]
    uploads = [
        one["UploadId"]
        for page in pages("list_multipart_uploads", Bucket=bucket)
        for one in page["Uploads"]
    ]
    assert uploads == [*sorted(ids[:2]), *ids[2:]]
    listed = s3.list_multipart_uploads(Bucket=bucket, Delimiter="/")
    assert [one["Prefix"] for one in listed["CommonPrefixes"]] == ["c/"]
    assert [one["Key"] for one in listed["Uploads"]] == ["a", "a", "b"]
    for key, upload in zip(keys, ids, strict=True):
        s3.abort_multipart_upload(Bucket=bucket, Key=key, UploadId=upload)
