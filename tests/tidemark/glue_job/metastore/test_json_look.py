"""What Spark makes null or leaves out of a table of JSON is seen before it reads the files."""

from __future__ import annotations

import bz2
import gzip
import json
import math
import random

import pytest

from tidemark.glue_job.metastore.table_files import (
    ask_java,
    columns_of,
    is_plain,
    look_at,
    shape_of,
    warnings_of,
)
from tidemark.local_state.run_warnings import RunWarning

KINDS = {
    "id": "int",
    "small": "smallint",
    "tiny": "tinyint",
    "big": "bigint",
    "part": "decimal(5,2)",
    "whole": "decimal(38,0)",
    "rate": "double",
    "float": "float",
    "ok": "boolean",
    "day": "date",
    "at": "timestamp",
    "name": "string",
    "raw": "binary",
    "s": "struct<a:int,b:array<struct<c:int>>>",
    "list": "array<int>",
    "map": "map<string,int>",
}


@pytest.fixture
def seen(glue_context, tmp_path):
    """Return what is seen in a line, as pairs of what it is and the column."""

    def seen(line, name="a.json", pack=bytes):
        file = tmp_path / name
        file.write_bytes(pack(line if isinstance(line, bytes) else line.encode()))
        return [(one.what, one.column) for one in look_at([*KINDS.items()], [file], ask_java)]

    return seen


READ = [
    "",
    "  ",
    "{}",
    "[]",
    "null",
    '[{"id": 1}, null]',
    '{"id": null}',
    '{"other": [1e999]}',
    '{"tiny": -128, "small": 32767, "id": -2147483648}',
    '{"big": 9223372036854775807}',
    '{"part": 999.99}',
    '{"part": "1.5"}',
    '{"part": 1e2}',
    '{"part": 0e-999999999}',
    '{"part": 1.500}',
    '{"part": "0.10"}',
    '{"rate": 0e-400}',
    '{"rate": 1e-300}',
    '{"float": 1e-40}',
    '{"day": "2024-02-29T00:00:00Z"}',
    '{"at": "2024-02-29 10:11:12.123456000"}',
    '{"at": "2024-02-29"}',
    '{"rate": 1e308}',
    '{"rate": "NaN"}',
    '{"rate": NaN}',
    "{'float': -INF}",
    '{"rate": 1}',
    '{"day": "2024-02-29"}',
    '{"at": "2024-02-29 10:11:12.5"}',
    '{"at": 1}',
    '{"day": ""}',
    '{"name": {"x": 1}}',
    '{"name": 12345678901234567890}',
    '{"name": 0.1, "map": {}}',
    '{"raw": "aGVsbG8="}',
    '{"raw": ""}',
    '{"rate": "+Infinity"}',
    '{"ID": null, "Id2": 1}',
    '{"ok": true}',
    '{"s": {"b": [{"c": 1}]}}',
    '{"map": {"x": 1}}',
    '{"list": []}',
    '{"a": {}}\r{"a": []}',
    '\ufeff{"id": 1}',
]


def test_lines_that_spark_reads_are_not_named(glue_context, tmp_path):
    files = [tmp_path / f"{number}.json" for number in range(len(READ))]
    for file, line in zip(files, READ, strict=True):
        file.write_bytes(line.encode())

    assert look_at([*KINDS.items()], files, ask_java) == []


