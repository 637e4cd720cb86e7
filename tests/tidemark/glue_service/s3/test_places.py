"""Keys that lead elsewhere, or where no file can be."""

from __future__ import annotations

from errno import EINVAL, ENAMETOOLONG
from urllib.parse import quote

import pytest

from tests.tidemark.glue_service.s3.conftest import ask, code_of, keys_of, put
from tidemark.glue_service.s3.calls import key_problem


@pytest.mark.parametrize(
    ("key", "code"),
    [
        *((key, "InvalidArgument") for key in ("../up", "a/../../up", "a//b", "/a", "./a", "a/..")),
        *((key, "KeyTooLongError") for key in ("x" * 256, "x" * 300, "x" * 300 + "/a")),
        *((key, "KeyTooLongError") for key in ("é" * 200, "a/" * 600)),
        ("../", "InvalidArgument"),
    ],
)
def test_a_key_that_leads_elsewhere_or_is_too_long_is_refused(port, s3, bucket, key, code):
    before = sorted(path.name for path in port.home.root.rglob("*") if "sqlite" not in path.name)

    assert code_of(s3.put_object, Bucket=bucket, Key=key, Body=b"x") == code
    assert code_of(s3.create_multipart_upload, Bucket=bucket, Key=key) == code
    assert code_of(s3.get_object, Bucket=bucket, Key=key) == "NoSuchKey"
    s3.delete_object(Bucket=bucket, Key=key)
    assert s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": key}]})["Deleted"]
    if "../" not in key:  # botocore would send another path
        copied = {"Bucket": bucket, "Key": key}
        assert code_of(s3.copy_object, Bucket=bucket, Key="new", CopySource=copied) == "NoSuchKey"
    assert keys_of(s3.list_objects_v2(Bucket=bucket, Prefix=key)) == []
    after = sorted(path.name for path in port.home.root.rglob("*") if "sqlite" not in path.name)
    assert after == before


@pytest.mark.parametrize("name", ["x" * 300, "x" * 256, "é", "a b"])
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "POST"])
def test_a_name_that_no_bucket_can_have_is_an_error_of_s3(port, name, method):
    for path in (f"/{quote(name)}", f"/{quote(name)}/key", f"/{quote(name)}?list-type=2&prefix=a"):
        answer = ask(port, method, path)

        assert answer.code in ("InvalidBucketName", "NotImplemented"), answer


@pytest.mark.parametrize("errno", [ENAMETOOLONG, EINVAL])
def test_what_the_file_system_cannot_name_is_an_error_of_s3(port, s3, bucket, monkeypatch, errno):
    def fail(*_):
        raise OSError(errno, "of a file system with shorter names")

    monkeypatch.setattr("tidemark.glue_service.s3.objects.make_folder", fail)

    code = code_of(s3.put_object, Bucket=bucket, Key="a/b", Body=b"")
    assert code == ("KeyTooLongError" if errno == ENAMETOOLONG else "InvalidArgument")


@pytest.mark.parametrize("encoding", ["utf-7", "utf-16", "latin-1", "cp037", "idna", "no-such"])
@pytest.mark.parametrize(
    ("method", "path", "root"),
    [
        ("PUT", "/encoded", "CreateBucketConfiguration"),
        ("PUT", "/{}?tagging", "Tagging"),
        ("PUT", "/{}/a?tagging", "Tagging"),
        ("POST", "/{}?delete", "Delete"),
    ],
)
def test_a_document_in_another_encoding_is_malformed(
    port, s3, bucket, encoding, method, path, root
):
    put(s3, bucket, "a")
    text = f'<?xml version="1.0" encoding="{encoding}"?><{root}><a>é</a></{root}>'
    bodies = [text.encode(), b"\xef\xbb\xbf" + text.encode()]
    if encoding in ("utf-16", "cp037"):  # in which a parser would see declarations, and no check
        bodies.append(text.replace("<a>", "<!DOCTYPE a><a>").encode(encoding))

    for body in bodies:
        assert ask(port, method, path.format(bucket), body).code == "MalformedXML"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Range": f"bytes={'9' * 5000}-"}, 200),  # no range of HTTP: all of the object
        ({"Range": f"bytes=-{'9' * 5000}"}, 200),
        ({"Range": "bytes=999999999999999999-"}, 416),
        ({"If-Modified-Since": "1 Jan 99999999999 00:00:00 GMT"}, 200),
        ({"If-Unmodified-Since": "Thu, 99 Jan 2026 00:00:00 GMT"}, 200),
    ],
)
def test_a_header_with_a_number_beyond_all_bounds_is_read_as_http_says(
    port, s3, bucket, headers, status
):
    put(s3, bucket, "a", body=b"1")

    assert ask(port, "GET", f"/{bucket}/a", b"", headers).status == status


def test_a_part_number_beyond_all_bounds_is_no_part(port, s3, bucket):
    upload = s3.create_multipart_upload(Bucket=bucket, Key="a")["UploadId"]
    part = f"<Part><PartNumber>{'9' * 5000}</PartNumber><ETag>a</ETag></Part>"
    body = f"<CompleteMultipartUpload>{part}</CompleteMultipartUpload>".encode()

    assert ask(port, "POST", f"/{bucket}/a?uploadId={upload}", body).code == "InvalidPart"


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


@pytest.mark.parametrize("key", ["a\0b", "\ud800", "é" * 513, "a/" * 2 + "/"])
def test_what_no_file_can_be_called_is_told(key):
    assert key_problem(key) is not None
