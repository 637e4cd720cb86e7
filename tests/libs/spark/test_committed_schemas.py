"""Windows of a target whose schema changed are read with the columns of all of them."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

from tests.sampled import at_night
from watermarks import WatermarkValueError, Window, read_committed, write_window

pytestmark = pytest.mark.spark

FORMATS = [
    "parquet",
    "csv",
    *(pytest.param(kind, marks=pytest.mark.nightly) for kind in ("orc", "json")),
]


@pytest.fixture
def target(spark, tmp_path):
    """Return a writer of windows one after the other, and a reader of all of them."""

    class Target:
        path = str(tmp_path / "target")

        def __init__(self):
            self.committed = []

        def write(self, rows, schema, kind="parquet", **options):
            number = len(self.committed) + 1
            window = Window("j", "jr", "c", f"000{number}", number, 1, 2)
            write_window(spark.createDataFrame(rows, schema), self.path, window, kind, **options)
            self.committed.append((window.window_id, number))

        def read(self, kind="parquet", **options):
            frame = read_committed(spark, self.path, self.committed, kind, **options)
            return frame.drop("window", "attempt")

    return Target()


def rows(frame):
    return sorted(map(tuple, frame.collect()), key=str)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", FORMATS)
def test_a_column_that_came_later_is_null_in_the_windows_before(target, kind):
    target.write([("a", "x")], "id STRING, gone STRING", kind)
    target.write([("new", "b")], "late STRING, id STRING", kind)

    found = target.read(kind)

    assert sorted(found.columns) == ["gone", "id", "late"]
    assert rows(found.select("id", "gone", "late")) == [("a", "x", None), ("b", None, "new")]


@pytest.mark.parametrize("kind", FORMATS)
def test_a_given_schema_is_read_by_name(target, kind):
    target.write([("a", "x")], "id STRING, gone STRING", kind)
    target.write([("new", "b")], "late STRING, id STRING", kind)

    found = target.read(kind, schema="late STRING, id STRING")

    assert rows(found) == [("new", "b"), (None, "a")]


WIDENED = [  # type and value before, and after, and the type of both
    (("INT", 7), ("BIGINT", 2**40), "bigint"),
    (("BIGINT", 2**40), ("SMALLINT", 7), "bigint"),
    (("FLOAT", 0.5), ("DOUBLE", 0.1), "double"),
    (("INT", 7), ("DOUBLE", 0.1), "double"),
    (("DECIMAL(9,2)", Decimal("1.25")), ("DECIMAL(20,4)", Decimal("1.2345")), "decimal(20,4)"),
    (("DECIMAL(9,2)", Decimal("1.25")), ("DECIMAL(20,2)", Decimal("9.75")), "decimal(20,2)"),
    (("INT", 7), ("DECIMAL(9,2)", Decimal("1.25")), "decimal(12,2)"),
]


@pytest.mark.parametrize("kind", ["parquet", *at_night("orc")])
def test_a_column_gets_the_type_that_holds_all_its_values(target, kind):
    for columns in zip(*((before, after) for before, after, _ in WIDENED), strict=True):
        schema = ", ".join(f"v{number} {name}" for number, (name, _) in enumerate(columns))
        target.write([tuple(value for _, value in columns)], schema, kind)

    found = target.read(kind)

    assert [found.schema[f"v{n}"].dataType.simpleString() for n in range(len(WIDENED))] == [
        merged for _, _, merged in WIDENED
    ]
    read = found.select(sorted(found.columns)).collect()
    assert [sorted(values) for values in zip(*read, strict=True)] == [
        sorted([before, after]) for (_, before), (_, after), _ in WIDENED
    ]


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (("INT", 7), ("STRING", "x"), "parquet"),
        (("ARRAY<INT>", [1]), ("INT", 7), "parquet"),
        (("STRUCT<a: INT>", (1,)), ("STRUCT<a: STRING>", ("x",)), "parquet"),
        *at_night(
            (("INT", 7), ("STRING", "x"), "orc"),
            (("BIGINT", 7), ("DOUBLE", 0.5), "parquet"),
            (("DATE", datetime.date(2026, 1, 1)), ("STRING", "x"), "parquet"),
        ),
    ],
    ids=str,
)
def test_types_that_nothing_holds_are_refused_by_name(target, kind, before, after):
    for name, value in (before, after):
        target.write([(value,)], f"v {name}", kind)

    with pytest.raises(WatermarkValueError, match=r"column 'v(\.a)?' .* window '0002'.*schema="):
        target.read(kind)


@pytest.mark.parametrize("kind", ["parquet", *at_night("orc", "json")])
def test_fields_of_structs_and_arrays_are_united_by_name(target, kind):
    target.write(
        [(1, (1, "x"), [(1,)])],
        "id INT, s STRUCT<a: INT, b: STRING>, l ARRAY<STRUCT<a: INT>>",
        kind,
    )
    target.write(
        [(2, ("y", 2**40), [(5, 6)])],
        "id INT, s STRUCT<c: STRING, a: BIGINT>, l ARRAY<STRUCT<z: INT, a: INT>>",
        kind,
    )

    found = target.read(kind).select("id", "s.a", "s.b", "s.c", "l.a", "l.z")

    assert rows(found) == [
        (1, 1, "x", None, [1], [None]),
        (2, 2**40, None, "y", [6], [5]),
    ]


@pytest.mark.nightly
@pytest.mark.parametrize("kind", FORMATS)
def test_names_in_another_case_are_one_column(target, kind):
    target.write([("a",)], "id STRING", kind)
    target.write([("b",)], "ID STRING", kind)

    found = target.read(kind)

    assert [name.lower() for name in found.columns] == ["id"]
    assert rows(found) == [("a",), ("b",)]


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_partition_columns_may_come_later(target, kind):
    target.write([("a",)], "id STRING", kind)
    target.write([("b", "x")], "id STRING, day STRING", kind, partition_by=["day"])

    assert rows(target.read(kind).select("id", "day")) == [("a", None), ("b", "x")]


@pytest.mark.parametrize("kind", FORMATS)
def test_windows_without_rows_take_part(target, kind):
    target.write([], "id STRING", kind)
    target.write([("b", "x")], "id STRING, late STRING", kind)
    target.committed.append(("0009", 9))

    assert rows(target.read(kind).select("id", "late")) == [("b", "x")]
