"""Listing of real folders."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from tidemark.errors import TidemarkError, UsageError
from tidemark.local_state.bookmarks.files import FileVersion
from tidemark.local_state.bookmarks.listing import Filters, Unlisted, list_files

NOBODY = 65534


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
def test_markers_of_folders_are_left_out(tmp_path):
    put(tmp_path / "day=1" / "part-0")
    put(tmp_path / "day=1_$folder$", b"")
    put(tmp_path / "in_$folder$", b"")

    assert paths(tmp_path, recurse=True) == ["s3://b/in/day=1/part-0"]


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


def test_excluded_files_are_left_out_by_their_name_below_the_path(tmp_path):
    put(tmp_path / "day=1" / "a.json")
    put(tmp_path / "day=1" / "a.pdf")
    filters = Filters(is_excluded=lambda relative: relative == "day=1/a.pdf")

    listing = list_files(tmp_path, "s3://b/in/", filters)

    assert [file.path for file in listing.files] == ["s3://b/in/day=1/a.json"]


def test_folders_are_chosen_level_by_level(tmp_path):
    put(tmp_path / "day=1" / "hour=1" / "a")
    put(tmp_path / "day=2" / "hour=1" / "b")
    levels = []

    def choose(folders):
        levels.append(sorted(folders))
        return [folder for folder in folders if not folder.startswith("day=2")]

    listing = list_files(tmp_path, "s3://b/in/", Filters(choose_folders=choose))

    assert [file.path for file in listing.files] == ["s3://b/in/day=1/hour=1/a"]
    assert levels == [["day=1", "day=2"], ["day=1/hour=1"]]


def test_files_at_or_before_the_mark_are_left_out_and_late_arrivals_counted(tmp_path):
    put(tmp_path / "old", modified_ms=1000)
    put(tmp_path / "new", modified_ms=1001)
    filters = Filters(unlisted=Unlisted(1000, 1000, 2000))  # ctime cannot be set back

    listing = list_files(tmp_path, "s3://b/in/", filters)

    assert [file.path for file in listing.files] == ["s3://b/in/new"]
    assert (listing.late, listing.late_count) == (["s3://b/in/old"], 1)


@pytest.fixture
def open_folder():
    """Return a folder that every user may enter, as one who is not root, who may read anything."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@contextmanager
