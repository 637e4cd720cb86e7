"""Keys that lead elsewhere, or where no file can be."""

from __future__ import annotations

import pytest

from tests.tidemark.glue_service.s3.conftest import code_of, keys_of, put
from tidemark.glue_service.s3.calls import key_problem


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


@pytest.mark.parametrize("key", ["a\0b", "\ud800", "é" * 513, "a/" * 2 + "/"])
def test_what_no_file_can_be_called_is_told(key):
    assert key_problem(key) is not None
