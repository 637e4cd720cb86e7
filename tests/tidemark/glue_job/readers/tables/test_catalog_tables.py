"""create_dynamic_frame.from_catalog: columns, partitions and bookmarks of tables."""

from __future__ import annotations

import time

import pytest

from tests.sampled import at_night
from tidemark.errors import EntityNotFoundError, UnsupportedError, UsageError
from tidemark.local_state.catalog.partitions import (
    Partition,
    register_partitions,
    sync_partitions,
    unregister_partitions,
)
from tidemark.local_state.catalog.tables import find_table
from tidemark.local_state.run_warnings import RUN_FOLDER_VARIABLE, read_warnings
from tidemark.local_state.store.database import Store

pytestmark = pytest.mark.spark


@pytest.fixture
def noted(tmp_path, monkeypatch):
    """Return the warnings that were noted."""
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path))
    return lambda: read_warnings(tmp_path)


COLUMNS = [{"Name": "id", "Type": "bigint"}]


def ids(frame):
    return sorted(row.id for row in frame.collect())


def test_table_has_its_declared_columns_and_types(read, define, s3):
    define()
    s3.put("a.json", '{"id": 1, "origin": "EWR", "other": true}\n{"id": 2}\n')

    flights = read()

    assert flights.dtypes == [("id", "bigint"), ("origin", "string")]
    assert flights.collect() == [(1, "EWR"), (2, None)]


@pytest.mark.rule(
    "Partitions", source="INFER", choice="every folder counts until a partition is registered"
)
def test_partition_keys_come_from_folders_with_the_declared_types(read, define, s3):
    define(keys=[("day", "string"), ("hour", "int")])
    s3.put("day=01/hour=02/a.json", '{"id": 1, "origin": "EWR"}\n')
    s3.put("stray.json", '{"id": 9}\n')

    flights = read()

    assert flights.dtypes[2:] == [("day", "string"), ("hour", "int")]
    assert flights.collect() == [(1, "EWR", "01", 2)]


@pytest.mark.rule("Partitions", source="BM")
def test_registered_partitions_are_read_and_no_others(read, define, s3, spark_home):
    define(keys=[("day", "string"), ("hour", "int")])
    for number, folder in enumerate(("day=01/hour=02", "day=01/hour=3", "day=a%2Fb/hour=2")):
        s3.put(f"{folder}/a.json", f'{{"id": {number}}}\n')
    with Store(spark_home.database) as store:
        table = find_table(store, "lake", s3.folder.name)
        sync_partitions(store, table, spark_home.existing_path)
        s3.put("day=01/hour=9/a.json", '{"id": 9}\n')
        unregister_partitions(store, table, [("01", "3")], spark_home.existing_path)

        both = read().select("id", "day", "hour").collect()
        chosen = read(
            push_down_predicate="hour = 2",
            additional_options={"catalogPartitionPredicate": "day >= '1'"},
        )

    assert sorted(both) == [(0, "01", 2), (2, "a/b", 2)]
    assert [row.id for row in chosen.collect()] == [2]


@pytest.mark.rule("Partitions", source="BM")
@pytest.mark.parametrize("kind", ["json", *at_night("csv")])
def test_partitions_in_folders_of_any_name_have_their_registered_values(
    read, define, s3, spark_home, start_job, kind
):
    define(keys=[("day", "string"), ("hour", "int")], classification=kind)
    form = {"json": '{{"id": {}}}\n', "csv": "{},A\n"}[kind]
    for number, folder in enumerate(("2024/01", "2024/02", "day=3/hour=3"), 1):
        s3.put(f"{folder}/a.{kind}", form.format(number), minutes_ago=20)
    with Store(spark_home.database) as store:
        table = find_table(store, "lake", s3.folder.name)
        located = [
            Partition(("x", "1"), f"{s3.uri}2024/01/"),
            Partition(("__HIVE_DEFAULT_PARTITION__", "2"), f"{s3.uri}2024/02"),
        ]
        register_partitions(store, table, located, spark_home.existing_path)

    found = sorted(read().select("id", "day", "hour").collect())
    chosen = read(push_down_predicate="day = 'x'").select("id", "day", "hour").collect()
    job = start_job()
    first = read(transformation_ctx="t").count()
    job.commit()
    s3.put(f"2024/02/b.{kind}", form.format(1))
    start_job()
    second = read(transformation_ctx="t").select("id", "day", "hour").collect()

    assert found == [(1, "x", 1), (2, None, 2), (3, "3", 3)]
    assert chosen == [(1, "x", 1)]
    assert first == 3
    assert second == [(1, None, 2)]


@pytest.mark.rule("Partitions", source="BM")
def test_a_predicate_on_partition_keys_chooses_the_folders_of_a_table(read, define, s3):
    define(keys=[("day", "string")])
    s3.put("day=01/a.json", '{"id": 1}\n')
    s3.put("day=1/a.json", '{"id": 2}\n')

    assert [row.id for row in read(push_down_predicate="day = '01'").collect()] == [1]
    with pytest.raises(UsageError, match="names hour; the partition columns are day"):
        read(push_down_predicate="hour = 1")


