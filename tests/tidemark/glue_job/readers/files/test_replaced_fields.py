"""A field with the name of a partition folder is named where both differ, and only there."""

from __future__ import annotations

import gzip

import fastavro
import pytest

from tests.sampled import at_night
from tidemark.local_state.run_warnings import RUN_FOLDER_VARIABLE, read_warnings

pytestmark = pytest.mark.spark

JSON_CASES = [
    ("day=1", '{"day": 1, "x": 1}\n{"day": "1"}\n{"x": 2}\n{"day": null}\n', {}, False),
    ("day=01", '{"day": 1}\n', {}, False),
    ("day=2024-01-01", '{"day": "2024-01-01"}{"day": "2024-01-01"}\n', {}, False),
    ("day=a%2Fb c+d", '[{"day": "a/b c+d"}]\n', {}, False),
    ("day=1", '{\n "day": 1\n}\n', {"multiLine": True}, False),
    ("day=1", '{"day": 1}{"day": 2}\n', {}, True),
    ("day=1", '{"Day": 2}\n', {}, True),
    ("day=1", '{"day": {"x": 1}}\n', {}, True),
    ("day=x", '{"day": "X"}\n', {}, True),
    ("day=__HIVE_DEFAULT_PARTITION__", '{"day": 1}\n', {}, True),
    ("day=1", '{"day": 2}\njunk\n', {}, True),
    *at_night(
        ("day=1", '{\n "day": 1\n}\n', {}, False),
        ("day=1", '{"day": 1}\njunk\n', {}, False),
        ("day=1", '{"day": 1}\n{"day": 2}\n', {}, True),
        ("day=2024-01-01", '{"day": "2024-01-01 10:00:00"}\n', {}, True),
    ),
]


@pytest.fixture
def warned(tmp_path, monkeypatch):
    """Return whether the run warns of a replaced field."""
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path))
    return lambda: "replaces the value of the file" in "".join(read_warnings(tmp_path))


def frame_of(glue_context, s3, kind, **options):
    paths = {"paths": [s3.uri], "recurse": True}
    return glue_context.create_dynamic_frame.from_options("s3", paths, kind, options).toDF()


@pytest.mark.parametrize(("folder", "text", "options", "is_named"), JSON_CASES)
def test_a_field_of_json_is_named_where_its_folder_has_another_value(
    glue_context, s3, warned, folder, text, options, is_named
):
    s3.put(f"{folder}/a.json", text)

    assert "day" in frame_of(glue_context, s3, "json", **options).columns
    assert warned() == is_named


@pytest.mark.parametrize(("day", "is_named"), [(2, True), *at_night((1, False))])
@pytest.mark.parametrize("kind", ["csv", "xml", "parquet", "orc", "avro"])
def test_a_field_of_any_format_is_named_where_its_folder_has_another_value(
    glue_context, spark, s3, warned, kind, day, is_named
):
    folder = s3.folder / "hour=7" / "day=1"
    if kind == "csv":
        s3.put("hour=7/day=1/a.csv", f"id,day\n1,{day}\n")
    elif kind == "xml":
        s3.put("hour=7/day=1/a.xml", f"<a><r><id>1</id><day>{day}</day></r></a>")
    elif kind == "avro":
        folder.mkdir(parents=True)
        record = {"id": 1, "day": day}
        fields = [{"name": name, "type": "int"} for name in record]
        with (folder / "a.avro").open("wb") as file:
            fastavro.writer(file, {"type": "record", "name": "r", "fields": fields}, [record])
    else:
        rows = spark.createDataFrame([(1, day)], "id int, day int")
        rows.write.format(kind).save(f"file://{folder}")
    options = {"csv": {"withHeader": True}, "xml": {"rowTag": "r"}}.get(kind, {})

    assert frame_of(glue_context, s3, kind, **options).select("day").first()[0] in (1, "1")
    assert warned() == is_named


@pytest.mark.parametrize(("day", "is_named"), [("01", False), ("2", True)])
def test_a_field_is_compared_with_the_declared_value_of_a_table(
    define, read, s3, warned, day, is_named
):
    s3.put("day=1/a.json", f'{{"id": 1, "day": "{day}"}}\n')
    define([{"Name": "id", "Type": "bigint"}], [("day", "int")])

    assert read().collect() == [(1, 1)]
    assert warned() == is_named


def test_a_field_of_a_compressed_file_of_a_data_frame_is_compared(glue_context, s3, warned):
    s3.put("day=1/a.json", "")
    (s3.folder / "day=1" / "a.json").unlink()
    (s3.folder / "day=1" / "a.json.gz").write_bytes(gzip.compress(b'{"day": 1}\n'))

    reader = glue_context.create_data_frame.from_options
    assert reader("s3", {"paths": [s3.uri], "recurse": True}, "json").collect() == [(1,)]
    assert not warned()
