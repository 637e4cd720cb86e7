"""create_dynamic_frame between Job.init and Job.commit: which files a run reads."""

from __future__ import annotations

import pytest

from tests.sampled import at_night

pytestmark = pytest.mark.spark


def read(glue_context, s3, ctx="landing", kind="json", key=""):
    return glue_context.create_dynamic_frame.from_options(
        connection_type="s3",
        connection_options={"paths": [f"{s3.uri}{key}"]},
        format=kind,
        transformation_ctx=ctx,
    ).toDF()


def ids(frame):
    return sorted(row["id"] for row in frame.collect())


@pytest.mark.rule("Formats", source="BM")
@pytest.mark.parametrize("kind", ["json", *at_night("csv", "parquet")])
def test_second_run_reads_only_new_files(spark, glue_context, start_job, s3, kind):
    spark.sql("SELECT 1 AS n").write.format(kind).save(s3.uri)
    first = start_job()
    assert read(glue_context, s3, kind=kind).count() == 1
    first.commit()
    spark.sql("SELECT 20 AS n").write.mode("append").format(kind).save(s3.uri)

    start_job()

    (row,) = read(glue_context, s3, kind=kind).collect()
    assert [str(value) for value in row] == ["20"]


def test_files_of_an_uncommitted_run_are_read_again(glue_context, start_job, s3):
    s3.put("a.json", '{"id": 1}\n')
    start_job()
    assert ids(read(glue_context, s3)) == [1]

    start_job()

    assert ids(read(glue_context, s3)) == [1]


@pytest.mark.rule("Files of S3", source="INFER", choice="later files belong to the next run")
def test_files_are_chosen_when_the_source_is_opened(glue_context, start_job, s3):
    s3.put("a.json", '{"id": 1}\n')
    first = start_job()
    opened = read(glue_context, s3)
    s3.put("b.json", '{"id": 2}\n')
    assert ids(opened) == [1]
    first.commit()

    start_job()

    assert ids(read(glue_context, s3)) == [2]


def test_pause_reads_what_is_new_and_never_moves_the_bookmark(glue_context, start_job, s3):
    s3.put("a.json", '{"id": 1}\n')
    first = start_job()
    read(glue_context, s3)
    first.commit()
    s3.put("b.json", '{"id": 2}\n')
    paused = start_job("job-bookmark-pause")
    assert ids(read(glue_context, s3)) == [2]
    paused.commit()

    start_job()

    assert ids(read(glue_context, s3)) == [2]


def test_disable_reads_everything_and_leaves_the_bookmark(glue_context, start_job, s3):
    s3.put("a.json", '{"id": 1}\n')
    first = start_job()
    read(glue_context, s3)
    first.commit()
    disabled = start_job("job-bookmark-disable")
    assert ids(read(glue_context, s3)) == [1]
    disabled.commit()
    s3.put("b.json", '{"id": 2}\n')

    start_job()

    assert ids(read(glue_context, s3)) == [2]


def test_source_without_a_context_reads_everything_in_every_run(glue_context, start_job, s3):
    s3.put("a.json", '{"id": 1}\n')
    first = start_job()
    read(glue_context, s3, ctx="")
    first.commit()

    start_job()

    assert ids(read(glue_context, s3, ctx="")) == [1]


def test_source_opened_before_init_reads_everything(glue_context, s3):
    s3.put("a.json", '{"id": 1}\n')

    assert ids(read(glue_context, s3)) == ids(read(glue_context, s3)) == [1]


def test_init_without_arguments_disables_bookmarks(glue_context, s3):
    from awsglue.job import Job

    s3.put("a.json", '{"id": 1}\n')
    for _ in range(2):
        job = Job(glue_context)
        job.init(s3.folder.name)
        assert ids(read(glue_context, s3)) == [1]
        job.commit()


def test_commit_without_init_does_nothing(glue_context):
    from awsglue.job import Job

    Job(glue_context).commit()


def test_rewritten_file_is_read_again(glue_context, start_job, s3):
    s3.put("a.json", '{"id": 1}\n')
    first = start_job()
    read(glue_context, s3)
    first.commit()
    s3.put("a.json", '{"id": 1}\n{"id": 10}\n')

    start_job()

    assert ids(read(glue_context, s3)) == [1, 10]


@pytest.mark.rule("transformation_ctx", source="BM")
def test_two_contexts_keep_separate_bookmarks(glue_context, start_job, s3):
    s3.put("flights/a.json", '{"id": 1}\n')
    s3.put("weather/a.json", '{"id": 2}\n')
    first = start_job()
    read(glue_context, s3, ctx="flights", key="flights/")
    first.commit()

    start_job()

    assert ids(read(glue_context, s3, ctx="weather", key="weather/")) == [2]
    assert read(glue_context, s3, ctx="flights", key="flights/").columns == []


@pytest.mark.rule("Files of S3", source="COMM", choice="also no columns")
@pytest.mark.parametrize("kind", ["json", "csv", "parquet"])
def test_empty_increment_has_no_rows_and_no_columns(spark, glue_context, start_job, s3, kind):
    spark.sql("SELECT 1 AS id").write.format(kind).save(s3.uri)
    first = start_job()
    read(glue_context, s3, kind=kind)
    first.commit()

    start_job()

    increment = read(glue_context, s3, kind=kind)
    assert (increment.columns, increment.count()) == ([], 0)


@pytest.mark.rule("Files of S3", source="SILENT", choice="as an empty increment")
def test_source_that_does_not_exist_has_no_rows_and_no_columns(glue_context, start_job, s3):
    start_job()

    landed = read(glue_context, s3)

    assert (landed.columns, landed.count()) == ([], 0)


@pytest.mark.rule("Partitions", source="BM")
def test_new_partition_is_read_with_its_partition_column(glue_context, start_job, s3):
    s3.put("origin=EWR/a.json", '{"id": 1}\n')
    first = start_job()
    read(glue_context, s3)
    first.commit()
    s3.put("origin=JFK/b.json", '{"id": 2}\n')

    start_job()

    assert read(glue_context, s3).select("id", "origin").collect() == [(2, "JFK")]


@pytest.mark.rule("Files of S3", source="S3")
def test_max_band_bounds_how_old_a_late_file_may_be(glue_context, start_job, s3):
    s3.put("a.json", '{"id": 1}\n', minutes_ago=120)
    first = start_job()
    read(glue_context, s3)
    first.commit()
    s3.put("ten_minutes_late.json", '{"id": 2}\n', minutes_ago=10)
    s3.put("an_hour_late.json", '{"id": 3}\n', minutes_ago=60)

    start_job()

    assert ids(read(glue_context, s3)) == [2]
