"""pandas and Arrow, which AWS has in every version of Glue: functions of Spark that need them."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pandas as pd
import pytest
from pyspark.sql.functions import col, pandas_udf

from awsglue.dynamicframe import DynamicFrame

pytestmark = [
    pytest.mark.spark,
    pytest.mark.rule("Frames", source="PYL", choice="the versions that 5.1 and 6.0 have"),
    # PySpark 3.5 asks for distutils, and for names of pandas that are to go.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]
ROWS = [
    (1, "x", date(2024, 1, 1), Decimal("1.50")),
    (2, None, None, None),
]
SCHEMA = "id bigint, text string, day date, price decimal(5,2)"


def test_functions_of_pandas_run_in_workers(spark):
    plus = pandas_udf(lambda ids: ids + 1, "bigint")

    assert [row[0] for row in spark.range(4).select(plus("id")).collect()] == [1, 2, 3, 4]


@pytest.mark.nightly
def test_groups_are_frames_of_pandas_and_partitions_are_batches_of_arrow(spark):
    def doubled(group):
        return group.assign(twice=group.id * 2)

    numbers = spark.range(4).withColumn("even", col("id") % 2 == 0)

    grouped = numbers.groupBy("even").applyInPandas(doubled, "id long, even boolean, twice long")
    assert sorted(row.twice for row in grouped.collect()) == [0, 2, 4, 6]
    assert numbers.mapInArrow(lambda batches: batches, numbers.schema).count() == 4


@pytest.mark.parametrize("arrow", ["true", pytest.param("false", marks=pytest.mark.nightly)])
def test_frames_are_those_of_pandas_and_back(spark, glue_context, arrow):
    spark.conf.set("spark.sql.execution.arrow.pyspark.enabled", arrow)
    try:
        frame = DynamicFrame.fromDF(spark.createDataFrame(ROWS, SCHEMA), glue_context, "x")
        table = frame.toDF().toPandas()

        assert table.id.tolist() == [1, 2]
        assert isinstance(table, pd.DataFrame)
        assert [tuple(row) for row in spark.createDataFrame(table, SCHEMA).collect()] == ROWS
    finally:
        spark.conf.unset("spark.sql.execution.arrow.pyspark.enabled")
