"""schema() and printSchema: the fields that records of a frame have."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.sampled import at_night

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
    choice="toDF and writes keep a column for fields of other records; a string if all values "
    "are null",
)
def test_schema_has_the_fields_that_occur_in_some_record(read, printed):
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
def test_a_dynamic_frame_from_a_data_frame_keeps_its_schema(rows_of):
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
        "root",
        "root_k",
        "root_links",
    ]


@pytest.mark.rule("Frames", source="SDF")
def test_an_array_without_elements_makes_no_table(rows_of):
    rows = rows_of("id int, e array<int>, f array<int>", (1, [], [1]), (2, None, []))

    tables = rows.relationalize("root", None)

    assert sorted(tables.keys()) == ["root", "root_f"]
    assert tables["root"].toDF().columns == ["id", "e", "f"]


@pytest.mark.rule("Frames", source="INFER", choice="it is null, and its column has the type null")
def test_a_column_of_csv_that_is_empty_in_all_rows(read):
    frame = read("id,z\n1,\n2,\n", "csv", withHeader=True)

    assert types_of(frame) == {"id": "string", "z": "null"}
    assert {row.z for row in frame.toDF().collect()} <= {None, ""}


@pytest.mark.rule(
    "Frames",
    source="INFER",
    choice="an empty CSV field is null, in quotes or not; a blank one is a string",
)
@pytest.mark.parametrize("options", [{}, {"multiLine": True}], ids=["lines", "multiLine"])
def test_an_empty_field_of_csv_is_null_also_in_quotes(read, options):
    text = 'id,q,n,m\n1,"",,\n2,"","",""\n3,""," ",x\n'
    frame = read(text, "csv", withHeader=True, **options)

    assert types_of(frame) == {"id": "string", "q": "null", "n": "string", "m": "string"}
    rows = sorted(map(tuple, frame.toDF().collect()))
    assert rows == [("1", None, None, None), ("2", None, None, None), ("3", None, " ", "x")]
    assert ids(frame.filter(lambda row: row["n"] is None)) == ["1", "2"]


def ids(frame):
    return sorted(row.id for row in frame.toDF().collect())


def null_fields(frame, schema, path=""):
    """Yield the fields that the node "Drop Null Fields" of Glue Studio finds, as it does."""
    from awsglue import gluetypes

    if isinstance(schema, gluetypes.StructType):
        for field in schema:
            yield from null_fields(frame, field.dataType, f"{path}.{field.name}".strip("."))
    elif isinstance(schema, gluetypes.ArrayType):
        if isinstance(schema.elementType, gluetypes.StructType):
            yield from null_fields(frame, schema.elementType, path)
    elif isinstance(schema, gluetypes.NullType):
        yield path
    elif isinstance(schema, gluetypes.StringType):
        column = path.rpartition(".")[2]
        found = [row[column] for row in frame.toDF().select(path).distinct().collect()]
        texts = [one for many in found for one in (many if isinstance(many, list) else [many])]
        if {one and one.strip() for one in texts} <= {"", "null"}:
            yield path


@pytest.mark.rule("Frames", source="INFER")
@pytest.mark.parametrize(
    ("kind", "text", "found"),
    [
        ("csv", "id,z\n1,\n2,\n", ["z"]),
        ("csv", "id,z\n1,null\n2,null \n", ["z"]),
        ("json", lines({"id": 1, "s": {"z": None, "k": 1}}, {"id": 2, "s": {"k": 2}}), ["s.z"]),
        ("json", lines({"id": 1, "l": [{"z": None, "k": 1}, {"z": None, "k": 2}]}), ["l.z"]),
        ("json", lines({"id": 1, "z": ""}, {"id": 2, "z": " "}), ["z"]),
        ("ion", "{id: 1, z: null} {id: 2, z: null}", []),
        *at_night(
            ("csv", 'id,z\n1,""\n2,""\n', ["z"]),
            ("csv", "id,z\n1,null\n2,\n", []),
            ("json", lines({"id": 1, "z": None}, {"id": 2}), ["z"]),
            ("json", lines({"id": 1, "s": {"t": {"z": None}, "k": 1}}), ["s.t.z"]),
            ("json", lines({"id": 1, "z": None}, {"id": 2, "z": "x"}), []),
        ),
    ],
)
def test_studios_node_for_null_fields_finds_them(read, kind, text, found):
    frame = read(text, kind, **({"withHeader": True} if kind == "csv" else {}))

    names = list(null_fields(frame, frame.schema()))

    assert names == found
    dropped = frame.drop_fields(names) if names else frame
    assert list(null_fields(dropped, dropped.schema())) == []
    assert dropped.count() == frame.count()


TYPED = "id int, z string, n int"


@pytest.mark.nightly
@pytest.mark.rule(
    "Frames",
    source="DNF",
    choice="of records, fields that none has go as well; a frame without records keeps its fields",
)
@pytest.mark.parametrize(
    ("kind", "text", "left"),
    [
        ("csv", "id,z\n1,\n2,\n", ["id"]),
        ("json", lines({"id": 1, "z": None, "s": {"k": None}}, {"id": 2}), ["id"]),
        ("json", lines({"id": 1, "s": {"z": None, "k": 1}, "l": [{"z": None}]}), ["id", "s"]),
        ("ion", "{id: 1, z: null}", ["id"]),
    ],
)
def test_drop_null_fields_drops_fields_of_records_without_a_value(read, kind, text, left):
    from awsglue.transforms import DropNullFields

    frame = read(text, kind, **({"withHeader": True} if kind == "csv" else {}))

    dropped = DropNullFields.apply(frame)

    assert dropped.toDF().columns == left
    assert [*types_of(dropped)] == left
    first = DropNullFields.apply(frame.filter(lambda row: str(row["id"]) == "1"))
    assert first.toDF().columns == left
    assert len(DropNullFields.apply(frame.filter(lambda row: False)).toDF().columns) > len(left) - 1


def test_drop_null_fields_keeps_the_columns_of_files_that_have_types(
    read, rows_of, glue_context, s3
):
    from awsglue.transforms import DropNullFields

    frame = rows_of(TYPED, (1, None, None)).toDF()
    for kind in ("parquet", "orc"):
        path = f"{s3.uri}{kind}/"
        frame.write.format(kind).save(path)
        typed = glue_context.create_dynamic_frame.from_options("s3", {"paths": [path]}, kind)
        assert DropNullFields.apply(typed).toDF().columns == ["id", "z", "n"]
    mapped = rows_of(TYPED, (1, None, None)).map(dict)
    assert DropNullFields.apply(mapped).toDF().columns == ["id"]


INNER = st.one_of(st.none(), st.lists(st.integers(0, 9), max_size=2))
ELEMENTS = st.builds(lambda n, m: {"n": n} | ({} if m is None else {"m": m}), st.integers(), INNER)
OUTER = st.one_of(st.none(), st.lists(ELEMENTS, max_size=2))


def tables_filled(records, path="root"):
    """Return the names of the tables that have a row, the long way round."""
    found = {path} if records else set()
    below = f"{path}_" if path == "root" else f"{path}.val."
    for record in records:
        for name, value in record.items():
            if isinstance(value, list):
                rows = [one if isinstance(one, dict) else {} for one in value]
                found |= tables_filled(rows, f"{below}{name}")
    return found


@pytest.mark.nightly
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(OUTER, INNER), min_size=1, max_size=3))
def test_relationalize_makes_the_tables_that_records_fill_and_no_others(read, arrays):
    records = [
        {"id": n} | {name: one for name, one in zip("ab", pair, strict=True) if one is not None}
        for n, pair in enumerate(arrays)
    ]
    tables = read(lines(*records)).relationalize("root", None)

    names = set(tables.keys())
    assert names == tables_filled(records)
    assert all(tables[name].count() for name in names)
