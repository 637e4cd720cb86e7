"""Columns and types that are added, refused, left out or rescued, and what is said of them."""

from __future__ import annotations

import json
import re

import pytest
from pyspark.sql.types import LongType

from watermarks.errors import SchemaContractError, WatermarkValueError
from watermarks.schema import Contract
from watermarks.schema.fitting import Fitting
from watermarks.schema.plan import told_as_json

pytestmark = pytest.mark.spark


def rows_of(frame) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in frame.collect())


def test_new_columns_are_added_refused_left_out_or_rescued(spark, tmp_path):
    frame = spark.createDataFrame([(1, 2, "x"), (2, 3, None)], "id INT, b INT, `a.b` STRING")
    contract = "id INT, b INT"

    evolved = Contract(contract).apply(frame)
    assert evolved.columns == ["id", "b", "a.b"]
    assert rows_of(evolved) == rows_of(frame)
    assert Contract(contract, columns="discard").apply(frame).columns == ["id", "b"]
    rescued = Contract(contract, columns="rescue").apply(frame)
    assert rows_of(rescued) == [(1, 2, '{"a.b":"x"}'), (2, 3, None)]
    with pytest.raises(SchemaContractError, match=r"the column a\.b \(string\) is new") as refused:
        Contract(contract, columns="freeze").apply(frame)
    assert [change.column for change in refused.value.changes] == ["a.b"]


def test_a_refusal_names_the_file_that_brought_a_column(spark, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "1.json").write_text('{"id": 1}\n', encoding="utf-8")
    (folder / "2.json").write_text('{"id": 2, "tip": 0.5}\n', encoding="utf-8")
    frame = spark.read.json(str(folder))

    with pytest.raises(
        SchemaContractError, match=r"tip \(double\) is new \(first in .*/in/2\.json"
    ):
        Contract("id BIGINT", columns="freeze").apply(frame)
    (rescued,) = [
        json.loads(row["_rescued_data"])
        for row in Contract("id BIGINT", columns="rescue").apply(frame).collect()
        if row["_rescued_data"]
    ]
    assert rescued == {"tip": 0.5, "_file_path": f"file:{folder}/2.json"}


def test_missing_columns_are_null_or_refused(spark):
    frame = spark.createDataFrame([(1,)], "id INT")
    contract = "id INT, at TIMESTAMP, s STRUCT<a: INT>"

    made = Contract(contract).apply(frame)
    assert rows_of(made) == [(1, None, None)]
    assert dict(made.dtypes) == {"id": "int", "at": "timestamp", "s": "struct<a:int>"}
    with pytest.raises(SchemaContractError, match=r"at \(timestamp\) is missing.*null"):
        Contract(contract, missing="freeze").apply(frame)


def test_types_become_wider_where_one_holds_both_and_values_are_checked_where_none_does(spark):
    frame = spark.createDataFrame([(2**40, "12")], "v BIGINT, w STRING")
    made = Contract("v INT, w INT").apply(frame)
    assert dict(made.dtypes) == {"v": "bigint", "w": "int"}
    assert rows_of(made) == [(2**40, 12)]

    wrong = frame.selectExpr("v", "'n/a' AS w")
    with pytest.raises(
        SchemaContractError, match=r"w is string, and was int \(1 row does"
    ) as refused:
        Contract("v INT, w INT").apply(wrong)
    assert '{"w":"n/a"}' in str(refused.value)
    with pytest.raises(SchemaContractError, match="v is bigint, and was int"):
        Contract("v INT, w STRING", types="freeze").apply(wrong)


def test_fields_of_structs_arrays_and_maps_follow_the_contract(spark):
    frame = spark.createDataFrame(
        [((1, "x", "y"), [(1, 2)], {"k": ("1", 5)})],
        "s STRUCT<a: BIGINT, b: STRING, `new`: STRING>, l ARRAY<STRUCT<x: INT, y: INT>>, "
        "m MAP<STRING, STRUCT<p: STRING, q: INT>>",
    )
    promised = (
        "s STRUCT<a: INT, b: INT, c: DATE>, l ARRAY<STRUCT<x: BIGINT>>, "
        "m MAP<STRING, STRUCT<p: INT>>"
    )

    (row,) = Contract(promised, columns="rescue", types="rescue").apply(frame).collect()

    assert row["s"].asDict() == {"a": 1, "b": None, "c": None}
    assert row["l"] == [(1,)]
    assert row["m"] == {"k": (1,)}
    assert json.loads(row["_rescued_data"]) == {
        "s.b": "x",
        "s.new": "y",
        "l": [{"x": 1, "y": 2}],
        "m": {"k": {"p": "1", "q": 5}},
    }
    evolved = Contract(promised, types="rescue").apply(frame).schema
    assert "l:array<struct<x:bigint,y:int>>" in evolved.simpleString()


