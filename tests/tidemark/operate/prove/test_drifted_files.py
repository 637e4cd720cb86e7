"""A file with other columns has the rows of the one that it is made of, whatever its format."""

import gzip
import json
from decimal import Decimal

import pyarrow
import pytest
from pyarrow import parquet

from tidemark.model.drift import COLUMN, VALUE
from tidemark.operate.prove.drifted_files import drifted_file, unreadable_columns
from tidemark.operate.rows.file_rows import read_table

ROWS = [{"id": number, "amt": number * 2} for number in range(3)]
LINES = "".join(f"{json.dumps(row)}\n" for row in ROWS)


@pytest.mark.parametrize(
    ("name", "content", "drift", "made"),
    [
        ("a.json", LINES, "fewer", '{"id": 0}\n{"id": 1}\n{"id": 2}\n'),
        ("a.json", json.dumps(ROWS[:1]), "type", f'[{{"id": 0, "amt": "{VALUE}"}}]'),
        ("a.csv", 'id;amt\n1;"5"\n2;6\n', "more", f"id;amt;{COLUMN}\n1;5;{VALUE}\n2;6;\n"),
        ("a.csv", "id,amt\n1,5\n2,6\n", "type", f"id,amt\n1,{VALUE}\n2,6\n"),
    ],
    ids=["lines", "array", "csv", "csv of numbers"],
)
def test_texts_keep_their_form(tmp_path, name, content, drift, made):
    file, packed = tmp_path / name, tmp_path / f"{name}.gz"
    file.write_text(content)
    packed.write_bytes(gzip.compress(content.encode()))

    assert drifted_file(file, drift).content.decode() == made
    assert gzip.decompress(drifted_file(packed, drift).content).decode() == made


def test_other_columns_of_parquet_keep_their_types(tmp_path):
    file, other = tmp_path / "a.parquet", tmp_path / "b.parquet"
    schema = pyarrow.schema([("price", pyarrow.decimal128(9, 2)), ("n", pyarrow.int32())])
    rows = [{"price": Decimal("1.50"), "n": 1}, {"price": Decimal("2.25"), "n": 2}]
    parquet.write_table(pyarrow.Table.from_pylist(rows, schema), file)

    made = drifted_file(file, "type")
    other.write_bytes(made.content)

    types, there = read_table("parquet", other)
    assert types == {"price": "decimal128(9, 2)", "n": "string"}
    assert there == [{**rows[0], "n": VALUE}, {**rows[1], "n": "2"}]
    assert (made.rows, made.column) == (2, "n")
    assert unreadable_columns([file, other]) == {"n": ["int", "string"]}
    for drift, names in (("more", ["price", "n", COLUMN]), ("fewer", ["price"])):
        other.write_bytes(drifted_file(file, drift).content)
        assert list(read_table("parquet", other)[0]) == names
        assert unreadable_columns([file, other]) == {}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", "x", "not a file of JSON, CSV or Parquet"),
        ("a.csv", "1,2\n3,4\n", "without a header"),
        ("a.json", "{", "it is not JSON of objects"),
        ("a.json", "[1]", "it is not JSON of objects"),
        ("a.parquet", "x", "it is not Parquet"),
        ("a.json", '{"a": "x"}', "needs a column of numbers"),
    ],
)
def test_a_file_that_cannot_be_otherwise_says_why(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)

    with pytest.raises(ValueError, match=message):
        drifted_file(tmp_path / name, "type")
