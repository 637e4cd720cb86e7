"""JSON of mixed types: what a DynamicFrame makes of it, and a DataFrame not.

Golden outputs are of AWS's sample resolve_choice.md and of its page of the class DynamicFrame.
"""

from __future__ import annotations

import gzip
import json

import pytest

from tidemark.glue_job.readers.json import documents, kinds
from tidemark.glue_service.runs.row_counts import count_rows
from tidemark.local_state.catalog.tables import put_tables
from tidemark.local_state.run_warnings import RUN_FOLDER_VARIABLE, read_warnings
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_tables import table_of_request

pytestmark = pytest.mark.spark


@pytest.fixture
def read(glue_context, s3):
    """Return a reader of the test's prefix."""

    def read(format_options=None, kind="json", **options):
        return glue_context.create_dynamic_frame.from_options(
            "s3", {"paths": [s3.uri], **options}, kind, format_options
        )

    return read


@pytest.fixture
def shown(capsys):
    """Return what printSchema prints, without the root."""

    def shown(frame):
        capsys.readouterr()
        frame.printSchema()
        return capsys.readouterr().out.removeprefix("root\n").rstrip("\n")

    return shown


@pytest.mark.nightly
def test_records_of_very_many_kinds_have_the_fields_of_few(read, s3, shown, monkeypatch):
    s3.put("a.json", '{"b": 1}\n{"a": "x", "b": "y"}\n{"c": true}\n')

    few = shown(read())
    monkeypatch.setattr(documents, "SMALL_BYTES", 0)
    grouped = shown(read())
    monkeypatch.setattr(kinds, "MAX_COLLECTED", 2)

    assert shown(read()) == grouped == few
    assert few == "|-- b: choice\n|    |-- int\n|    |-- string\n|-- a: string\n|-- c: boolean"


def test_looking_for_kinds_is_no_query_whose_rows_would_count_as_read(read, s3, logged):
    s3.put("a.json", '{"b": 1}\n{"b": 2}\n')

    def rows_read(ask):
        return count_rows(map(json.loads, logged(ask).splitlines())).rows_read

    assert rows_read(lambda: read().schema()) == 0
    assert rows_read(read().toDF().collect) == 2


@pytest.mark.rule("Formats", source="RCS, DYF")
def test_a_json_key_with_numbers_and_strings_is_a_choice(read, s3, shown):
    s3.put(
        "day=1/a.json",
        '{"provider id": 10001, "city": "DOTHAN, Houston, AL, USA", "n": 1}\n',
    )
    s3.put("day=2/b.json", '{"provider id": "10006", "n": 3000000000}\n{"provider id": null}\n')

    frame = read()

    assert shown(frame) == (
        "|-- provider id: choice\n"
        "|    |-- int\n"
        "|    |-- string\n"
        "|-- city: string\n"
        "|-- n: choice\n"
        "|    |-- int\n"
        "|    |-- long\n"
        "|-- day: int"
    )
    assert sorted(frame.toDF().collect(), key=str) == [
        (None, None, None, 2),
        ((10001, None), "DOTHAN, Houston, AL, USA", (1, None), 1),
        ((None, "10006"), None, (None, 3000000000), 2),
    ]
    cast = frame.resolveChoice(specs=[("provider id", "cast:long"), ("n", "cast:long")])
    assert sorted(row["provider id"] or 0 for row in cast.toDF().collect()) == [0, 10001, 10006]


NESTED = """\
{"v": {"x": 1, "y": [1, "one", null, {"z": true}]}, "same": [{"k": "s1"}]}
{"v": [1.5, 2], "same": [], "e": {}, "t": "s"}
{"v": {"x": "s", "y": []}, "e": [], "t": false}
{"v": "{\\"x\\": 1}", "t": NaN}
{"v": 123456789012345678901234567890, "t": -7, "e": ""}
"""


def test_choices_are_found_at_every_depth_of_json(read, s3, shown):
    s3.put("a.json", NESTED)

    frame = read()

    assert shown(frame) == (
        "|-- v: choice\n"
        "|    |-- array\n"
        "|    |    |-- element: choice\n"
        "|    |    |    |-- double\n"
        "|    |    |    |-- int\n"
        "|    |-- decimal(30,0)\n"
        "|    |-- string\n"
        "|    |-- struct\n"
        "|    |    |-- x: choice\n"
        "|    |    |    |-- int\n"
        "|    |    |    |-- string\n"
        "|    |    |-- y: array\n"
        "|    |    |    |-- element: choice\n"
        "|    |    |    |    |-- int\n"
        "|    |    |    |    |-- string\n"
        "|    |    |    |    |-- struct\n"
        "|    |    |    |    |    |-- z: boolean\n"
        "|-- same: array\n"
        "|    |-- element: struct\n"
        "|    |    |-- k: string\n"
        "|-- e: choice\n"
        "|    |-- array\n"
        "|    |    |-- element: string\n"
        "|    |-- string\n"
        "|    |-- struct\n"
        "|-- t: choice\n"
        "|    |-- boolean\n"
        "|    |-- double\n"
        "|    |-- int\n"
        "|    |-- string"
    )
    assert [row.text for row in frame.map(as_text).toDF().collect()] == [
        "{'v': {'x': 1, 'y': [1, 'one', None, {'z': True}]}, 'same': [{'k': 's1'}]}",
        "{'v': [1.5, 2], 'same': [], 'e': {}, 't': 's'}",
        "{'v': {'x': 's', 'y': []}, 'e': [], 't': False}",
        "{'v': '{\"x\": 1}', 't': nan}",
        "{'v': Decimal('123456789012345678901234567890'), 'e': '', 't': -7}",
    ]


