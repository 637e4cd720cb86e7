"""Files that are not what their format says: an error that names them, the bookmark unchanged."""

from __future__ import annotations

import gzip
import subprocess
import sys

import fastavro
import pyarrow as pa
import pytest
from pyarrow import orc
from pyspark.errors import PySparkException

from tests.sampled import at_night
from tidemark.errors import UnsupportedError, UsageError
from tidemark.glue_job.readers.files.read_errors import blaming_files
from tidemark.local_state.bookmarks.versions import latest_bookmark
from tidemark.local_state.sparks.installed import own_spark
from tidemark.local_state.store.database import Store

pytestmark = pytest.mark.spark

OPTIONS = {"xml": {"rowTag": "flight"}, "csv": {"withHeader": True}}
NAMED = r"(?s)bad\.[a-z.]+.*; repair or delete it, or name it in exclusions, .* bookmark is unch"


@pytest.fixture
def run(glue_context, start_job, s3):
    """Return a run of a job: opens a source, runs an action, commits."""

    def run(kind, format_options=None):
        job = start_job()
        frame = glue_context.create_dynamic_frame.from_options(
            "s3",
            {"paths": [s3.uri]},
            kind,
            OPTIONS.get(kind) if format_options is None else format_options,
            "flights",
        ).toDF()
        rows = frame.collect()
        job.commit()
        return rows

    return run


@pytest.fixture
def versions(spark_home, s3):
    """Return how often the test's job has committed."""

    def versions():
        with Store(spark_home.database) as store:
            bookmark = latest_bookmark(store, s3.folder.name)
        return bookmark.version if bookmark else 0

    return versions


def put_good(spark, s3, kind):
    """Write one good file and return its bytes and name."""
    if kind == "avro":
        path = s3.put("good.avro", "")
        schema = {"type": "record", "name": "R", "fields": [{"name": "id", "type": "string"}]}
        with path.open("wb") as file:
            fastavro.writer(file, schema, [{"id": str(n)} for n in range(100)])
    elif kind == "xml":
        path = s3.put("good.xml", "<flights><flight><id>1</id></flight></flights>")
    elif kind == "csv":
        path = s3.put("good.csv", "id,origin\n1,EWR\n2,JFK\n")
    elif kind == "json":
        path = s3.put("good.json", '{"id": 1, "origin": "EWR"}\n')
    else:
        spark.range(100).coalesce(1).write.format(kind).save(s3.uri)
        (name,) = [name for name in s3.names() if name.endswith(kind)]
        path = s3.folder / name
    return path.read_bytes()


@pytest.mark.rule("Bad input", source="INFER", choice="an error, AWS may count error records")
@pytest.mark.parametrize("kind", ["csv", "avro", "xml", "parquet", "orc"])
def test_a_truncated_file_fails_the_run_and_is_named(spark, run, versions, s3, kind):
    good = put_good(spark, s3, kind)
    run(kind)
    s3.put(f"bad.{kind}", "").write_bytes(good[:-5])

    with pytest.raises(Exception, match=rf"(?s)bad\.{kind}"):
        run(kind)

    assert versions() == 1


@pytest.mark.rule("Bad input", source="INFER")
@pytest.mark.parametrize("kind", ["avro", "xml", "parquet", "orc"])
def test_a_file_of_another_format_is_named_with_the_remedy(spark, run, versions, s3, kind):
    put_good(spark, s3, kind)
    s3.put(f"bad.{kind}", "id,origin\n1,EWR\n")

    with pytest.raises(Exception, match=NAMED):
        run(kind)

    assert versions() == 0


@pytest.mark.rule("Bad input", source="INFER")
def test_a_binary_file_is_not_csv(spark, run, s3):
    spark.range(3).coalesce(1).write.parquet(s3.uri)
    (name,) = [name for name in s3.names() if name.endswith("parquet")]
    (s3.folder / name).rename(s3.folder / "bad.csv")

    with pytest.raises(Exception, match=r"bad\.csv as csv: .*not text; repair or delete it"):
        run("csv")


@pytest.mark.nightly
def test_json_of_control_characters_is_named_with_the_remedy(run, versions, s3):
    s3.put("bad.json", "").write_bytes(bytes(range(1, 128)) * 2)

    with pytest.raises(Exception, match=NAMED) as failure:
        run("json")

    assert "\x1c" not in str(failure.value)
    assert versions() == 0


@pytest.mark.rule("Bad input", source="INFER")
def test_an_error_about_a_line_feed_within_quotes_names_multi_line(run, versions, s3):
    s3.put("bad.csv", 'id,origin\n1,"two\nlines"\n2,c\n')

    with pytest.raises(Exception, match=r"bad\.csv as csv: .*does not parse; .*multiLine"):
        run("csv")

    assert versions() == 0


@pytest.mark.rule("Bad input", source="INFER", choice="the first 64 KiB of each file are checked")
def test_csv_that_is_not_utf_8_is_named(run, versions, s3):
    s3.put("good.csv", "name\nJosé\n")
    s3.put("bad.csv", "").write_bytes("name\nJosé\n".encode("latin-1"))

    with pytest.raises(
        Exception, match=r"bad\.csv as csv: it is not UTF-8.* can't decode byte 0xe9"
    ):
        run("csv")

    assert versions() == 0