@pytest.mark.rule("Files of S3", source="BM")
def test_a_table_is_read_through_the_bookmark(read, define, start_job, s3):
    define()
    s3.put("a.json", '{"id": 1}\n')
    first = start_job()
    assert read(transformation_ctx="flights").count() == 1
    first.commit()
    s3.put("b.json", '{"id": 2}\n')

    start_job()

    assert [row.id for row in read(transformation_ctx="flights").collect()] == [2]


@pytest.mark.rule("Warnings", source="BM")
@pytest.mark.parametrize("is_elsewhere", [False, True], ids=["own folder", "elsewhere"])
def test_a_partition_registered_after_the_bookmark_passed_is_reported(
    read, define, start_job, s3, spark_home, noted, is_elsewhere
):
    define(COLUMNS, keys=[("day", "int")])
    folder = "other" if is_elsewhere else "day=2"
    s3.put("day=1/a.json", '{"id": 1}\n', minutes_ago=60)
    with Store(spark_home.database) as store:
        table = find_table(store, "lake", s3.folder.name)
        sync_partitions(store, table, spark_home.existing_path)
        s3.put(f"{folder}/b.json", '{"id": 2}\n', minutes_ago=60)
        first = start_job()
        assert ids(read(transformation_ctx="flights")) == [1]
        first.commit()
        time.sleep(0.011)  # a tick of the clock of files
        partition = Partition(("2",), f"{s3.uri}{folder}")
        register_partitions(store, table, [partition], spark_home.existing_path)

    second = start_job()
    assert ids(read(transformation_ctx="flights")) == []
    second.commit()

    (warning,) = noted()
    assert warning.startswith(f"{s3.uri}{folder}/b.json: left out by the paths, exclusions, pred")
    start_job()
    assert ids(read(transformation_ctx="flights")) == []
    assert noted() == [warning]


@pytest.mark.rule("Warnings", source="BM")
def test_a_partition_no_longer_excluded_by_the_catalog_predicate_is_reported(
    read, define, start_job, s3, noted
):
    define(COLUMNS, keys=[("day", "int")])
    for day in (1, 2):
        s3.put(f"day={day}/a.json", f'{{"id": {day}}}\n', minutes_ago=60)
    chosen = {"additional_options": {"catalogPartitionPredicate": "day = 1"}}
    first = start_job()
    assert ids(read(transformation_ctx="flights", **chosen)) == [1]
    first.commit()

    start_job()

    assert ids(read(transformation_ctx="flights")) == []
    (warning,) = noted()
    assert warning.startswith(f"{s3.uri}day=2/a.json: ")


@pytest.mark.rule("Formats", source="INFER", choice="the declared columns, without rows")
def test_a_table_with_nothing_new_keeps_its_columns(read, define, start_job, s3):
    define(keys=[("day", "date")])
    s3.put("day=2013-01-01/a.json", '{"id": 1}\n')
    first = start_job()
    read(transformation_ctx="flights")
    first.commit()

    start_job()

    nothing = read(transformation_ctx="flights")
    assert nothing.dtypes == [("id", "bigint"), ("origin", "string"), ("day", "date")]
    assert nothing.count() == 0


@pytest.mark.rule("Files of S3", source="BND")
def test_bounds_may_be_properties_of_a_table_and_those_of_the_call_win(read, define, start_job, s3):
    define(boundedFiles="1")
    for number in range(4):
        s3.put(f"{number}.json", f'{{"id": {number}}}\n', minutes_ago=60 - number)
    start_job()

    assert [row.id for row in read(transformation_ctx="by property").collect()] == [0]
    by_call = read(transformation_ctx="by call", additional_options={"boundedSize": "12"})
    assert sorted(row.id for row in by_call.collect()) == [0, 1]


def test_name_space_is_another_name_of_the_database(read, define, s3):
    define()
    s3.put("a.json", '{"id": 1}\n')

    assert read(database=None, name_space="lake").count() == 1
    assert read(tableName="ignored, as by Glue").count() == 1


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"table_name": "gone"}, EntityNotFoundError, "no table 'gone' in the database 'lake'"),
        ({"name_space": "lake"}, UsageError, "name_space and database are both specified"),
        ({"database": None}, UsageError, "name_space or database is missing"),
        ({"table_name": None}, UsageError, "table_name is missing"),
        ({"catalog_id": "1"}, UnsupportedError, "catalog_id '1' is another account"),
    ],
)
def test_argument_that_cannot_be_honoured_is_refused_by_name(read, define, arguments, error, text):
    define()

    with pytest.raises(error, match=text):
        read(**arguments)


def test_create_data_frame_reads_the_same_table(glue_context, define, s3):
    define()
    s3.put("a.json", '{"id": 1}\n')

    frame = glue_context.create_data_frame.from_catalog("lake", s3.folder.name)

    assert frame.collect() == [(1, None)]
