"""How the columns of a JSON table are spelled in its files."""

from __future__ import annotations

import gzip

from tidemark.glue_job.metastore.table_files import (
    files_of,
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


def test_a_damaged_file_fails_no_question(tmp_path):
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(b'{"Id": 1}' * 99)[:30])

    assert spelled_names(tmp_path) == {}


def test_the_files_of_a_place_that_is_a_file_are_that_file(tmp_path):
    (tmp_path / "a.json").write_text("{}")

    assert list(files_of(tmp_path / "a.json")) == [tmp_path / "a.json"]
