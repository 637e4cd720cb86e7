"""Formats of S3 sources: what a file becomes as rows and columns."""

from __future__ import annotations

import bz2
import gzip
import json
from datetime import UTC, date, datetime
from decimal import Decimal

import fastavro
import pytest

from tests.sampled import sampled
from tidemark.errors import UnsupportedError
from tidemark.local_state.run_warnings import RUN_FOLDER_VARIABLE, read_warnings
from tidemark.local_state.sparks.installed import own_spark

pytestmark = pytest.mark.spark

FORMATS = ["json", "csv", "avro", "xml", "parquet", "orc"]


@pytest.fixture
def read(glue_context, s3):
    """Return a reader of the test's prefix."""

    def read(kind, format_options=None, ctx="", **connection_options):
        return glue_context.create_dynamic_frame.from_options(
            connection_type="s3",
            connection_options={"paths": [s3.uri], **connection_options},
            format=kind,
            format_options=format_options,
            transformation_ctx=ctx,
        ).toDF()

    return read


def put_avro(s3, key, fields, records):
    path = s3.put(key, "")
    schema = {"type": "record", "name": "Flight", "fields": fields}
    with path.open("wb") as file:
        fastavro.writer(file, schema, records)


def put_id(spark, s3, kind, number, folder):
    """Write one row with the column id in any format."""
    if kind == "avro":
        put_avro(s3, f"{folder}/a.avro", [{"name": "id", "type": "int"}], [{"id": number}])
    elif kind == "xml":
        s3.put(f"{folder}/a.xml", f"<flights><flight><id>{number}</id></flight></flights>")
    elif kind == "csv":
        s3.put(f"{folder}/a.csv", f"id\n{number}\n")
    else:
        spark.sql(f"SELECT {number} AS id").write.format(kind).save(f"{s3.uri}{folder}")


OPTIONS = {"xml": {"rowTag": "flight"}, "csv": {"withHeader": True}}


@pytest.mark.rule("Formats", source="BM")
@pytest.mark.parametrize("kind", FORMATS)
def test_a_bookmark_works_for_json_csv_avro_xml_parquet_and_orc(spark, read, start_job, s3, kind):
    put_id(spark, s3, kind, 1, "day=1")
    first = start_job()
    assert [str(row.id) for row in read(kind, OPTIONS.get(kind), "flights").collect()] == ["1"]
    first.commit()
    put_id(spark, s3, kind, 2, "day=2")

    start_job()

    new = read(kind, OPTIONS.get(kind), "flights").collect()
    assert [(str(row.id), row.day) for row in new] == [("2", 2)]


def test_glueparquet_is_read_as_parquet(spark, read, s3):
    spark.sql("SELECT 1 AS id").write.parquet(s3.uri)

    assert read("glueparquet").collect() == [(1,)]


@pytest.mark.parametrize("kind", ["parquet", "orc"])
def test_files_with_other_columns_are_read_together(spark, read, s3, kind):
    spark.sql("SELECT 1 AS id").write.format(kind).save(s3.uri)
    spark.sql("SELECT 2 AS id, 'EWR' AS origin").write.mode("append").format(kind).save(s3.uri)

    flights = read(kind).select("id", "origin").orderBy("id")

    assert flights.collect() == [(1, None), (2, "EWR")]


# CSV


@pytest.mark.rule(
    "Formats", source="RAN", choice="Spark alone would read every file by the header of one"
)
def test_csv_files_are_each_read_by_their_own_header(read, s3):
    s3.put("a.csv", "id,origin\n1,EWR\n")
    s3.put("b.csv", "origin,id,dest\nJFK,2,ORD\n")

    flights = read("csv", {"withHeader": True}).select("id", "origin", "dest").orderBy("id")

    assert flights.collect() == [("1", "EWR", None), ("2", "JFK", "ORD")]


@pytest.mark.rule("Formats", source="INFER")
def test_csv_columns_without_a_header_are_named_by_position(read, s3):
    s3.put("day=1/a.csv", "1,EWR\n")

    assert read("csv").columns == ["col0", "col1", "day"]


