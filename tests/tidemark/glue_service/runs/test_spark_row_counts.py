"""Rows read and written, as a real event log of Spark tells them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sampled import at_night
from tidemark.glue_job.process.spark import EVENTS_FOLDER, write_spark_conf
from tidemark.glue_service.runs.row_counts import RowCounts, read_row_counts
from tidemark.local_state.home import Home
from tidemark.local_state.machine.java import find_java_home
from tidemark.local_state.run_warnings import RUN_FOLDER_VARIABLE
from tidemark.sites import SITES

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[4]
FLIGHTS = "id,origin\n1,EWR\n2,JFK\n3,LGA\n"
SCRIPT = """
from pyspark.context import SparkContext
from awsglue.context import GlueContext

spark = GlueContext(SparkContext.getOrCreate()).spark_session
spark.read.json("s3://tests/in/").write.parquet("s3://tests/out/")
"""


@pytest.fixture
def counts(logged, tmp_path):
    """Return a function that runs an action and returns the rows it read and wrote."""

    def count(action):
        (tmp_path / "local-1").write_text(logged(action), encoding="utf-8")
        return read_row_counts(tmp_path)

    return count


def test_csv_rows_are_counted(spark, s3, counts):
    s3.put("a.csv", FLIGHTS)
    flights = spark.read.schema("id INT, origin STRING").csv(s3.uri, header=True)

    assert counts(flights.collect) == RowCounts(rows_read=3)


def test_header_of_a_csv_is_not_counted(glue_context, s3, counts):
    s3.put("a.csv", FLIGHTS)

    def read():
        glue_context.create_dynamic_frame.from_options(
            "s3", {"paths": [s3.uri]}, "csv", {"withHeader": True}
        ).toDF().collect()

    assert counts(read) == RowCounts(rows_read=3)


def test_rows_made_by_the_script_are_not_counted_as_read(spark, s3, counts):
    rows = spark.createDataFrame([(1,), (2,)], "id INT")

    assert counts(lambda: rows.write.csv(s3.uri + "out/")) == RowCounts(rows_written=2)


@pytest.mark.nightly
def test_rows_of_readers_in_python_are_counted(glue_context, spark, s3, counts, monkeypatch):
    monkeypatch.setattr("tidemark.glue_job.readers.json.lines.MANY", 2)
    s3.put("json/a.json", '{"id": 1}\n{"id": 2}\n')
    s3.put("json/b.json", '{"id": 3}\n')
    s3.put("xml/a.xml", "<all><row><id>1</id></row><row><id>2</id></row></all>")

    def read(kind, format_options, **options):
        glue_context.create_dynamic_frame.from_options(
            "s3", {"paths": [f"{s3.uri}{kind}/"], **options}, kind, format_options
        ).toDF().collect()

    assert counts(lambda: read("json", {}, groupFiles="inPartition")) == RowCounts(rows_read=3)
    assert counts(lambda: read("xml", {"rowTag": "row"})) == RowCounts(rows_read=2)


@pytest.mark.parametrize("many", [1, *at_night(200)])
@pytest.mark.parametrize(
    ("texts", "options", "rows"),
    [
        # The lines of a file with a broken one, and the files that are read as one text.
        (['{"id": 1}\n', '{"id": 2}\n', '{"id": 3}\n', '{"id": 4}\n{"id": '], {}, 5),
        (['{"id": 1}\n', '{"id": 2}\n', '{"id": 4}\n{"id": '], {"multiLine": True}, 3),
        (['{"id": 1}{"id": 2}\n', '{"id": "x"}\n'], {}, 2),
    ],
)
def test_texts_of_json_that_are_read_again_are_counted_once(
    glue_context, s3, counts, monkeypatch, texts, options, rows, many
):
    monkeypatch.setattr("tidemark.glue_job.readers.json.lines.MANY", many)
    for place, text in enumerate(texts):
        s3.put(f"{place}.json", text)

    def read():
        glue_context.create_dynamic_frame.from_options(
            "s3", {"paths": [s3.uri]}, "json", options
        ).toDF().collect()

    assert counts(read).rows_read == rows


@pytest.mark.nightly
def test_rows_that_are_made_flat_are_counted_once(glue_context, s3, counts):
    s3.put("in/a.json", '{"id": 1, "of": [{"n": [1, 2]}]}\n{"id": 2, "of": []}\n')

    def read():
        frame = glue_context.create_dynamic_frame.from_options(
            "s3", {"paths": [f"{s3.uri}in/"]}, "json"
        )
        frame.printSchema()
        tables = frame.relationalize("root", s3.uri)
        assert sorted(tables.keys()) == ["root", "root_of", "root_of.val.n"]
        for name in ("root", "root_of", "root_of.val.n"):
            tables.select(name).toDF().write.parquet(f"{s3.uri}out/{name}")

    assert counts(read).rows_read == 2


@pytest.mark.parametrize("keys", [{}, {"jobBookmarkKeys": ["N"]}], ids=["primary key", "keys"])
def test_the_questions_about_a_table_of_a_database_are_not_counted(
    glue_context, spark, counts, start_job, keys
):
    url = f"jdbc:derby:memory:counted{len(keys)};create=true"
    connection = spark._jvm.java.sql.DriverManager.getConnection(url)
    for text in ("CREATE TABLE T (N INT NOT NULL PRIMARY KEY)", "INSERT INTO T VALUES 1, 2"):
        connection.createStatement().execute(text)
    start_job()

    def read():
        glue_context.create_dynamic_frame.from_options(
            "custom.jdbc", {"url": url, "dbTable": "T", **keys}, transformation_ctx="t"
        ).toDF().collect()

    assert counts(read) == RowCounts(rows_read=2)


def test_the_questions_of_the_watermark_library_for_a_bound_are_not_counted(spark, s3, counts):
    from watermarks import newest, newest_jdbc

    url = "jdbc:derby:memory:bounds;create=true"
    connection = spark._jvm.java.sql.DriverManager.getConnection(url)
    for text in ("CREATE TABLE T (N INT NOT NULL)", "INSERT INTO T VALUES 1, 2, 3"):
        connection.createStatement().execute(text)
    s3.put("in/a.json", '{"n": 1}\n{"n": 2}\n')
    rows = spark.read.schema("n INT").json(f"{s3.uri}in/")

    def read():
        assert newest_jdbc(spark, {"url": url}, "T", "N") == 3
        assert newest(rows, "n") == 2
        rows.collect()

    assert counts(read) == RowCounts(rows_read=2)


def test_csv_copied_to_csv_is_counted_on_both_sides(spark, s3, counts):
    s3.put("in/a.csv", FLIGHTS)
    flights = spark.read.csv(s3.uri + "in/", header=True)

    assert counts(lambda: flights.write.csv(s3.uri + "out/")) == RowCounts(3, 3)


def test_json_inference_is_not_counted(spark, s3, counts):
    s3.put("a.json", '{"id": 1}\n{"id": 2}\n')

    assert counts(lambda: spark.read.json(s3.uri).collect()) == RowCounts(rows_read=2)


def test_counting_rows_reads_them(spark, s3, counts):
    s3.put("a.json", '{"id": 1}\n{"id": 2}\n')
    flights = spark.read.schema("id INT").json(s3.uri)

    assert counts(flights.count) == RowCounts(rows_read=2)


def test_filter_pushed_into_csv_counts_the_rows_after_it(spark, s3, counts):
    s3.put("a.csv", FLIGHTS)
    flights = spark.read.schema("id INT, origin STRING").csv(s3.uri, header=True)

    assert counts(flights.where("id > 1").collect) == RowCounts(rows_read=2)


def test_parquet_file_that_a_filter_skips_is_not_counted(spark, s3, counts):
    spark.range(0, 10).coalesce(1).write.parquet(s3.uri)
    spark.range(100, 105).coalesce(1).write.mode("append").parquet(s3.uri)
    rows = spark.read.parquet(s3.uri).where("id >= 100")

    assert counts(rows.collect) == RowCounts(rows_read=5)


def test_partition_that_a_filter_skips_is_not_counted(spark, s3, counts):
    s3.put("origin=EWR/a.json", '{"id": 1}\n')
    s3.put("origin=JFK/a.json", '{"id": 2}\n')
    flights = spark.read.schema("id INT, origin STRING").json(s3.uri)

    assert counts(flights.where("origin = 'JFK'").collect) == RowCounts(rows_read=1)


def test_cached_frame_counts_once(spark, s3, counts):
    s3.put("a.json", '{"id": 1}\n{"id": 2}\n')
    flights = spark.read.schema("id INT").json(s3.uri).cache()

    def use_twice():
        flights.count()
        flights.collect()

    assert counts(use_twice) == RowCounts(rows_read=2)


def test_frame_that_is_not_cached_counts_every_scan(spark, s3, counts):
    s3.put("a.json", '{"id": 1}\n{"id": 2}\n')
    flights = spark.read.schema("id INT").json(s3.uri)

    def use_twice():
        flights.count()
        flights.collect()

    assert counts(use_twice) == RowCounts(rows_read=4)


@pytest.mark.parametrize("kind", ["json", "parquet", *at_night("csv")])
def test_written_rows_are_exact(spark, s3, counts, kind):
    rows = spark.range(0, 1000, numPartitions=3).selectExpr("id", "id % 7 AS day")

    written = counts(lambda: rows.write.partitionBy("day").format(kind).save(s3.uri))

    assert written == RowCounts(rows_written=1000)


@pytest.mark.nightly
def test_counts_are_whole_unless_rows_pass_spark_sql_by(glue_context, spark, s3, counts):
    s3.put("a.csv", FLIGHTS)
    flights = spark.read.csv(s3.uri, header=True)
    frame = glue_context.create_dynamic_frame.from_options("s3", {"paths": [s3.uri]}, "csv")
    made = spark.createDataFrame([(1,), (2,)], "id INT")
    empty = spark.createDataFrame([], "id INT")

    assert counts(flights.count).is_whole
    assert counts(empty.collect).is_whole
    assert not counts(flights.rdd.count).is_whole
    assert not counts(made.collect).is_whole
    assert not counts(lambda: frame.map(lambda row: row).count()).is_whole


def test_rows_made_by_the_job_are_not_read(spark, counts):
    assert counts(spark.range(5).collect) == RowCounts()


def test_jdbc_scan_is_counted_after_the_pushed_filter(spark, counts):
    url = "jdbc:derby:row_counts;create=true"
    driver = {"driver": "org.apache.derby.jdbc.EmbeddedDriver"}
    spark.range(1, 4).write.jdbc(url, "flights", properties=driver)
    flights = spark.read.jdbc(url, "flights", properties=driver)

    assert counts(flights.collect) == RowCounts(rows_read=3)
    assert counts(flights.where("id > 2").collect) == RowCounts(rows_read=1)


@pytest.mark.nightly
def test_log_of_a_whole_job_process_is_counted(tmp_path):
    home = Home.open(tmp_path / "home")
    source = home.lake / "tests" / "in"
    source.mkdir(parents=True)
    (source / "a.json").write_text('{"id": 1}\n{"id": 2}\n', encoding="utf-8")
    run_folder = home.runs / "jr_1"
    run_folder.mkdir()
    spark_variables = write_spark_conf(run_folder, home, find_java_home(), {})
    script = run_folder / "copy_flights.py"
    script.write_text(SCRIPT, encoding="utf-8")
    (run_folder / "arguments.json").write_text("[]", encoding="utf-8")

    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tidemark.glue_job.process.job_process",
            str(os.getpid()),
            str(script),
        ],
        cwd=run_folder,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join((str(ROOT), *map(str, SITES))),
            "TIDEMARK_HOME": str(home.root),
            RUN_FOLDER_VARIABLE: str(run_folder),
            **spark_variables,
        },
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert read_row_counts(run_folder / EVENTS_FOLDER) == RowCounts(rows_read=2, rows_written=2)
