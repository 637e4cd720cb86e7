"""A rerun replaces exactly its window, and a reader sees what was committed and nothing else."""

from __future__ import annotations

import pytest
from pyspark.errors import AnalysisException

from tests.sampled import at_night
from watermarks import WatermarkSupersededError, Window, read_committed, write_window

pytestmark = pytest.mark.spark

FORMATS = [
    "parquet",
    "csv",
    *(pytest.param(name, marks=pytest.mark.nightly) for name in ("orc", "json")),
]
SCHEMA = "id INT, origin STRING"
FIRST = [(1, "EWR"), (2, "JFK")]


def window(window_id, attempt, **changes):
    fields = {"job_id": "j", "run_id": "jr_1", "cursor": "c", "low": 1, "high": 2}
    return Window(**{**fields, "window_id": window_id, "attempt": attempt, **changes})


@pytest.fixture
def write(spark, s3):
    """Return a writer of rows as an attempt at a window below the test's prefix."""

    def write(rows, window_id, attempt, *args, **options):
        frame = spark.createDataFrame(rows, SCHEMA)
        return write_window(frame, s3.uri, window(window_id, attempt), *args, **options)

    return write


@pytest.fixture
def read(spark, s3):
    """Return a reader of committed windows below the test's prefix, ordered."""

    def read(committed, *args, **options):
        frame = read_committed(spark, s3.uri, committed, *args, **options)
        return [tuple(row) for row in frame.orderBy("window", "id").collect()]

    return read


def folders(s3):
    found = {key.rpartition("/")[0] for key in s3.names()}
    return sorted(found)


@pytest.mark.parametrize("kind", FORMATS)
def test_window_is_written_to_a_folder_of_its_attempt(write, s3, kind):
    folder = write(FIRST, "0000000003", 4, kind)

    assert folder == f"{s3.uri}window=0000000003/attempt=0000000004"
    assert folders(s3) == ["window=0000000003/attempt=0000000004"]


@pytest.mark.parametrize("schema", [SCHEMA, None], ids=["with a schema", "without"])
@pytest.mark.parametrize("kind", FORMATS)
def test_committed_window_is_read_back_with_its_window_and_attempt(write, read, kind, schema):
    write(FIRST, "0000000003", 4, kind)

    rows = read([("0000000003", 4)], kind, schema)

    # Without a schema, CSV knows text only.
    assert [(int(number), *others) for number, *others in rows] == [
        (1, "EWR", "0000000003", 4),
        (2, "JFK", "0000000003", 4),
    ]


@pytest.mark.parametrize("kind", FORMATS)
def test_rerun_of_the_same_attempt_replaces_exactly_that_window(write, read, kind):
    write([(1, "EWR")], "0000000001", 1, kind)
    write([(2, "JFK"), (3, "LGA")], "0000000002", 2, kind)

    write([(4, "JFK")], "0000000002", 2, kind)

    assert read([("0000000001", 1), ("0000000002", 2)], kind, SCHEMA) == [
        (1, "EWR", "0000000001", 1),
        (4, "JFK", "0000000002", 2),
    ]


@pytest.mark.parametrize("kind", FORMATS)
def test_later_attempt_removes_what_earlier_ones_left(write, read, s3, kind):
    write([(1, "EWR")], "0000000001", 1, kind)
    write([(2, "JFK")], "0000000002", 2, kind)
    s3.put("window=0000000002/attempt=0000000003/_temporary/0/part-0", "half a file")

    write([(4, "JFK")], "0000000002", 4, kind)

    assert folders(s3) == [
        "window=0000000001/attempt=0000000001",
        "window=0000000002/attempt=0000000004",
    ]
    assert read([("0000000002", 4)], kind, SCHEMA) == [(4, "JFK", "0000000002", 4)]


def test_what_is_no_attempt_is_left_alone(write, s3):
    s3.put("window=0000000002/notes.txt", "a file of the user's")
    s3.put("window=0000000002/attempt=old/a.json", "{}")

    write(FIRST, "0000000002", 2)

    assert folders(s3) == [
        "window=0000000002",
        "window=0000000002/attempt=0000000002",
        "window=0000000002/attempt=old",
    ]