def test_csv_header_of_a_file_without_rows_is_no_row(read, s3):
    s3.put("a.csv", "id\n")
    s3.put("b.csv", "id\n1\n")

    assert read("csv", {"withHeader": True}).collect() == [("1",)]


def test_csv_skip_first_leaves_out_the_first_line_of_each_file(read, s3):
    s3.put("a.csv", "total 1\n1\n")
    s3.put("b.csv", "total 1\n2\n")

    assert sorted(read("csv", {"skipFirst": True}).collect()) == [("1",), ("2",)]


@pytest.mark.parametrize("options", [{}, {"multiLine": True}], ids=["lines", "multiLine"])
def test_csv_after_a_skipped_line_has_the_columns_of_the_next_one(read, s3, options):
    s3.put("a.csv", "\njunk\n\n1,2\n3,4\n")
    s3.put("b.csv", "more,junk,here\n5\n")
    s3.put("c.csv", "only junk\n")
    s3.put("d.csv.bz2", "").write_bytes(bz2.compress(b"x\n6,7\n"))

    rows = read("csv", {"skipFirst": True, **options})

    assert rows.columns == ["col0", "col1"]
    assert sorted(map(tuple, rows.collect())) == [("1", "2"), ("3", "4"), ("5", None), ("6", "7")]


def test_csv_doubled_quotes_are_one_and_a_backslash_is_itself(read, s3):
    s3.put("a.csv", '1,"so ""called"" delay",C:\\temp\n')

    assert read("csv").collect() == [("1", 'so "called" delay', "C:\\temp")]


def test_compressed_csv_is_read_by_its_suffix(read, s3):
    s3.put("a.csv.gz", "").write_bytes(gzip.compress(b"id\n1\n"))

    assert read("csv", {"withHeader": True}).collect() == [("1",)]


# JSON


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('{"page": 1, "items": [{"id": 1}, {"id": 2}]}\n', "$.items[*]"),
        ('{"page": 1, "items": [{"id": 1}, {"id": 2}]}\n', "$['items']"),
        ('[{"id": 1}, {"id": 2}]\n', "$[*]"),
        ('{"id": 1}\n{"id": 2}\n', "$"),
        ('{"item": {"id": 1}}\n{"item": {"id": 2}}\n{"other": 1}\n', "$.item"),
    ],
)
def test_json_path_names_the_objects_that_become_rows(read, s3, text, path):
    s3.put("day=1/a.json", text)

    assert read("json", {"jsonPath": path}).orderBy("id").collect() == [(1, 1), (2, 1)]


@pytest.mark.parametrize("path", ["$.nothing", "$.page", "$.items[*].id"])
def test_json_path_that_points_at_no_object_is_refused(read, s3, path):
    s3.put("a.json", '{"page": 1, "items": [{"id": 1}]}\n')

    with pytest.raises(Exception, match=r"jsonPath .* (goes into|points at)"):
        read("json", {"jsonPath": path})


def test_with_schema_gives_json_its_columns(read, s3):
    s3.put("a.json", '{"id": 1, "other": true}\n')
    fields = [
        {"name": "id", "container": {"dataType": "string", "properties": {}}, "properties": {}},
        {"name": "gone", "container": {"dataType": "int", "properties": {}}, "properties": {}},
    ]
    schema = {"dataType": "struct", "fields": fields, "properties": {}}

    flights = read("json", {"withSchema": json.dumps(schema)})

    assert flights.dtypes == [("id", "string"), ("gone", "int")]
    assert flights.collect() == [("1", None)]


# Avro


AVRO_FIELDS = [
    {"name": "id", "type": "long"},
    {"name": "origin", "type": ["null", "string"], "default": None},
    {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}},
    {"name": "raw", "type": "bytes"},
    {"name": "stops", "type": {"type": "array", "items": "string"}},
    {"name": "miles", "type": {"type": "map", "values": "double"}},
    {
        "name": "plane",
        "type": {
            "type": "record",
            "name": "Plane",
            "fields": [{"name": "tail", "type": "string"}],
        },
    },
]
AVRO_RECORD = {
    "id": 1,
    "origin": None,
    "kind": "B",
    "raw": b"\x00\x01",
    "stops": ["ORD"],
    "miles": {"EWR": 1.5},
    "plane": {"tail": "N1"},
}


