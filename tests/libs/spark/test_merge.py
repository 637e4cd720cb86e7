"""Windows merged by key into a table of Apache Iceberg, by Iceberg itself, in a JVM of its own."""

from __future__ import annotations

import json

import pytest

from tests.iceberg import run_with_iceberg
from watermarks import WatermarkValueError, Window, latest_by_key, merge_window
from watermarks.spark.columns import TargetColumns, without_loss
from watermarks.spark.history import history_of

pytestmark = pytest.mark.spark

PROGRAM = """
from watermarks import Window, merge_window

spark.sql("CREATE TABLE sales.orders (id INT, status STRING, updated_at BIGINT) USING iceberg")
for number, (rows, options) in enumerate(json.loads(sys.argv[2])):
    frame = spark.createDataFrame(
        [tuple(row) for row in rows], "id INT, status STRING, updated_at BIGINT, op STRING"
    )
    if not options:
        frame = frame.drop("op")
    window = Window("j", "jr", "updated_at", f"{number}-ab", 1, None, 99)
    merge_window(frame, "lake.sales.orders", window, ["id"], **options)
    found = spark.table("sales.orders").orderBy("id").collect()
    print("rows", json.dumps([tuple(row) for row in found]))
"""


def merged(tmp_path, steps):
    """Merge windows one after the other; return what the table has after each."""
    lines = run_with_iceberg(PROGRAM, tmp_path, json.dumps(steps))
    found = [line.removeprefix("rows ") for line in lines if line.startswith("rows ")]
    return [[tuple(row) for row in json.loads(line)] for line in found]


@pytest.mark.nightly
def test_rows_are_merged_by_key_and_merging_again_changes_nothing(tmp_path):
    first = [(1, "open", 10, "I"), (1, "late", 11, "U"), (2, "open", 11, "I"), (3, "x", 12, "I")]
    second = [(1, "done", 20, "U"), (2, "", 21, "D"), (4, "new", 22, "I"), (5, "", 22, "D")]
    older = [(1, "older", 5, "U"), (6, "only", 5, "I")]
    deletes = {"deleted": "op = 'D'"}

    found = merged(tmp_path, [(first, {}), (second, deletes), (second, deletes), (older, deletes)])

    after_second = [(1, "done", 20), (3, "x", 12), (4, "new", 22)]
    assert found == [
        [(1, "late", 11), (2, "open", 11), (3, "x", 12)],
        after_second,
        after_second,
        [*after_second, (6, "only", 5)],
    ]


def test_the_newest_row_of_a_key_stays(spark):
    frame = spark.createDataFrame(
        [(1, "a", 1), (1, "b", 2), (2, "c", None), (2, "d", 1), (None, "e", 1)],
        "id INT, status STRING, at INT",
    )

    found = latest_by_key(frame, ["id"], "at").orderBy("id").collect()

    assert [row["status"] for row in found] == ["e", "b", "d"]


@pytest.mark.parametrize("keys", [[], "id"])
def test_keys_that_are_no_list_are_refused(spark, keys):
    window = Window("j", "jr", "at", "1", 1, None, 9)

    with pytest.raises(ValueError, match="give the columns that name a row, as a list"):
        merge_window(spark.range(1), "orders", window, keys)


def test_a_column_that_is_missing_is_named(spark):
    with pytest.raises(ValueError, match="the frame has no column 'at', it has id"):
        latest_by_key(spark.range(1), ["id"], "at")


@pytest.fixture
def frame(spark):
    columns = "id INT, at INT, `added on` INT, D INT, op STRING, before STRUCT<op: STRING>"
    return spark.createDataFrame([], columns)


def target(frame, *names):
    return TargetColumns("s.t", frame.select(*names).schema)


def test_columns_that_would_be_lost_are_refused(frame):
    with pytest.raises(WatermarkValueError, match="lacks, and they would be lost") as refused:
        target(frame, "ID", "before").check_no_others(frame, ["at"], "op = 'D'")

    assert "would be lost: added on, D; add them" in str(refused.value)
    assert "ALTER TABLE s.t ADD COLUMN `added on` ..." in str(refused.value)
    assert "frame.drop('added on', 'D')" in str(refused.value)


