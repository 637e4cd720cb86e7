"""What JSON, DDL and SQL tell in other ways than it seems: keys of maps, names, text of numbers."""

from __future__ import annotations

import json

import pytest

from watermarks.errors import SchemaContractError, WatermarkValueError
from watermarks.schema import Contract

pytestmark = pytest.mark.spark
RESCUE = {"columns": "rescue", "types": "rescue"}


def made_of(spark, schema, select, **modes):
    """Return the one row that a contract makes of SQL, and what it rescues."""
    (row,) = Contract(schema, **(modes or RESCUE)).apply(spark.sql(f"SELECT {select}")).collect()
    fields = row.asDict(recursive=True)
    return fields, json.loads(fields.pop("_rescued_data", None) or "{}")


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("X'00ff'", "AP8="),
        ("DATE'2026-01-02'", "2026-01-02"),
        ("named_struct('x', 1)", {"x": 1}),
        ("TIMESTAMP_NTZ'2026-01-02 03:04:05'", "2026-01-02T03:04:05.000000"),
    ],
)
def test_keys_of_maps_that_are_no_text_are_rescued_as_values(spark, key, told):
    inside = f"named_struct('y', array(map({key}, 1)))"
    _, rescued = made_of(spark, "id INT, t INT", f"map({key}, 1) m, {inside} deep, map({key}, 2) t")

    assert rescued["m"] == [{"key": told, "value": 1}]
    assert rescued["deep"] == {"y": [[{"key": told, "value": 1}]]}
    assert rescued["t"] == [{"key": told, "value": 2}]


def test_quarantined_rows_tell_such_keys_too(spark, tmp_path):
    from tests.libs.schema.test_targets import window
    from watermarks import write_window

    contract = Contract("id INT", types="discard_row", quarantine=str(tmp_path / "aside"))
    frame = spark.sql("SELECT 'x' id, map(X'00ff', 1) m")
    write_window(frame, str(tmp_path / "out"), window(1), schema=contract)

    (file,) = (tmp_path / "aside").rglob("*.json")
    assert json.loads(file.read_text("utf-8"))["m"] == [{"key": "AP8=", "value": 1}]


def test_a_value_with_a_wrong_type_and_a_new_field_is_rescued_once(spark):
    select = "named_struct('l', array(named_struct('x', 'q', 'more', 1))) s"

    fields, rescued = made_of(spark, "s STRUCT<l: ARRAY<STRUCT<x: INT>>>", select)

    assert fields == {"s": {"l": None}}
    assert rescued == {"s.l": [{"x": "q", "more": 1}]}


@pytest.mark.parametrize("new", ["NULL", "1"])
def test_an_array_is_rescued_only_if_a_new_field_in_it_has_a_value(spark, new):
    select = f"array(named_struct('x', 1, 'more', CAST({new} AS INT))) l"

    fields, rescued = made_of(spark, "l ARRAY<STRUCT<x: INT>>", select)

    assert fields == {"l": [{"x": 1}]}
    assert rescued == ({"l": [{"x": 1, "more": 1}]} if new == "1" else {})


AMBIGUOUS = "named_struct('a', 1, 'A', 2) s"


@pytest.mark.parametrize("schema", ["s STRUCT<a: INT>", "s STRUCT<a: STRING, A: INT>"])
def test_a_struct_with_two_fields_of_one_name_is_rescued_whole_or_refused(spark, schema):
    fields, rescued = made_of(spark, schema, AMBIGUOUS)
    assert (fields, rescued) == ({"s": None}, {"s": {"a": 1, "A": 2}})

    with pytest.raises(SchemaContractError, match="the column s is struct<a:int,A:int>, and was"):
        Contract(schema).apply(spark.sql(f"SELECT {AMBIGUOUS}"))
    same, rescued = made_of(spark, "s STRUCT<a: INT, A: INT>", AMBIGUOUS)
    assert (same["s"], rescued) == ({"a": 1, "A": 2}, {})


