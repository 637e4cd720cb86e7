"""`tidemark compare-versions` on both Sparks; the first test makes the one that is missing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from tidemark.cli.main import main
from tidemark.glue_service.commands import region
from tidemark.local_state.dynamodb import create_tables, dynamodb_client, dynamodb_endpoint
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import Store
from tidemark.local_state.watermark_tables import watermark_table

pytestmark = pytest.mark.spark
LIBS = Path(__file__).parents[3] / "libs"

INCREMENTAL = """
import sys
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext
from pyspark.sql import functions as F

args = getResolvedOptions(sys.argv, ["JOB_NAME"])
glue_context = GlueContext(SparkContext.getOrCreate())
job = Job(glue_context)
job.init(args["JOB_NAME"], args)
frame = glue_context.create_dynamic_frame.from_options(
    "s3", {"paths": ["s3://lake/in/"]}, "json", transformation_ctx="rows"
)
rows = frame.resolveChoice(specs=[("n", "cast:int")]).toDF().withColumn("at", F.current_timestamp())
rows.write.mode("append").partitionBy("day").parquet("s3://lake/out/")
rows.groupBy("day").count().coalesce(1).write.mode("overwrite").json("s3://lake/counts/")
job.commit()
"""
SPARK_4 = """
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
rows = spark.createDataFrame([("1", 1), ("abc", 0)], "n string, d int")
rows.selectExpr("n", "size(cast(null as array<int>)) as s").write.parquet("s3://lake/silent/")
rows.selectExpr("cast(n as int) as i").write.parquet("s3://lake/cast/")
"""


STATES = """
import sys
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext
from awsglue.context import GlueContext
from watermarks import Watermarks, newest, rows_of, write_window

args = getResolvedOptions(sys.argv, ["JOB_NAME"])
spark = GlueContext(SparkContext.getOrCreate()).spark_session
rows = spark.read.schema("day string, n string").json("s3://lake/in/")
rows = rows.selectExpr("day", "coalesce(n, size(cast(null as array<int>)), 7) as n")
marks = Watermarks()
for window in marks.windows(args["JOB_NAME"], run_id=args["JOB_RUN_ID"], cursor="day",
                            high=newest(rows)):
    write_window(rows_of(rows, window), "s3://lake/windows/", window)
least = rows.where("day > '2026-01-01'").selectExpr("cast(sum(n) as long)").first()[0]
marks.advance(job_id=args["JOB_NAME"], run_id=args["JOB_RUN_ID"], source="sums",
              to={"sum": least}, base=None)