@pytest.mark.parametrize(
    ("line", "found"),
    [
        *((line, ("broken", "")) for line in ("junk", '{"id": 1', '{"id"}', "7", '"x"', "[1]")),
        *((line, ("broken", "")) for line in (b'{"name": "\xff"}', '{"other": tru}', "[" * 2000)),
        *((line, ("several", "")) for line in ('{"id":1}{"id":2}', '{"id":1} x', "[][]")),
        *((f'{{"{name}": "x"}}', ("text", name)) for name in ("id", "big", "rate", "ok", "float")),
        ('{"tiny": 128}', ("value", "tiny")),
        ('{"small": -32769}', ("value", "small")),
        ('{"id": 2147483648}', ("value", "id")),
        ('{"id": 1.5}', ("value", "id")),
        ('{"big": 9223372036854775808}', ("value", "big")),
        ('{"ok": 1}', ("value", "ok")),
        ('{"part": 1000}', ("value", "part")),
        ('{"part": 999.999}', ("value", "part")),
        ('{"part": 1e999999999}', ("value", "part")),
        ('{"part": "x"}', ("value", "part")),
        ('{"part": 1e-999999999}', ("value", "part")),
        ('{"part": 1.005}', ("value", "part")),
        ('{"part": "1.005"}', ("value", "part")),
        ('{"part": "1,5"}', ("value", "part")),
        ('{"whole": 1.5}', ("value", "whole")),
        ('{"rate": 1e-400}', ("value", "rate")),
        ('{"float": 1e-50}', ("value", "float")),
        ('{"day": "2024-02-29 10:11:12"}', ("value", "day")),
        ('{"at": "10:00:00"}', ("value", "at")),
        ('{"at": "T10:00"}', ("value", "at")),
        ('{"at": "2024-02-29 10:11:12.1234567"}', ("value", "at")),
        ('{"rate": 1e400}', ("value", "rate")),
        ('{"float": 1e39}', ("value", "float")),
        ('{"day": "2024-02-30"}', ("value", "day")),
        ('{"at": "soon"}', ("value", "at")),
        ('{"s": {"a": "x"}}', ("text", "s.a")),
        ('{"s": 1}', ("value", "s")),
        ('{"s": {"b": [{"c": 1e9}]}}', ("value", "s.b.c")),
        ('{"s": []}', ("value", "s")),
        ('{"list": [1, {}]}', ("value", "list")),
        ('{"map": {"x": "y"}}', ("text", "map")),
        ('{"at": 99999999999999}', ("value", "at")),
        ('{"at": 1.5}', ("value", "at")),
        ('{"part": " 7 "}', ("value", "part")),
        ('{"name": 1e999}', ("value", "name")),
        ('{"name": 1234567890123456.78}', ("value", "name")),
        ('{"raw": "?"}', ("value", "raw")),
        ('{"raw": 1}', ("value", "raw")),
        ('{"name": 0.1234567890123456789}', ("value", "name")),
        ('{"Id": 1}', ("case", "id")),
        ('{"s": {"B": []}}', ("case", "s.b")),
        ('{"list": 1}', ("value", "list")),
        ('{"map": []}', ("value", "map")),
        ('{"rate": "1.5"}', ("text", "rate")),
        ('{"ok": "true"}', ("text", "ok")),
    ],
)
def test_what_spark_makes_null_or_leaves_out_is_named(seen, line, found):
    assert seen(line) == [found]


@pytest.mark.parametrize(
    ("name", "pack"),
    [("a.json", bytes), ("a.json.gz", gzip.compress), ("a.json.bz2", bz2.compress)],
)
def test_any_line_of_any_file_is_looked_at(seen, name, pack):
    good = b'{"id": 1, "s": {"b": []}}\n'

    assert seen(good * 90_000 + b'{"id": "7"}\r\n{"id": 2\n' + good, name, pack) == [
        ("text", "id"),
        ("broken", ""),
    ]


def test_a_line_longer_than_what_is_read_at_once_is_one_line(seen):
    text = "x" * 3_000_000

    assert seen(f'{{"name": "{text}"}}\n{{"id": 1.5, "name": "{text}"}}') == [("value", "id")]


