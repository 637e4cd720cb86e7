"""schema() and printSchema: the fields that records of a frame have."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytestmark = pytest.mark.spark


@pytest.fixture
def read(glue_context, s3):
    """Return a reader of a file of some text."""

    def read(text: str, kind: str = "json", **options: Any) -> Any:
        s3.put("read/a", text)
        paths = {"paths": [f"{s3.uri}read/"]}
        return glue_context.create_dynamic_frame.from_options("s3", paths, kind, options)

    return read


def lines(*records):
    return "\n".join(map(json.dumps, records))


def types_of(frame):
    return {one.name: one.dataType.typeName() for one in frame.schema()}


@pytest.mark.rule(
    "Frames",
    source="SDF",
    choice="toDF and writes keep a column for what other records have, a string where all is null",
)
def test_schema_has_the_fields_that_a_record_has(read, printed):
    records = (
        {"id": 1, "a": 5, "s": {"x": 1}, "l": [{"k": 1}], "v": 1},
        {"id": 2, "b": "t", "s": {"y": 2}, "l": [{"m": 1}], "v": "t"},
        {"id": 3, "n": None},
    )
    frame = read(lines(*records))

    assert types_of(frame.filter(lambda r: r["id"] == 2)) == {
        "id": "int",
        "s": "struct",
        "l": "array",
        "v": "string",
        "b": "string",
    }
    second = frame.filter(lambda r: r["id"] == 2).drop_fields(["id", "b", "v"])
    assert printed(second) == (
        "|-- s: struct\n|    |-- y: int\n|-- l: array\n|    |-- element: struct\n"
        "|    |    |-- m: int"
    )
    assert types_of(frame.filter(lambda r: r["id"] == 9)) == {}
    assert types_of(frame)["v"] == "choice"
    assert set(second.toDF().columns) == {"s", "l", "a", "n"}


@pytest.mark.rule("Frames", source="INFER")
def test_a_field_that_is_null_in_all_records_is_of_the_type_null(read):
    frame = read(lines({"id": 1, "n": None, "m": 5}, {"id": 2, "n": None, "m": None}))

    assert types_of(frame) == {"id": "int", "n": "null", "m": "int"}
    assert types_of(frame.filter(lambda r: r["id"] == 2))["m"] == "null"
    assert dict(frame.toDF().dtypes)["n"] == "string"


@pytest.mark.rule("Frames", source="SDF", choice="also after a step, unless it is of map")
def test_a_frame_of_a_data_frame_keeps_its_schema(rows_of):
    frame = rows_of("id int, n string", (1, None), (2, None))

    assert types_of(frame) == {"id": "int", "n": "string"}
    assert types_of(frame.filter(lambda r: r["id"] == 9)) == {"id": "int", "n": "string"}


@pytest.mark.rule("Frames", source="SDF")
def test_a_join_has_the_fields_of_the_records_that_it_joined(read, s3):
    left = read(lines({"oid": 1, "k": [1]}, {"oid": 2, "links": [{"u": 1}]}))
    left.count()
    s3.put("other/b", lines({"org": 1, "links": [{"u": 2}]}))
    right = left.glue_ctx.create_dynamic_frame.from_options(
        "s3", {"paths": [f"{s3.uri}other/"]}, "json"
    )

    joined = left.join("oid", "org", right)
    tables = joined.relationalize("root", "s3://temp/")

    assert ".links" not in types_of(joined) or "links" not in types_of(joined)
    assert len([name for name in types_of(joined) if "links" in name]) == 1
    assert sorted(name.replace(".", "") for name in tables.keys()) == [  # noqa: SIM118
        *("root", "root_k", "root_links")
    ]


@pytest.mark.rule("Frames", source="SDF")
def test_an_array_without_elements_makes_no_table(rows_of):
    rows = rows_of("id int, e array<int>, f array<int>", (1, [], [1]), (2, None, []))

    tables = rows.relationalize("root", None)

    assert sorted(tables.keys()) == ["root", "root_f"]
    assert tables["root"].toDF().columns == ["id", "e", "f"]


@pytest.mark.rule("Frames", source="INFER", choice="it is null, and its column of the type null")
def test_a_column_of_csv_that_is_empty_in_all_rows(read):
    frame = read("id,z\n1,\n2,\n", "csv", withHeader=True)

    assert types_of(frame) == {"id": "string", "z": "null"}
    assert {row.z for row in frame.toDF().collect()} <= {None, ""}