@pytest.mark.parametrize("many", [200, 1], ids=["few", "many"])
def test_json_that_is_not_utf_8_is_named_however_many_files_there_are(
    run, versions, s3, monkeypatch, many
):
    monkeypatch.setattr("tidemark.glue_job.readers.json.lines.MANY", many)
    s3.put("good.json", '{"name": "a"}\n')
    s3.put("bad.json", "").write_bytes('{"name": "é"}\n'.encode("latin-1"))

    with pytest.raises(Exception, match=NAMED):
        run("json")

    assert versions() == 0


@pytest.mark.rule(
    "Bad input", source="INFER", choice="an error; Spark would silently drop or invent fields"
)
@pytest.mark.parametrize(
    ("line", "fields"),
    [("1,EWR,more", 3), ('1,"a,""b"",c",', 3), *at_night(("1", 1), ('"1,2\t3"', 1))],
)
@pytest.mark.parametrize("options", [{"withHeader": True}, {}], ids=["header", "none"])
def test_a_csv_line_with_more_or_fewer_fields_fails_the_run(
    run, versions, s3, glue_context, line, fields, options
):
    s3.put("bad.csv", f"id,origin\n2,JFK\n{line}\n")

    with pytest.raises(Exception, match=rf"bad\.csv .*; it has {fields} fields? for 2 columns; "):
        run("csv", options)

    assert versions() == 0
    given = "s3", {"paths": [s3.uri]}, "csv", options
    with pytest.raises(Exception, match=rf"it has {fields} fields? for 2 columns; "):
        glue_context.create_data_frame.from_options(*given).collect()
    frame = glue_context.create_dynamic_frame.from_options(*given)
    assert frame.errorsCount() == 1
    (error,) = frame.errorsAsDynamicFrame().toDF().select("error.*").collect()
    assert (error.input, error.source) == (line, f"{s3.uri}bad.csv")
    with pytest.raises(Exception, match=rf"it has {fields} fields? for 2 columns; "):
        frame.select_fields([frame.toDF().columns[0]]).count()


@pytest.mark.rule("Bad input", source="INFER", choice="no rows if the format allows it")
@pytest.mark.parametrize("kind", ["json", "csv", "xml"])
def test_an_empty_file_has_no_rows_in_text_formats(spark, run, s3, kind):
    put_good(spark, s3, kind)
    s3.put(f"empty.{kind}", "")

    assert len(run(kind)) == (2 if kind == "csv" else 1)


@pytest.mark.parametrize("kind", ["json", "csv", "xml"])
def test_only_empty_files_are_nothing_new(run, s3, kind):
    s3.put(f"empty.{kind}", "")

    assert run(kind) == []


@pytest.mark.rule("Bad input", source="INFER", choice="broken: these formats start with a marker")
@pytest.mark.parametrize("kind", ["avro", "parquet", "orc"])
def test_an_empty_file_is_broken_in_binary_formats(spark, run, versions, s3, kind):
    put_good(spark, s3, kind)
    s3.put(f"bad.{kind}", "")

    with pytest.raises(Exception, match=rf"bad\.{kind} as {kind}: it is empty \(0 bytes\); repair"):
        run(kind)

    assert versions() == 0


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_a_truncated_archive_is_named(run, versions, s3, kind):
    text = {"json": '{"id": 1}\n', "csv": "id\n1\n"}[kind] * 1000
    s3.put(f"bad.{kind}.gz", "").write_bytes(gzip.compress(text.encode())[:-8])

    with pytest.raises(Exception, match=rf"bad\.{kind}\.gz"):
        run(kind)

    assert versions() == 0


def test_json_document_that_ends_early_is_named_with_its_first_line(run, s3):
    s3.put("bad.json", '{\n  "id": 1\n')

    with pytest.raises(Exception, match=r"bad\.json as json: .* does not parse; "):
        run("json")


def test_a_filter_of_the_script_hides_no_bad_record(glue_context, s3):
    s3.put("bad.csv", "id,origin\n1,EWR\n2,JFK,more\n")
    frame = glue_context.create_data_frame.from_options(
        "s3", {"paths": [s3.uri]}, "csv", {"withHeader": True}
    )

    for kept in (frame.filter("id = '1'"), frame.filter("origin = 'EWR'").select("id")):
        with pytest.raises(Exception, match="it has 3 fields for 2 columns"):
            kept.collect()


def test_good_json_is_read_without_another_pass(glue_context, s3, logged):
    s3.put("a.json", '{"id": 1}\n')

    events = logged(
        lambda: glue_context.create_data_frame.from_options("s3", {"paths": [s3.uri]}, "json")
    )

    assert events.count('"Event":"SparkListenerJobStart"') == 1  # inference