def test_columns_that_say_which_rows_are_deleted_need_not_be_in_the_table(frame):
    condition = "`added on` > 1 OR upper(before.OP) = 'X' OR d = 1 OR op IN ('D')"

    target(frame, "id").check_no_others(frame, ["At"], condition)


NESTED = (
    "id INT, P STRUCT<x: INT>, a ARRAY<STRUCT<x: INT>>, m MAP<STRING, STRUCT<x: INT>>, `q.r` INT"
)
WIDER = (
    "`new.one` INT, id BIGINT, p STRUCT<z: DATE, x: INT>, a ARRAY<STRUCT<x: INT, z: DATE>>, "
    "m MAP<STRING, STRUCT<z: DATE, x: INT>>, `q.r` INT"
)
LATER = {"new.one", "p.z", "a.element.z", "m.value.z"}


def wider(spark, later):
    return TargetColumns("s.t", spark.createDataFrame([], WIDER).schema, later)


def test_columns_and_fields_that_the_table_got_later_are_null(spark):
    values = (
        "1 AS id, struct(2 AS x) AS P, array(struct(3 AS x)) AS a, map('k', struct(4 AS x)) AS m"
    )
    frame = spark.sql(f"SELECT {values}, 5 AS `q.r`")
    columns = wider(spark, LATER)

    (row,) = columns.filled(frame).select(*(f"`{name}`" for name in columns.schema.names)).collect()

    assert tuple(row) == (None, 1, (None, 2), [(3, None)], {"k": (None, 4)}, 5)
    assert columns.lacking(frame) == ["new.one"]


@pytest.mark.parametrize("missing", sorted(LATER))
def test_one_that_the_table_had_from_its_first_has_to_be_given(spark, missing):
    frame = spark.createDataFrame([], NESTED)

    with pytest.raises(WatermarkValueError, match=f"has no column '{missing}'"):
        wider(spark, LATER - {missing}).filled(frame)
    if missing != "new.one":
        with pytest.raises(WatermarkValueError, match="has no column"):
            wider(spark, LATER).without_fields().filled(frame)


TIMES = "TIMESTAMP'2024-01-01 00:00:00', TIMESTAMP'2024-01-01 10:00:00'"


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (TIMES, "DATE"),
        ("'2024-01-01', '2024-01-01 10:00:00'", "DATE"),
        ("'2024-01-01T10:00:00', 'soon'", "TIMESTAMP"),
        ("1L, 4294967297L", "INT"),
        ("1.0, 1.5", "BIGINT"),
    ],
)
def test_a_cursor_that_the_column_of_the_table_cannot_hold_whole_is_refused(spark, values, kind):
    first, second = (spark.sql(f"SELECT {value} AS at") for value in values.split(", "))
    wanted = spark.sql(f"SELECT CAST(NULL AS {kind}) AS at").schema["at"].dataType
    nothing = spark.sql("SELECT CAST(NULL AS STRING) AS at")

    assert first.select(without_loss(first, "at", wanted)).collect() == first.collect()
    assert nothing.select(without_loss(nothing, "at", wanted)).collect() == nothing.collect()
    with pytest.raises(Exception, match=f"of the column 'at' does not fit into .* {kind.lower()}"):
        second.select(without_loss(second, "at", wanted)).collect()


def test_versions_that_are_there_stay_as_they_are_whatever_types_the_frame_has(spark):
    there = "1 AS id, 9007199254740993L AS big, map('k', struct(1 AS a, 2 AS b)) AS point"
    table = spark.sql(f"SELECT {there}, 1L AS since, CAST(NULL AS BIGINT) AS till")
    frame = spark.sql(
        "SELECT 1 AS id, 7D AS big, map('k', struct(2 AS b, 1 AS a)) AS point, 2 AS at"
    )
    columns = TargetColumns("t", table.schema)

    versions = history_of(["id"], ("since", "till")).changes(frame, table, columns, "at", None)

    first, second = (row.asDict() for row in versions.orderBy("since").collect())
    assert (first["big"], first["till"]) == (9007199254740993, 2)
    assert (second["big"], second["since"], second["till"]) == (7, 2, None)
    assert first["point"] == second["point"] == {"k": (1, 2)}
