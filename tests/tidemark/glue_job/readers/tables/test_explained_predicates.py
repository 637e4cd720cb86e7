"""push_down_predicate over partition folders."""

from __future__ import annotations

import pytest

from tests.sampled import at_night
from tidemark.errors import UsageError
from tidemark.glue_job.readers.files.partitions import inferred_type
from tidemark.local_state.bookmarks import listing

pytestmark = pytest.mark.spark

DAYS = [(2013, 1, "EWR"), (2013, 2, "JFK"), (2014, 1, "EWR")]


@pytest.fixture
def lake(s3):
    for number, (year, month, origin) in enumerate(DAYS):
        s3.put(f"year={year}/month={month:02}/origin={origin}/a.json", f'{{"id": {number}}}\n')
    return s3


@pytest.fixture
def read(glue_context, s3):
    """Return a reader of the ids in the partitions of a predicate."""

    def read(predicate, ctx="flights"):
        frame = glue_context.create_dynamic_frame.from_options(
            "s3",
            {"paths": [s3.uri]},
            "json",
            transformation_ctx=ctx,
            push_down_predicate=predicate,
        ).toDF()
        return sorted(row.id for row in frame.collect()) if frame.columns else []

    return read


@pytest.fixture
def entered(monkeypatch):
    """Return the names of the folders that are listed from now on."""
    names = []
    opened = listing._opened

    def record(folder):
        names.append(folder.rpartition("/")[2])
        return opened(folder)

    monkeypatch.setattr(listing, "_opened", record)
    return names


@pytest.mark.rule("Partitions", source="S3")
@pytest.mark.parametrize(
    ("predicate", "ids"),
    [
        ("year = 2013", [0, 1]),
        ("year = '2013' AND month == '01'", [0]),
        ("(year == 2014 or origin like 'J%')", [1, 2]),
        ("`origin` IN ('EWR')", [0, 2]),
        ("to_date(concat(year, '-', month, '-01')) >= '2013-02-01'", [1, 2]),
        *at_night(("month < 2", [0, 2]), ("year = 1999", [])),
    ],
)
def test_a_push_down_predicate_reads_only_the_partitions_it_is_true_for(read, lake, predicate, ids):
    assert read(predicate) == ids


@pytest.mark.rule("Partitions", source="BM")
def test_only_the_folders_of_matching_partitions_are_listed(read, lake, entered):
    read("year = 2013 AND month = 1")

    assert sorted(entered)[1:] == ["month=01", "origin=EWR", "year=2013", "year=2014"]


def test_folders_below_a_refused_partition_are_not_listed(read, lake, entered):
    read("year = 2014")

    assert "year=2013" not in entered


@pytest.mark.rule("Partitions", source="INFER")
def test_a_partition_chosen_later_is_skipped_as_far_as_it_is_older_than_the_bookmark(
    read, start_job, s3
):
    s3.put("year=2013/a.json", '{"id": 1}\n')
    s3.put("year=2014/old.json", '{"id": 2}\n', minutes_ago=60)
    s3.put("year=2014/within_the_band.json", '{"id": 3}\n', minutes_ago=10)
    first = start_job()
    assert read("year = 2013") == [1]
    first.commit()

    start_job()

    assert read("year = 2014") == [3]


@pytest.mark.rule("Partitions", source="INFER", choice="an error; AWS may read nothing")
@pytest.mark.parametrize("predicate", ["id = 1", "year = 2013 AND carrier = 'UA'"])
def test_a_predicate_on_another_column_is_refused_with_the_partition_columns(read, lake, predicate):
    with pytest.raises(UsageError, match="the partition columns are month, origin, year"):
        read(predicate)


@pytest.mark.parametrize("predicate", ["year =", "year + ", "1 = 1", "year + 1", "nothing(year)"])
def test_a_predicate_that_is_no_condition_is_refused(read, lake, predicate):
    refusal = r"push_down_predicate .* (not a condition on|names no) part"
    with pytest.raises(UsageError, match=refusal):
        read(predicate)


def test_a_predicate_of_a_place_without_data_reads_nothing(read):
    assert read("year = 2013") == []


@pytest.mark.rule("Partitions", source="INFER", choice="not in any partition, so not read")
def test_a_predicate_excludes_files_outside_partition_folders(read, lake):
    lake.put("stray.json", '{"id": 9}\n')

    assert read("year > 0") == [0, 1, 2]


def test_a_partition_without_a_value_is_null(read, s3):
    s3.put("year=__HIVE_DEFAULT_PARTITION__/a.json", '{"id": 1}\n')
    s3.put("year=2013/a.json", '{"id": 2}\n')

    assert read("year IS NULL") == [1]


@pytest.mark.parametrize(
    "values",
    [
        ["1", "02"],
        ["1", "3000000000"],
        ["1", "-0099999999999999999999"],
        ["99999999999999999999", "1.5"],
        ["1", "9" * 39],
        ["1", "1.5"],
        ["0.25", "-.5"],
        ["2013-01-01", "2013-12-31"],
        ["2013-01-01", "2013-01-01 10:00:00"],
        ["2013-01-01", "1"],
        ["EWR", "1"],
        ["20130101T00"],
        ["true", "false"],
        ["2013-01", "2013-02"],
    ],
    ids=str,
)
def test_types_of_partition_columns_are_those_that_spark_infers(spark, s3, values):
    for value in values:
        s3.put(f"p={value}/a.json", '{"id": 1}\n')
    types = dict(spark.read.json(s3.uri).dtypes)

    assert inferred_type(values) == types["p"]
