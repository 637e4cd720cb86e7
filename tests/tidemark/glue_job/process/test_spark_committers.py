"""What a reader of S3 sees of a write, operation by operation, with each committer of Glue."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from itertools import product

import pytest

from tests import edge
from tests.edge import Recorder, recording
from tidemark.glue_job.process.lake_fs.semantics import OPTIMIZED, direct_options
from tidemark.glue_job.writers.formats import write_format
from tidemark.glue_job.writers.s3_files import write_files

pytestmark = pytest.mark.spark

ALGORITHM = "mapreduce.fileoutputcommitter.algorithm.version"
FORMATS = ("parquet", "orc", "json", "csv", "text")
V1, V2 = {OPTIMIZED: "false", ALGORITHM: "1"}, {OPTIMIZED: "false", ALGORITHM: "2"}
DIRECT = direct_options("s3")
ON_EVERY_CHANGE = (("parquet", "optimized"),)
COMMITTERS = {"v1": V1, "v2": V2, "optimized": {}, "direct": DIRECT}


@pytest.fixture
def s3_semantics(spark) -> Iterator[Recorder]:
    """Let all writes of the test have S3's semantics; return the recorder of their changes."""
    with recording() as recorder, edge.s3_semantics(spark, recorder):
        yield recorder


def write(spark, uri, options, name="parquet", mode="append", keys=(), first=0):
    """Write six rows in two tasks."""
    rows = spark.range(first, first + 6, 1, 2).selectExpr("string(id) AS id", "id % 2 AS part")
    rows = rows if keys else rows.drop("part")
    writer = rows.write.mode(mode).options(**options)
    (writer.partitionBy(*keys) if keys else writer).save(uri, format=name)


def found(spark, uri, name="parquet") -> list[int]:
    rows = spark.read.schema("value STRING" if name == "text" else "id STRING")
    return sorted(int(row[0]) for row in rows.load(uri, format=name).collect())


def steps(recorder: Recorder, uri: str) -> list[str]:
    """Return the changes with what no two runs share left out: T and N for tasks and files."""
    lines = [line.replace(uri, "") for line in recorder.changes]
    lines = [re.sub(r"part-(\d{5})-[^ /]*", r"part-\1", line) for line in lines]
    lines = [re.sub(r"attempt_\d+_\d+_m_(\d{6})_\d+", r"attempt-\1", line) for line in lines]
    return [re.sub(r"task_\d+_\d+_m_(\d{6})", r"task-\1", line) for line in lines]


@pytest.mark.parametrize(
    ("name", "committer"),
    [
        pytest.param(*pair, marks=() if pair in ON_EVERY_CHANGE else pytest.mark.nightly)
        for pair in product(FORMATS, COMMITTERS)
    ],
)
def test_rows_are_the_same_as_in_a_folder(spark, s3, s3_semantics, name, committer):
    uri, options = s3.uri, COMMITTERS[committer]

    write(spark, uri, options, name)
    assert found(spark, uri, name) == [0, 1, 2, 3, 4, 5]
    write(spark, uri, options, name, first=6)
    assert found(spark, uri, name) == list(range(12))
    write(spark, uri, options, name, "overwrite", first=3)
    assert found(spark, uri, name) == [3, 4, 5, 6, 7, 8]

    assert not (s3.folder / "_temporary").exists()


@pytest.mark.nightly
@pytest.mark.parametrize("committer", COMMITTERS)
def test_partitions_are_written_and_overwritten_as_in_a_folder(spark, s3, s3_semantics, committer):
    uri, options = s3.uri, COMMITTERS[committer]
    write(spark, uri, options, keys=("part",))
    dynamic = {**options, "partitionOverwriteMode": "dynamic"}

    rows = spark.range(100, 101).selectExpr("string(id) AS id", "0 AS part")
    rows.write.mode("overwrite").options(**dynamic).partitionBy("part").parquet(uri)

    assert found(spark, uri) == [1, 3, 5, 100]
    assert not list(s3.folder.glob(".spark-staging*"))