@pytest.mark.parametrize("name", ["${env:HOME}", "x${spark.app.name}"])
def test_a_name_is_no_variable_of_spark(spark, name):
    frame = spark.sql("SELECT 'x' v, 1 w").toDF(name, "${env:PATH}")

    rescued = Contract(f"`{name}` INT", columns="rescue", types="rescue").apply(frame)
    assert rescued.columns == [name, "_rescued_data"]
    assert json.loads(rescued.first()[1]) == {name: "x", "${env:PATH}": 1}
    evolved = Contract(f"`{name}` STRING").apply(frame)
    assert evolved.columns == [name, "${env:PATH}"]
    kept, taken = Contract(f"`{name}` INT", types="discard_row").split(frame)
    assert (kept.count(), taken.columns) == (0, [name, "${env:PATH}", "_rescued_data"])
    with pytest.raises(SchemaContractError):
        Contract(f"`{name}` INT").apply(frame)
    assert spark.conf.get("spark.sql.variable.substitute") == "true"


@pytest.mark.parametrize("schema", ["id INT, c CHAR(3), v ARRAY<VARCHAR(2)>"])
def test_char_and_varchar_of_the_catalog_are_text(spark, schema):
    fields, _ = made_of(spark, schema, "1 id, 'abcd' c, array('xyz') v")

    assert fields == {"id": 1, "c": "abcd", "v": ["xyz"]}


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("0.30000000000000004", True),
        ("0.000012345678901234568", True),
        ("1.2345678901234568E-5", True),
        ("0.300000000000000041", False),
        ("1.2345678901234565e-05", False),  # another number is nearer: its last digit is lost
        ("12345678901234568000000", True),
    ],
)
def test_text_is_a_double_if_its_digits_come_back(spark, text, fits):
    fields, rescued = made_of(spark, "v DOUBLE", f"'{text}' v")

    assert fields == {"v": float(text) if fits else None}
    assert rescued == ({} if fits else {"v": text})


@pytest.mark.parametrize("given", [{"schema": 5}, {"schema": " "}, {"rescued": " "}])
def test_what_no_contract_can_be_is_refused_at_once(given):
    with pytest.raises(WatermarkValueError, match=f"{next(iter(given))}.* is .*: give "):
        Contract(**given)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"schema": 5}', '{"quarantine": 7}'])
def test_json_that_is_no_contract_is_refused_in_few_words(text):
    with pytest.raises(WatermarkValueError) as refused:
        Contract.from_json(text)

    assert len(str(refused.value)) < 1000


def test_what_is_no_frame_and_a_type_that_is_no_schema_are_refused(spark):
    with pytest.raises(WatermarkValueError, match="the frame is a list: give a DataFrame"):
        Contract("a INT").apply([1])
    with pytest.raises(WatermarkValueError, match="'INT', which Spark does not take: it is the ty"):
        Contract("INT").apply(spark.range(1))


def test_a_frame_without_columns_lacks_none_unless_it_has_rows(spark):
    contract = Contract("id INT", "freeze", "freeze", "freeze")
    nothing = spark.createDataFrame([], "id INT").select()

    made = contract.apply(nothing)
    assert (made.dtypes, made.count()) == ([("id", "int")], 0)
    with pytest.raises(SchemaContractError, match=r"id \(int\) is missing"):
        contract.apply(spark.range(1).select())


def test_a_cached_frame_is_not_read_from_its_files_again(spark, tmp_path):
    (tmp_path / "1.json").write_text('{"id": "x"}\n', encoding="utf-8")
    frame = spark.read.json(f"{tmp_path}/1.json").cache()
    frame.count()
    (tmp_path / "1.json").write_text('{"id": "other"}\n', encoding="utf-8")

    for cached in (frame, frame.select("id")):
        (row,) = Contract("id INT", types="rescue").apply(cached).collect()
        assert json.loads(row["_rescued_data"]) == {"id": "x"}
    frame.unpersist()
