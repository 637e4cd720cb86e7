"""What a script reads by `spark.read` and SQL is observed, and the tables that SQL writes."""

from __future__ import annotations

import json
import types

import pytest

from tests.iceberg import run_with_iceberg
from tests.tidemark.glue_job.process.test_observed_writers import run_folder
from tidemark.glue_job.process import observed_sources
from tidemark.glue_job.process.observed_sources import FILE_READS, observe_readers, observe_sql
from tidemark.glue_job.process.observed_writers import schema_of
from tidemark.local_state.observed_schemas import noted_schemas
from tidemark.local_state.run_warnings import read_warnings

__all__ = ["run_folder"]
pytestmark = pytest.mark.spark


@pytest.fixture
def noted(spark, run_folder, monkeypatch):
    """Return what has been observed: role, dataset, format, and columns by their types."""
    from pyspark.sql import readwriter, session

    for name in (*FILE_READS, "table", "format", "option", "options"):  # taken back after the test
        reader = readwriter.DataFrameReader
        monkeypatch.setattr(reader, name, vars(reader)[name])
    for name in ("sql", "table"):
        monkeypatch.setattr(session.SparkSession, name, getattr(session.SparkSession, name))
    # This module begins with the name of a package whose own reads are not observed.
    monkeypatch.setattr(observed_sources, "_OURS", ("tidemark.", "watermarks", "awsglue"))
    monkeypatch.setattr(observed_sources, "_seen", set())
    observe_readers(readwriter)
    observe_sql(session)

    def noted() -> list[tuple[str, str, str, dict[str, str]]]:
        return [
            (of.role, of.dataset, of.format, {column.path: column.type for column in of.columns})
            for of in noted_schemas(run_folder)
        ]

    yield noted
    for name in "ab":
        spark.sql(f"DROP TABLE IF EXISTS {name}")


def test_each_way_to_read_files_names_its_source_and_its_format(spark, noted, tmp_path):
    out, rows = str(tmp_path), spark.range(1).selectExpr("id", "1 AS day")
    for kind in ("json", "parquet", "orc"):
        rows.write.format(kind).partitionBy("day").save(f"{out}/{kind}")
    rows.write.csv(f"{out}/csv", header=True)
    written = len(noted())

    spark.read.json(f"{out}/json/")
    spark.read.parquet(f"{out}/parquet/day=1", f"{out}/parquet/day=1")
    spark.read.format("orc").load([f"{out}/orc"])
    spark.read.option("header", "true").csv(path=f"{out}/csv/*.csv")
    spark.read.load(f"{out}/parquet")
    spark.read.load(f"{out}/csv", format="csv")
    spark.read.json(spark.sparkContext.parallelize(['{"x": 1}']))

    assert [(role, name.removeprefix(out), kind) for role, name, kind, _ in noted()[written:]] == [
        ("read", "/json/", "json"),
        ("read", "/parquet/", "parquet"),
        ("read", "/orc/", "orc"),
        ("read", "/csv/", "csv"),
    ]
    assert noted()[written][3] == {"id": "bigint", "day": "int"}


def test_tables_that_sql_writes_and_reads_are_observed_with_their_own_columns(
    spark, noted, tmp_path
):
    spark.range(2).selectExpr("id", "'x' AS text").createOrReplaceTempView("rows")

    spark.sql("CREATE TABLE a USING parquet AS SELECT * FROM rows")
    spark.sql("INSERT INTO a SELECT int(id), id FROM rows")
    spark.sql("CREATE TABLE b (id INT, day INT) USING orc PARTITIONED BY (day)")
    spark.sql("INSERT OVERWRITE b PARTITION (day = 1) SELECT id FROM a WHERE id < {most}", most=1)
    spark.sql(f"INSERT OVERWRITE DIRECTORY '{tmp_path}/c' USING json SELECT * FROM rows")  # noqa: S608
    spark.table("rows")
    spark.read.table("b")
    spark.sql("SHOW TABLES")

    assert noted() == [
        ("written", "table:default.a", "", {"id": "bigint", "text": "string"}),
        ("written", "table:default.b", "", {"id": "int", "day": "int"}),
        ("read", "table:default.a", "", {"id": "bigint", "text": "string"}),
        ("written", f"{tmp_path}/c/", "", {"id": "bigint", "text": "string"}),
        ("read", "table:default.b", "", {"id": "int", "day": "int"}),
    ]