def without_privileges():
    """Be no one for a while, if the tests run as root."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def test_folder_that_cannot_be_read_is_named_with_the_remedy(open_folder):
    put(open_folder / "day=1" / "a")
    (open_folder / "day=1").chmod(0)

    try:
        with (
            without_privileges(),
            pytest.raises(TidemarkError, match="cannot list s3://b/in/day=1: Permission denied"),
        ):
            list_files(open_folder, "s3://b/in/", Filters())
    finally:
        (open_folder / "day=1").chmod(0o755)


def test_links_are_shown_to_the_check_before_they_are_followed(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text("{}", encoding="utf-8")
    (tmp_path / "in" / "file.json").symlink_to(tmp_path / "in" / "a.json")
    (tmp_path / "in" / "folder").symlink_to(tmp_path)
    asked = []

    list_files(tmp_path / "in", "s3://b/in/", Filters(check_link=asked.append))

    assert sorted(asked) == ["s3://b/in/file.json", "s3://b/in/folder"]


def test_link_that_the_check_refuses_stops_the_listing(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path)

    def refuse(uri):
        raise UsageError(uri)

    with pytest.raises(UsageError, match="s3://b/in/link"):
        list_files(tmp_path, "s3://b/in/", Filters(recurse=True, check_link=refuse))


HIDDEN = [
    "_b.csv",
    "_c.json.gz",
    "day=1_$folder$",
    "_year=2024/_d.parquet",
    "deep/_e.tsv",
    ".z.csv",
    "_part-0001",
    ".part-1.csv",
    "_archive/a.csv",
    ".old/2024/part-0",
    "_x/_y/.z",
    "deep/_archive/day=1/b.csv",
    ".day=1/a.csv",
    "_logs_$folder$",
]
MARKERS = [
    "_SUCCESS",
    "_metadata",
    "_common_metadata",
    "_committed_7",
    "_started_7",
    ".DS_Store",
    ".part-0.csv.crc",
    "._a.csv",
    "up.csv._COPYING_",
    "_archive/_SUCCESS",
    "_archive/._b.csv",
    "_temporary/0/part-0.csv",
    ".staging/a.csv",
    ".hive-staging_1/-ext-1/a",
    "_delta_log/0.json",
    "_spark_metadata/0",
    ".hoodie/1.commit",
    ".hoodie_partition_metadata",
    "deep/_temporary/0/a",
    ".spark-staging-1/a.parquet",
    "_symlink_format_manifest/manifest",
    "_change_data/a.parquet",
    ".Trashes/501/a",
    ".AppleDouble/a.csv",
    ".fseventsd/1",
    ".Spotlight-V100/a",
    ".localized",
    "_checkpoint/offsets/0",
    "__magic/job/a.pending",
    "_tmp.-ext-1/a",
    ".distcp.tmp.attempt_1",
    ".part-0-0.inprogress.ab",
    "_impala_insert_staging/a",
    "_copy_into_log/1.json",
]


@pytest.mark.rule(
    "Files of S3",
    source="INFER",
    choice="a warning names data, not markers",
)
def test_hidden_files_and_folders_with_data_are_named(tmp_path):
    for name in (*HIDDEN, *MARKERS):
        put(tmp_path / name)
    for name in ("_empty.csv", "in_$folder$", "_archive/empty.csv"):
        put(tmp_path / name, b"")

    listing = list_files(tmp_path, "s3://b/in/", Filters(recurse=True))

    assert listing.files == []
    assert sorted(listing.hidden) == sorted(f"s3://b/in/{name}" for name in HIDDEN)


def test_hidden_files_are_named_by_the_run_that_would_read_them(tmp_path):
    put(tmp_path / "_old.csv", modified_ms=1000)
    put(tmp_path / "_new.csv", modified_ms=1001)

    listing = list_files(tmp_path, "s3://b/in/", Filters(unlisted=Unlisted(1000, 1000)))

    assert listing.hidden == ["s3://b/in/_new.csv"]


def test_a_hidden_file_that_is_excluded_is_not_named(tmp_path):
    put(tmp_path / "_a.csv")

    listing = list_files(tmp_path, "s3://b/in/", Filters(is_excluded=lambda name: name == "_a.csv"))

    assert listing.hidden == []


@pytest.mark.parametrize("name", ["_a.csv", ".a", "_SUCCESS", "in_$folder$"])
def test_a_path_that_is_a_hidden_file_is_left_out_and_named(tmp_path, name):
    put(tmp_path / name)

    listing = list_files(tmp_path / name, f"s3://b/{name}", Filters())

    assert (listing.files, listing.hidden) == ([], [f"s3://b/{name}"])


def test_what_is_in_a_hidden_folder_is_named_by_the_run_that_would_read_it(tmp_path):
    put(tmp_path / "_archive/old.csv", modified_ms=1000)
    put(tmp_path / "_archive/new.csv", modified_ms=1001)
    put(tmp_path / "_archive/out.csv", modified_ms=1001)
    filters = Filters(
        unlisted=Unlisted(hidden_until_ms=1000), is_excluded=lambda name: name == "_archive/out.csv"
    )

    assert list_files(tmp_path, "s3://b/in/", filters).hidden == ["s3://b/in/_archive/new.csv"]


def test_hidden_links_are_not_followed_and_fail_no_run(tmp_path):
    def refuse(uri):
        raise UsageError(uri)

    put(tmp_path / "in/a.csv")
    put(tmp_path / "other/b.csv")
    for name in ("_link", "_folder/link"):
        (tmp_path / "in" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "in" / name).symlink_to(tmp_path / "other")
    (tmp_path / "in/.broken.csv").symlink_to(tmp_path / "nothing")

    listing = list_files(tmp_path / "in", "s3://b/in/", Filters(check_link=refuse))

    assert ([file.path for file in listing.files], listing.hidden) == (["s3://b/in/a.csv"], [])


def test_a_hidden_folder_that_cannot_be_read_fails_no_run(open_folder):
    put(open_folder / "a.csv")
    put(open_folder / "_closed/b.csv")
    (open_folder / "_closed").chmod(0)

    try:
        with without_privileges():
            listing = list_files(open_folder, "s3://b/in/", Filters())
    finally:
        (open_folder / "_closed").chmod(0o755)

    assert ([file.path for file in listing.files], listing.hidden) == (["s3://b/in/a.csv"], [])
