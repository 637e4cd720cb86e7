"""A file is split in two with the rows of the one, whatever its format."""

import gzip
import json

import pyarrow
import pytest
from pyarrow import parquet

from tidemark.operate.prove.halves import in_two
from tidemark.operate.rows.file_rows import rows_of_side

ROWS = [{"id": number, "note": f"n{number}"} for number in range(5)]
LINES = "".join(f"{json.dumps(row)}\n" for row in ROWS)
CSV = "id,note\n" + "".join(f"{row['id']},{row['note']}\n" for row in ROWS)


def test_halves_have_the_rows_of_the_file(tmp_path):
    table = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.Table.from_pylist(ROWS), table)
    contents = {
        "a.json": LINES.encode(),
        "b.json": json.dumps(ROWS, indent=2).encode(),
        "c.json.gz": gzip.compress(LINES.encode()),
        "d.parquet": table.read_bytes(),
    }
    for name, content in contents.items():
        files = [tmp_path / name, tmp_path / f"one-{name}", tmp_path / f"two-{name}"]
        files[0].write_bytes(content)
        halves = in_two(files[0])
        assert halves, name
        for file, half in zip(files[1:], halves, strict=True):
            file.write_bytes(half)
        kind = "parquet" if name.endswith("parquet") else "json"
        side = {"folder": str(tmp_path), "files": list(map(str, files[1:]))}
        both = rows_of_side(kind, side)
        assert both, name
        assert sorted(both.rows, key=lambda row: row["id"]) == ROWS


@pytest.mark.parametrize(
    ("content", "halves"),
    [
        (CSV, (CSV[: CSV.index("2,")], "id,note\n" + CSV[CSV.index("2,") :])),
        ("1,a\n2,b\n", ("1,a\n", "2,b\n")),
        ("id,note\n1,a\n", None),
        ('id,note\n1,"a\nb"\n2,c\n', None),
        ("", None),
    ],
    ids=["header", "no header", "one row", "a quoted line break", "empty"],
)
def test_lines_keep_their_header(tmp_path, content, halves):
    file = tmp_path / "in.csv"
    file.write_text(content)

    assert in_two(file) == (halves and tuple(half.encode() for half in halves))


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.json", "{"), ("a.json", '{"id": 1}'), ("a.parquet", "PAR1"), ("a.xml", "<a/>"), ("a", "")],
)
def test_what_cannot_be_split_stays_one(tmp_path, name, content):
    file = tmp_path / name
    file.write_text(content)

    assert in_two(file) is None