def test_superseded_attempt_is_refused_and_nothing_is_changed(write, s3):
    write(FIRST, "0000000001", 2)
    s3.put("window=0000000001/attempt=0000000001/a.parquet", "left over")
    before = s3.names()

    with pytest.raises(
        WatermarkSupersededError, match=r"attempt 2 at window 0000000001 has written"
    ):
        write([(9, "LGA")], "0000000001", 1)

    assert s3.names() == before


def test_files_of_a_superseded_attempt_that_writes_later_are_not_read(write, read, s3):
    write(FIRST, "0000000001", 2, "json")
    s3.put("window=0000000001/attempt=0000000001/late.json", '{"id": 9, "origin": "LGA"}\n')

    assert read([("0000000001", 2)], "json", SCHEMA) == [
        (1, "EWR", "0000000001", 2),
        (2, "JFK", "0000000001", 2),
    ]


@pytest.mark.nightly
@pytest.mark.parametrize("kind", FORMATS)
def test_reader_ignores_windows_and_attempts_that_no_run_committed(write, read, s3, kind):
    write([(1, "EWR")], "0000000001", 1, kind)
    write([(2, "JFK")], "0000000002", 2, kind)
    write([(3, "LGA")], "0000000004", 4, kind)

    committed = [("0000000001", 1), ("0000000002", 3), ("0000000003", 3)]

    assert read(committed, kind, SCHEMA) == [(1, "EWR", "0000000001", 1)]


@pytest.mark.parametrize("mode", ["dynamic", *at_night("static")])
@pytest.mark.parametrize("kind", FORMATS)
def test_partitions_inside_a_window_are_replaced_with_it(spark, write, read, s3, kind, mode):
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", mode)
    try:
        write(FIRST, "0000000001", 1, kind, ["origin"])
        write([(3, "LGA"), (4, "JFK")], "0000000001", 1, kind, ["origin"])
    finally:
        spark.conf.unset("spark.sql.sources.partitionOverwriteMode")

    assert [name for name in folders(s3) if "origin" in name] == [
        "window=0000000001/attempt=0000000001/origin=JFK",
        "window=0000000001/attempt=0000000001/origin=LGA",
    ]
    assert read([("0000000001", 1)], kind, SCHEMA) == [
        (3, "LGA", "0000000001", 1),
        (4, "JFK", "0000000001", 1),
    ]


def test_texts_of_a_partition_column_come_back_but_for_the_empty_one(spark, s3):
    texts = [None, "", "NULL", "null", "a/b", " x ", "01", "1.0"]
    frame = spark.createDataFrame(list(enumerate(texts)), "id INT, kind STRING")

    write_window(frame, s3.uri, window("0001", 1), partition_by=["kind"])

    found = read_committed(spark, s3.uri, [("0001", 1)], schema="id INT, kind STRING")
    assert dict(found.select("id", "kind").collect()) == dict(enumerate([None, None, *texts[2:]]))


def test_window_column_stays_text_and_partition_types_are_inferred(spark, s3):
    frame = spark.createDataFrame([(7, 1)], "id INT, month INT")
    for number in (1, 2):
        write_window(frame, s3.uri, window(f"000{number}", number), partition_by=["month"])

    found = read_committed(spark, s3.uri, [("0001", 1), ("0002", 2)])

    assert found.dtypes == [
        ("id", "int"),
        ("month", "int"),
        ("window", "string"),
        ("attempt", "bigint"),
    ]
    assert sorted(tuple(row) for row in found.collect()) == [(7, 1, "0001", 1), (7, 1, "0002", 2)]