@pytest.mark.rule(
    "S3's semantics",
    source="EMRC",
)
def test_optimized_committer_completes_the_uploads_of_a_task_and_renames_nothing(
    spark, s3, s3_semantics
):
    times = []
    s3_semantics.before_answer = lambda: times.append(time.time())

    write(spark, s3.uri, {}, keys=("part",))

    seen = steps(s3_semantics, s3.uri)
    files = s3.folder.glob("part=*/part-*")
    assert max(file.stat().st_mtime for file in files) < min(times)  # the start of their uploads
    assert {line.split()[0] for line in seen} == {"put"}
    assert sorted(seen[:-1]) == [
        f"put part={part}/part-0000{task}" for part in (0, 1) for task in (0, 1)
    ]
    assert seen[-1] == "put _SUCCESS"


@pytest.mark.rule(
    "Sinks",
    source="SILENT",
    choice="and leaves _SUCCESS; with S3's semantics it commits nothing, and leaves none",
)
def test_sink_of_a_folder_is_committed_by_spark(spark, s3):
    write_files(spark.range(2), s3.uri, write_format("json", {}, None))

    assert (s3.folder / "_SUCCESS").exists()


@pytest.mark.rule(
    "S3's semantics",
    source="SILENT",
    choice="so do the sinks of DynamicFrames, without _SUCCESS",
)
def test_direct_committer_puts_each_file_when_its_task_has_written_it(spark, s3, s3_semantics):
    write(spark, s3.uri, DIRECT, "json")

    assert sorted(steps(s3_semantics, s3.uri)) == ["put part-00000", "put part-00001"]


@pytest.mark.rule(
    "S3's semantics",
    source="SP33",
    choice="the default of Spark: Glue names none",
)
def test_first_algorithm_renames_twice_and_shows_nothing_before_the_job_is_committed(
    spark, s3, s3_semantics
):
    write(spark, s3.uri, V1, "json")

    seen = steps(s3_semantics, s3.uri)
    job, task = "_temporary/0", "_temporary/0/_temporary"
    of_job = [
        step
        for number in (0, 1)
        for step in (
            f"copy {job}/task-00000{number}/part-0000{number} part-0000{number}",
            f"delete {job}/task-00000{number}/part-0000{number}",
        )
    ]
    assert seen[-5:] == [*of_job, "put _SUCCESS"]
    assert sorted(seen[:-5]) == sorted(
        step
        for number in (0, 1)
        for step in (
            f"put {task}/attempt-00000{number}/part-0000{number}",
            f"copy {task}/attempt-00000{number}/part-0000{number} "
            f"{job}/task-00000{number}/part-0000{number}",
            f"delete {task}/attempt-00000{number}/part-0000{number}",
        )
    )


@pytest.mark.rule(
    "S3's semantics",
    source="FSR",
)
def test_second_algorithm_shows_the_files_of_a_task_when_it_is_committed(spark, s3, s3_semantics):
    write(spark, s3.uri, V2, "json")

    seen = steps(s3_semantics, s3.uri)
    task = "_temporary/0/_temporary"
    assert seen[-1] == "put _SUCCESS"
    assert sorted(seen[:-1]) == sorted(
        step
        for number in (0, 1)
        for step in (
            f"put {task}/attempt-00000{number}/part-0000{number}",
            f"copy {task}/attempt-00000{number}/part-0000{number} part-0000{number}",
            f"delete {task}/attempt-00000{number}/part-0000{number}",
        )
    )


