"""Which file has brought a change of a source: told where it is cheap to know."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tidemark.glue_job.process import first_file as module
from tidemark.glue_job.process.first_file import brought_by
from tidemark.model.checkpoints.schema_changes import Change

NEW, TEXT = Change("new", "tip", new="int"), Change("type", "amt", "int", "string")


def first_file(change: Change, files: list[str], file_format: str) -> str:
    """Return what is told of a single change."""
    return brought_by([change], files, file_format).get(change, "")


@pytest.fixture
def put(tmp_path):
    """Return what writes a file for each text, and returns their names."""

    def put(*texts: str | bytes, suffix: str = "json") -> list[str]:
        names = [str(tmp_path / f"{number}.{suffix}") for number in range(len(texts))]
        for name, text in zip(names, texts, strict=True):
            Path(name).write_bytes(text.encode() if isinstance(text, str) else text)
        return names

    return put


def test_a_single_new_file_brought_it_whatever_its_format():
    assert first_file(TEXT, ["s3://lake/a.parquet"], "parquet") == ", in s3://lake/a.parquet"
    assert first_file(NEW, ["s3://lake/a", "s3://lake/b"], "parquet") == ", in one of 2 new files"
    assert first_file(Change("gone", "tip", "int"), ["s3://lake/a"], "json") == ""
    assert first_file(NEW, [], "json") == ""


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (NEW, '{"amt": 1}\n{"tip": 2}'),
        (NEW, '{"amt": 1} broken\n[{"tip": 0}]'),
        (TEXT, '{"amt": 1}\n{"amt": "x"}'),
        (TEXT, '[{"amt": 1},\n {"amt": {"eur": 2}}]'),
        (Change("type", "amt", "int", "bigint"), '{"amt": 3000000000}'),
        (Change("type", "amt", "int", "boolean"), '{"amt": true}'),
        (Change("type", "items.element.`a.b`", "double", "string"), '{"items": [{"a.b": "x"}]}'),
    ],
)
def test_the_first_file_of_json_with_such_a_value_brought_it(put, change, text):
    plain = json.dumps({"amt": 1, "tip": None, "items": [{"a.b": 1.5}]})
    files = put(plain, "", text, text)

    assert first_file(change, files, "json") == f", first in {files[2]} (2 rows)"


def test_packed_json_is_read_and_the_header_of_csv(put):
    line = gzip.compress(b'{"tip": 1}\n')
    packed = put(gzip.compress(b'{"amt": 1}\n'), line, line, suffix="json.gz")
    assert first_file(NEW, packed, "json") == f", first in {packed[1]} (2 rows)"

    table = put("id;amt\n1;2\n", '"id";"tip"\n1;2\n', suffix="csv")
    assert first_file(NEW, table, "csv") == f", first in {table[1]} (1 row)"
    assert first_file(TEXT, table, "csv") == ", in one of 2 new files"


def test_the_rows_of_each_change_are_counted_in_one_pass(put):
    files = put('{"amt": 1, "tip": 2}\n{"amt": "x"}\n{"tip": 0}', '{"amt": "y"}')
    assert brought_by([NEW, TEXT, Change("gone", "id", "int")], files, "json") == {
        NEW: f", first in {files[0]} (2 rows)",
        TEXT: f", first in {files[0]} (2 rows)",
    }
    assert first_file(NEW, files[:1], "json") == f", in {files[0]} (2 rows)"

    tables = put("id,tip\n1,\n", 'id,tip,note\n1,5,"a\nb"\n2,,\n3,7\n', suffix="csv")
    assert first_file(NEW, tables, "csv") == f", first in {tables[1]} (2 rows)"


def test_it_stops_to_look_after_so_much(put, monkeypatch):
    files = put('{"amt": 1}\n' * 9, '{"tip": 1}\n')

    monkeypatch.setattr(module, "MAX_BYTES", 60)
    assert first_file(NEW, files, "json") == ", in one of 2 new files"
    monkeypatch.setattr(module, "MAX_BYTES", 110)
    assert first_file(NEW, files, "json") == f", first in {files[1]} (1 row or more)"
    monkeypatch.setattr(module, "MAX_BYTES", 1_000)
    monkeypatch.setattr(module, "MAX_FILES", 1)
    assert first_file(NEW, files, "json") == ", in one of 2 new files"