def test_what_cannot_be_observed_is_a_warning_and_no_error(
    spark, noted, run_folder, tmp_path, monkeypatch
):
    spark.range(1).write.json(f"{tmp_path}/in")
    monkeypatch.setattr(observed_sources, "schema_of", lambda *_: 1 / 0)

    assert spark.read.json(f"{tmp_path}/in").count() == 1

    (told,) = [text for text in read_warnings(run_folder) if "what json reads" in text]
    assert "ZeroDivisionError" in told


def test_reads_of_libraries_are_not_the_script_s(spark, noted, tmp_path):
    spark.range(1).write.json(f"{tmp_path}/in")
    library = types.ModuleType("watermarks.spark.frames")
    exec("def read(spark, path): return spark.read.json(path)", vars(library))  # noqa: S102

    library.read(spark, f"{tmp_path}/in")
    assert [name for role, name, _, _ in noted() if role == "read"] == []
    spark.read.json(f"{tmp_path}/in")
    assert [name for role, name, _, _ in noted() if role == "read"] == [f"{tmp_path}/in/"]


ICEBERG = """
import json
from tidemark.glue_job.process import observed_sources

seen = []
observed_sources._see_table = lambda role, name, columns: seen.append(
    [role, observed_sources.table_of(name), " ".join(columns.fieldNames())]
)
spark.range(3).selectExpr("id", "'x' AS text").createOrReplaceTempView("rows")
for text in (
    "CREATE TABLE lake.db.a USING iceberg AS SELECT * FROM rows",
    "INSERT INTO lake.db.a SELECT id + 9, 'y' FROM rows",
    "CREATE OR REPLACE TABLE lake.db.b USING iceberg AS SELECT id, text AS words FROM lake.db.a",
    "MERGE INTO lake.db.b USING lake.db.a ON a.id = b.id "
    "WHEN MATCHED THEN UPDATE SET words = a.text WHEN NOT MATCHED THEN INSERT (id) VALUES (a.id)",
    "SELECT * FROM lake.db.a.snapshots",
    "ALTER TABLE lake.db.a ADD COLUMN tip INT",
    "SELECT id FROM lake.db.a",
):
    observed_sources._see_plan(spark.sql(text))
print(json.dumps(seen))
"""


@pytest.mark.nightly
def test_tables_of_iceberg_are_observed_and_what_iceberg_keeps_about_them_is_not(tmp_path):
    seen = json.loads(run_with_iceberg(ICEBERG, tmp_path)[-1])

    assert seen == [
        ["written", "table:db.a", "id text"],
        ["written", "table:db.a", "id text"],
        ["written", "table:db.b", "id words"],
        ["read", "table:db.a", "id text"],
        ["written", "table:db.b", "id words"],
        ["read", "table:db.a", "id text"],
        ["read", "table:db.a", "id text tip"],
    ]


@pytest.mark.parametrize(
    ("name", "asked", "dataset"),
    [
        ("jdbc", {"url": "jdbc:x://me:pw@db/shop?ssl=1", "table": "o"}, "jdbc:x://db/shop#o"),
        ("load", {"format": "jdbc", "url": "jdbc:x:y", "dbtable": "s.o"}, "jdbc:x:y#s.o"),
        ("load", {"format": "jdbc", "url": "jdbc:x:y", "query": "SELECT 1"}, "jdbc:x:y#query"),
        ("load", {"format": "iceberg", "path": "cat.db.o"}, "table:db.o"),
        ("load", {"path": ["s3a://lake/o/day=1/", "s3a://lake/o/day=2/"]}, "s3://lake/o/"),
        ("csv", {"path": "s3://lake/o/{a,b}/*.csv"}, "s3://lake/o/"),
        ("load", {"format": "mongodb"}, None),
    ],
)
def test_a_source_is_known_by_its_place_without_credentials(name, asked, dataset):
    schema = schema_of("read", name, asked)

    assert (schema and schema.dataset) == dataset