def test_names_are_compared_as_the_session_does(spark):
    frame = spark.createDataFrame([(1, 2)], "ID INT, Amount INT")
    assert Contract("id INT, amount INT", columns="freeze").apply(frame).columns == ["id", "amount"]
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        with pytest.raises(SchemaContractError, match="ID"):
            Contract("id INT, amount INT", columns="freeze").apply(frame)
        double = spark.createDataFrame([(1, 2)], "a INT, A INT")
        assert Contract("a INT").apply(double).columns == ["a", "A"]
    finally:
        spark.conf.unset("spark.sql.caseSensitive")
    with pytest.raises(WatermarkValueError, match="'a', 'A', which are one column"):
        Contract("a INT").apply(double)


def test_a_struct_with_names_of_types_is_no_choice(spark):
    frame = spark.sql("SELECT named_struct('date', '2026-01-01', 'timestamp', '10:00') AS v")
    (row,) = Contract("v STRING", types="rescue").apply(frame).collect()
    assert json.loads(row["_rescued_data"]) == {"v": {"date": "2026-01-01", "timestamp": "10:00"}}


def test_a_choice_of_a_data_frame_is_fitted_and_rescued_as_the_value_that_came(spark):
    """`toDF` of a DynamicFrame leaves a struct with a field for each type."""
    rows = [
        ((10, None, None), [("a", (1, None)), ("b", (None, "two"))]),
        ((None, "12", None), [("c", (3, None))]),
        ((None, "20 EUR", None), None),
        ((None, None, [1, 2]), []),
        (None, None),
    ]
    choice = "amt STRUCT<int: INT, string: STRING, array: ARRAY<INT>>"
    frame = spark.createDataFrame(
        rows, f"{choice}, items ARRAY<STRUCT<sku: STRING, q: STRUCT<int: INT, string: STRING>>>"
    ).coalesce(1)
    columns = "amt INT, items ARRAY<STRUCT<sku: STRING, q: INT>>"

    kept = Contract(columns, types="rescue").apply(frame).collect()
    unknown = Contract("x INT", columns="rescue").apply(frame.select("amt")).collect()

    assert [row["amt"] for row in kept] == [10, 12, None, None, None]
    assert [row["items"] for row in kept] == [None, [("c", 3)], None, [], None]
    rescued = [json.loads(row["_rescued_data"] or "{}") for row in kept]
    items = [{"sku": "a", "q": 1}, {"sku": "b", "q": "two"}]
    assert rescued == [{"items": items}, {}, {"amt": "20 EUR"}, {"amt": [1, 2]}, {}]
    told = [json.loads(row["_rescued_data"] or "{}") for row in unknown]
    assert [row.get("amt") for row in told] == [10, "12", "20 EUR", [1, 2], None]
    evolved = Contract("amt INT", columns="freeze", missing="freeze").evolved(frame.select("amt"))
    assert evolved.simpleString() == "struct<amt:int>"


def test_files_of_quarantined_rows_have_no_field_of_a_choice_twice(spark, tmp_path):
    frame = spark.sql(
        "SELECT named_struct('v', named_struct('int', 1, 'string', CAST(NULL AS STRING))) AS s"
    )
    told_as_json(frame).write.json(str(tmp_path / "aside"))
    (row,) = spark.read.json(str(tmp_path / "aside")).collect()
    assert row.asDict(recursive=True) == {"s": {"v": {"int": 1}}}


def test_a_struct_that_only_looks_like_a_choice_is_rescued_whole(spark):
    frame = spark.sql("SELECT named_struct('int', 1, 'string', 'b') AS v")
    (row,) = Contract("v INT", types="rescue").apply(frame).collect()
    assert (row["v"], json.loads(row["_rescued_data"])) == (None, {"v": {"int": 1, "string": "b"}})


def test_literals_that_a_session_reads_otherwise_are_refused(spark):
    spark.conf.set("spark.sql.parser.escapedStringLiterals", "true")
    try:
        with pytest.raises(WatermarkValueError, match="escapedStringLiterals is true"):
            Contract("id INT").apply(spark.range(1))
    finally:
        spark.conf.unset("spark.sql.parser.escapedStringLiterals")


def test_a_choice_that_has_two_values_does_not_fit(spark):
    fields = spark.createDataFrame([], "int INT, long BIGINT").schema
    fit = Fitting().fit("v", fields, LongType())
    rows = "SELECT named_struct('int', {}, 'long', {}) AS v"
    values = [("1", "2L"), ("1", "NULL"), ("NULL", "2L"), ("NULL", "NULL")]

    fitted = [
        tuple(spark.sql(rows.format(*pair)).selectExpr(fit.fits, fit.value).first())
        for pair in values
    ]

    assert [is_right for is_right, _ in fitted] == [False, True, True, True]
    assert [value for _, value in fitted[1:]] == [1, 2, None]


