"""The one line about a failure, made of what Spark really raises."""

from __future__ import annotations

import sys

import pytest
from pyspark.sql.functions import lit

from tidemark.glue_job.process.failures import failure_of
from tidemark.local_state.sparks.installed import own_spark

pytestmark = pytest.mark.spark


def failure(action):
    try:
        action()
    except Exception as error:  # noqa: BLE001 (of whatever class)
        return failure_of(error, __file__)
    raise AssertionError("it did not fail")


def bad_row(_):
    raise ValueError("bad row")


def test_missing_jdbc_driver_is_named_by_its_class(spark):
    reader = spark.read.format("jdbc").options(url="jdbc:x://y/z", dbtable="t")

    without = failure(reader.load)
    missing = failure(reader.option("driver", "com.example.Driver").load)

    assert without.cause == "java.sql.SQLException: No suitable driver"
    assert missing.cause == "java.lang.ClassNotFoundException: com.example.Driver"


def test_error_of_a_function_in_a_worker_is_its_own(spark):
    found = failure(lambda: spark.sparkContext.parallelize([1]).map(bad_row).collect())

    assert found.cause == "ValueError: bad row"


@pytest.mark.skipif(own_spark().major < 4, reason="Spark 3.5 does not know the line")
def test_line_of_a_cast_is_named_and_not_that_of_the_action(spark, tmp_path):
    frame = spark.range(1).select(lit("abc").alias("text"))
    number = frame.select(frame.text.cast("int"))
    line = sys._getframe().f_lineno - 1

    found = failure(lambda: number.write.json(str(tmp_path / "out")))

    assert found.where == f"test_spark_failures.py, line {line}"


def test_plan_and_query_are_left_to_the_log(spark):
    missing = failure(lambda: spark.range(3).select("x"))
    wrong = failure(lambda: spark.sql("x y z"))

    assert missing.cause.startswith("AnalysisException: [UNRESOLVED_COLUMN")
    assert "Project" not in missing.cause
    assert wrong.cause.startswith("ParseException: [PARSE_SYNTAX_ERROR]")
    assert "SQL ==" not in wrong.cause