def test_avro_types_become_spark_types(read, s3):
    put_avro(s3, "a.avro", AVRO_FIELDS, [AVRO_RECORD, {**AVRO_RECORD, "origin": "EWR"}])

    flights = read("avro")

    assert flights.dtypes == [
        ("id", "bigint"),
        ("origin", "string"),
        ("kind", "string"),
        ("raw", "binary"),
        ("stops", "array<string>"),
        ("miles", "map<string,double>"),
        ("plane", "struct<tail:string>"),
    ]
    first, second = flights.orderBy("origin").collect()
    assert tuple(first) == (1, None, "B", b"\x00\x01", ["ORD"], {"EWR": 1.5}, ("N1",))
    assert second.origin == "EWR"


LOGICAL_FIELDS = [
    {"name": "day", "type": {"type": "int", "logicalType": "date"}},
    {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    {"name": "micros", "type": {"type": "long", "logicalType": "timestamp-micros"}},
    {
        "name": "fare",
        "type": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}],
    },
]
AT = datetime(2013, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)
AT_MS = 1357095845678
LOGICAL_RECORD = {"day": date(2013, 1, 2), "at": AT, "micros": AT, "fare": Decimal("1.50")}


@pytest.mark.rule("Formats", source="S3")
def test_avro_logical_types_are_plain_numbers_and_bytes_by_default(read, s3):
    put_avro(s3, "a.avro", LOGICAL_FIELDS, [LOGICAL_RECORD])

    assert read("avro").collect() == [(15707, AT_MS, 1000 * AT_MS, b"\x00\x96")]


@pytest.mark.rule("Formats", source="S3")
def test_avro_version_1_8_reads_dates_millisecond_timestamps_and_decimals(read, s3):
    put_avro(s3, "a.avro", LOGICAL_FIELDS, [LOGICAL_RECORD])

    flights = read("avro", {"version": "1.8"})

    assert [kind for _, kind in flights.dtypes] == ["date", "timestamp", "bigint", "decimal(6,2)"]
    (row,) = flights.collect()
    assert (row.day, row.fare, row.micros) == (date(2013, 1, 2), Decimal("1.50"), 1000 * AT_MS)
    assert row.at == AT.replace(tzinfo=None)


def test_fields_of_avro_that_a_file_lacks_are_lacking_in_its_records(
    glue_context, s3, tmp_path, monkeypatch
):
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path))
    put_avro(s3, "a.avro", [{"name": "id", "type": "int"}], [{"id": 1}])
    origin = {"name": "origin", "type": ["null", "string"]}
    put_avro(s3, "b.avro", [{"name": "id", "type": "int"}, origin], [{"id": 2, "origin": "EWR"}])
    frame = glue_context.create_dynamic_frame.from_options("s3", {"paths": [s3.uri]}, "avro")

    kept = frame.filter(lambda row: row["origin"] != "JFK").toDF()

    assert [row.id for row in kept.collect()] == [2]
    (warning, *_) = read_warnings(tmp_path)
    assert warning.startswith("the field origin is or may be null in some records and is missing")
    frame = frame.drop_fields("origin")
    assert frame.filter(lambda row: row["id"] < 9).count() == 2


def test_avro_files_with_other_fields_are_read_together(read, s3):
    put_avro(s3, "a.avro", [{"name": "id", "type": "int"}], [{"id": 1}])
    more = [{"name": "id", "type": "double"}, {"name": "origin", "type": "string"}]
    put_avro(s3, "b.avro", more, [{"id": 2.5, "origin": "EWR"}])

    assert read("avro").orderBy("id").collect() == [(1.0, None), (2.5, "EWR")]


