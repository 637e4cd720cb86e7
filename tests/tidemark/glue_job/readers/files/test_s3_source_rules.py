"""Rules of S3 sources: which files a run reads, by options and by what happened to the files."""

from __future__ import annotations

import json
import os
import time

import pytest
from pyspark.sql.functions import input_file_name

from tests.sampled import at_night
from tidemark.errors import UsageError
from tidemark.local_state.run_warnings import RUN_FOLDER_VARIABLE, read_warnings

pytestmark = pytest.mark.spark

HOUR = 60


@pytest.fixture
def notices(tmp_path, monkeypatch):
    """Return the warnings that were noted."""
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path))
    return lambda: read_warnings(tmp_path)


@pytest.fixture
def read(glue_context, s3):
    """Return a reader of the ids that a source gives now."""

    def read(ctx="flights", key="", kind="json", predicate="", **options):
        frame = glue_context.create_dynamic_frame.from_options(
            "s3",
            {"paths": [f"{s3.uri}{key}"], **options},
            kind,
            transformation_ctx=ctx,
            push_down_predicate=predicate,
        ).toDF()
        return sorted(row.id for row in frame.collect()) if frame.columns else []

    return read


@pytest.fixture
def run(read, start_job):
    """Return a run of the job that reads one source and commits."""

    def run(**arguments):
        job = start_job()
        found = read(**arguments)
        job.commit()
        return found

    return run


def put(s3, key, number, minutes_ago=0):
    return s3.put(key, f'{{"id": {number}}}\n', minutes_ago)


# What happens to files


@pytest.mark.rule("Files of S3", source="BM")
def test_a_file_is_new_by_its_last_modified_time_not_by_its_name(run, s3):
    put(s3, "b.json", 1)
    assert run() == [1]
    put(s3, "a.json", 2)

    assert run() == [2]


@pytest.mark.rule("Files of S3", source="TRB")
def test_a_file_that_was_rewritten_is_read_again_as_a_whole(run, s3):
    put(s3, "a.json", 1)
    run()
    s3.put("a.json", '{"id": 1}\n{"id": 2}\n')

    assert run() == [1, 2]


@pytest.mark.rule("Files of S3", source="INFER")
def test_a_file_that_was_copied_to_another_name_is_read_again(run, s3):
    path = put(s3, "a.json", 1, HOUR)
    run()
    path.unlink()
    put(s3, "renamed.json", 1)  # S3 knows no rename: copy and delete give a new time

    assert run() == [1]


@pytest.mark.rule("Files of S3", source="INFER")
def test_a_file_that_was_deleted_leaves_no_trace(run, s3):
    path = put(s3, "a.json", 1)
    put(s3, "b.json", 2)
    run()
    path.unlink()

    assert run() == []


@pytest.mark.rule("Files of S3", source="OLD")
def test_a_file_that_becomes_visible_late_is_read_within_the_band(run, s3):
    put(s3, "a.json", 1)
    run()
    put(s3, "late.json", 2, minutes_ago=10)

    assert run() == [2]


@pytest.mark.rule("Files of S3", source="S3")
def test_max_band_is_in_milliseconds(run, s3):
    put(s3, "a.json", 1)
    run(maxBand=0)
    put(s3, "late.json", 2, minutes_ago=1)

    assert run(maxBand="60000") == []


@pytest.mark.rule("Files of S3", source="INFER")
def test_files_with_the_same_timestamp_are_distinguished(run, s3):
    at = time.time() - 60
    for number in (1, 2):
        os.utime(put(s3, f"{number}.json", number), (at, at))
    assert run() == [1, 2]
    os.utime(put(s3, "3.json", 3), (at, at))

    assert run() == [3]


@pytest.mark.rule("Warnings", source="INFER", choice="skipped like an old object, with a warning")
def test_a_file_that_arrives_with_an_old_time_is_skipped_with_a_warning(run, s3, notices):
    put(s3, "a.json", 1)
    run()
    put(s3, "preserved.json", 2, minutes_ago=HOUR)

    assert run() == []
    (warning,) = notices()
    assert f"{s3.uri}preserved.json arrived after the last run" in warning