def as_text(record):
    return {"text": str(plain(record))}


def plain(value):
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list) else value


@pytest.mark.nightly
@pytest.mark.rule("Formats", source="INFER", choice="also without multiLine")
@pytest.mark.parametrize("options", [{}, {"multiLine": True}, {"jsonPath": "$[*]"}])
def test_json_records_that_span_lines_are_read_one_by_one(read, s3, options):
    s3.put("a.json", '\ufeff[\n  {"id": 1,\n   "v": "a\\"b"},\n  null, {"id": "2"}\n]\n')
    s3.put("b.json", '{\n "id": 3}\n{"id": 4, "v": "z"}\n')
    s3.put("c.json.gz", "").write_bytes(gzip.compress(b'{"id": 5}'))

    rows = read(options).toDF().collect()

    assert sorted(rows, key=str) == [
        ((1, None), 'a"b'),
        ((3, None), None),
        ((4, None), "z"),
        ((5, None), None),
        ((None, "2"), None),
    ]


def test_choices_are_found_where_a_json_path_points(read, s3, shown):
    s3.put("a.json", '{"page": {"items": [{"id": 1}, {"id": "x"}]}}\n{"page": {"items": []}}\n')

    frame = read({"jsonPath": "$.page.items[*]"})

    assert shown(frame) == "|-- id: choice\n|    |-- int\n|    |-- string"
    assert frame.toDF().collect() == [((1, None),), ((None, "x"),)]


@pytest.mark.nightly
def test_many_small_json_files_have_choices_too(monkeypatch, read, s3):
    monkeypatch.setattr("tidemark.glue_job.readers.json.lines.MANY", 1)
    s3.put("day=1/a.json", '{"id": 1}\n')
    s3.put("day=2/b.json", '{"id": "1", "Name": "x"}\n')

    rows = read().toDF().orderBy("day").collect()

    assert rows == [((1, None), None, 1), ((None, "1"), "x", 2)]


def test_names_of_any_characters_keep_their_values(read, s3):
    s3.put("a.json", '{"a.b": 1, "c d": "x", "q`t": [1], "é\\u00e9": {"$(/:": 1.5}}\n{"a.b": ""}\n')

    rows = read().toDF()

    assert rows.columns == ["a.b", "c d", "q`t", "éé"]
    assert rows.collect() == [((1, None), "x", [1], (1.5,)), ((None, ""), None, None, None)]


def test_a_data_frame_of_mixed_json_is_as_spark_has_it(glue_context, s3):
    s3.put("a.json", '{"id": 1}\n{"id": "x"}\n')

    frame = glue_context.create_data_frame.from_options("s3", {"paths": [s3.uri]}, "json")

    assert frame.dtypes == [("id", "string")]
    assert sorted(frame.collect()) == [("1",), ("x",)]


# Tables


@pytest.fixture
def define(spark_home, s3):
    """Return a definer of the test's table."""

    def define(**columns):
        table = {
            "Name": s3.folder.name,
            "StorageDescriptor": {
                "Columns": [{"Name": name, "Type": kind} for name, kind in columns.items()],
                "Location": s3.uri,
            },
            "Parameters": {"classification": "json"},
        }
        with Store(spark_home.database) as store:
            put_tables(store, [table_of_request({"DatabaseName": "lake", "TableInput": table})])

    return define


@pytest.mark.nightly
@pytest.mark.rule("Formats", source="RCS", choice="values that fit the declared type have it")
def test_a_declared_column_of_json_with_other_values_is_a_choice_with_the_declared_type(
    glue_context, define, s3, shown
):
    define(
        id="bigint",
        price="double",
        note="string",
        at="timestamp",
        s="struct<a:int,names:map<string,int>>",
        gone="int",
    )
    s3.put("a.json", '{"ID": 1, "Price": 2, "note": {"k": ["v"]}, "at": "2024-05-01 01:02:03"}\n')
    s3.put("b.json", '{"Id": "n/a", "price": 2.5, "s": {"A": "one", "names": {"x": 1}}}\n')
    s3.put("c.json", '{"id": 3000000000, "price": [], "s": {"a": 2, "names": {"y": true}}}\n')

    frame = glue_context.create_dynamic_frame.from_catalog("lake", s3.folder.name)

    assert shown(frame) == (
        "|-- id: choice\n"
        "|    |-- long\n"
        "|    |-- string\n"
        "|-- price: choice\n"
        "|    |-- array\n"
        "|    |    |-- element: string\n"
        "|    |-- double\n"
        "|-- note: string\n"
        "|-- at: timestamp\n"
        "|-- s: struct\n"
        "|    |-- a: choice\n"
        "|    |    |-- int\n"
        "|    |    |-- string\n"
        "|    |-- names: map\n"
        "|    |    |-- keyType: string\n"
        "|    |    |-- valueType: choice\n"
        "|    |    |    |-- boolean\n"
        "|    |    |    |-- int"
    )
    rows = frame.toDF().selectExpr("id", "price", "note", "cast(at as string)", "s", "gone")
    assert sorted(rows.collect(), key=str) == [
        ((1, None), (None, 2.0), '{"k":["v"]}', "2024-05-01 01:02:03", None, None),
        ((3000000000, None), ([], None), None, None, ((2, None), {"y": (True, None)}), None),
        ((None, "n/a"), (None, 2.5), None, None, ((None, "one"), {"x": (None, 1)}), None),
    ]