@pytest.mark.rule("Formats", source="TYPES")
@pytest.mark.parametrize("kind", ["parquet", "orc", "avro"])
def test_files_that_disagree_on_the_type_of_a_column_make_a_choice(spark, read, s3, kind):
    if kind == "avro":
        put_avro(s3, "a.avro", [{"name": "id", "type": "int"}], [{"id": 1}])
        put_avro(s3, "b.avro", [{"name": "id", "type": "string"}], [{"id": "x"}])
    else:
        spark.sql("SELECT 1 AS id").write.format(kind).save(s3.uri)
        spark.sql("SELECT 'x' AS id").write.mode("append").format(kind).save(s3.uri)

    flights = read(kind)

    assert flights.dtypes == [("id", "struct<int:int,string:string>")]
    assert sorted(flights.collect(), key=str) == [((1, None),), ((None, "x"),)]


# XML


FLIGHTS_XML = """<?xml version="1.0" encoding="UTF-8"?>
<flights>
  <flight carrier="UA"><id>1</id><delay unit="min">2.5</delay>
    <stop>ORD</stop><stop>DEN</stop></flight>
  <flight carrier="B6"><id>2</id><delay unit="min">3</delay>
    <stop>LGA</stop><late>true</late></flight>
</flights>
"""


def test_xml_elements_with_the_row_tag_become_rows(read, s3):
    s3.put("a.xml", FLIGHTS_XML)

    flights = read("xml", {"rowTag": "flight"})

    assert flights.dtypes == [
        ("_carrier", "string"),
        ("id", "bigint"),
        ("delay", "struct<_unit:string,_VALUE:double>"),
        ("stop", "array<string>"),
        ("late", "boolean"),
    ]
    assert flights.orderBy("id").collect() == [
        ("UA", 1, ("min", 2.5), ["ORD", "DEN"], None),
        ("B6", 2, ("min", 3.0), ["LGA"], True),
    ]


@pytest.mark.nightly
def test_a_row_tag_that_no_file_has_is_warned_of(read, s3, tmp_path, monkeypatch):
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path))
    s3.put("a.xml", FLIGHTS_XML)
    s3.put("b.xml", "<r><empty/></r>")

    assert read("xml", {"rowTag": "Flight"}).collect() == []
    assert read("xml", {"rowTag": "empty"}).count() == 1

    nowhere, elsewhere = read_warnings(tmp_path)
    assert nowhere.startswith("no file has an element Flight, the rowTag")
    assert elsewhere.startswith(f"there is in {s3.uri}a.xml no element empty, the rowTag")


def test_xml_attributes_and_values_are_named_by_options(read, s3):
    s3.put("a.xml", FLIGHTS_XML)

    flights = read("xml", {"rowTag": "flight", "attributePrefix": "at_", "valueTag": "value"})

    assert flights.select("at_carrier", "delay.value").first() == ("UA", 2.5)


@pytest.mark.parametrize("name", ["excludeAttribute", "excludeAttributes"])
def test_xml_attributes_can_be_left_out(read, s3, name):
    s3.put("a.xml", FLIGHTS_XML)

    flights = read("xml", {"rowTag": "flight", name: True})

    assert flights.select("id", "delay").first() == (1, 2.5)


def test_xml_blank_text_is_kept_stripped_or_null_by_options(read, s3):
    s3.put("a.xml", "<r><f><a> x </a><b> </b></f></r>")

    def row(**options):
        return tuple(read("xml", {"rowTag": "f", **options}).first())

    assert row() == (" x ", " ")
    assert row(ignoreSurroundingSpaces=True, treatEmptyValuesAsNulls=True) == ("x", None)


def test_xml_of_another_encoding_is_read(read, s3):
    s3.put("a.xml", "").write_bytes("<r><f><a>Zürich</a></f></r>".encode("latin-1"))

    assert read("xml", {"rowTag": "f", "encoding": "ISO-8859-1"}).collect() == [("Zürich",)]


def test_xml_field_that_is_not_always_of_one_kind_becomes_the_wider_one(read, s3):
    s3.put("a.xml", "<r><f><a>1</a><b>x</b><c>1</c></f></r>")
    s3.put("b.xml", "<r><f><a>y</a><b>x</b><b>y</b><c><d>2</d></c></f></r>")

    rows = read("xml", {"rowTag": "f"}).orderBy("a")

    assert rows.selectExpr("a", "b", "c._VALUE", "c.d").collect() == [
        ("1", ["x"], 1, None),
        ("y", ["x", "y"], None, 2),
    ]