@pytest.mark.rule("Warnings", source="BM")
def test_another_path_under_an_old_context_skips_older_files_with_a_warning(run, s3, notices):
    put(s3, "here/a.json", 1)
    put(s3, "there/old.json", 2, minutes_ago=HOUR)
    run(key="here/")
    put(s3, "there/new.json", 3)

    assert run(key="there/") == [3]
    (warning,) = notices()
    assert warning.startswith(f"{s3.uri}there/old.json: left out by the paths")


def test_a_source_that_is_written_with_another_scheme_goes_on_where_it_was(
    glue_context, start_job, s3, notices
):
    put(s3, "day=1/a.json", 1, minutes_ago=HOUR)
    put(s3, "day=2/b.json", 2)
    found = []
    for scheme in ("s3", "s3a", "s3n"):
        job = start_job()
        frame = glue_context.create_dynamic_frame.from_options(
            "s3",
            {"paths": [s3.uri.replace("s3", scheme, 1)]},
            "json",
            transformation_ctx="flights",
        )
        found.append(sorted(tuple(row) for row in frame.toDF().collect()))
        job.commit()
        put(s3, f"day=3/{scheme}.json", 3)

    assert found == [[(1, 1), (2, 2)], [(3, 3)], [(3, 3)]]
    assert notices() == []


@pytest.mark.rule("Warnings", source="BM")
def test_a_partition_no_longer_excluded_by_a_predicate_is_skipped_with_a_warning(run, s3, notices):
    for day in (1, 2, 3):
        put(s3, f"day={day}/a.json", day, minutes_ago=HOUR)
    assert run(predicate="day = 1") == [1]
    assert notices() == []

    assert run(predicate="day < 3") == []

    (warning,) = notices()
    assert warning.startswith(f"{s3.uri}day=2/a.json: left out by the paths, exclusions")


@pytest.mark.rule("Warnings", source="INFER", choice="it is read in full, with a warning")
def test_a_source_opened_before_job_init_causes_a_warning(
    read, start_job, s3, notices, monkeypatch
):
    monkeypatch.setattr("tidemark.glue_job.process.bookmark_session._sessions", [])
    put(s3, "a.json", 1)
    assert read(ctx="early") == [1]

    start_job()

    (warning,) = notices()
    assert warning.startswith("Job.init came after the source early was opened")


@pytest.mark.rule("transformation_ctx", source="BM")
def test_another_context_reads_everything(run, s3):
    put(s3, "a.json", 1)
    run(ctx="flights")

    assert run(ctx="renamed") == [1]


@pytest.mark.rule("transformation_ctx", source="BMS")
def test_a_source_without_a_context_is_read_in_full_and_others_are_not(run, s3, notices):
    put(s3, "a.json", 1)
    run(ctx="flights")

    assert run(ctx="") == [1]
    assert run(ctx="flights") == []
    assert [w for w in notices() if "without transformation_ctx is read in full" in w]


@pytest.mark.rule("Files of S3", source="INFER", choice="a frame without rows and columns")
def test_nothing_new_is_a_frame_without_columns(glue_context, run, start_job, s3):
    put(s3, "a.json", 1)
    run()
    start_job()

    frame = glue_context.create_dynamic_frame.from_options(
        "s3", {"paths": [s3.uri]}, "json", transformation_ctx="flights"
    )

    assert (frame.toDF().columns, frame.count()) == ([], 0)


# Options


@pytest.mark.rule("Files of S3", source="S3")
def test_recurse_enters_every_folder_otherwise_only_partition_folders(run, s3):
    put(s3, "a.json", 1)
    put(s3, "year=2013/b.json", 2)
    put(s3, "archive/c.json", 3)

    assert run(ctx="flat") == [1, 2]
    assert run(ctx="deep", recurse=True) == [1, 2, 3]


