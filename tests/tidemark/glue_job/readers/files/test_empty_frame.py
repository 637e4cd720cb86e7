"""A source without files: the same frame as PySpark's own, made without pandas."""

import pytest
from pyspark.sql.types import ArrayType, DecimalType, StringType, StructField, StructType

from tidemark.glue_job.readers.files.spark_files import empty_frame

pytestmark = pytest.mark.spark
NESTED = StructType(
    [
        StructField("a", DecimalType(5, 2), nullable=False),
        StructField("b b", ArrayType(StructType([StructField("x", StringType())]))),
    ]
)


@pytest.mark.parametrize("schema", [None, NESTED], ids=["no columns", "columns"])
def test_an_empty_frame_is_that_of_pyspark(spark, schema):
    frame = empty_frame(spark, schema)
    own = spark.createDataFrame([], schema or StructType([]))

    assert frame.schema == own.schema
    assert frame.collect() == []
    assert frame.rdd.getNumPartitions() == own.rdd.getNumPartitions()