def test_rescued_times_keep_their_microseconds_and_paths_are_told_apart(spark):
    frame = spark.sql(
        "SELECT 1 id, TIMESTAMP_NTZ '2026-01-01 10:00:00.123456' t, named_struct('b', 1) a, 2 `a.b`"
    )
    (row,) = Contract("id INT, a STRUCT<c: INT>", columns="rescue").apply(frame).collect()
    assert json.loads(row["_rescued_data"]) == {
        "a.b": 1,
        "`a.b`": 2,
        "t": "2026-01-01T10:00:00.123456",
    }


def test_frames_of_several_sources_have_no_file(spark, tmp_path):
    for name in ("x", "y"):
        spark.sql(f"SELECT 1 AS id, 'n/a' AS {name}").write.parquet(f"{tmp_path}/{name}")
    both = spark.read.parquet(f"{tmp_path}/x").join(spark.read.parquet(f"{tmp_path}/y"), "id")
    (row,) = Contract("id INT, x INT", columns="rescue", types="rescue").apply(both).collect()
    assert json.loads(row["_rescued_data"]) == {"x": "n/a", "y": "n/a"}


def test_new_columns_without_a_value_are_left_out(spark):
    frame = spark.sql(
        "SELECT 1 AS id, NULL AS x, named_struct('a', NULL, 'b', 1) AS s, array() AS l"
    )
    assert dict(Contract("id INT").apply(frame).dtypes) == {"id": "int", "s": "struct<b:int>"}


def test_only_the_columns_that_do_not_fit_are_named(spark):
    frame = spark.sql("SELECT '1' a, 'x' b, '2' c")
    with pytest.raises(SchemaContractError) as refused:
        Contract("a INT, b INT, c INT", types="freeze").apply(frame)
    assert [change.column for change in refused.value.changes] == ["b"]


def test_columns_of_nulls_fit_every_contract(spark):
    frame = spark.sql("SELECT 1 AS id, NULL AS v")
    made = Contract(
        "id INT, v STRUCT<a: INT>", columns="freeze", types="freeze", missing="freeze"
    ).apply(frame)
    assert rows_of(made) == [(1, None)]


def test_without_a_schema_the_first_frame_is_the_contract(spark):
    frame = spark.createDataFrame([(1, "a")], "id INT, v STRING")
    contract = Contract(columns="rescue", types="rescue")
    assert contract.changes(frame) == []
    assert rows_of(contract.apply(frame)) == [(1, "a", None)]


def test_what_is_otherwise_is_told_without_reading(spark):
    frame = spark.createDataFrame([], "id STRING, s STRUCT<a: INT, z: INT>, tip DOUBLE")
    told = [str(change) for change in Contract("id INT, s STRUCT<a: INT>, at DATE").changes(frame)]
    assert told == [
        "the column id is string, and was int",
        "the column s.z (int) is new",
        "the column at (date) is missing",
        "the column tip (double) is new",
    ]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"columns": "add"}, "columns of the contract is 'add': allowed are evolve, freeze"),
        ({"types": "discard"}, "types of the contract is 'discard': allowed"),
        ({"missing": None}, "missing of the contract is None: allowed are null, freeze"),
        ({"rescued": ""}, "rescued is ''"),
    ],
)
def test_unknown_modes_are_refused_at_once(options, told):
    with pytest.raises(WatermarkValueError, match=told):
        Contract("id INT", **options)


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ("id INTT", "which Spark does not take"),
        ("id INT, ID BIGINT", "'id', 'ID', which are one column"),
        ("id INT, _rescued_data STRING", "has the column '_rescued_data'"),
    ],
)
def test_schemas_that_no_row_can_have_are_refused(spark, schema, told):
    with pytest.raises(WatermarkValueError, match=told):
        Contract(schema).apply(spark.createDataFrame([(1,)], "id INT"))


def test_rows_that_are_taken_out_need_a_place(spark):
    with pytest.raises(WatermarkValueError, match="write both frames of split"):
        Contract("id INT", types="discard_row").apply(spark.createDataFrame([(1,)], "id INT"))


def test_a_contract_is_read_from_the_argument_of_a_job():
    text = '{"schema": "id INT", "types": "discard_row", "quarantine": "s3://lake/aside/"}'

    contract = Contract.from_json(text)

    assert contract == Contract("id INT", types="discard_row", quarantine="s3://lake/aside/")
    assert Contract.from_json("{}") == Contract()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("id INT", "the contract is 'id INT': Expecting value"),
        ("[1]", "must be a mapping"),
        ('{"colums": "evolve"}', "unexpected keyword argument 'colums'; allowed is JSON"),
        ('{"columns": "rescu"}', "columns of the contract is 'rescu': allowed are evolve"),
    ],
)
def test_what_is_no_contract_is_refused_with_what_is_allowed(text, told):
    with pytest.raises(WatermarkValueError, match=re.escape(told)):
        Contract.from_json(text)
