"""How the columns of a JSON table are spelled in its files."""

from __future__ import annotations

import bz2
import gzip

import pytest

from tidemark.local_glue.metastore.json_names import (
    file_with_several,
    misread_columns,
    other_spellings,
    spelled,
    spelled_names,
)


def test_names_are_those_of_the_first_file_that_has_some(tmp_path):
    (tmp_path / "day=1").mkdir()
    (tmp_path / "_SUCCESS").write_text('{"Hidden": 1}')
    (tmp_path / "day=1/a.json").write_text("")
    with gzip.open(tmp_path / "day=1/b.json.gz", "wt") as file:
        file.write('{"orderId": 1}\n{"Total": 2, "ORDERID": 3}\n{"cut')
    (tmp_path / "day=1/c.json").write_text('{"orderid": 1}\n')

    assert spelled_names(tmp_path) == {("orderid",): "orderId", ("total",): "Total"}
    assert spelled_names(tmp_path / "not there") == {}


def test_columns_that_no_record_has_keep_their_names():
    table = {"columns": [["orderid", "int", None], ["other", "int", "why"]], "x": 1}

    assert spelled(table, {("orderid",): "orderId"}) == {
        "columns": [["orderId", "int", None], ["other", "int", "why"]],
        "x": 1,
    }


def test_fields_of_structs_are_spelled_as_in_the_files_at_every_depth(tmp_path):
    (tmp_path / "a.json").write_text(
        '{"Nest": {"Deep": [{"Val": 1}], "odd name": {"X": 1}}, "m": {}}'
    )
    kind = "struct<deep:array<struct<val:int,other:decimal(10,2)>>,`odd name`:struct<x:int>>"

    table = spelled(
        {"columns": [["nest", kind], ["m", "map<string,int>"]]}, spelled_names(tmp_path)
    )

    assert table["columns"] == [
        [
            "Nest",
            "struct<Deep:array<struct<Val:int,other:decimal(10,2)>>,`odd name`:struct<X:int>>",
        ],
        ["m", "map<string,int>"],
    ]


def test_numbers_that_are_text_in_the_first_file_are_misread(tmp_path):
    (tmp_path / "a.json").write_text(
        '{"Id": 1, "total": "", "part": "1.5", "name": "x", "ok": "true", "rate": "NaN"}\n'
        '{"Id": "2", "total": 3}\n'
    )
    kinds = {"id": "int", "total": "bigint", "part": "decimal(10,2)", "name": "string"}
    columns = [*kinds.items(), ("ok", "BOOLEAN"), ("rate", "double"), ("gone", "int")]

    assert misread_columns(columns, tmp_path) == ["id", "ok"]
    assert misread_columns(columns, tmp_path / "not there") == []


def test_names_of_the_first_and_the_last_file_are_spelled_in_several_ways(tmp_path):
    (tmp_path / "day=1").mkdir()
    (tmp_path / "day=1/a.json").write_text('{"Id": 1, "s": {"A": 1}, "n": 1}\n{"s": {"a": 1}}\n')
    (tmp_path / "day=2").mkdir()
    (tmp_path / "day=2/b.json").write_text('{"id": 2, "n": 1}\n')

    assert sorted(other_spellings(tmp_path)) == ["A and a", "Id and id"]
    assert other_spellings(tmp_path / "day=2") == []


@pytest.mark.parametrize(
    "line", ['{"a":1}{"a":2}', '{"a":"}{"} {"a":2}', '{"a":1} x', "[1][2]", '{"a":1}, {"a":2}']
)
def test_a_line_of_several_values_in_the_first_or_the_last_file_is_seen(tmp_path, line):
    (tmp_path / "a.json").write_text('{"a":1}\n')
    (tmp_path / "b.json").write_text(f'{{"a":0}}\n{line}\n{{"cut')

    assert file_with_several(tmp_path) == tmp_path / "b.json"


@pytest.mark.parametrize(
    "line", ['{"a":"}{"}', '[{"a":1}, {"a":2}] ', "x", "", '{"a":1', '{"a":{}}\r{"a":[]}']
)
def test_lines_of_one_value_are_not_said_to_have_several(tmp_path, line):
    (tmp_path / "a.json").write_text(f"{line}\n")

    assert file_with_several(tmp_path) is None
    assert file_with_several(tmp_path / "not there") is None


@pytest.mark.parametrize("name", ["b.json", "b.json.gz", "b.json.bz2"])
def test_several_values_are_found_in_any_line_of_any_file(tmp_path, name):
    one = b'{"id": 1, "s": {"a": [1]}, "t": {}}\n'
    for other in ("a.json", "c.json"):
        (tmp_path / other).write_bytes(one)
    packed = {"gz": gzip.compress, "bz2": bz2.compress}.get(name.rpartition(".")[2], bytes)
    (tmp_path / name).write_bytes(packed(one * 5000 + b'{"id": 2}{"id": 3}\n'))

    assert file_with_several(tmp_path) == tmp_path / name


def test_what_is_behind_a_line_that_is_no_json_is_seen(tmp_path):
    (tmp_path / "a.json").write_text('junk\n{"id": "seven"}\n{"ID": 8}\n')

    assert misread_columns([("id", "int")], tmp_path) == ["id"]
    assert other_spellings(tmp_path) == ["ID and id"]