@pytest.mark.parametrize("kind", FORMATS)
def test_values_come_back_with_microseconds(spark, s3, kind):
    columns = "at TIMESTAMP, local TIMESTAMP_NTZ, day DATE, amount DECIMAL(20,6), note STRING"
    frame = spark.sql(
        "SELECT TIMESTAMP'2013-11-03 05:30:00.000001Z' AS at, "
        "TIMESTAMP_NTZ'2013-03-10 02:30:00.123456' AS local, DATE'2013-03-10' AS day, "
        "CAST('0.000001' AS DECIMAL(20,6)) AS amount, 'é, \"q\"' AS note"
    )

    write_window(frame, s3.uri, window("1", 1), kind)

    found = read_committed(spark, s3.uri, [("1", 1)], kind, columns).drop("window", "attempt")
    assert found.collect() == frame.collect()


def test_options_go_to_the_writer_and_the_reader(write, read, s3):
    options = {"header": "false", "sep": "|"}
    write([(1, "EWR")], "1", 1, "csv", options=options)

    parts = [s3.folder / key for key in s3.names() if key.endswith(".csv")]
    assert "".join(part.read_text(encoding="utf-8") for part in parts) == "1|EWR\n"
    assert read([("1", 1)], "csv", SCHEMA, options=options) == [(1, "EWR", "1", 1)]


@pytest.mark.nightly
@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("committed", [[], [("0000000009", 9)]], ids=["nothing", "no folder"])
def test_nothing_to_read_is_an_empty_frame_of_the_schema(spark, write, s3, kind, committed):
    write(FIRST, "0000000001", 1, kind)

    found = read_committed(spark, s3.uri, committed, kind, SCHEMA)

    assert found.dtypes == [
        ("id", "int"),
        ("origin", "string"),
        ("window", "string"),
        ("attempt", "bigint"),
    ]
    assert found.collect() == []


def test_schema_may_be_a_struct_type(spark, s3):
    schema = spark.createDataFrame([], SCHEMA).schema

    assert read_committed(spark, s3.uri, [], schema=schema).columns == [
        "id",
        "origin",
        "window",
        "attempt",
    ]


@pytest.mark.parametrize("committed", [[], [("0000000009", 9)]], ids=["nothing", "no folder"])
def test_nothing_to_read_needs_a_schema(spark, write, s3, committed):
    write(FIRST, "0000000001", 1)

    with pytest.raises(ValueError, match=r"no file of a committed window in .*: give schema"):
        read_committed(spark, s3.uri, committed)


@pytest.mark.parametrize("kind", FORMATS)
def test_window_without_rows_is_written_and_read(write, read, kind):
    write([(2, "JFK")], "0000000001", 1, kind, ["origin"])
    write([], "0000000001", 2, kind, ["origin"])

    assert read([("0000000001", 2)], kind, SCHEMA) == []


def test_partitioned_window_without_rows_has_no_file_to_take_a_schema_from(spark, write, s3):
    write([], "0000000001", 2, "parquet", ["origin"])

    with pytest.raises(ValueError, match=r"no file of a committed window in .*: give schema"):
        read_committed(spark, s3.uri, [("0000000001", 2)])


def test_window_listed_twice_is_read_once(write, read):
    write([(1, "EWR")], "1", 1)

    assert read([("1", 1), ("1", 1)]) == [(1, "EWR", "1", 1)]


def test_window_committed_by_two_attempts_is_refused(spark, s3):
    with pytest.raises(ValueError, match=r"window '1' is committed by the attempts 1 and 2"):
        read_committed(spark, s3.uri, [("1", 1), ("1", 2)], schema=SCHEMA)


def test_local_folder_works_like_s3(spark, tmp_path):
    path = str(tmp_path / "out")
    frame = spark.createDataFrame(FIRST, SCHEMA).coalesce(1)
    write_window(frame, path, window("1", 1))

    write_window(frame, path, window("1", 2))

    assert [child.name for child in (tmp_path / "out" / "window=1").iterdir()] == [
        "attempt=0000000002"
    ]
    assert read_committed(spark, path, [("1", 2)]).count() == 2