@pytest.mark.rule("Files of S3", source="S3")
@pytest.mark.parametrize(
    "exclusions",
    [json.dumps(["**.pdf", "old/**"]), ["**.pdf", "old/**"]],
    ids=["JSON text", "list"],
)
def test_exclusions_are_globs_of_files_that_are_not_read(run, s3, exclusions):
    put(s3, "a.json", 1)
    s3.put("deep/b.pdf", "%PDF")
    put(s3, "old/deep/c.json", 3)

    assert run(exclusions=exclusions, recurse=True) == [1]


@pytest.mark.rule("Files of S3", source="S3", choice="every local object is of class STANDARD")
def test_exclude_storage_classes_with_standard_excludes_all_local_files(run, s3):
    put(s3, "a.json", 1)

    assert run(ctx="a", excludeStorageClasses=["GLACIER", "DEEP_ARCHIVE"]) == [1]
    assert run(ctx="b", excludeStorageClasses=["STANDARD"]) == []


@pytest.mark.rule("Files of S3", source="BND", choice="oldest first, so that nothing is skipped")
def test_bounded_files_drains_a_source_over_runs_oldest_first(run, s3):
    for number in (3, 1, 2):
        put(s3, f"{number}.json", number, minutes_ago=100 - number)

    drained = [run(boundedFiles="2"), run(boundedFiles=2), run(boundedFiles="2")]

    assert drained == [[1, 2], [3], []]


@pytest.mark.rule("Files of S3", source="BND")
def test_bounded_size_stops_once_that_many_bytes_are_reached(run, s3):
    for number in (1, 2, 3):
        put(s3, f"{number}.json", number, minutes_ago=100 - number)  # 10 bytes each

    assert [run(boundedSize="11"), run(boundedSize="11")] == [[1, 2], [3]]


@pytest.mark.rule("Files of S3", source="INFER", choice="the rest of one timestamp stays new")
def test_bounds_between_files_of_one_timestamp_lose_none(run, s3):
    at = time.time() - 3600
    for number in (1, 2, 3):
        os.utime(put(s3, f"{number}.json", number), (at, at))

    assert [run(boundedFiles=1), run(boundedFiles=1), run(boundedFiles=1)] == [[1], [2], [3]]


@pytest.mark.rule("Warnings", source="BND")
def test_bounds_without_a_bookmark_read_the_same_first_files_with_a_warning(run, s3, notices):
    put(s3, "1.json", 1, HOUR)
    put(s3, "2.json", 2)

    assert [run(ctx="", boundedFiles=1), run(ctx="", boundedFiles=1)] == [[1], [1]]
    assert [w for w in notices() if "is bounded and has no bookmark" in w]


@pytest.mark.rule("Files of S3", source="S3")
def test_max_files_in_band_leaves_the_excess_to_the_next_run_with_a_warning(run, s3, notices):
    for number in (1, 2, 3):
        put(s3, f"{number}.json", number, minutes_ago=10 - number)

    assert run(maxFilesInBand=2) == [1, 2]
    assert [w for w in notices() if "left to the next run" in w and "maxFilesInBand" in w]


@pytest.mark.rule("Files of S3", source="GRP")
def test_group_files_and_group_size_change_spark_partitions_but_no_row(glue_context, read, s3):
    for number in range(8):
        put(s3, f"{number}.json", number)
    options = {"groupFiles": "inPartition", "groupSize": "1048576"}

    frame = glue_context.create_data_frame.from_options(
        "s3", {"paths": [s3.uri], **options}, "json"
    )

    assert frame.rdd.getNumPartitions() == 1
    assert read(**options) == list(range(8))
    assert read(groupFiles="none") == list(range(8))


@pytest.fixture
def few_are_many(monkeypatch):
    """Let the reader of many small files read the few of a test."""
    monkeypatch.setattr("tidemark.glue_job.readers.json.lines.MANY", 2)