def test_xml_with_a_schema_is_read_by_it(read, s3):
    s3.put("a.xml", FLIGHTS_XML)
    fields = [{"name": "id", "container": {"dataType": "string"}}]
    schema = json.dumps({"dataType": "struct", "fields": fields})

    flights = read("xml", {"rowTag": "flight", "withSchema": schema})

    assert sorted(flights.collect()) == [("1",), ("2",)]


# Other ways to open a source


def test_get_source_is_read_by_the_format_that_is_set_later(glue_context, s3):
    s3.put("a.json", '{"id": 1}\n')

    source = glue_context.getSource("s3", paths=[s3.uri])
    source.setFormat("json")

    assert source.getFrame().toDF().collect() == [(1,)]


@pytest.mark.parametrize("kind", ["parquet", "orc"])
def test_get_source_takes_a_columnar_format_as_connection_type(spark, glue_context, s3, kind):
    spark.sql("SELECT 1 AS id").write.format(kind).save(s3.uri)

    assert glue_context.getSource(kind, paths=[s3.uri]).getFrame().toDF().collect() == [(1,)]
    by_format = glue_context.getSource("s3", format=kind, paths=[s3.uri])
    assert by_format.getDataFrame().collect() == [(1,)]


def test_create_data_frame_reads_through_the_bookmark(glue_context, start_job, s3):
    s3.put("a.json", '{"id": 1}\n')

    def read():
        return glue_context.create_data_frame.from_options(
            "s3", {"paths": [s3.uri]}, "json", transformation_ctx="flights"
        )

    first = start_job()
    assert read().collect() == [(1,)]
    first.commit()
    start_job()

    assert read().columns == []


@pytest.fixture
def few_are_many(monkeypatch):
    """Let the reader of many small JSON files take any number of them."""
    monkeypatch.setattr("tidemark.glue_job.readers.json.lines.MANY", 1)


def test_many_small_json_files_have_the_schema_of_all_of_them(few_are_many, read, s3):
    s3.put("day=1/a.json", '{"id": 1}\r\n\r\n{"id": 2.5, "origin": "Zürich"}\n')
    s3.put("day=2/b.json.gz", "").write_bytes(gzip.compress(b'[{"id": 3}]'))

    flights = read("json")

    assert flights.dtypes == [
        ("id", "struct<double:double,int:int>"),
        ("origin", "string"),
        ("day", "int"),
    ]
    assert sorted(flights.collect(), key=str) == [
        ((2.5, None), "Zürich", 1),
        ((None, 1), None, 1),
        ((None, 3), None, 2),
    ]


def test_a_bad_line_in_many_small_json_files_is_named(few_are_many, glue_context, s3):
    s3.put("good.json", '{"id": 1}\n')
    s3.put("bad.json", '{"id": 1\n')

    with pytest.raises(Exception, match=r"bad\.json as json: '\{\"id\": 1' does not parse; "):
        glue_context.create_data_frame.from_options("s3", {"paths": [s3.uri]}, "json").collect()


@pytest.mark.rule(
    "Partitions", source="INFER", choice="the folder's value, as in Spark; a warning names both"
)
@pytest.mark.parametrize("kind", sampled(FORMATS, "json", "csv", "parquet"))
def test_a_field_with_the_name_of_a_folder_has_the_value_of_the_folder(
    spark, read, s3, tmp_path, monkeypatch, kind
):
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path))
    put_id(spark, s3, kind, 1, "year=2024/id=7")
    put_id(spark, s3, kind, 2, "year=2024/id=8")

    if kind == "csv" and own_spark().major >= 4:
        with pytest.raises(UnsupportedError, match=r"each field of the csv files .*, id, has the "):
            read(kind, OPTIONS.get(kind))
        return
    rows = read(kind, OPTIONS.get(kind))

    assert sorted(int(row.id) for row in rows.collect()) == [7, 8]
    [text] = read_warnings(tmp_path)
    assert text.startswith(f"files in the folders id=… of {s3.uri.rstrip('/')} have a field id: ")
