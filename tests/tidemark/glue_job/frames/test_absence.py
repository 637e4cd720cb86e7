"""Fields that records lack, and fields that are null, as functions of a script get them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tidemark.glue_job.frames.absence import ALL_THERE, SOME_LACK, Absence, absence_of

of_spark = pytest.mark.spark


@pytest.fixture
def json_frame(glue_context, s3):
    """Return a maker of frames of a file of JSON."""

    def json_frame(*records: Any) -> Any:
        s3.put("a.json", "\n".join(map(json.dumps, records)))
        return glue_context.create_dynamic_frame.from_options("s3", {"paths": [s3.uri]}, "json")

    return json_frame


def ids(frame):
    rows = frame.toDF()
    return sorted(row.id for row in rows.collect()) if rows.columns else []


def kept(records, function):
    """Return the ids of the records that AWS's library keeps: a KeyError means no."""

    def is_kept(record):
        try:
            return bool(function(record))
        except (KeyError, ValueError, TypeError):
            return False

    return sorted(record["id"] for record in records if is_kept(record))


FUNCTIONS = {
    "by name": lambda r: r["v"] != 7,
    "in": lambda r: "v" not in r,
    "get": lambda r: r.get("v", "none") == "none",
    "iteration": lambda r: len(list(r)) == 2 and len(dict(r)) == len(r),
    "nested by name": lambda r: r["s"]["w"] is None,
    "nested in": lambda r: "s" in r and "w" in r["s"],
    "in an array": lambda r: [one["x"] for one in r["l"]] or True,
}


@of_spark
@pytest.mark.rule("Frames", source="LIB")
def test_records_of_json_lack_the_keys_that_their_object_lacks(json_frame):
    frame = json_frame({"id": 1, "ok": 7}, {"id": 2}, {"id": 3, "ok": 0})

    mapped = frame.map(lambda row: {"id": row["id"], "ok": row["ok"]})

    assert ids(frame.filter(lambda row: row["ok"] != 0)) == [1]
    assert (ids(mapped), mapped.errorsCount()) == ([1, 3], 1)
    assert "KeyError: 'ok'" in str(mapped.errorsAsDynamicFrame().toDF().collect())


@of_spark
@pytest.mark.rule("Frames", source="LIB")
def test_a_null_of_json_is_in_its_record(json_frame, warned):
    frame = json_frame({"id": 1, "ok": None}, {"id": 2, "ok": 5})

    assert ids(frame.filter(lambda row: row["ok"] is None and "ok" in row)) == [1]
    assert warned() == []


@of_spark
@pytest.mark.rule(
    "Frames",
    source="INFER",
    choice="a JSON field that is null in some records and missing in others is missing in all "
    "of them, with a warning",
)
def test_a_field_that_is_null_and_one_that_is_missing_are_distinguished(json_frame, warned):
    frame = json_frame({"id": 1, "ok": None}, {"id": 2, "ok": 5}, {"id": 3})

    assert ids(frame.filter(lambda row: row["ok"] != 7)) == [2]
    assert ("NULL_OR_LACKING", "ok") in warned()


@pytest.mark.nightly
@of_spark
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_functions_see_the_fields_of_json_as_aws_does(json_frame, data):
    missing = {name: data.draw(st.sampled_from(["null", "absent"])) for name in "vwslx"}

    def draw(name, values):
        given = data.draw(st.one_of(st.none(), values))
        return {} if given is None and missing[name] == "absent" else {name: given}

    def record(number):
        inner = st.builds(lambda: draw("w", st.integers(0, 3)) | {"k": 1})
        array = st.lists(st.builds(lambda: draw("x", st.integers(0, 3)) | {"k": 1}), max_size=2)
        return (
            {"id": number}
            | draw("v", st.sampled_from([0, 7]))
            | draw("s", inner)
            | draw("l", array)
        )

    records = [record(n) for n in range(data.draw(st.integers(1, 6)))]
    frame = json_frame(*records)

    for name, function in FUNCTIONS.items():
        assert ids(frame.filter(function)) == kept(records, function), name


@pytest.mark.nightly
@of_spark
@pytest.mark.rule("Frames", source="INFER", choice="fields keep it under new names and in joins")
def test_a_field_missing_in_a_record_is_missing_after_other_steps(json_frame, rows_of):
    records = {"id": 1, "ok": 7, "n": None}, {"id": 2, "n": 1}, {"id": 3, "ok": 0, "n": 1}
    frame = json_frame(*records)
    others = rows_of("key int, text string", (1, "a"), (2, None), (3, None))

    def both(one, ok="ok", n="n"):
        there = ids(one.filter(lambda row: row[ok] in (0, 7)))
        return there, ids(one.filter(lambda row: row[n] is None))

    mapping = [("id", "int", "id", "int"), ("ok", "int", "s.yes", "long"), ("n", "int", "m", "int")]
    mapped = frame.apply_mapping(mapping)
    joined = frame.join("id", "key", others)

    assert both(frame.rename_field("ok", "b").rename_field("n", "c"), "b", "c") == ([1, 3], [1])
    assert both(frame.drop_fields("x").select_fields(["id", "ok", "n"])) == ([1, 3], [1])
    assert both(frame.filter(lambda row: "id" in row).repartition(2)) == ([1, 3], [1])
    assert ids(mapped.filter(lambda row: row["s"]["yes"] in (0, 7))) == [1, 3]
    assert ids(mapped.filter(lambda row: row["m"] is None)) == [1]
    assert both(joined) == ([1, 3], [1])
    assert ids(joined.filter(lambda row: row["text"] is None)) == [2, 3]
    assert both(frame.resolveChoice(choice="make_cols").unnest()) == ([1, 3], [1])


@pytest.mark.nightly
@of_spark
@pytest.mark.rule("Frames", source="LIB", choice="toDF and fromDF make them None")
def test_records_of_map_have_the_fields_that_the_function_set(rows_of, glue_context):
    from awsglue.dynamicframe import DynamicFrame

    rows = rows_of("id int", (1,), (2,))
    mapped = rows.map(
        lambda r: (
            {"id": r["id"], "n": None} | ({"a": 5, "s": {"k": 1, "z": 1}} if r["id"] == 1 else {})
        )
    )

    assert ids(mapped.filter(lambda row: row["n"] is None)) == [1, 2]
    assert ids(mapped.filter(lambda row: "a" in row and row["s"]["z"] == 1)) == [1]
    again = DynamicFrame.fromDF(mapped.toDF(), glue_context, "again")
    assert ids(again.filter(lambda row: row["a"] is None)) == [2]


@of_spark
@pytest.mark.rule("Frames", source="INFER")
def test_fields_missing_in_unboxed_json_are_missing_in_the_record(rows_of):
    rows = rows_of("id int, j string, t string", (1, '{"a": 1}', None), (2, '{"b": 1}', "x"))

    unboxed = rows.unbox("j", "json")

    assert ids(unboxed.filter(lambda row: row["j"]["a"] is None or True)) == [1]
    assert ids(unboxed.filter(lambda row: row["t"] is None)) == [1]


def test_a_field_that_one_of_two_sources_lacks_may_be_lacking():
    from pyspark.sql.types import IntegerType, StructType

    kind = StructType().add("a", IntegerType()).add("b", IntegerType())
    of_json = absence_of(["a", "b"], ["a"], ["b"])

    both = of_json.with_other(ALL_THERE, kind, kind)

    assert both == Absence(True, frozenset("a"), frozenset("b"))
    assert ALL_THERE.with_other(ALL_THERE, kind, kind) == ALL_THERE
    assert SOME_LACK.lacks("a")
    assert not of_json.lacks("x.A")