@pytest.mark.rule(
    "S3's semantics",
    source="EMRR",
    choice="by the first algorithm, as plain Spark does",
)
@pytest.mark.parametrize("committer", ["optimized", pytest.param("v1", marks=pytest.mark.nightly)])
def test_dynamic_overwrite_is_written_apart_deleted_and_renamed(spark, s3, s3_semantics, committer):
    write(spark, s3.uri, {}, keys=("part",))
    before = len(s3_semantics.changes)
    dynamic = {**COMMITTERS[committer], "partitionOverwriteMode": "dynamic"}

    rows = spark.range(100, 101, 1, 1).selectExpr("string(id) AS id", "0 AS part")
    rows.write.mode("overwrite").options(**dynamic).partitionBy("part").parquet(s3.uri)

    seen = [re.sub(r"\.spark-staging-[^/]*", "STAGE", line) for line in steps(s3_semantics, s3.uri)]
    assert seen[before + 6 :] == [  # after the six of the first algorithm, in its stage
        "delete part=0/part-00000",
        "delete part=0/part-00001",
        "copy STAGE/part=0/part-00000 part=0/part-00000",
        "delete STAGE/part=0/part-00000",
        "delete STAGE/_SUCCESS",
    ]


@pytest.mark.rule(
    "S3's semantics",
    source="FSR",
)
def test_overwrite_deletes_each_object_before_anything_is_written(spark, s3, s3_semantics):
    write(spark, s3.uri, {})
    before = len(s3_semantics.changes)

    write(spark, s3.uri, {}, mode="overwrite")

    seen = steps(s3_semantics, s3.uri)[before:]
    assert seen[:3] == ["delete _SUCCESS", "delete part-00000", "delete part-00001"]
    assert sorted(seen[3:]) == ["put _SUCCESS", "put part-00000", "put part-00001"]


def test_task_that_fails_leaves_nothing_with_the_optimized_committer(
    spark, s3, s3_semantics, spark_home
):
    rows = spark.range(0, 4, 1, 2).selectExpr(
        "id", "IF(id = 3, raise_error('broken'), 'x') AS value"
    )
    with pytest.raises(Exception, match="broken"):
        rows.write.parquet(s3.uri)

    written = [line for line in steps(s3_semantics, s3.uri) if line != "put part-00000"]
    assert written == []
    assert not [path for path in (spark_home.root / "uploads").rglob("*") if path.is_file()]


@pytest.mark.nightly
def test_stream_keeps_its_checkpoint_in_objects(spark, s3, s3_semantics):
    s3.put("in/a.json", '{"id": 1}\n')
    for _ in range(2):
        rows = spark.readStream.schema("id INT").json(f"{s3.uri}in/").writeStream
        rows = rows.trigger(availableNow=True).option("checkpointLocation", f"{s3.uri}checkpoint/")
        rows.format("parquet").start(f"{s3.uri}out/").awaitTermination()

    assert spark.read.parquet(f"{s3.uri}out/").collect() == [(1,)]


@pytest.mark.nightly
def test_write_to_this_machine_is_committed_as_without_s3(spark, s3_semantics, tmp_path):
    write(spark, (tmp_path / "rows").as_uri(), {})

    assert found(spark, (tmp_path / "rows").as_uri()) == [0, 1, 2, 3, 4, 5]
    assert s3_semantics.changes == []
    assert (tmp_path / "rows" / "_SUCCESS").exists()


@pytest.mark.nightly
def test_partition_with_a_location_of_its_own_is_written_apart_and_renamed(spark, s3, s3_semantics):
    spark.sql(
        "CREATE TABLE apart (id STRING, part INT) USING parquet PARTITIONED BY (part) "
        f"LOCATION '{s3.uri}table'"
    )
    spark.sql(f"ALTER TABLE apart ADD PARTITION (part = 0) LOCATION '{s3.uri}own'")
    try:
        spark.sql("INSERT INTO apart SELECT string(id), id % 2 FROM range(0, 6, 1, 1)")
        rows = sorted(int(row.id) for row in spark.table("apart").collect())
    finally:
        spark.sql("DROP TABLE apart")

    assert rows == [0, 1, 2, 3, 4, 5]
    seen = [re.sub(r"\.spark-staging-[^/]*", "STAGE", line) for line in steps(s3_semantics, s3.uri)]
    assert [line.split()[0] for line in seen] == ["put", "put", "put", "copy", "delete"]
    assert (seen[0].startswith("put table/STAGE/"), seen[1]) == (
        True,
        "put table/part=1/part-00000",
    )
    assert seen[-2].split()[-1].startswith("own/")