def test_a_warning_counts_and_names_the_first_place(glue_context, tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.json").write_text('{"id": 1}\n{"id": 3000000000}\n' * 2)
    files = [tmp_path / "a.json", tmp_path / "b.json"]

    found = look_at([("id", "int")], files, ask_java)

    assert list(warnings_of(found, "db.t")) == [
        (
            RunWarning.JSON_VALUE,
            "4 values of the column id, the first one in the file a.json of the table db.t: "
            "'3000000000'",
        )
    ]


def test_names_in_another_case_are_named_wherever_they_are(glue_context, tmp_path):
    file = tmp_path / "b.json"
    file.write_text('{"id": 1, "s": {"Ab": 1}}\n{"ID": 1}\n')

    found = look_at([("id", "int"), ("s", "struct<ab:int>")], [file], ask_java)

    assert list(warnings_of(found, "db.t")) == [
        (RunWarning.JSON_CASE, "Ab and ab in the files of the table db.t"),
        (RunWarning.JSON_CASE, "ID and id in the files of the table db.t"),
    ]


def test_a_field_that_the_value_of_a_folder_replaces_is_named(glue_context, tmp_path):
    columns = [("id", "int"), ("day", "int")]
    files = [tmp_path / "day=01/a.json", tmp_path / "day=2/a.json"]
    for file in files:
        file.parent.mkdir()
        file.write_text('{"id": 1, "Day": 1}\n')

    assert look_at(columns, files[:1], ask_java, ["day"]) == []
    found = look_at(columns, files, ask_java, ["day"])
    assert list(warnings_of(found, "db.t")) == [
        (
            RunWarning.FOLDER_WINS,
            "files in the folders day=… of the table db.t have a field day",
        )
    ]


def test_what_a_column_of_corrupt_records_keeps_is_not_named(glue_context, tmp_path):
    file = tmp_path / "a.json"
    file.write_text('junk\n{"id": "x"}\n{"id": 1}{}\n')

    found = look_at([("id", "int"), ("_corrupt_record", "string")], [file], ask_java)

    assert [one.what for one in found] == ["several"]


def test_options_that_change_what_is_a_record_are_not_looked_at():
    assert is_plain({})
    assert is_plain({"mode": "permissive", "compression": "gzip"})
    assert not is_plain({"mode": "DROPMALFORMED"})
    assert not is_plain({"multiLine": "true"})


def test_types_are_given_by_their_shape():
    assert shape_of("struct<`a b`:int,c:ARRAY<map<string,Decimal(5,2)>>>") == {
        "a b": "int",
        "c": ["array", ["map", "decimal(5,2)"]],
    }
    schema = (
        '{"type":"struct","fields":[{"name":"Id","type":"long","nullable":true,"metadata":{}}]}'
    )
    assert columns_of({"schema": schema, "columns": [["id", "bigint"]]}) == [("Id", "bigint")]


VALUES = [
    "1",
    "-128",
    "200",
    "70000",
    "3000000000",
    "99999999999999999999",
    "1.5",
    "1e3",
    "1e400",
    '"x"',
    '"7"',
    '"2024-01-31"',
    '"2024-01-31 01:02:03"',
    "true",
    "null",
    "[1]",
    "[]",
    "{}",
    '{"a": 1}',
    '{"a": 3e9}',
    '{"a": "x"}',
    '[{"c": 1}]',
    '{"b": [{"c": 2}]}',
    '["x"]',
    "12345.678",
]
LINES = ['{{"{}": {}}}'] * 12 + ['{{"{}": {}', '{{"{}": {}}} x', '[{{"{}": {}}}]', '"{}" {}']


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(2, 12))]
)
def test_what_is_named_is_what_spark_does_not_read(glue_context, tmp_path, seed):
    """The law of conservation, with Spark's own reader as the judge: each line is a file."""
    chance = random.Random(seed)  # noqa: S311 (no secret)
    lines = [
        chance.choice(LINES).format(chance.choice([*KINDS]), chance.choice(VALUES))
        for _ in range(60)
    ]
    for number, line in enumerate(lines):
        (tmp_path / f"{number}.json").write_text(line)
    spark = glue_context.spark_session
    schema = ", ".join(f"`{name}` {kind}" for name, kind in KINDS.items())
    rows = spark.read.schema(schema).json(str(tmp_path))
    each = rows.selectExpr("input_file_name() AS file", "to_json(struct(*)) AS row").collect()
    read = {}
    for file, row in each:
        read.setdefault(int(file.rpartition("/")[2].removesuffix(".json")), []).append(row)

    for number, line in enumerate(lines):
        found = look_at([*KINDS.items()], [tmp_path / f"{number}.json"], ask_java)
        assert bool(found) == is_lost(line, read.get(number, [])), (line, read.get(number), found)


def is_lost(line, rows):
    """Return whether Spark's rows lack something of a line."""
    try:
        given = json.loads(line)
    except ValueError:
        return True
    records = given if isinstance(given, list) else [given]
    return any(
        not isinstance(record, dict) or not is_held(record, json.loads(row))
        for record, row in zip(records, rows, strict=True)
    )


def is_held(given, read):
    if given is None:
        return True
    if isinstance(given, dict) and isinstance(read, dict):
        return all(is_held(one, read.get(name)) for name, one in given.items())
    if isinstance(given, list) and isinstance(read, list):
        return all(is_held(one, other) for one, other in zip(given, read, strict=True))
    if isinstance(given, int | float) and not isinstance(given, bool) and not isinstance(read, str):
        return read is not None and math.isclose(given, read, rel_tol=1e-6)
    if isinstance(given, str) and given.isdigit() and "-" in str(read):
        return False  # a date by its number
    if isinstance(given, str) and ":" in given and ":" not in str(read):
        return False  # a date without its time
    return read is not None and str(read).strip('"-') != "Infinity"
