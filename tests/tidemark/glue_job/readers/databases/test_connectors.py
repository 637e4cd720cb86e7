"""Spark data sources by their class, connections by their name, streams, and rows of Python."""

from __future__ import annotations

import pytest

from awsglue.dynamicframe import DynamicFrame
from tidemark.errors import UsageError

pytestmark = pytest.mark.spark


def rows_of(frame):
    return sorted(tuple(row) for row in frame.toDF().collect())


def test_a_connector_is_a_data_source_of_spark_by_its_class(glue_context, tmp_path):
    frame = glue_context.create_dynamic_frame.from_rdd([(1, "a"), (2, "b")], "rows", ["n", "t"])
    options = {"className": "parquet", "path": str(tmp_path / "out")}

    glue_context.write_dynamic_frame.from_options(frame, "marketplace.spark", options)
    read = glue_context.create_dynamic_frame.from_options("custom.spark", options)

    assert rows_of(read) == [(1, "a"), (2, "b")]
    with pytest.raises(UsageError, match=r"no data source 'net.none.Source' .* --extra-jars"):
        glue_context.create_dynamic_frame.from_options(
            "custom.spark", {"className": "net.none.Source"}
        )


def test_samples_and_rows_of_python(glue_context, tmp_path):
    path = str(tmp_path / "in")
    glue_context.spark_session.range(9).write.parquet(path)
    rdd = glue_context.spark_session.sparkContext.parallelize([{"a": 1}, {"a": 2}])
    source = glue_context.getSource("parquet", paths=[f"file://{path}"])

    sample = glue_context.create_sample_dynamic_frame_from_options(
        "file", {"paths": [f"file://{path}"]}, 3, {}, "parquet"
    )

    assert sample.count() == 3
    assert source.getSampleFrame(2).count() == 2
    assert rows_of(glue_context.create_dynamic_frame_from_rdd(rdd, "rows")) == [(1,), (2,)]


def test_each_batch_of_a_stream_and_the_time_of_its_rows(glue_context, tmp_path):
    spark = glue_context.spark_session
    spark.range(5).coalesce(1).write.json(str(tmp_path / "in"))
    stream = spark.readStream.schema("id bigint").json(str(tmp_path / "in"))
    seen, failures = [], []

    def each(frame, number):
        if not failures:
            failures.append(number)
            raise ValueError("the first try")
        timed = glue_context.add_ingestion_time_columns(frame, "day")
        assert timed.columns == ["id", "ingest_year", "ingest_month", "ingest_day"]
        seen.append((number, DynamicFrame.fromDF(timed, glue_context, "timed").count()))
        for query in spark.streams.active:
            query.stop()

    options = {"windowSize": "1 seconds", "checkpointLocation": str(tmp_path / "checkpoint")}
    glue_context.forEachBatch(frame=stream, batch_function=each, options=options)

    assert seen == [(0, 5)]
    with pytest.raises(Exception, match=r"^Missing windowSize argument$"):
        glue_context.forEachBatch(stream, each, {})
    with pytest.raises(UsageError, match="not a stream"):
        glue_context.forEachBatch(spark.range(1), each, options)


def test_without_the_jar_of_mongodb_the_remedy_is_named(glue_context):
    options = {"connection.uri": "mongodb://host", "database": "shop", "collection": "orders"}

    for kind in ("mongodb", "documentdb"):
        with pytest.raises(UsageError, match=r"no data source 'mongodb' .* --extra-jars"):
            glue_context.create_dynamic_frame.from_options(kind, options)
