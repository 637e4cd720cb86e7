"""Plain Spark on ``s3://`` paths, which are folders of the lake."""

from __future__ import annotations

import pytest
from pyspark.errors import AnalysisException

pytestmark = pytest.mark.spark

FLIGHTS = "SELECT * FROM VALUES (1, 'EWR'), (2, 'JFK') AS flights(id, origin)"


def folders(s3):
    return sorted({key.rpartition("/")[0] for key in s3.names() if "/" in key})


@pytest.mark.parametrize("kind", ["json", "csv", "parquet"])
def test_frame_written_to_s3_is_read_back(spark, s3, kind):
    spark.sql(FLIGHTS).write.format(kind).save(s3.uri)

    flights = spark.read.schema("id INT, origin STRING").format(kind).load(s3.uri)

    assert flights.orderBy("id").collect() == [(1, "EWR"), (2, "JFK")]


def test_writing_leaves_no_checksum_files(spark, s3):
    spark.sql(FLIGHTS).coalesce(1).write.parquet(s3.uri)

    success, part = s3.names()

    assert success == "_SUCCESS"
    assert part.startswith("part-00000-")
    assert part.endswith(".snappy.parquet")


def test_object_replaced_by_another_program_is_read_as_it_now_is(spark, s3):
    spark.sql(FLIGHTS).coalesce(1).write.csv(s3.uri)
    _, part = s3.names()
    s3.put(part, "3,LGA\n")

    assert spark.read.csv(s3.uri).collect() == [("3", "LGA")]


@pytest.mark.parametrize("scheme", ["s3a", "s3n"])
def test_older_scheme_reads_the_same_objects(spark, s3, scheme):
    s3.put("a.json", '{"id": 1}\n')

    flights = spark.read.json(s3.uri.replace("s3://", f"{scheme}://"))

    assert flights.collect() == [(1,)]


@pytest.mark.parametrize("scheme", ["s3a", "s3n"])
def test_older_scheme_writes_the_same_objects(spark, s3, scheme):
    spark.sql(FLIGHTS).coalesce(1).write.json(s3.uri.replace("s3://", f"{scheme}://"))

    assert spark.read.json(s3.uri).orderBy("id").collect() == [(1, "EWR"), (2, "JFK")]


def test_input_files_are_s3_uris(spark, s3):
    s3.put("origin=EWR/a.json", '{"id": 1}\n')

    assert spark.read.json(s3.uri).inputFiles() == [f"{s3.uri}origin=EWR/a.json"]


def test_metadata_column_holds_s3_uris(spark, s3):
    s3.put("a.json", '{"id": 1}\n')

    flights = spark.read.json(s3.uri).select("id", "_metadata.file_path", "_metadata.file_name")

    assert flights.collect() == [(1, f"{s3.uri}a.json", "a.json")]


def test_partition_by_writes_one_folder_per_value(spark, s3):
    spark.sql(FLIGHTS).write.partitionBy("origin").parquet(s3.uri)

    assert folders(s3) == ["origin=EWR", "origin=JFK"]
    assert spark.read.parquet(s3.uri).orderBy("id").collect() == [(1, "EWR"), (2, "JFK")]


def test_partition_value_with_special_characters_is_read_back(spark, s3):
    spark.sql("SELECT 1 AS id, 'a/b:c d%' AS place").write.partitionBy("place").parquet(s3.uri)

    assert spark.read.parquet(s3.uri).collect() == [(1, "a/b:c d%")]


def test_overwrite_replaces_the_whole_prefix(spark, s3):
    spark.sql(FLIGHTS).write.partitionBy("origin").parquet(s3.uri)

    lga = spark.sql("SELECT 3 AS id, 'LGA' AS origin")
    lga.write.mode("overwrite").partitionBy("origin").parquet(s3.uri)

    assert folders(s3) == ["origin=LGA"]
    assert spark.read.parquet(s3.uri).collect() == [(3, "LGA")]


def test_dynamic_overwrite_replaces_only_the_partitions_it_writes(spark, s3):
    spark.sql(FLIGHTS).write.partitionBy("origin").parquet(s3.uri)

    jfk = spark.sql("SELECT 3 AS id, 'JFK' AS origin").write.mode("overwrite")
    jfk.option("partitionOverwriteMode", "dynamic").partitionBy("origin").parquet(s3.uri)

    assert spark.read.parquet(s3.uri).orderBy("id").collect() == [(1, "EWR"), (3, "JFK")]


def test_dynamic_overwrite_leaves_no_staging_folder(spark, s3):
    write = spark.sql(FLIGHTS).write.mode("overwrite")
    write.option("partitionOverwriteMode", "dynamic").partitionBy("origin").parquet(s3.uri)

    assert sorted(path.name for path in s3.folder.iterdir()) == ["origin=EWR", "origin=JFK"]


def test_append_keeps_what_is_there(spark, s3):
    spark.sql(FLIGHTS).write.json(s3.uri)

    spark.sql("SELECT 3 AS id, 'LGA' AS origin").write.mode("append").json(s3.uri)

    flights = spark.read.json(s3.uri).orderBy("id")
    assert flights.collect() == [(1, "EWR"), (2, "JFK"), (3, "LGA")]


def test_write_without_a_mode_refuses_a_prefix_that_exists(spark, s3):
    s3.put("a.json", '{"id": 1}\n')

    with pytest.raises(AnalysisException, match="PATH_ALREADY_EXISTS"):
        spark.sql(FLIGHTS).write.json(s3.uri)

    assert s3.names() == ["a.json"]


def test_prefix_without_objects_is_not_found(spark, s3):
    with pytest.raises(AnalysisException) as error:
        spark.read.json(s3.uri)

    assert "[PATH_NOT_FOUND]" in str(error.value)
    assert s3.uri.rstrip("/") in str(error.value)