@pytest.mark.parametrize("kind", ["delta", "text", "PARQUET", ""])
def test_other_formats_are_refused(spark, s3, write, kind):
    with pytest.raises(ValueError, match=r"file_format is .*: allowed are parquet, orc, json, csv"):
        write(FIRST, "1", 1, kind)
    with pytest.raises(ValueError, match=r"file_format is .*: allowed are parquet, orc, json, csv"):
        read_committed(spark, s3.uri, [], kind, SCHEMA)


def test_empty_window_is_refused(write):
    with pytest.raises(ValueError, match=r"window of job 'j' is empty: there is nothing to read"):
        write(FIRST, "", 0)


@pytest.mark.parametrize("name", ["window", "attempt", "Window"])
def test_column_named_like_a_folder_is_refused(spark, s3, name):
    frame = spark.createDataFrame([(1,)], f"{name} INT")

    with pytest.raises(ValueError, match=rf"frame has the column '{name}': .*; rename yours"):
        write_window(frame, s3.uri, window("1", 1))
    with pytest.raises(ValueError, match=rf"frame has the column '{name}': .*; rename yours"):
        read_committed(spark, s3.uri, [], schema=f"{name} INT")


@pytest.mark.parametrize("window_id", ["../x", "a/b", "*", ".", "{a,b}", "a:b", "a b", None])
def test_window_id_that_names_no_folder_is_refused(spark, s3, window_id):
    with pytest.raises(ValueError, match="a folder is named by it"):
        read_committed(spark, s3.uri, [(window_id, 1)], schema=SCHEMA)


@pytest.mark.parametrize("attempt", [-1, True, "1", None])
def test_attempt_that_is_no_number_is_refused(spark, s3, attempt):
    with pytest.raises(ValueError, match=r"the attempt at window '1' is .*: give its number"):
        read_committed(spark, s3.uri, [("1", attempt)], schema=SCHEMA)


def test_path_must_be_given(spark):
    with pytest.raises(ValueError, match="path is '': give the folder of all windows"):
        read_committed(spark, "", [("1", 1)], schema=SCHEMA)


def test_other_errors_of_spark_are_left_as_they_are(spark, write, s3):
    write(FIRST, "1", 1)

    with pytest.raises(AnalysisException, match="COLUMN_ALREADY_EXISTS"):
        read_committed(spark, s3.uri, [("1", 1)], schema="id INT, id INT")


def test_jobs_that_write_below_one_path_lose_nothing_of_each_other(spark, s3, watermarks, job):
    """The second job has an attempt more at its first window than the first job had."""
    written = {f"{job}-eu": 100, f"{job}-us": 10}
    for name, rows in written.items():
        frame = spark.range(rows).withColumnRenamed("id", "n")
        if name.endswith("us"):
            watermarks.open_window(job_id=name, run_id="jr_died", cursor="n", high=rows)
        for window in watermarks.windows(job_id=name, run_id="jr_1", cursor="n", high=rows):
            write_window(frame, s3.uri, window)

    read = {
        name: read_committed(spark, s3.uri, watermarks.committed_windows(name)).count()
        for name in written
    }

    assert read == written


def test_csv_brings_back_every_text_but_an_empty_one(spark, s3):
    texts = ["a\nb", "a\r\nb", " lead", "trail ", "\ttab", 'quo"te', "comma,", "back\\slash", None]
    frame = spark.createDataFrame(list(enumerate(texts)), "n INT, text STRING")
    held = window("0000000001", 1)
    write_window(frame, s3.uri, held, "csv")

    committed = [(held.window_id, held.attempt)]
    found = read_committed(spark, s3.uri, committed, "csv", schema="n INT, text STRING")

    assert [row["text"] for row in found.orderBy("n").collect()] == texts


@pytest.mark.parametrize("name", ["a*b?", "100%", *at_night("a[1]b", "{a,b}")])
def test_a_path_is_a_name_and_no_pattern(spark, s3, name):
    held, path = window("0000000001", 1), f"{s3.uri}{name}/"
    write_window(spark.range(3), path, held)

    committed = [(held.window_id, held.attempt)]

    assert read_committed(spark, path, committed).count() == 3
    assert read_committed(spark, path, [*committed, ("missing", 1)]).count() == 3
