"""A run warns of the columns that its sources and targets have otherwise than before."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.spark
SCRIPT = """
import sys
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

args = getResolvedOptions(sys.argv, ["JOB_NAME"])
glue = GlueContext(SparkContext.getOrCreate())
job = Job(glue)
job.init(args["JOB_NAME"], args)
orders = glue.create_dynamic_frame.from_options(
    "s3", {"paths": ["s3://lake/in/"]}, "json", transformation_ctx="orders"
)
glue.write_dynamic_frame.from_options(orders, "s3", {"path": "s3://lake/out/"}, "parquet")
rows = orders.toDF()
if rows.columns:
    rows.write.parquet("s3://lake/plain/", mode="append", partitionBy="id")
    rows.write.format("parquet").mode("overwrite").save("s3://lake/last/")
job.commit()
"""
FAIL = "Spark and Athena fail; from_catalog takes what fits its table, a DynamicFrame a choice"


@pytest.fixture
def run(lake, glue_job, tmp_path):
    """Return what lets a number of orders arrive, and runs the job; it returns its warnings."""
    script = tmp_path / "orders.py"
    script.write_text(SCRIPT, encoding="utf-8")
    arrived = []

    def run(*orders, isolated=None):
        if orders:
            arrived.append(orders)
            lines = "".join(f"{json.dumps(order)}\n" for order in orders)
            lake.put(f"s3://lake/in/{len(arrived)}.json", lines)
        ended = glue_job(str(script), bookmark="enable", isolated=isolated).check()
        return ended, [text.partition("; `tidemark schema")[0] for text in ended.warnings]

    return run


def test_three_increments_are_told_once_and_a_target_of_two_types_before_it_is_written(run):
    _, first = run({"id": 1, "amt": 10, "tip": 1}, isolated=True)
    ended, second = run({"id": 2, "amt": "20 EUR"}, isolated=True)
    _, third = run({"id": 3, "amount": 30, "tip": 2}, isolated=True)
    _, nothing = run(isolated=True)

    remedy = "; cast the column to the type that the target has, or write to another folder (TM278)"
    before = "this write leaves files of two types for one column in the target"
    mixed = [
        f"{before} s3://lake/{name}/: amt was int and is string: {FAIL}{remedy}"
        for name in ("out", "plain")
    ]
    source = "other columns than in the last run that succeeded: source orders (s3://lake/in/): "
    assert first == nothing == []
    assert second == [
        f"{source}amt was int and is string, in s3://lake/in/2.json (1 row); "
        "no record of this run has tip (int)",
        *mixed,
    ]
    assert third == [
        f"{source}amount is new (int), in s3://lake/in/3.json (1 row); "
        "no record of this run has amt (string)"
    ]
    assert all(f"warning: {text}" in ended.stderr for text in mixed)


def test_a_column_of_nulls_is_no_change_of_its_source_but_a_string_in_its_target(run):
    def sources(warnings):
        return [text for text in warnings if "source orders" in text]

    _, first = run({"id": 1, "amt": None})
    _, valued = run({"id": 2, "amt": 10, "from": {"city": 1}})
    _, nulls = run({"id": 3, "amt": None, "from": {"city": None}})
    _, text = run({"id": 4, "amt": "20 EUR"})

    changed = [text.partition(": ")[2].partition(": Spark")[0] for text in nulls]
    assert first == []
    assert sources(valued) == [
        "other columns than in the last run that succeeded: source orders (s3://lake/in/): "
        "from is new (struct), in s3://lake/in/2.json (1 row)"
    ]
    assert sources(nulls) == []
    assert "amt was int and is string" in changed
    assert len(sources(text)) == 1
    assert "amt was int and is string, in s3://lake/in/4.json" in sources(text)[0]


@pytest.mark.nightly
def test_ten_increments_with_optional_fields_are_no_news_of_a_target_of_json(
    lake, glue_job, tmp_path
):
    script, told = tmp_path / "orders.py", list[str]()
    as_json = SCRIPT.partition("rows = ")[0].replace('"parquet")', '"json")')
    script.write_text(f"{as_json}job.commit()\n", encoding="utf-8")
    first = {"id": 1, "tip": 1.5, "place": {"x": 1}}
    others = ({}, {"tip": None}, {"place": None}, {"id": 2**40, "tip": 2}, {"place": {"x": None}})

    for number, order in enumerate([first, *others, first, *others]):
        lake.put(f"s3://lake/in/{number}.json", f"{json.dumps({'id': 1, **order})}\n")
        told += glue_job(str(script), bookmark="enable").check().warnings

    assert told == []


WINDOWS = """
import sys
from awsglue.context import GlueContext
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext
from watermarks import Watermarks, newest, rows_of, write_window

args = getResolvedOptions(sys.argv, ["JOB_NAME", "columns"])
spark = GlueContext(SparkContext.getOrCreate()).spark_session
high = 3 if "int" in args["columns"] else 6
rows = spark.range(high).selectExpr("id", args["columns"])
watermarks = Watermarks("glue-watermarks")
windows = watermarks.windows(
    args["JOB_NAME"], run_id=args["JOB_RUN_ID"], cursor="id", high=newest(rows)
)
for window in windows:
    write_window(rows_of(rows, window), "s3://lake/windows/", window)
"""


def test_a_window_of_the_library_is_observed(lake, glue_job, tmp_path):
    script = tmp_path / "load.py"
    script.write_text(WINDOWS, encoding="utf-8")

    first = glue_job(str(script), isolated=True, columns="int(id) AS amt").check()
    second = glue_job(str(script), isolated=True, columns="string(id) AS amt").check()

    assert first.warnings == []
    assert [text.partition("; `tidemark")[0] for text in second.warnings] == [
        "other columns than in the last run that succeeded: target s3://lake/windows/: "
        "amt was int and is string"
    ]


READS = """
import sys
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

args = getResolvedOptions(sys.argv, ["JOB_NAME"])
glue = GlueContext(SparkContext.getOrCreate())
spark = glue.spark_session
job = Job(glue)
job.init(args["JOB_NAME"], args)
spark.read.json("s3://lake/in/").createOrReplaceTempView("orders")
spark.sql("DROP TABLE IF EXISTS copied")
spark.sql("CREATE TABLE copied USING parquet AS SELECT * FROM orders")
glue.sql("SELECT * FROM copied").write.mode("overwrite").parquet("s3://lake/out/")
job.commit()
"""


def test_what_spark_reads_and_what_sql_writes_is_observed(lake, glue_job, tmp_path):
    script = tmp_path / "copy.py"
    script.write_text(READS, encoding="utf-8")

    def warnings(name: str, *orders: dict[str, object]) -> list[str]:
        lake.put(f"s3://lake/in/{name}.json", "".join(f"{json.dumps(o)}\n" for o in orders))
        told = glue_job(str(script), bookmark="enable", isolated=True).check().warnings
        return [text.partition("; `tidemark")[0] for text in told if "(TM277)" in text]

    assert warnings("z", {"id": 1, "amt": 10}) == []
    assert warnings("y", {"id": 2, "amt": 10}) == []
    assert warnings("a", {"id": 2, "amt": "20"}, {"id": 3, "amt": "x", "tip": 1}) == [
        "other columns than in the last run that succeeded: source s3://lake/in/: "
        "amt was bigint and is string, in s3://lake/in/a.json (2 rows); "
        "tip is new (bigint), in s3://lake/in/a.json (1 row)"
    ]
