"""Visual transforms of Glue Studio: what each makes of literal rows."""

from __future__ import annotations

import importlib

import pytest

from tidemark.errors import UsageError
from tidemark.studio.transforms import bare, names_in, spark_pattern

ALL = (
    "array_to_cols",
    "concat",
    "explode",
    "flatten",
    "format_timestamp",
    "null_rows",
    "pivot",
    "parse_json",
    "regex_extract",
    "repartition",
    "sequence_id",
    "split",
    "to_timestamp",
    "uuid",
)


@pytest.fixture
def studio():
    """Import every transform, so that frames have its method."""
    for name in ALL:
        importlib.import_module(f"gs_{name}")


def test_patterns_of_python_and_of_spark():
    assert spark_pattern("yyyy-MM-dd") == "yyyy-MM-dd"
    assert spark_pattern("%d/%m/%Y at %H:%M:%S.%f") == "dd/MM/yyyy 'at' HH:mm:ss.SSSSSS"
    with pytest.raises(UsageError, match="%U"):
        spark_pattern("%Y-%U")


def test_names_as_studio_writes_them():
    assert names_in("long, lat") == ["long", "lat"]
    assert names_in(["a", "b"]) == ["a", "b"]
    assert (bare("`a.b`"), bare("a b")) == ("a.b", "a b")


@pytest.mark.spark
def test_flatten_makes_columns_of_structs(studio, rows_of):
    frame = rows_of("a int, s struct<x: int, t: struct<y: int, z: array<int>>>", (1, (2, (3, [4]))))

    assert frame.gs_flatten().toDF().columns == ["a", "s.x", "s.t.y", "s.t.z"]
    assert frame.gs_flatten(maxLevels=1, separator="_").toDF().columns == ["a", "s_x", "s_t"]
    assert frame.gs_flatten().toDF().collect() == [(1, 2, 3, [4])]


@pytest.mark.spark
def test_explode_split_and_array_to_columns(studio, rows_of):
    frame = rows_of("id int, `g.c` array<int>, t string", (1, [5, 6], "a-b c"), (2, [], "x"))

    exploded = frame.gs_explode(colName="`g.c`", newCol="c")
    outer = frame.gs_explode(colName="`g.c`", newCol="`g.c`", outer=True)
    columns = frame.gs_split(colName="t", pattern="[- ]", newColName="parts").gs_array_to_cols(
        colName="parts", colList="one, three", indexes="1,3"
    )

    assert [(row.id, row.c) for row in exploded.toDF().collect()] == [(1, 5), (1, 6)]
    assert [(row.id, row["g.c"]) for row in outer.toDF().collect()] == [(1, 5), (1, 6), (2, None)]
    assert columns.toDF().select("parts", "one", "three").collect() == [
        (["a", "b", "c"], "a", "c"),
        (["x"], "x", None),
    ]
    with pytest.raises(UsageError, match="t is string"):
        frame.gs_explode("t", "u")
    with pytest.raises(UsageError, match="indexes"):
        columns.gs_array_to_cols("parts", ["a"], [1, 2])


@pytest.mark.spark
def test_a_map_is_exploded_into_keys_and_values(studio, rows_of):
    frame = rows_of("id int, `g.m` map<string,int>", (1, {"a": 5, "b": None}), (2, {}), (3, None))

    plain = frame.gs_explode(colName="`g.m`", newCol="`k.1`", valuesCol="v").toDF()
    outer = frame.gs_explode("`g.m`", newCol="ID", outer=True).toDF()

    assert plain.columns == ["id", "g.m", "k.1", "v"]
    assert plain.select("id", "`k.1`", "v").collect() == [(1, "a", 5), (1, "b", None)]
    assert outer.columns == ["g.m", "ID", "value"]
    assert [row[1:] for row in outer.collect()] == [
        ("a", 5),
        ("b", None),
        (None, None),
        (None, None),
    ]
    with pytest.raises(UsageError, match="does not know a, b"):
        frame.gs_explode("`g.m`", "k", a="x", b="y")


@pytest.mark.spark
def test_concatenation_has_empty_text_for_nulls(studio, rows_of):
    frame = rows_of("year int, month string, `Bairro/Distrito:` string", (2020, "01", None))

    made = frame.gs_concat(
        colName="date", colList=["year", "month", "Bairro/Distrito:"], spacer="-"
    )

    assert [row.date for row in made.toDF().collect()] == ["2020-01-"]


