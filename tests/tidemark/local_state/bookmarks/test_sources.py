"""Sources as plain data, and what one run reads of real folders."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tidemark.errors import UsageError
from tidemark.local_state.bookmarks.files import Limits
from tidemark.local_state.bookmarks.reading import read_s3_source
from tidemark.local_state.bookmarks.sources import (
    Edges,
    S3Source,
    list_source,
    partition_values,
)

MINUTE_MS = 60_000
NOW_MS = 1_357_000_000_000


class Columns:
    """A predicate over partition values, as a Python function."""

    def __init__(self, columns, is_read):
        self.columns = frozenset(columns)
        self.is_read = is_read
        self.asked = []

    def select(self, partitions):
        self.asked += partitions
        return [self.is_read(partition) for partition in partitions]


@pytest.fixture
def put(tmp_path):
    def put(key, minutes_ago=0):
        path = tmp_path / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
        at = (NOW_MS - minutes_ago * MINUTE_MS) * 1_000_000
        os.utime(path, ns=(at, at))

    return put


@pytest.fixture
def folder_of(tmp_path):
    return lambda uri: tmp_path / uri.removeprefix("s3://b/")


def source(**changes):
    return S3Source(**{"paths": ("s3://b/",), "transformation_ctx": "flights", **changes})


def names(files):
    return sorted(Path(file.path).name for file in files)


def test_source_survives_its_way_through_json():
    asked = source(exclusions=("*.pdf",), limits=Limits(1, 2, 3, None), recurse=True, table="d.t")

    assert S3Source.from_json(asked.to_json()) == asked


def test_partition_values_are_unescaped_and_known_by_lower_case_names():
    assert partition_values("Year=2013/deep/city=New%20York") == {
        "year": "2013",
        "city": "New York",
    }


def test_predicate_is_asked_once_per_folder_as_soon_as_its_columns_are_known(put, folder_of):
    for year in (2013, 2014):
        for month in (1, 2):
            put(f"year={year}/month={month}/{year}-{month}")
    predicate = Columns(["year"], lambda values: values["year"] == "2013")

    listing = list_source(source(push_down_predicate="year = 2013"), folder_of, predicate)

    assert names(listing.files) == ["2013-1", "2013-2"]
    assert predicate.asked == [{"year": "2013"}, {"year": "2014"}] or predicate.asked == [
        {"year": "2014"},
        {"year": "2013"},
    ]


def test_files_outside_of_the_partitions_of_a_predicate_are_left_out(put, folder_of):
    put("stray")
    put("year=2013/inside")
    predicate = Columns(["year"], lambda values: True)

    listing = list_source(source(push_down_predicate="year > 0"), folder_of, predicate)

    assert names(listing.files) == ["inside"]


def test_predicate_on_no_partition_column_is_refused_with_those_there_are(put, folder_of):
    put("year=2013/month=1/a")
    predicate = Columns(["day"], lambda values: True)

    with pytest.raises(UsageError, match="names day; the partition columns are month, year"):
        list_source(source(push_down_predicate="day = 1"), folder_of, predicate)


def test_source_without_edges_reads_everything_and_has_no_next_state(put, folder_of):
    put("a")

    reading = read_s3_source(source(), folder_of, NOW_MS)

    assert (names(reading.files), reading.next_state, reading.extent) == (["a"], None, (1, 1))


def test_files_after_the_moment_of_opening_belong_to_the_next_run(put, folder_of):
    put("a", minutes_ago=1)
    put("b", minutes_ago=-1)
    first = read_s3_source(source(), folder_of, NOW_MS, Edges())

    second = read_s3_source(source(), folder_of, NOW_MS + 2 * MINUTE_MS, Edges(first.next_state))

    assert (names(first.files), names(second.files)) == (["a"], ["b"])


def test_several_paths_are_one_source(put, folder_of):
    put("here/a")
    put("there/b")

    reading = read_s3_source(source(paths=("s3://b/here", "s3://b/there/")), folder_of, NOW_MS)

    assert [file.path for file in reading.files] == ["s3://b/here/a", "s3://b/there/b"]


@pytest.mark.rule("Files of S3", source="INFER", choice="a file under two paths is read once")
def test_paths_of_a_source_may_overlap(put, folder_of):
    put("a")
    put("more/b")
    asked = source(paths=("s3://b/", "s3://b/more/"), recurse=True)

    listing = list_source(asked, folder_of)

    assert sorted(file.path for file in listing.files) == ["s3://b/a", "s3://b/more/b"]