def test_a_data_frame_of_files_that_disagree_on_a_type_is_refused_with_both(
    spark, glue_context, s3
):
    spark.sql("SELECT 1 AS id").write.parquet(s3.uri)
    spark.sql("SELECT 'a' AS id").write.mode("append").parquet(s3.uri)

    with pytest.raises(UnsupportedError, match=r"'id' is .*choice<int,string>") as failure:
        glue_context.create_data_frame.from_options("s3", {"paths": [s3.uri]}, "parquet")

    assert "repair" not in str(failure.value)


@pytest.mark.rule("Bad input", source="INFER", choice="an error that names the missing class")
@pytest.mark.parametrize(
    ("key", "kind", "named"),
    [("a.json.zst", "json", "codec zStandard")],
)
def test_a_missing_codec_is_not_called_a_damaged_file(run, s3, key, kind, named):
    frame = b"\x28\xb5\x2f\xfd\x00\x00\x51\x00\x00" + b'{"id": 1}\n'
    s3.put(key, "").write_bytes(frame)
    if own_spark().major >= 4:  # its Hadoop has the codec
        assert [row.id for row in run(kind)] == [1]
        return

    with pytest.raises(UnsupportedError, match=f"{key} as {kind}: .*{named}.* gzip") as failure:
        run(kind)

    assert "repair or delete" not in str(failure.value)


def test_a_type_of_orc_that_spark_lacks_is_not_called_a_damaged_file(run, s3):
    schema = pa.schema([("at", pa.timestamp("us", tz="UTC"))])
    orc.write_table(pa.Table.from_pylist([{"at": 0}], schema), str(s3.put("a.orc", "")))

    with pytest.raises(UnsupportedError, match=r"a\.orc as orc: .*local time zone.* may be good"):
        run("orc")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Caused by: java.lang.ClassNotFoundException: com.hadoop.LzoCodec", "com.hadoop.LzoCodec"),
        ("java.lang.ClassNotFoundException: Class x.y.Files not found", "x.y.Files"),
        ("java.lang.NoClassDefFoundError: org/brotli/Codec", "org.brotli.Codec"),
        ("Failed to find data source: avro. Avro is built-in", "avro"),
    ],
)
@pytest.mark.usefixtures("spark")
def test_a_missing_class_is_named_with_what_to_do(s3, text, named):
    s3.put("a.json", "{}")

    with (
        pytest.raises(UnsupportedError, match=f"the class {named} is missing; .*--extra-jars"),
        blaming_files([f"{s3.uri}a.json"], "json"),
    ):
        raise PySparkException(text)


def test_a_type_of_parquet_that_spark_has_not_is_not_called_damage(run, versions, s3):
    path = s3.put("good.parquet", "")
    rows = "SELECT 1 AS id, TIMESTAMP_NS '2024-01-01 00:00:00.123456789' AS at"
    copy = f"COPY ({rows}) TO '{path}'"
    write = f"import duckdb; duckdb.sql({copy!r})"
    subprocess.run([sys.executable, "-c", write], check=True, capture_output=True)

    with pytest.raises(UnsupportedError, match=r"good\.parquet .*NANOS.*nanosAsLong") as error:
        run("parquet")

    assert "repair or delete" not in str(error.value)
    assert versions() == 0


@pytest.mark.rule("Bad input", source="INFER")
@pytest.mark.parametrize("kind", ["parquet", "orc", "avro"])
def test_a_file_with_broken_rows_fails_the_run_and_is_named(spark, run, versions, s3, kind):
    good = bytearray(put_good(spark, s3, kind))
    middle = {"parquet": 40, "orc": 40, "avro": len(good) - 60}[kind]
    good[middle : middle + 30] = b"\xff" * 30
    s3.put(f"bad.{kind}", "").write_bytes(good)

    with pytest.raises(Exception, match=rf"bad\.{kind}"):
        run(kind)

    assert versions() == 0


@pytest.mark.nightly
@pytest.mark.rule("Bad input", source="INFER", choice="even if the script catches the error")
def test_a_source_that_failed_to_open_counts_as_not_read(glue_context, start_job, s3):
    def read():
        return glue_context.create_dynamic_frame.from_options(
            "s3", {"paths": [s3.uri]}, "json", transformation_ctx="flights"
        ).toDF()

    s3.put("good.json", '{"id": 1}\n')
    first = start_job()
    read()
    first.commit()
    s3.put("bad.json", '{"id": 2')
    second = start_job()
    for _ in range(2):
        with pytest.raises(Exception, match=r"bad\.json"):
            read()
    second.commit()
    s3.put("bad.json", '{"id": 2}\n', minutes_ago=1)

    start_job()

    assert read().collect() == [(2,)]


@pytest.mark.parametrize("kind", ["csv", "json", "xml"])
@pytest.mark.parametrize("folder", ["k=", "=v"])
@pytest.mark.rule("Bad input", source="INFER", choice="an error; Spark reads no such partition")
def test_a_partition_folder_without_name_or_value_is_named(run, s3, kind, folder):
    s3.put(f"{folder}/a", "a\n1\n")

    with pytest.raises(UsageError, match=rf"the folder '{folder}' of s3://.*/{folder}/a is not a"):
        run(kind)
