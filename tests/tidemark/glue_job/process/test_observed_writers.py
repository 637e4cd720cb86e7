"""What a script writes by `df.write` is observed, whichever of its methods does so."""

from __future__ import annotations

import pytest

from tidemark.glue_job.process.observed_writers import (
    OPTIONS,
    SETTINGS,
    TABLE_WRITES,
    WRITES,
    observe_writers,
)
from tidemark.local_state.home import RUN_ID_VARIABLE, Home
from tidemark.local_state.observed_schemas import noted_schemas
from tidemark.local_state.run_warnings import RUN_FOLDER_VARIABLE, read_warnings
from tidemark.local_state.store.checkpoints import put_checkpoint
from tidemark.local_state.store.database import JobRun, Store
from tidemark.model.checkpoints.checkpoint import Checkpoint
from tidemark.model.checkpoints.schemas import Column, Schema

pytestmark = pytest.mark.spark


@pytest.fixture
def run_folder(spark, tmp_path, monkeypatch):
    """The folder of a run whose writes are observed; an earlier one has written ints."""
    from pyspark.sql import readwriter

    for name in (*WRITES, *SETTINGS, *OPTIONS):  # taken back after the test
        monkeypatch.setattr(
            readwriter.DataFrameWriter, name, getattr(readwriter.DataFrameWriter, name)
        )
    for name in (*TABLE_WRITES, "__init__"):
        monkeypatch.setattr(
            readwriter.DataFrameWriterV2, name, getattr(readwriter.DataFrameWriterV2, name)
        )
    observe_writers(readwriter)
    home = Home.open(tmp_path / "home")
    folder = home.runs / "jr_new"
    before = Schema("written", f"{tmp_path}/out/", format="parquet", columns=(Column("id", "int"),))
    with Store(home.database) as store, store.transaction():
        for run_id, state in (("jr_old", "SUCCEEDED"), ("jr_new", "RUNNING")):
            store.put_job_run(JobRun(run_id, "load", None, None, 0, state, 1, "log", "none"))
        put_checkpoint(store, Checkpoint("load", "jr_old", 1, schemas=(before,)))
    folder.mkdir(parents=True)
    monkeypatch.setenv("TIDEMARK_HOME", str(home.root))
    monkeypatch.setenv(RUN_ID_VARIABLE, "jr_new")
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(folder))
    return folder


def test_each_way_to_write_names_its_target_its_format_and_its_partitions(
    spark, run_folder, tmp_path
):
    rows = spark.range(1).selectExpr("id", "id AS day", "id AS hour")
    out = str(tmp_path)

    rows.write.save(f"{out}/default")
    rows.write.partitionBy("day", "hour").json(f"{out}/json")
    rows.write.csv(f"{out}/csv", mode="append", header=True)
    rows.write.format("orc").partitionBy(["day"]).mode("overwrite").save(path=f"{out}/orc")
    rows.write.save(f"{out}/named", format="json", partitionBy="day")
    rows.selectExpr("id").write.parquet(f"{out}/window=1/attempt=2/")
    with pytest.raises(TypeError):
        rows.write.parquet()

    noted = [
        (schema.dataset.removeprefix(out), schema.format, schema.partitions)
        for schema in noted_schemas(run_folder)
    ]
    assert noted == [
        ("/default/", "parquet", ()),
        ("/json/", "json", ("day", "hour")),
        ("/csv/", "csv", ()),
        ("/orc/", "orc", ("day",)),
        ("/named/", "json", ("day",)),
    ]


@pytest.mark.parametrize(
    ("mode", "place", "is_mixed"),
    [("append", "", True), ("overwrite", "", False), ("overwrite", "day=2", True)],
)
def test_types_are_mixed_where_other_files_stay(
    spark, run_folder, tmp_path, capfd, mode, place, is_mixed
):
    spark.range(1).selectExpr("int(id) AS id").write.parquet(f"{tmp_path}/out/day=1")
    rows = spark.range(1).selectExpr("string(id) AS id")

    rows.write.parquet(f"{tmp_path}/out/{place}", mode=mode)

    warnings = read_warnings(run_folder)
    told = f"{tmp_path}/out/: id was int and is string: Spark and Athena fail"
    assert any(told in text for text in warnings) == is_mixed
    assert (told in capfd.readouterr().err) == is_mixed
    assert any("(TM277)" in text for text in warnings) != is_mixed


def test_a_table_is_observed_by_its_name_but_for_the_branch_of_a_window(
    spark, run_folder, tmp_path, request
):
    request.addfinalizer(lambda: spark.sql("DROP TABLE observed"))
    rows = spark.range(1).selectExpr("id", "'x' AS text")
    place = rows.writeTo("default.`observed`").option("path", f"{tmp_path}/table")

    place.using("parquet").create()
    with pytest.raises(Exception, match=r"(?i)table"):
        rows.writeTo("observed.branch_0123456789abcdef_1_01234567").append()

    (schema,) = noted_schemas(run_folder)
    assert (schema.dataset, schema.format) == ("table:default.observed", "")
    assert [column.path for column in schema.columns] == ["id", "text"]


@pytest.mark.parametrize(
    "options",
    [{}, {"partitionOverwriteMode": "dynamic"}, {"PARTITIONOVERWRITEMODE": "Dynamic"}],
)
@pytest.mark.parametrize("is_in_the_call", [True, False])
def test_types_are_mixed_where_an_overwrite_replaces_some_partitions(
    spark, run_folder, tmp_path, options, is_in_the_call
):
    spark.range(1).selectExpr("int(id) AS id").write.parquet(f"{tmp_path}/out/day=1")
    writer = spark.range(1).selectExpr("string(id) AS id", "2 AS day").write
    writer = writer.mode("overwrite").partitionBy("day")

    if is_in_the_call:
        writer.save(f"{tmp_path}/out/", **options)
    else:
        writer.options(**options).parquet(f"{tmp_path}/out/")

    mixed = [text for text in read_warnings(run_folder) if "(TM278)" in text]
    assert bool(mixed) == bool(options)


@pytest.mark.parametrize("path", ["day", "id"])
def test_a_column_of_folders_has_no_type_in_files(spark, run_folder, tmp_path, path):
    spark.range(1).selectExpr("int(id) AS id").write.parquet(f"{tmp_path}/out/day=1")
    rows = spark.range(1).selectExpr("string(id) AS id", "1 AS other")

    rows.write.parquet(
        f"{tmp_path}/out/", mode="append", partitionBy="id" if path == "day" else "other"
    )

    mixed = [text for text in read_warnings(run_folder) if "(TM278)" in text]
    assert bool(mixed) == (path == "id")


def test_a_write_that_fails_is_not_noted_and_fails_as_before(spark, run_folder, tmp_path):
    rows = spark.range(1)
    rows.write.parquet(f"{tmp_path}/there")
    (run_folder / "tidemark-schemas.jsonl").unlink()

    with pytest.raises(Exception, match="already exists"):
        rows.write.parquet(f"{tmp_path}/there")

    assert noted_schemas(run_folder) == ()
