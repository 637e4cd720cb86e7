"""JSON and CSV of DynamicFrames: choices as their values, and CSV as it comes back."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, date, datetime

import pytest

from tidemark.errors import UnsupportedError, UsageError
from tidemark.local_state.catalog.tables import find_table
from tidemark.local_state.store.database import Store

pytestmark = pytest.mark.spark

CATALOG = {"enableUpdateCatalog": True, "updateBehavior": "UPDATE_IN_DATABASE"}


@pytest.fixture
def written(glue_context, s3):
    """Return a function that writes a frame and returns the text of its one part."""

    def written(frame, kind, format_options=None, folder="", **options):
        glue_context.write_dynamic_frame.from_options(
            frame.coalesce(1),
            connection_type="s3",
            connection_options={"path": s3.uri, **options},
            format=kind,
            format_options=format_options or {},
        )
        (part,) = (name for name in s3.names() if "part-" in name and folder in name)
        return (s3.folder / part).read_bytes().decode("utf-8")

    return written


@pytest.fixture
def json_frame(glue_context, s3):
    """Return a maker of frames of records, read from a file beside what is written."""

    def json_frame(*records):
        source = s3.folder.parent / f"{s3.folder.name}-source"
        source.mkdir(exist_ok=True)
        text = "\n".join(json.dumps(record) for record in records)
        (source / "a.json").write_text(text, encoding="utf-8")
        return glue_context.create_dynamic_frame.from_options(
            "s3", {"paths": [s3.uri.rstrip("/") + "-source/"]}, format="json"
        )

    return json_frame


MIXED = (
    {"id": 1, "seen": 1655296571764, "n": {"x": 1, "y": [1, "a", None, {"q": 1.5}]}},
    {"id": 2, "seen": 0, "n": {"x": 'say "hi"\n', "y": []}},
    {"id": 3, "n": {"y": [True]}},
    {"id": 4},
)


@pytest.mark.rule("Sinks", source="INFER", choice="a choice is written as the value of each record")
def test_json_has_the_values_of_choices(written, json_frame):
    lines = written(json_frame(*MIXED), "json").splitlines()

    assert [json.loads(line) for line in lines] == list(MIXED)


def test_json_with_choices_has_the_keys_of_maps_in_quotes(written, rows_of):
    both = rows_of("id int, m map<int,date>", (1, {7: date(2020, 1, 2)})).union(
        rows_of("id string, m map<int,date>", ("a", None))
    )

    lines = written(both, "json").splitlines()

    assert [json.loads(line) for line in lines] == [
        {"id": 1, "m": {"7": "2020-01-02"}},
        {"id": "a"},
    ]


def test_json_with_choices_is_put_into_folders(written, json_frame, s3):
    text = written(json_frame(*MIXED), "json", folder="id=2", partitionKeys=["id"])

    assert json.loads(text) == {key: MIXED[1][key] for key in ("seen", "n")}
    parts = {tuple(name.split("/")) for name in s3.names() if "part-" in name}
    assert {folder for folder, _ in parts} == {"id=1", "id=2", "id=3", "id=4"}
    assert all(file.endswith(".json") for _, file in parts)


@pytest.mark.nightly
def test_json_with_choices_is_compressed_as_others_are(json_frame, glue_context, s3):
    glue_context.write_dynamic_frame.from_options(
        json_frame(*MIXED).coalesce(1), "s3", {"path": s3.uri, "compression": "gzip"}, "json"
    )

    (part,) = (name for name in s3.names() if "part-" in name)
    assert part.endswith(".json.gz")
    lines = gzip.decompress((s3.folder / part).read_bytes()).splitlines()
    assert [json.loads(line) for line in lines] == list(MIXED)


def test_csv_has_the_values_of_choices(written, json_frame):
    frame = json_frame({"id": 1, "v": 5000000000}, {"id": "x", "v": 0}, {"v": None})

    assert written(frame, "csv") == "id,v\n1,5000000000\nx,0\n,\n"


@pytest.mark.nightly
@pytest.mark.rule("Sinks", source="INFER", choice="numbers as the widest of them, others as string")
def test_a_table_of_json_with_a_choice_has_a_type_for_all_its_values(
    glue_context, json_frame, s3, spark_home
):
    sink = glue_context.getSink(path=s3.uri, connection_type="s3", **CATALOG)
    sink.setFormat("json")
    sink.setCatalogInfo("lake", s3.folder.name)

    sink.writeFrame(json_frame({"a": 1, "b": 1, "c": 1}, {"a": 5000000000, "b": 1.5, "c": "x"}))

    with Store(spark_home.database) as store:
        table = find_table(store, "lake", s3.folder.name)
    assert table.columns == [("a", "bigint"), ("b", "double"), ("c", "string")]
    read = glue_context.create_dynamic_frame.from_catalog("lake", s3.folder.name)
    rows = read.resolveChoice(specs=[("c", "cast:string")]).toDF().sort("a").collect()
    assert [tuple(row) for row in rows] == [(1, 1.0, "1"), (5000000000, 1.5, "x")]


def test_a_struct_as_text_has_the_value_of_a_choice_itself(json_frame):
    frame = json_frame({"a": 1, "s": {"c": 1, "d": [1]}}, {"a": 2, "s": {"c": "x", "d": ["y"]}})

    rows = frame.resolveChoice(specs=[("s", "cast:string")]).toDF().sort("a").collect()

    assert [row.s for row in rows] == ['{"c":1,"d":[1]}', '{"c":"x","d":["y"]}']


TIMES = "t timestamp, n timestamp_ntz"
ZONED = datetime(2013, 1, 1, 2, 3, 4, 123456, tzinfo=UTC)
LOCAL = datetime(2013, 1, 1, 2, 3, 4, 5)  # noqa: DTZ001 (as Spark has it)
TEXTS = "2013-01-01T02:03:04.123456Z", "2013-01-01T02:03:04.000005"
NO_HEADER = {"writeHeader": False}


@pytest.mark.parametrize("options", [NO_HEADER, {"quoteChar": -1, **NO_HEADER}], ids=str)
@pytest.mark.rule("Sinks", source="SILENT", choice="six digits after the second, in JSON and CSV")
def test_times_in_text_keep_their_microseconds(written, rows_of, options):
    assert written(rows_of(TIMES, (ZONED, LOCAL)), "csv", options) == ",".join(TEXTS) + "\n"


@pytest.mark.parametrize("value", [1, "x"], ids=["plain", "choice"])
def test_times_in_json_keep_their_microseconds(written, rows_of, value):
    kinds = f"{TIMES}, s struct<t: timestamp>, v int", f"{TIMES}, s struct<t: timestamp>, v string"
    frame = rows_of(kinds[0], (ZONED, LOCAL, (ZONED,), 1))
    if value == "x":
        frame = frame.union(rows_of(kinds[1]))

    record = json.loads(written(frame, "json"))

    assert record == {"t": TEXTS[0], "n": TEXTS[1], "s": {"t": TEXTS[0]}, "v": 1}


NOTES = ((1, " b ", 'say "hi"'), (2, "", "a,b"), (3, None, "it's"), (4, "''", "|"))


@pytest.mark.parametrize("options", [{}, {"quoteChar": "'"}, {"separator": "|"}], ids=str)
def test_csv_comes_back_as_it_was(written, rows_of, glue_context, s3, options):
    written(rows_of("id int, a string, b string", *NOTES), "csv", options)

    read = glue_context.create_dynamic_frame.from_options(
        "s3", {"paths": [s3.uri]}, format="csv", format_options={"withHeader": True, **options}
    )

    rows = [(int(row[0]), row[1] or "", row[2]) for row in read.toDF().collect()]
    assert sorted(rows) == [(one, a or "", b) for one, a, b in NOTES]


def test_csv_of_the_quote_char_minus_1_has_no_quote_at_all(written, rows_of):
    frame = rows_of("id int, `a b` string, c string", (1, 'x "y"', "a,b"), (2, None, ""))

    assert written(frame, "csv", {"quoteChar": -1}) == 'id,a b,c\n1,x "y",a,b\n2,,\n'


@pytest.mark.rule("Sinks", source="INFER", choice="two quotes; an error with the quoteChar -1")
def test_csv_of_one_column_has_a_line_for_each_row_without_a_value(written, rows_of):
    frame = rows_of("a string, k int", ("x", 1), (None, 1), ("", 1))

    assert written(frame, "csv", partitionKeys=["k"]) == 'a\nx\n""\n""\n'
    with pytest.raises(Exception, match="a row has no value in its only column, 'a', so that"):
        written(frame.drop_fields(["k"]), "csv", {"quoteChar": -1})
    with pytest.raises(UsageError, match=r"the name of the column .* has a line break"):
        written(rows_of("`a\nb` int", (1,)), "csv", {"quoteChar": -1})


@pytest.mark.parametrize("options", [{}, {"quoteChar": -1}], ids=["quoted", "unquoted"])
@pytest.mark.parametrize("schema", ["b binary", "b binary, id int"])
def test_bytes_are_not_written_as_text_of_csv(written, rows_of, schema, options):
    with pytest.raises(UnsupportedError, match=r"the columns \['b'\] hold bytes"):
        written(rows_of(schema, (b"\xff", 1)[: len(schema.split(","))]), "csv", options)


def test_csv_without_quotes_is_put_into_folders_with_a_header_each(written, rows_of):
    frame = rows_of("id int, a string", (1, "x"), (2, "y"))
    options = {"quoteChar": "-1", "separator": "|"}

    text = written(frame, "csv", options, folder="a=y", partitionKeys=["a"])

    assert text == "id\n2\n"


def test_a_line_break_in_csv_without_quotes_is_refused(written, rows_of):
    frame = rows_of("id int, note string", (1, "two\nlines"))

    with pytest.raises(Exception, match="a value of the column 'note' has a line break"):
        written(frame, "csv", {"quoteChar": -1})


@pytest.mark.nightly
def test_spigot_writes_the_values_of_choices_too(json_frame, s3):
    json_frame(*MIXED).spigot(s3.uri)

    (part,) = (name for name in s3.names() if "part-" in name)
    lines = (s3.folder / part).read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == list(MIXED)


def test_parquet_in_folders_has_structs_that_are_choices_no_more(written, json_frame, spark, s3):
    frame = json_frame({"id": 1, "p": "a", "v": {"x": 1}}, {"id": 2, "p": "b", "v": {"x": "s"}})
    frame.toDF().write.partitionBy("p").parquet(s3.uri)

    (_, v, _) = spark.read.parquet(s3.uri).schema
    assert (v.metadata, v.dataType.simpleString()) == (
        {},
        "struct<x:struct<int:int,string:string>>",
    )