@pytest.mark.rule("Files of S3", source="GRP")
def test_many_small_json_files_give_the_same_rows_grouped_or_not(glue_context, s3, monkeypatch):
    s3.put("day=2013-01-01/a.json", '{"id": 1, "tag": {"x": 1.5}}\n\n{"id": 2, "day": "no"}\n')
    s3.put("day=2013-01-02/b [1]é%20.json", '[{"id": 3}, {"id": 4, "at": null}]\r\n{"id": 5}')
    s3.put("day=__HIVE_DEFAULT_PARTITION__/c.json", '\ufeff{"id": 6, "name": "ünï"}')

    def rows(**options):
        frame = glue_context.create_data_frame.from_options(
            "s3", {"paths": [s3.uri], "recurse": True, **options}, "json"
        )
        return frame.select("id", "tag", "day", "at", "name", input_file_name()).orderBy("id")

    alone = rows(groupFiles="none").collect()
    monkeypatch.setattr("tidemark.glue_job.readers.json.lines.MANY", 2)
    by_lines, grouped = rows().collect(), rows(groupFiles="inPartition").collect()

    assert by_lines == alone
    assert grouped == [(*row[:-1], "") for row in alone]
    assert len(alone) == 6


@pytest.mark.rule("Files of S3", source="GRP", choice="rows of grouped JSON have no file name")
@pytest.mark.usefixtures("few_are_many")
@pytest.mark.parametrize(
    ("files", "options", "is_grouped"),
    [(3, {}, True), (2, {}, False), (3, {"groupFiles": "none"}, False)],
    ids=["more", "fewer", "switched off"],
)
def test_more_than_50000_files_are_grouped_unless_group_files_says_none(
    glue_context, monkeypatch, s3, files, options, is_grouped
):
    monkeypatch.setattr("tidemark.glue_job.readers.files.s3_options.GROUPED_ABOVE", 2)
    for number in range(files):
        put(s3, f"{number}.json", number)

    frame = glue_context.create_data_frame.from_options(
        "s3", {"paths": [s3.uri], **options}, "json"
    )
    names = {row[0] for row in frame.select(input_file_name()).collect()}

    assert (names == {""}) == is_grouped


@pytest.mark.rule("Files of S3", source="GRP")
def test_grouping_is_refused_for_formats_that_aws_does_not_group(read, spark, s3):
    spark.sql("SELECT 1 AS id").write.parquet(s3.uri)

    with pytest.raises(UsageError, match="are for csv, json, xml, not for parquet"):
        read(kind="parquet", groupFiles="inPartition")


@pytest.mark.parametrize("name", ["useS3ListImplementation", "optimizePerformance"])
def test_options_that_only_speed_up_aws_change_nothing(read, s3, name):
    put(s3, "a.json", 1)

    assert read(**{name: True}) == [1]


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"boundedFiles": 1, "boundedSize": 1}, UsageError, "boundedFiles and boundedSize; give"),
        ({"boundedFiles": "0"}, UsageError, "'0'; it must be an integer of at least 1"),
        ({"compressionType": "zip"}, UsageError, "'zip'; allowed are gzip and bzip2"),
        ({"maxBand": "15m"}, UsageError, "'15m'; it must be an integer of at least 0"),
        ({"exclusions": "**.pdf"}, UsageError, r"exclusions.*must be a JSON list such as"),
        ({"exclusions": ["a[b"]}, UsageError, r"'a\[b' opens '\['"),
        ({"excludeStorageClasses": ["COLD"]}, UsageError, r"has \['COLD'\]; allowed are STANDARD"),
        ({"groupFiles": "yes"}, UsageError, "'yes'; allowed are inPartition and none"),
        *at_night(
            ({"boundedSize": -1}, UsageError, "-1; it must be an integer"),
            ({"maxFilesInBand": True}, UsageError, "True; it must be an integer"),
            ({"exclusions": [1]}, UsageError, r"exclusions.*must be a JSON list such as"),
            ({"groupSize": "1MB"}, UsageError, "'1MB'; it must be an integer"),
        ),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_option_with_a_wrong_value_is_refused_and_the_bookmark_unchanged(
    run, s3, options, error, text
):
    put(s3, "a.json", 1)

    with pytest.raises(error, match=text):
        run(**options)

    assert run() == [1]
