"""The plugin in sessions of its own: what it imports, what a failure shows, debuggers, workers."""

from __future__ import annotations

import pytest

pytest_plugins = ("pytester",)
pytestmark = pytest.mark.spark

UNUSED = """
import sys

def test_nothing_is_imported_until_a_fixture_asks():
    heavy = ("pyspark", "py4j", "boto3", "botocore", "awsglue", "watermarks", "click", "sqlite3")
    found = [name for name in sys.modules if name.partition(".")[0] in heavy]
    own = [name for name in sys.modules if name.startswith("tidemark")]
    assert found == []
    assert sorted(own) == [
        "tidemark", "tidemark.sites", "tidemark.testing", "tidemark.testing.fixtures",
        "tidemark.testing.function_fixtures", "tidemark.testing.plugin",
    ]
"""
SCRIPT = """
from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from pyspark.context import SparkContext

def main():
    context = GlueContext(SparkContext.getOrCreate())
    spark = context.spark_session
    orders = spark.range(3).withColumnRenamed("id", "order_id")
    rows = DynamicFrame.fromDF(orders.selectExpr("cast(order_id AS int) AS id"), context, "rows")
    failing = rows.map(lambda row: {{"bad": object()}})
    print("three orders")
    {statement}

if __name__ == "__main__":
    main()
"""
PAUSED = "breakpoint()\n    print('and on')"
TESTS = """
import logging
import pytest

def test_failed_job(glue_job, lake):
    lake.put("landing/1.json", [{"id": 1}])
    assert glue_job("broken.py").state == "SUCCEEDED"

@pytest.mark.glue(isolated=True)
def test_failed_job_isolated(glue_job):
    assert glue_job("broken.py").is_success

def test_checked_job(glue_job):
    glue_job("broken.py").check()

def test_the_lake_is_empty_again(lake, catalog, bookmark):
    assert (lake.names(), catalog.tables(), bookmark("broken").files) == ([], [], [])

def test_breakpoint(glue_job):
    print("kept:", repr(glue_job("paused.py").check().stdout))

@pytest.mark.glue(isolate=True)
def test_marker_is_wrong(lake):
    pass
"""


@pytest.fixture
def project(pytester, monkeypatch):
    """Return a function that writes a project of scripts, and its tests."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)

    def write(statements: dict[str, str], tests: str) -> None:
        folder = pytester.mkdir("glue_jobs")
        for name, statement in statements.items():
            text = SCRIPT.format(statement=statement)
            (folder / f"{name}.py").write_text(text, encoding="utf-8")
        pytester.makepyfile(test_it=tests)

    return write


def test_session_that_uses_no_fixture_imports_nothing(pytester):
    pytester.makepyfile(test_it=UNUSED)

    pytester.runpytest_subprocess("-p", "no:hypothesispytest").assert_outcomes(passed=1)


@pytest.mark.nightly
def test_failures_show_the_script_and_a_breakpoint_in_one_stops_there(pytester, project):
    project({"broken": "raise ValueError('no such order')", "paused": PAUSED}, TESTS)

    done = pytester.run("python", "-m", "pytest", "-q", "-rP", stdin=b"p orders.columns\nc\n")

    done.assert_outcomes(failed=3, passed=2, errors=1)
    done.stdout.fnmatch_lines(
        [
            "*glue job broken: FAILED (in process)*",
            "*def main():*",
            ">       raise ValueError('no such order')",
            "E       ValueError: no such order",
            "glue_jobs/broken.py:13: ValueError",
            "frames in the script:",
            "*orders: DataFrame?order_id bigint?",
            "*rows: DynamicFrame?id int?",
            "*failing: DynamicFrame?nothing computed its rows *",
        ],
        consecutive=False,
    )
    title = "*glue job broken: FAILED (in process)*"
    done.stdout.fnmatch_lines([title, "    def main():"], consecutive=True)
    done.stdout.fnmatch_lines(
        [
            "*glue job broken: FAILED (isolated: the test is marked isolated)*",
            ">       raise ValueError('no such order')",
            "E   ValueError: no such order (broken.py, line 13)",
        ]
    )
    done.stdout.fnmatch_lines(["three orders"])
    done.stdout.fnmatch_lines(["*@pytest.mark.glue has ?'isolate'?; allowed: *"])
    done.stdout.fnmatch_lines(["glue jobs: 3 runs in process, 1 run isolated"])
    done.stdout.fnmatch_lines(["*(Pdb) ?'order_id'?"])
    done.stdout.fnmatch_lines(["*kept: 'three orders?nand on?n'"])


@pytest.mark.nightly
@pytest.mark.parametrize(
    "statement", ["raise ValueError('no')", "orders.select('gone').show()"], ids=["own", "Spark's"]
)
def test_pdb_stops_in_the_script_that_failed(pytester, project, statement):
    tests = "def test_it(glue_job):\n    glue_job('broken.py').check()\n"
    project({"broken": statement}, tests)

    done = pytester.run("python", "-m", "pytest", "--pdb", stdin=b"p orders.columns\nq\n")

    done.stdout.fnmatch_lines(["*glue_jobs/broken.py(13)main()*", "*(Pdb) ?'order_id'?"])


@pytest.mark.nightly
def test_workers_have_lakes_of_their_own(pytester, project):
    project(
        {"broken": ""},
        "import pytest\n"
        "@pytest.mark.parametrize('number', range(4))\n"
        "def test_it(number, glue_job, lake):\n"
        "    assert lake.names() == []\n"
        "    lake.put('landing/1.json', [{'id': number}])\n"
        "    assert glue_job('broken.py').check().stdout == 'three orders\\n'\n"
        "    assert lake.rows('landing/') == [{'id': number}]\n",
    )

    done = pytester.runpytest_subprocess("-n", "2")

    done.assert_outcomes(passed=4)
    done.stdout.fnmatch_lines(["glue jobs: 4 runs in process, 0 runs isolated"])
