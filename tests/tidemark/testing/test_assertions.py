"""The assertions of the test kit pass for jobs that are right, and name what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidemark.testing import assert_idempotent, assert_incremental, assert_same_as_recomputed

pytestmark = pytest.mark.spark

BEGIN = """
import sys
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

args = getResolvedOptions(sys.argv, ["JOB_NAME", "source_path", "target_path"])
glue = GlueContext(SparkContext())
spark = glue.spark_session
job = Job(glue)
job.init(args["JOB_NAME"], args)

def read(path=args["source_path"], context="landed"):
    return glue.create_dynamic_frame.from_options(
        "s3", {"paths": [path], "recurse": True}, "json", transformation_ctx=context
    ).toDF()

def append(rows, path=args["target_path"]):
    if rows.columns:
        rows.write.mode("append").json(path)

def merge(rows, path=args["target_path"]):
    if rows.columns:
        try:
            rows = rows.unionByName(spark.read.json(path))
        except Exception:
            pass  # nothing is there yet
        rows = rows.dropDuplicates(["id"])
        rows = spark.createDataFrame(rows.collect(), rows.schema)
        rows.write.mode("overwrite").json(path)

"""
RIGHT = {
    "appends": "append(read())\njob.commit()\n",
    "merges": "merge(read())\njob.commit()\n",
    "writes where no argument says": "append(read(), 's3://elsewhere/orders/')\njob.commit()\n",
}
# What a job does wrong, and what the assertion says.
WRONG = {
    "commits before it merges": (
        "rows = read()\njob.commit()\nmerge(rows)\n",
        "has not written to raw/orders/, where earlier ones wrote",
    ),
    "commits before it writes elsewhere": (
        "rows = read()\njob.commit()\nappend(rows, 's3://elsewhere/orders/')\n",
        "has not written to elsewhere/orders/",
    ),
    "commits between two targets": (
        "rows = read()\nappend(rows, args['target_path'] + 'a/')\njob.commit()\n"
        "append(rows, args['target_path'] + 'b/')\n",
        "has not written to raw/orders/b/",
    ),
    "appends a source without a context": (
        "append(read())\nappend(read('s3://landing/other/', ''))\njob.commit()\n",
        "after a run with nothing new, 1 row there more often than expected",
    ),
    "empties its target": (
        "rows = read()\nspark.createDataFrame(rows.collect(), 'id long')"
        ".write.mode('overwrite').json(args['target_path'])\njob.commit()\n",
        "after a run with nothing new, 2 rows missing",
    ),
    "survives a kill": (
        "append(read())\ntry:\n    job.commit()\nexcept:\n    pass\n",
        "the script continues after the exception that stands for a kill",
    ),
}
PATHS = {"source_path": "s3://landing/orders/", "target_path": "s3://raw/orders/"}
ROWS = [{"id": 1}, {"id": 2}]
WATERMARKED = (
    "from watermarks import Watermarks, newest, rows_of, write_window\n"
    "orders = spark.read.schema('id long').json(args['source_path'])\n"
    "for window in Watermarks().windows(\n"
    "    args['JOB_NAME'], run_id=args['JOB_RUN_ID'], cursor='id', high=newest(orders)):\n"
    "    {write}\n"
)


@pytest.fixture
def script(tmp_path, lake):
    """Return a function that writes a script, whose first files have landed."""
    lake.put("landing/orders/1.json", ROWS, minutes_ago=20)
    lake.put("landing/other/1.json", [{"id": 9}], minutes_ago=20)

    def write(text: str) -> Path:
        file = tmp_path / "orders.py"
        file.write_text(BEGIN + text, encoding="utf-8")
        return file

    return write


@pytest.mark.nightly  # test_fixtures.py has one that appends
@pytest.mark.parametrize("name", RIGHT)
def test_job_passes_that(name, script):
    assert_incremental(script(RIGHT[name]), **PATHS)


@pytest.mark.nightly
@pytest.mark.glue(version="6.0")
@pytest.mark.parametrize("name", RIGHT)
def test_job_of_glue_6_passes_that_and_its_kills_are_real(name, script):
    assert_incremental(script(RIGHT[name]), **PATHS)


@pytest.mark.glue(version="6.0")
@pytest.mark.nightly
@pytest.mark.parametrize("name", WRONG)
def test_job_of_glue_6_fails_that(name, script):
    text, told = WRONG[name]
    if name == "survives a kill":  # a real one, which nothing survives
        assert_incremental(script(text), **PATHS)
        return
    with pytest.raises(AssertionError) as raised:
        assert_incremental(script(text), **PATHS)

    assert told in str(raised.value)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(it, marks=[] if it.startswith("empties") else pytest.mark.nightly)
        for it in WRONG
    ],
)
def test_job_fails_that(name, script):
    text, told = WRONG[name]
    with pytest.raises(AssertionError) as raised:
        assert_incremental(script(text), **PATHS)

    assert told in str(raised.value)


@pytest.mark.nightly
def test_run_that_has_read_everything_is_the_first_one(script, glue_job):
    run = glue_job(script(RIGHT["appends"]), bookmark="enable", **PATHS)

    assert_incremental(run)


@pytest.mark.nightly
def test_files_that_a_job_has_deleted_are_among_those_it_read(script, glue_job, lake):
    delete = "jvm = spark._jvm\nplace = jvm.org.apache.hadoop.fs.Path(args['source_path'])\n"
    delete += "place.getFileSystem(spark._jsc.hadoopConfiguration()).delete(place, True)\n"
    file = script(RIGHT["appends"] + delete)

    for isolated in (None, True):
        lake.put("landing/orders/1.json", ROWS, minutes_ago=20)
        run = glue_job(file, bookmark="enable", isolated=isolated, JOB_NAME=f"j{isolated}", **PATHS)
        assert run.files_read == ["landing/orders/1.json"], run.error

    lake.put("landing/orders/3.json", ROWS)
    with pytest.raises(AssertionError, match="give new= and late="):
        assert_incremental(file, **PATHS)


@pytest.mark.nightly
def test_watermarks_are_forgotten_for_a_recomputation_and_put_back(
    script, glue_job, lake, watermarks
):
    write = "write_window(rows_of(orders, window), args['target_path'], window)"
    job = glue_job.define(script(WATERMARKED.format(write=write)), **PATHS)
    job().check()
    lake.put("landing/orders/2.json", [{"id": 3}])
    job().check()
    before = watermarks.latest("orders")

    assert_same_as_recomputed(job)
    assert watermarks.latest("orders") == before
    assert_idempotent(job)


def test_appending_job_with_watermarks_is_not_idempotent(script, watermarks):
    file = script(WATERMARKED.format(write="append(rows_of(orders, window))"))

    with pytest.raises(AssertionError, match="2 rows there more often"):
        assert_idempotent(file, **PATHS)
