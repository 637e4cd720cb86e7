"""What a crawl makes of the beginning of a file."""

from __future__ import annotations

import pytest

from tidemark.glue_job.crawl.classify import csv_schema, format_of, json_schema


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"PAR1\x15", "parquet"),
        (b"ORC\x08", "orc"),
        (b"Obj\x01\x04", "avro"),
        (b'\xef\xbb\xbf {"a": 1}', "json"),
        (b"[{}]", "json"),
        (b"<rows>", "xml"),
        (b"a,b\n1,2\n", "csv"),
        (b"a\tb\n1\t2\n", "csv"),
        (b"one line of text\nand another\n", ""),
        (b"", ""),
    ],
)
def test_format_is_told_by_the_first_bytes(head, name):
    assert format_of(head) == name


@pytest.mark.parametrize(
    ("text", "columns", "delimiter", "has_header"),
    [
        (
            "Id,Name,Price,Ok\n1,a,1.5,true\n2,,2,FALSE\n",
            [("id", "bigint"), ("name", "string"), ("price", "double"), ("ok", "boolean")],
            ",",
            True,
        ),
        ("1|a\n2|b\n", [("col0", "bigint"), ("col1", "string")], "|", False),
        ("name;city\na;b\nc;d\n", [("col0", "string"), ("col1", "string")], ";", False),
        ('id,note\n1,"a, ""b"""\n', [("id", "bigint"), ("note", "string")], ",", True),
        ("id,id\n1,2\n", [("col0", "string"), ("col1", "string")], ",", False),
        ("id,at\n1,2024-01-01\n2,cut o", [("id", "bigint"), ("at", "string")], ",", True),
    ],
    ids=["header", "none", "all texts", "quotes", "twice", "cut"],
)
def test_csv_has_a_header_if_its_first_row_differs_from_the_others(
    text, columns, delimiter, has_header
):
    kind = csv_schema(text.encode(), is_whole=not text.endswith("cut o"))
    parameters = dict(kind.parameters)

    assert list(kind.columns) == columns
    assert parameters["delimiter"] == dict(kind.serde_parameters)["field.delim"] == delimiter
    assert ("skip.header.line.count" in parameters) is has_header


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        (
            '{"Id": 1, "x": null}\n{"Id": 3000000000, "x": true, "y": 1.5}\n',
            [("id", "bigint"), ("x", "boolean"), ("y", "double")],
        ),
        (
            '{"a": {"b": 1, "c": [1, 2.5]}}\n{"a": {"b": "x", "d": {"e": null}}}',
            [("a", "struct<b:string,c:array<double>,d:struct<e:>>")],
        ),
        ('{\n "a": 1\n}\n{\n "a": "x"\n}', [("a", "string")]),
        ('[{"a": 1}, {"b": "x"}]', [("array", "array<struct<a:int,b:string>>")]),
        ('{"a": null}', [("a", "")]),
    ],
    ids=["rows", "nested", "many lines", "list", "null"],
)
def test_json_has_the_columns_of_its_records(text, columns):
    kind = json_schema(text.encode(), is_whole=True)

    assert list(kind.columns) == columns


def test_last_record_that_is_cut_is_left_out_and_broken_json_is_none():
    assert json_schema(b'{"a": 1}\n{"a": "x', is_whole=False).columns == (("a", "int"),)
    assert json_schema(b'{"a": 1}\n{"a": "x', is_whole=True) is None
