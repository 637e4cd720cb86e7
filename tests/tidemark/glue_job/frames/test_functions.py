"""filter and map: what functions get, what they may return, and what becomes of their errors."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal

import pytest

from tidemark.glue_job.frames.errors import ErrorThresholdError

pytestmark = pytest.mark.spark

FAILED = "records for which a function of the script failed, first with '{}'"
PROVIDERS = "`Provider Id` string, `Provider City` string, `Zip` int"
ROWS = (("10001", "DOTHAN", 36301), ("10005", "BOAZ", 35957), ("10006", "FLORENCE", None))


def kept_ids(frame, function):
    """Return the ids of the records that a filter keeps."""
    return sorted(row.id for row in frame.filter(function).toDF().collect())


@pytest.mark.rule("Frames", source="DYF")
def test_filter_keeps_the_records_for_which_a_function_is_true(rows_of):
    frame = rows_of(PROVIDERS, *ROWS)

    kept = frame.filter(f=lambda x: x["Provider City"] in ["BOAZ", "DOTHAN"] and x.Zip > 36000)

    assert kept.toDF().collect() == [("10001", "DOTHAN", 36301)]
    assert kept.toDF().schema == frame.toDF().schema


@pytest.mark.rule(
    "Frames",
    source="LIB",
    choice="the first such error is a warning",
)
def test_filter_drops_records_with_a_key_value_or_type_error(rows_of, warned):
    frame = rows_of(PROVIDERS, *ROWS)

    small = frame.filter(lambda record: record["Zip"] < 36000)
    misspelt = frame.filter(lambda record: record["zip"] < 36000)

    assert small.toDF().collect() == [("10005", "BOAZ", 35957)]
    assert (misspelt.count(), misspelt.errorsCount()) == (0, 0)
    (first, _), *others = warned()
    assert first == "FILTER_LEFT_OUT"
    assert ("FILTER_LEFT_OUT", "KeyError: 'zip'") in others


@pytest.mark.rule("Frames", source="INFER", choice="a null is None")
def test_records_of_a_data_frame_have_all_fields(rows_of):
    frame = rows_of(
        "id int, s struct<a: int, b: int>, t string", (1, (5, None), "x"), (2, None, None)
    )

    assert kept_ids(frame, lambda r: "t" in r and len(r) == 3 and r["t"] is None) == [2]
    assert kept_ids(frame, lambda r: r.get("t", "none") is None and dict(r)["s"] is None) == [2]
    assert kept_ids(frame, lambda r: list(r["s"]) == ["a", "b"] and r["s"]["b"] is None) == [1]


@pytest.mark.rule("Frames", source="LIB")
def test_any_other_error_of_a_filter_makes_an_error_record(rows_of, warned):
    failing = rows_of(PROVIDERS, *ROWS).filter(lambda record: 1 / (record["Zip"] - 35957) or True)

    assert [row[0] for row in failing.toDF().collect()] == ["10001"]
    assert (failing.errorsCount(), failing.stageErrorsCount()) == (1, 1)
    (row,) = failing.errorsAsDynamicFrame().toDF().collect()
    assert list(row.error.asDict()) == [
        "callsite",
        "msg",
        "stackTrace",
        "input",
        "bytesread",
        "source",
        "dynamicRecord",
    ]
    assert row.error.msg == "ZeroDivisionError: division by zero"
    assert "1 / (record" in row.error.stackTrace
    assert row.error.dynamicRecord == ("10005", "BOAZ", 35957)
    assert ("ERROR_RECORDS", FAILED.format("ZeroDivisionError: division by zero")) in warned()


@pytest.mark.rule("Frames", source="DYF", choice="fields in the order of the records")
def test_map_returns_records_and_infers_their_schema(rows_of, printed):
    """The example of the page: fields are put into a struct with a list."""

    def merge_address(rec):
        rec["Address"] = {"City": rec["Provider City"], "Zip.Code": rec["Zip"]}
        rec["Address"]["Array"] = [rec["Provider City"], rec["Provider Id"]]
        del rec["Provider City"]
        del rec["Zip"]
        return rec

    mapped = rows_of(PROVIDERS, *ROWS).map(f=merge_address)

    assert printed(mapped) == (
        "|-- Provider Id: string\n"
        "|-- Address: struct\n"
        "|    |-- City: string\n"
        "|    |-- Zip.Code: int\n"
        "|    |-- Array: array\n"
        "|    |    |-- element: string"
    )
    assert mapped.toDF().collect() == [
        ("10001", ("DOTHAN", 36301, ["DOTHAN", "10001"])),
        ("10005", ("BOAZ", 35957, ["BOAZ", "10005"])),
        ("10006", ("FLORENCE", None, ["FLORENCE", "10006"])),
    ]


def test_records_have_structs_as_records_and_choices_as_their_values(rows_of):
    struct = "s struct<x: int, y: struct<z: string>>, l array<struct<v: int>>, c {}"
    frame = rows_of(struct.format("bigint"), ((1, ("a",)), [(2,)], 3))
    frame = frame.union(rows_of(struct.format("string"), (None, None, "t")))

    mapped = frame.map(
        lambda r: {
            "z": r.s.y.z if r["s"] else "none",
            "v": [one["v"] for one in r["l"] or []],
            "kind": type(r["c"]).__name__,
        }
    )

    assert mapped.toDF().collect() == [("a", [2], "int"), ("none", [], "str")]


@pytest.mark.nightly
@pytest.mark.rule("Frames", source="TYPES", choice="of int and long it is long")
def test_map_makes_a_choice_of_a_field_with_several_types(rows_of, printed):
    values = [1, "a", 2.5, None]

    def several(record):
        return {"v": values[record["n"]], "w": 2**40 if record["n"] else 1}

    mapped = rows_of("n int", (0,), (1,), (2,), (3,)).map(several)

    assert printed(mapped) == (
        "|-- v: choice\n|    |-- double\n|    |-- int\n|    |-- string\n|-- w: long"
    )
    cast = mapped.resolveChoice(specs=[("v", "cast:string")])
    assert [row.v for row in cast.toDF().collect()] == ["1", "a", "2.5", None]


def test_a_decimal_may_have_an_exponent_above_zero(rows_of):
    frame = rows_of("n int", (100,), (7,))

    mapped = frame.map(lambda record: {"d": Decimal(record["n"]).normalize()})  # 1E+2

    assert [row.d for row in mapped.toDF().collect()] == [100, 7]


@pytest.mark.parametrize("number", ["0.123456789012345678901234567890123456789", "1E+40", "NaN"])
def test_a_decimal_that_no_decimal_of_spark_holds_fails_by_its_value(rows_of, number):
    mapped = rows_of("n int", (1,)).map(lambda record: {"d": Decimal(number)})

    with pytest.raises(Exception, match=f"no decimal for {re.escape(number)}"):
        mapped.toDF()


@pytest.mark.rule("Bad input", source="INFER", choice="where a function of the script made it")
def test_half_of_a_surrogate_pair_makes_an_error_record_that_names_the_field(rows_of):
    """Spark replaces it in a value, and does not end where a name has it."""
    results = {0: {"s": "\U0001f600"}, 1: {"s": {"t": ["\ud83d"]}}, 2: {"s": "a", "\ude00": 1}}

    mapped = rows_of("n int", *((n,) for n in results)).map(lambda record: results[record["n"]])

    assert mapped.toDF().collect() == [("\U0001f600",)]
    errors = sorted(row.error.msg for row in mapped.errorsAsDynamicFrame().toDF().collect())
    assert errors == [
        r"ValueError: a key of the record has half of a surrogate pair, '\ude00'",
        r"ValueError: the field 't' has half of a surrogate pair, '\ud83d'",
    ]


@pytest.mark.nightly
def test_a_decimal_keeps_38_digits_after_its_point(rows_of):
    number = Decimal("0.12345678901234567890123456789012345678")

    mapped = rows_of("n int", (1,)).map(lambda record: {"d": number})

    assert mapped.toDF().collect() == [(number,)]


@pytest.mark.nightly
def test_keys_of_a_record_are_strings_and_each_is_there_once(rows_of):
    def keyed(record):
        return {1: "a", "s": {2: "b"}} if record["n"] else {1: "a", "1": "b"}

    mapped = rows_of("n int", (0,), (1,)).map(keyed)

    assert mapped.toDF().select("1", "s.2").collect() == [("a", "b")]
    (error,) = [row.error for row in mapped.errorsAsDynamicFrame().toDF().collect()]
    assert error.msg == "ValueError: keys of a record are one name as strings: [1, '1']"


@pytest.mark.rule("Frames", source="SILENT", choice="a field that its values still fit keeps it")
def test_map_keeps_the_types_of_fields(rows_of):
    schema = (
        "l bigint, s smallint, f float, d decimal(10,2), m map<string, int>, e array<string>, "
        "t timestamp, day date, b binary, n string"
    )
    row = (1, 2, 1.5, Decimal("3.10"), {"k": 1}, [], None, date(2024, 5, 1), b"x", None)
    frame = rows_of(schema, row)

    mapped = frame.map(lambda record: record)

    assert mapped.toDF().dtypes == frame.toDF().dtypes
    assert mapped.toDF().collect() == frame.toDF().collect()


def test_a_field_that_its_values_fit_no_longer_gets_a_wider_type(rows_of):
    frame = rows_of("b tinyint, s smallint, f float, n float", (1, 1, 1.5, 0.1), (2, 2, 2.5, None))

    mapped = frame.map(
        lambda record: {
            **record,
            **({"b": 300, "s": 70000, "f": 16777217.0} if record["b"] == 2 else {}),
        }
    )

    kinds = [("b", "int"), ("s", "int"), ("f", "double"), ("n", "float")]
    assert mapped.toDF().dtypes == kinds
    ours = [(row.b, row.s, row.f) for row in mapped.toDF().collect()]
    assert ours == [(1, 1, 1.5), (300, 70000, 16777217.0)]


@pytest.mark.rule("Frames", source="LIB")
def test_a_record_for_which_a_function_of_map_fails_is_an_error_record(rows_of, warned):
    def odd(record):
        if record["n"] == 1:
            raise ValueError("one")
        return {"n": record["n"]} if record["n"] else None

    mapped = rows_of("n int", (0,), (1,), (2,)).map(odd)

    assert mapped.toDF().collect() == [(2,)]
    errors = [row.error for row in mapped.errorsAsDynamicFrame().toDF().collect()]
    assert [(error.msg, error.dynamicRecord.n) for error in errors] == [
        ("User-specified function returned None instead of DynamicRecord", 0),
        ("ValueError: one", 1),
    ]
    of_partitions = rows_of("n int", (3,)).mapPartitions(
        lambda items: [{**item, "isError": True, "errorMessage": "no 3"} for item in items]
    )
    assert (of_partitions.count(), of_partitions.errorsCount()) == (0, 1)
    (kind, first), *_, last = warned()
    assert (kind, first) in [("ERROR_RECORDS", FAILED.format(error.msg)) for error in errors]
    assert last == ("ERROR_RECORDS", FAILED.format("no 3"))


def test_the_function_of_map_runs_once_for_each_record(rows_of, glue_context):
    calls = glue_context.spark_session.sparkContext.accumulator(0)

    def count(record):
        calls.add(1)
        return record

    mapped = rows_of("n int", (1,), (2,), (3,)).map(count)

    assert (mapped.count(), mapped.errorsCount(), mapped.toDF().count()) == (3, 0, 3)
    assert calls.value == 3


@pytest.mark.rule(
    "Frames",
    source="SDF",
    choice="0 allows any number; with a threshold the step is computed at once",
)
def test_a_threshold_is_the_number_of_allowed_errors(rows_of):
    frame = rows_of("n int", (0,), (0,), (1,), (2,))

    def failing(record):
        return {"n": 1 / record["n"]}

    for step in (frame.filter, frame.map):
        assert step(failing).errorsCount() == 2
        allowed = step(failing, stageThreshold=2, totalThreshold=2)
        allowed.assertErrorThreshold()
        assert (allowed.count(), allowed.errorsCount()) == (2, 2)
        with pytest.raises(
            ErrorThresholdError, match=r"2 records .* stageThreshold allows 1; .*division"
        ):
            step(failing, stageThreshold=1)
        assert allowed.drop_fields("x", totalThreshold=2).count() == 2
        with pytest.raises(ErrorThresholdError, match=r"totalThreshold allows 1"):
            allowed.drop_fields("x", totalThreshold=1)


def test_one_error_is_allowed_where_the_threshold_of_unbox_is_one(rows_of):
    frame = rows_of("k string, j string", ("a", '{"x": 1}'), ("b", '{"x": 1'))

    unboxed = frame.unbox("j", "json", totalThreshold=1)

    assert (unboxed.toDF().count(), unboxed.errorsCount()) == (1, 1)


@pytest.mark.nightly
def test_errors_stay_with_the_frames_that_follow(rows_of):
    first = rows_of("n int", (0,), (1,)).filter(lambda record: 1 / record["n"])
    second = first.rename_field("n", "m").map(lambda record: {"m": 1 / (record["m"] - 1)})

    both = second.union(first)

    assert (second.errorsCount(), second.stageErrorsCount(), both.errorsCount()) == (2, 1, 3)
    errors = (
        second.errorsAsDynamicFrame().toDF().select("error.callsite.site", "error.dynamicRecord")
    )
    assert errors.collect() == [("filter", (0, None)), ("map", (None, 1))]
    assert rows_of("n int").errorsAsDynamicFrame().count() == 0


def test_whole_partitions_are_mapped_as_dicts_with_a_record(rows_of):
    def doubled(number, items):
        for item in items:
            item["record"]["n"] *= 2
            item["isError"] = item["record"]["n"] > 5
            yield item

    mapped = rows_of("n int", (1,), (2,), (3,)).mapPartitionsWithIndex(doubled)
    same = rows_of("n int", (1,)).mapPartitions(lambda items: list(items))

    assert mapped.toDF().collect() == [(2,), (4,)]
    assert mapped.errorsCount() == 1
    assert same.toDF().collect() == [(1,)]


@pytest.mark.nightly
def test_of_no_records_map_makes_a_frame_without_columns(rows_of):
    mapped = rows_of("n int").map(lambda record: record)

    assert (mapped.count(), mapped.toDF().columns) == (0, [])


def test_a_value_of_no_type_of_glue_fails_by_its_type(rows_of):
    mapped = rows_of("n int", (1,)).map(lambda record: {"n": object})

    with pytest.raises(Exception, match="no type for a value of the type type"):
        mapped.toDF()