@pytest.fixture
def run_folder(tmp_path, monkeypatch):
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path))
    return tmp_path


@pytest.mark.rule(
    "Bad input", source="INFER", choice="exact to 38 digits; beyond that a warning by name"
)
def test_integers_beyond_64_bits_are_decimals_and_greater_numbers_are_named(read, s3, run_folder):
    most = "9" * 38
    s3.put("a.json", f'{{"n": {most}, "m": -{most}, "d": 1e308, "s": "1e400", "x": NaN}}\n')
    exact = read().toDF().collect()
    assert read_warnings(run_folder) == []
    s3.put("b.json", '{"o": {"d": [-1e400]}, "i": 1%s, "f": 1%s.5}' % ("0" * 38, "0" * 400))  # noqa: UP031 (braces)

    read().toDF().collect()

    assert [(str(row.n), str(row.m)) for row in exact] == [(most, f"-{most}")]
    fields = [text.split(" has JSON numbers")[0] for text in read_warnings(run_folder)]
    assert fields == ["the field o.d[]", "the field i", "the field f"]


@pytest.mark.rule(
    "Bad input", source="INFER", choice="doubles, and a warning unless a table declares the field"
)
def test_fractions_that_a_double_does_not_hold_are_named(read, s3, run_folder):
    held = "0.1, 0.10000000000000001, 1e-7, 73.982146000000010, 1E+2, 0.0, -1e308, NaN, 0.5e00"
    s3.put("a.json", f'{{"a": [{held}, {0.1:.60f}, 0.3333333333333333]}}\n')
    read().toDF().collect()
    assert read_warnings(run_folder) == []
    lost = ("1234567890123.4567", "12345678901234567890.5", "1e-400", "1e-99999999999")
    text = ", ".join(f'"{place}": {number}' for place, number in enumerate(lost))
    s3.put("b.json", f'{{"b": {{{text}}}}}')

    read().toDF().collect()

    fields = [text.split(" has JSON fractions")[0] for text in read_warnings(run_folder)]
    assert fields == [f"the field b.{place}" for place in range(len(lost))]


@pytest.mark.rule("Bad input", source="INFER", choice="the last value, and a warning by name")
def test_a_key_that_an_object_has_twice_is_named(read, s3, run_folder):
    s3.put("a.json", '{"a": 1, "s": [{"b": 1}]}\n{"a": 2, "s": [{"b": 2}, {"b": 3}]}\n')
    read().toDF().collect()
    assert read_warnings(run_folder) == []
    s3.put("b.json", '{"a": 3, "s": [{"b": 1, "c": 0, "b": 2}], "a": 4}')

    rows = read().toDF().collect()

    assert sorted(row.a for row in rows) == [1, 2, 4]
    keys = [text.split(" is several")[0] for text in read_warnings(run_folder)]
    assert keys == ["the key a", "the key s[].b"]


def test_fields_that_have_only_objects_without_fields_are_named(read, s3, run_folder):
    s3.put("a.json", '{"a": 1, "f": {}, "g": [{}], "h": {"k": {}}, "c": {}}\n{"c": 5, "f": null}\n')

    frame = read()

    assert frame.toDF().columns == ["a", "c"]
    fields = [text.split(" has only")[0] for text in read_warnings(run_folder)]
    assert fields == ["the field f", "the field g[]", "the field h.k"]


@pytest.mark.rule("Bad input", source="INFER", choice="'?', as Spark reads it, and a warning")
def test_half_of_a_surrogate_pair_is_named(read, s3, run_folder):
    s3.put("a.json", r'{"a": "\ud83d\ude00", "\u0062": ["\u00e9"]}')
    assert read().toDF().collect() == [("😀", ["é"])]
    assert read_warnings(run_folder) == []
    s3.put("b.json", r'{"a": "x\ud83d", "b": ["\udE00\ud83d"]}')

    rows = read().toDF().collect()

    assert sorted(row.a for row in rows) == ["x?", "😀"]
    fields = [text.split(" has half")[0] for text in read_warnings(run_folder)]
    assert fields == ["the field a", "the field b[]"]