@pytest.mark.spark
def test_text_and_numbers_become_timestamps_and_text(studio, rows_of):
    rows = rows_of(
        "iso string, s bigint, ms bigint",
        ("2022-11-02T14:40:59.915Z", 1667400059, 1667400059915),
        ("1667400059915", 1667400059, 1667400059915),
        ("no time", None, None),
    )

    made = rows.gs_to_timestamp(colName="iso", colType="autodetect", newColName="a")
    made = made.gs_to_timestamp("s", "autodetect").gs_to_timestamp("ms", "milliseconds", "m")
    made = made.gs_to_timestamp("iso", "iso").gs_format_timestamp("a", "%Y-%m-%d", "day")
    texts = made.toDF().selectExpr(*(f"cast({name} AS string)" for name in ("a", "s", "m", "day")))

    exact = "2022-11-02 14:40:59.915"
    assert texts.collect() == [
        (exact, "2022-11-02 14:40:59", exact, "2022-11-02"),
        (exact, "2022-11-02 14:40:59", exact, "2022-11-02"),
        (None, None, None, None),
    ]
    assert [row.iso is None for row in made.toDF().collect()] == [False, True, True]
    with pytest.raises(UsageError, match="'nanoseconds'; allowed are autodetect"):
        rows.gs_to_timestamp("s", "nanoseconds")


@pytest.mark.spark
def test_null_rows_pivots_identifiers_and_partitions(studio, rows_of):
    blank = rows_of("a string, b array<int>", (None, None), ("", []), ("x", None))
    sales = rows_of(
        "year int, country string, amount int", (2020, "uk", 1), (2020, "de", 2), (2020, "de", 3)
    )

    pivot = sales.gs_pivot(aggCol="amount", aggFunction="sum", colList=["country"])
    twice = sales.gs_pivot("amount", "max", "year,country")
    ids = [row.uuid for row in sales.gs_uuid().toDF().collect()]

    assert blank.gs_null_rows().count() == 2
    assert blank.gs_null_rows(extended=True).toDF().collect() == [("x", None)]
    assert pivot.toDF().columns == ["year", "de", "uk"]
    assert pivot.toDF().collect() == [(2020, 5, 1)]
    assert twice.toDF().columns == ["2020_de", "2020_uk"]
    assert (len(set(ids)), len(ids[0])) == (3, 36)
    assert sales.gs_repartition(numPartitionsStr="3").getNumPartitions() == 3
    with pytest.raises(UsageError, match="'mode'; allowed are avg"):
        sales.gs_pivot("amount", "mode", ["country"])


@pytest.mark.spark
def test_regex_extract_takes_groups_or_the_whole_match(studio, rows_of):
    days = rows_of("`a day` string", ("2024-05-06T10",), ("2024-05-06",), ("?",), (None,))
    groups = r"(\d{4})-(\d{2})-(\d{2})(?:T(\d+))?"

    parts = days.gs_regex_extract(colName="`a day`", regex=groups, newCols="year, ,day,hour")
    whole = days.gs_regex_extract("`a day`", "^[^-]*", "`a day`")

    assert parts.toDF().drop("a day").collect() == [
        ("2024", "06", "10"),
        ("2024", "06", ""),
        ("", "", ""),
        (None, None, None),
    ]
    assert [row[0] for row in whole.toDF().collect()] == ["2024", "2024", "?", None]
    with pytest.raises(UsageError, match=r"columns \['a', 'b'\].* has fewer groups, 1"):
        days.gs_regex_extract("`a day`", "(.)", "a,b")


@pytest.mark.spark
def test_identifiers_are_of_one_row_each(studio, rows_of):
    frame = rows_of("a int", (1,), (2,), (3,)).repartition(2)

    of_run = [row.id for row in frame.gs_sequence_id().toDF().collect()]
    first, second = (frame.gs_sequence_id(colName="n", unique=True).toDF() for _ in range(2))

    assert len(set(of_run)) == 3
    assert dict(first.dtypes)["n"] == "decimal(38,0)"
    assert len({row.n for row in [*first.collect(), *second.collect()]}) == 6


@pytest.mark.spark
def test_parse_json_makes_structs_or_arrays(studio, rows_of):
    frame = rows_of(
        "j string, l string", ('{"a":1,"b":{"c":"x"}}', "[1,2]"), ("bad", None), ("", "")
    )

    parsed = frame.gs_parse_json(colName="j")
    beside = frame.gs_parse_json(colName="l", schema="ARRAY<INT>", newColName="m").toDF()

    assert [row.j for row in parsed.toDF().collect()] == [(1, ("x",)), None, None]
    assert [(row.l, row.m) for row in beside.collect()] == [
        ("[1,2]", [1, 2]),
        (None, None),
        ("", None),
    ]
    with pytest.raises(UsageError, match="no value of the column l is an object of JSON"):
        frame.gs_parse_json("l")


@pytest.mark.spark
def test_a_frame_without_columns_stays_as_it_is(studio, rows_of, spark, glue_context):
    from pyspark.sql.types import StructType

    from awsglue.dynamicframe import DynamicFrame

    nothing = DynamicFrame.fromDF(spark.createDataFrame([], StructType()), glue_context, "nothing")

    assert nothing.gs_uuid().gs_flatten().gs_concat("a", ["b"]).toDF().columns == []
