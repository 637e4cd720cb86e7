"""Purges delete files by their age; transitions move none and warn."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from tidemark.errors import EntityNotFoundError, UsageError
from tidemark.glue_job.process.failures import (
    Failure,
    RemedyPlaces,
    failure_of,
    remedy_of_deletion,
    with_remedy,
)
from tidemark.glue_job.writers import purges
from tidemark.local_state.catalog.partitions import (
    Partition,
    register_partitions,
    registered_partitions,
)
from tidemark.local_state.catalog.tables import put_tables
from tidemark.local_state.run_warnings import RunWarning
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_tables import CatalogTable

pytestmark = pytest.mark.spark

HOUR_S = 3600


@pytest.fixture
def put(s3):
    """Return a function that puts a file of some age into the folder of the test."""

    def put(key, hours_old=0.0):
        file = s3.folder / key
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text('{"a": 1}\n', encoding="utf-8")
        modified = time.time() - hours_old * HOUR_S
        os.utime(file, (modified, modified))

    return put


def left(s3):
    return sorted(str(one.relative_to(s3.folder)) for one in s3.folder.rglob("*"))


def test_files_older_than_a_week_go_and_their_empty_folders(glue_context, s3, put):
    put("old/day=1/a.json", 169)
    put("old/_SUCCESS", 169)
    put("new/a.json", 167)

    glue_context.purge_s3_path(s3.uri)

    assert left(s3) == ["new", "new/a.json"]


def test_a_retention_of_0_hours_takes_every_file_and_leaves_the_path(glue_context, s3, put):
    put("a.json")
    put("day=1/a.json")

    glue_context.purge_s3_path(s3.uri, {"retentionPeriod": "0"})
    glue_context.purge_s3_path(f"{s3.uri}/not-there", {"retentionPeriod": 0})

    assert left(s3) == []
    assert s3.folder.is_dir()


def test_a_retention_is_also_a_part_of_an_hour(glue_context, s3, put):
    put("old.json", 2)
    put("new.json")

    glue_context.purge_s3_path(s3.uri, {"retentionPeriod": 0.5})

    assert left(s3) == ["new.json"]


def test_files_of_an_excluded_storage_class_stay(glue_context, s3, put):
    put("a.json", 200)

    glue_context.purge_s3_path(s3.uri, {"excludeStorageClasses": ["STANDARD"]})

    assert left(s3) == ["a.json"]


def test_a_manifest_lists_what_went(glue_context, s3, put):
    put("in/a.json", 2)
    put("in/day=1/b.json", 2)
    put("in/new.json")

    options = {"retentionPeriod": 1, "manifestFilePath": f"{s3.uri}log/"}
    glue_context.purge_s3_path(f"{s3.uri}in/", options)

    gone = (s3.folder / "log/Success.csv").read_text(encoding="utf-8").splitlines()
    assert sorted(gone) == [f"{s3.uri}in/a.json", f"{s3.uri}in/day=1/b.json"]
    assert (s3.folder / "log/Failed.csv").read_text(encoding="utf-8") == ""
    assert left(s3)[:2] == ["in", "in/new.json"]


def test_partitions_in_folders_of_any_name_are_purged_and_leave_the_catalog(
    glue_context, s3, put, spark_home
):
    put("2024/01/a.json", 9)
    put("2024/02/a.json", 9)
    definition = {
        "PartitionKeys": [{"Name": "month", "Type": "string"}],
        "Parameters": {"classification": "json"},
        "StorageDescriptor": {"Location": s3.uri, "Columns": [{"Name": "a", "Type": "int"}]},
    }
    table = CatalogTable("purged", s3.folder.name, definition)
    months = [Partition((month,), f"{s3.uri}2024/{month}/") for month in ("01", "02")]
    with Store(spark_home.database) as store:
        put_tables(store, [table])
        register_partitions(store, table, months, spark_home.existing_path)

        options = {"retentionPeriod": 1, "partitionPredicate": "month = '01'"}
        glue_context.purge_table("purged", s3.folder.name, options)

        assert registered_partitions(store, table) == months[1:]
    assert left(s3) == ["2024", "2024/02", "2024/02/a.json"]


def test_the_partitions_of_a_table_are_chosen_by_a_predicate(glue_context, s3, put, spark):
    from awsglue.dynamicframe import DynamicFrame

    rows = spark.sql("SELECT * FROM VALUES (1, 2023), (2, 2024) AS rows(id, year)").coalesce(1)
    sink = glue_context.getSink("s3", path=s3.uri, enableUpdateCatalog=True, partitionKeys=["year"])
    sink.setCatalogInfo("purged", s3.folder.name)
    sink.setFormat("json")
    sink.writeFrame(DynamicFrame.fromDF(rows, glue_context, "rows"))
    options = {"retentionPeriod": 0, "partitionPredicate": "year < 2024"}

    glue_context.purge_table("purged", s3.folder.name, options)

    table = glue_context.create_dynamic_frame.from_catalog("purged", s3.folder.name).toDF()
    assert [tuple(row) for row in table.collect()] == [(2, 2024)]
    assert not (s3.folder / "year=2023").exists()


def test_a_transition_warns_and_moves_nothing(glue_context, s3, put, monkeypatch):
    noted = []
    monkeypatch.setattr(purges, "note", lambda *warning: noted.append(warning))
    put("a.json", 500)

    glue_context.transition_s3_path(s3.uri, "GLACIER", {"retentionPeriod": 1})
    glue_context.transition_table("lake", "flights", "STANDARD_IA")

    assert left(s3) == ["a.json"]
    assert noted == [
        (RunWarning.STORAGE_CLASS, f"{s3.uri} (GLACIER)"),
        (RunWarning.STORAGE_CLASS, "lake.flights (STANDARD_IA)"),
    ]


@pytest.mark.parametrize(
    ("options", "error", "what"),
    [
        ({"retentionPeriod": -1}, UsageError, "retentionPeriod is -1"),
        ({"retentionPeriod": "1h"}, UsageError, "retentionPeriod is '1h'"),
        ({"retentionperiod": 1}, UsageError, "retentionperiod"),
        ({"excludeStorageClasses": ["COLD"]}, UsageError, "COLD"),
        ({"manifestFilePath": "s3://no-such-log/"}, EntityNotFoundError, "NoSuchBucket"),
    ],
)
def test_a_wrong_option_deletes_nothing(glue_context, s3, put, options, error, what):
    put("a.json", 500)

    with pytest.raises(error, match=what):
        glue_context.purge_s3_path(s3.uri, options)
    with pytest.raises(error, match=what):
        glue_context.transition_s3_path(s3.uri, "GLACIER", options)

    assert left(s3) == ["a.json"]


@pytest.mark.parametrize("format_name", ["json", "avro"])
def test_a_read_that_fails_for_a_purge_of_the_script_names_the_purge(
    spark, glue_context, s3, format_name
):
    from awsglue.dynamicframe import DynamicFrame

    rows = DynamicFrame.fromDF(spark.range(1), glue_context, "rows")
    glue_context.write_dynamic_frame.from_options(rows, "s3", {"path": s3.uri}, format_name)
    frame = glue_context.create_dynamic_frame.from_options("s3", {"paths": [s3.uri]}, format_name)
    glue_context.purge_s3_path(s3.uri, {"retentionPeriod": 0})
    line = sys._getframe().f_lineno - 1

    with pytest.raises(Exception, match="No such file") as error:
        frame.toDF().collect()

    cause = failure_of(error.value, __file__).cause
    remedy = remedy_of_deletion(cause, __file__)
    assert f"deleted the files of {s3.uri.rstrip('/')} by a purge, line {line}, and" in remedy
    assert remedy_of_deletion(cause.replace(s3.uri, "s3://elsewhere/"), __file__) == ""
    other = Failure(cause, "h.py, line 3")
    assert "write to another path" in with_remedy(other, "", RemedyPlaces(Path(), ""), None)
