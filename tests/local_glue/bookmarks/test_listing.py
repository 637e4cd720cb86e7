"""Listing of real folders."""

from __future__ import annotations

import os

import pytest

from local_glue.bookmarks.files import FileVersion
from local_glue.bookmarks.listing import Filters, list_files


def put(path, content=b"x", modified_ms=1_357_000_000_123):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, ns=(modified_ms * 1_000_000, modified_ms * 1_000_000))


def paths(folder, recurse):
    return sorted(file.path for file in list_files(folder, "s3://b/in/", Filters(recurse)).files)


def test_file_has_its_uri_its_time_in_milliseconds_and_its_size(tmp_path):
    put(tmp_path / "a.json", b"four", 1_357_000_000_123)

    assert list_files(tmp_path, "s3://b/in/", Filters(recurse=False)).files == [
        FileVersion("s3://b/in/a.json", 1_357_000_000_123, 4)
    ]


@pytest.mark.rule("Files of S3", source="INFER")
def test_names_that_spark_hides_are_left_out(tmp_path):
    for name in ("_SUCCESS", ".hidden", "_temporary/0/part-0", "upload.csv._COPYING_", "data"):
        put(tmp_path / name)

    assert paths(tmp_path, recurse=True) == ["s3://b/in/data"]


def test_partition_folder_whose_column_begins_with_an_underscore_is_read(tmp_path):
    put(tmp_path / "_year=2013" / "part-0")

    assert paths(tmp_path, recurse=False) == ["s3://b/in/_year=2013/part-0"]


@pytest.mark.rule("Files of S3", source="S3")
def test_without_recurse_only_partition_folders_are_entered(tmp_path):
    put(tmp_path / "top")
    put(tmp_path / "day=1" / "hour=2" / "deep")
    put(tmp_path / "archive" / "old")
    put(tmp_path / "day=1" / "archive" / "old")

    assert paths(tmp_path, recurse=False) == ["s3://b/in/day=1/hour=2/deep", "s3://b/in/top"]


@pytest.mark.rule("Files of S3", source="S3")
def test_with_recurse_every_folder_is_entered(tmp_path):
    put(tmp_path / "archive" / "deep" / "old")

    assert paths(tmp_path, recurse=True) == ["s3://b/in/archive/deep/old"]


def test_single_file_is_listed_by_its_own_uri(tmp_path):
    put(tmp_path / "a.json")

    listing = list_files(tmp_path / "a.json", "s3://b/in/a.json", Filters(recurse=False)).files

    assert [file.path for file in listing] == ["s3://b/in/a.json"]


@pytest.mark.rule("Files of S3", source="SILENT", choice="a prefix without objects is empty")
def test_missing_folder_lists_nothing(tmp_path):
    assert list_files(tmp_path / "nowhere", "s3://b/nowhere/", Filters(recurse=True)).files == []


def test_file_that_vanishes_while_listing_is_left_out(tmp_path):
    put(tmp_path / "stays")
    (tmp_path / "gone").symlink_to(tmp_path / "deleted")  # scandir names it, stat finds nothing

    assert paths(tmp_path, recurse=False) == ["s3://b/in/stays"]