spark.sql("CREATE DATABASE IF NOT EXISTS mart LOCATION 's3://lake/mart/'")
spark.sql("CREATE TABLE mart.plain (n INT)")
spark.sql("CREATE TABLE mart.parquet (n INT) USING parquet")
"""


@pytest.fixture
def lake(tmp_path, monkeypatch):
    monkeypatch.setenv("TIDEMARK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    home = Home.open(tmp_path / "home")
    home.create_bucket("lake")
    folder = home.lake / "lake" / "in"
    folder.mkdir()
    for number, n in enumerate(("1", "two", None)):
        row = {"day": f"2026-01-0{number + 1}", "n": n}
        (folder / f"{number}.json").write_text(json.dumps(row) + "\n")
    return home


def compared(*words):
    done = CliRunner().invoke(main, ["compare-versions", "--format", "json", *words])
    assert done.exit_code in (0, 1), (done.output, done.exception)
    found = json.loads(done.stdout)
    assert done.exit_code == (found["verdict"] != "equal")
    return found


@pytest.mark.nightly
def test_a_job_with_bookmarks_and_casts_of_glue_is_equal_and_the_home_stays(lake, tmp_path):
    (tmp_path / "job.py").write_text(INCREMENTAL)

    found = compared("--keep", "kept", "job.py", "--job-bookmark-option", "job-bookmark-enable")

    assert found["verdict"] == "equal", found
    (job,) = found["jobs"]
    assert job["old"]["rows_read"] == job["new"]["rows_read"] > 0
    places = {target["target"]: target for target in found["targets"]}
    assert places["s3://lake/out/"]["rows"] == [3, 3]
    assert places["s3://lake/out/"]["by_time"] == ["at"]
    assert places["s3://lake/counts/"]["rows"] == [3, 3]
    (bookmark,) = found["states"]
    assert (bookmark["kind"], bookmark["name"], bookmark["verdict"]) == ("bookmark", "job", "equal")
    assert bookmark["summary"] == ["version 1; rows to the time of the run"] * 2
    with Store(lake.database) as store:
        assert store.all_job_runs() == []
    assert sorted(path.name for path in (lake.lake / "lake").iterdir()) == ["in"]
    for version in ("5.1", "6.0"):
        with Store(Home.open(tmp_path / "kept" / f"home-{version}").database) as store:
            assert [run.state for run in store.all_job_runs()] == ["SUCCEEDED"]
            marks = store.query("SELECT count(*) AS n FROM bookmark")
            assert [row["n"] for row in marks] == [1]


@pytest.mark.nightly
def test_watermarks_and_tables_that_differ_are_told_with_their_values(lake, tmp_path):
    (tmp_path / "states.py").write_text(STATES)
    (lake.lake / "lake" / "in" / "1.json").write_text('{"day": "2026-01-02", "n": "3"}\n')
    shutil.make_archive(str(lake.lake / "lake" / "libs"), "zip", LIBS)
    with dynamodb_endpoint(lake) as url, dynamodb_client(url, region()) as client:
        create_tables(client, [watermark_table("glue-watermarks")])

    found = compared("states.py", "--extra-py-files", "s3://lake/libs.zip")

    assert found["verdict"] == "differs", found["jobs"]
    states = {(state["kind"], state["name"]): state for state in found["states"]}
    mark = states["watermark", "glue-watermarks: states"]
    assert (mark["verdict"], mark["summary"]) == ("equal", ["day = '2026-01-03'"] * 2)
    assert states["watermark", "glue-watermarks: states, source sums"]["differences"] == {
        "sum": ["2", "10"],
        "commit 1": ["sum = 2", "sum = 10"],
    }
    assert states["database", "mart"]["verdict"] == "equal"
    assert states["table", "mart.parquet"]["verdict"] == "equal"
    assert "InputFormat" in states["table", "mart.plain"]["differences"]


FAULTS = {
    "cast(2147483647 as int) + int(n)": ("ARITHMETIC_OVERFLOW", "does not fit its type"),
    "cast(concat('abc', n) as int)": ("CAST_INVALID_INPUT", "a string that is not of the type"),
    "1 / (int(n) - 1)": ("DIVIDE_BY_ZERO", "a division by zero"),
    "to_date(concat('2024-13-0', n))": ("CAST_INVALID_INPUT", "a string that is not of the type"),
    "to_date(concat('2024-13-0', n), 'yyyy-MM-dd')": ("CANNOT_PARSE", "cannot parse"),
}


@pytest.mark.nightly
@pytest.mark.parametrize("expression", FAULTS)
def test_a_job_that_breaks_a_rule_of_ansi_fails_with_its_cause_and_its_line(
    lake, tmp_path, expression
):
    lines = (
        "from pyspark.sql import SparkSession",
        "rows = SparkSession.builder.getOrCreate().createDataFrame([('1',)], 'n string')",
        f'rows.selectExpr("{expression} as v").write.parquet("s3://lake/out/")',
    )
    (tmp_path / "fault.py").write_text("\n".join(lines))

    found = compared("fault.py")

    error, title = FAULTS[expression]
    (job,) = found["jobs"]
    assert (found["verdict"], job["old"]["state"]) == ("fails", "SUCCEEDED")
    assert error in job["new"]["error"]
    assert title in job["cause"]["title"]
    assert job["cause"]["place"] == "fault.py:3"
    assert "spark.sql.ansi.enabled=false" in job["cause"]["setting"]
    (target,) = found["targets"]
    assert target["rows"] == [1, None]


@pytest.mark.nightly
def test_the_setting_with_which_least_differs_is_found(lake, tmp_path):
    (tmp_path / "four.py").write_text(SPARK_4)

    found = compared("--find-settings", "four.py")

    assert found["settings"] == ["spark.sql.ansi.enabled=false"]


@pytest.mark.nightly
def test_what_fails_and_what_changes_in_silence_is_told(lake, tmp_path):
    (tmp_path / "four.py").write_text(SPARK_4)

    found = compared("four.py")

    assert found["verdict"] == "fails"
    (job,) = found["jobs"]
    assert (job["old"]["state"], job["new"]["state"]) == ("SUCCEEDED", "FAILED")
    assert job["cause"]["place"] == "four.py:7"
    assert "try_cast" in job["cause"]["remedy"]
    places = {target["target"]: target for target in found["targets"]}
    assert places["s3://lake/cast/"]["rows"] == [2, None]
    silent = places["s3://lake/silent/"]
    assert (silent["columns"], silent["rows"]) == (["s"], [2, 2])
    assert json.loads(silent["only_old"][0])["s"] == -1
    assert json.loads(silent["only_new"][0])["s"] is None
    assert found["settings"] is None


def test_wrong_requests_are_usage_errors(lake, tmp_path):
    (tmp_path / "job.py").write_text("")
    for words in (
        ["--from", "6.0", "--to", "6.0", "job.py"],
        ["--to", "7.0", "job.py"],
        ["--workflow", "w", "job.py"],
        ["none.py"],
        ["--keep", "home", "job.py"],
    ):
        done = CliRunner().invoke(main, ["compare-versions", *words])
        assert done.exit_code == 2, (words, done.output)
