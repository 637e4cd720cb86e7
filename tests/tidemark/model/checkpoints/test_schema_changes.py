"""What of two schemas is a change, what of it is news, and who reads a target afterwards."""

from __future__ import annotations

import json

import pytest

from tidemark.model.checkpoints.schema_changes import (
    Change,
    changes_of,
    parquet_effect,
    passed_on,
)
from tidemark.model.checkpoints.schemas import Column, Schema, columns_of, joined


def schema(format_: str = "parquet", partitions=(), **types: str) -> Schema:
    columns = tuple(Column(name.replace("__", "."), kind) for name, kind in types.items())
    return Schema("read", "s3://raw/orders/", "orders", format_, columns, tuple(partitions))


def told(now: Schema, *history: Schema) -> list[str]:
    return [f"{'quiet: ' * change.is_quiet}{change}" for change in changes_of(now, history)]


def test_three_increments_of_json_are_two_changes():
    first, second = schema("json", id="int", amt="int"), schema("json", id="int", amt="string")
    third = schema("json", id="int", amount="int")

    assert told(first) == []
    assert told(second, first) == ["amt was int and is string"]
    assert told(third, second, first) == [
        "amount is new (int)",
        "quiet: no record of this run has amt (string)",
    ]


def test_a_column_that_an_increment_of_json_lacked_is_not_new_when_it_comes_again():
    whole, less = schema("json", id="int", tip="double"), schema("json", id="int")

    assert told(less, whole) == ["quiet: no record of this run has tip (double)"]
    assert told(whole, less, whole) == []
    assert told(less, less, whole) == []


@pytest.mark.parametrize(
    ("old", "new", "is_quiet"),
    [
        ("int", "bigint", True),
        ("bigint", "int", True),
        ("int", "double", True),
        ("choice<int,double>", "decimal(38,0)", True),
        ("choice<int,string>", "int", True),
        ("int", "choice<int,string>", False),
        ("int", "string", False),
        ("string", "int", False),
        ("struct", "string", False),
    ],
)
def test_a_type_that_values_decide_is_no_news_in_json(old, new, is_quiet):
    (change,) = changes_of(schema("json", amt=new), [schema("json", amt=old)])
    (declared,) = changes_of(schema("parquet", amt=new), [schema("parquet", amt=old)])

    assert (change.is_quiet, declared.is_quiet) == (is_quiet, False)


def test_a_column_without_values_has_no_type_to_compare_and_is_not_new():
    typed, empty = schema("json", id="int", amt="int"), schema("json", id="int", amt="void")

    assert told(empty, typed) == []
    assert told(schema("json", id="int", amt="string"), empty, typed) == [
        "amt was int and is string"
    ]
    assert told(empty, schema("json", id="int")) == []


def test_what_a_source_lacks_this_time_its_target_may_lack_too():
    before = schema("json", id="int", amt="int", o="struct", o__z="int")
    history = [schema("json", id="int", amt="void"), before]
    now = schema("json", id="string", o="void")

    passed = passed_on(now, history, changes_of(now, history))

    assert ("type", "id") in passed
    assert {("gone", "amt"), ("gone", "o"), ("gone", "o.z")} <= passed
    assert ("gone", "id") not in passed


def test_a_frame_without_columns_is_no_change():
    assert told(schema("json"), schema("json", id="int")) == []


def test_a_column_that_a_file_of_columns_lacks_is_news_once():
    whole, less = schema(id="int", tip="double"), schema(id="int")

    assert told(less, whole) == ["tip is gone (double)"]
    assert told(less, less, whole) == []


def test_what_is_inside_a_changed_column_is_not_told_too():
    old = schema(a="struct", a__b="int", a__c="array", a__c__element="string", ab="int")
    deeper = schema(a="struct", a__b="bigint", a__c="array", a__c__element="string", ab="int")

    assert told(schema(a="string", ab="int"), old) == ["a was struct and is string"]
    assert told(schema(ab="int"), old) == ["a is gone (struct)"]
    assert told(old, schema(ab="int")) == ["a is new (struct)"]
    assert told(deeper, old) == ["a.b was int and is bigint"]


def test_other_partition_columns_are_a_change_and_nullability_is_none():
    old = schema(partitions=["day"], id="int")

    assert told(schema(id="int"), old) == ["the list of partition columns was day and is none"]
    strict = Schema("read", "", "orders", "parquet", (Column("id", "int", is_nullable=False),))
    assert told(strict, schema(id="int")) == []


@pytest.mark.parametrize(
    ("old", "new", "effect"),
    [
        ("int", "string", "Spark and Athena fail"),
        ("bigint", "int", "Spark 3.5 (Glue 5) fails; Athena, Spark 4 and from_catalog read "),
        ("float", "double", "Spark 3.5 (Glue 5) fails; Athena, Spark 4 and from_catalog read "),
        ("int", "double", "Spark and Athena fail"),
        ("decimal(10,2)", "decimal(12,2)", "who reads both needs a table that declares all dig"),
        ("decimal(10,2)", "string", "Spark and Athena fail"),
        ("tinyint", "int", ""),
        ("binary", "string", ""),
    ],
)
def test_it_says_who_reads_a_target_of_two_types(old, new, effect):
    text = parquet_effect(Change("type", "amt", old, new))

    assert text.startswith(effect)
    assert bool(text) == bool(effect)


def test_columns_are_those_of_spark_with_nested_ones_and_choices():
    item = {"name": "price", "type": "double", "nullable": True, "metadata": {}}
    choice = {
        "type": "struct",
        "fields": [
            {"name": n, "type": n, "nullable": True, "metadata": {}} for n in ("int", "string")
        ],
    }
    items = {
        "type": "array",
        "elementType": {
            "type": "struct",
            "fields": [item, {"name": "no", "type": choice, "nullable": True}],
        },
        "containsNull": False,
    }
    marks = {"tidemark.choices": [json.dumps(["[]", ".no"])]}
    labels = {
        "type": "map",
        "keyType": "string",
        "valueType": "long",
        "valueContainsNull": True,
    }
    fields = [
        {"name": "a.b", "type": "integer", "nullable": False, "metadata": {}},
        {"name": "items", "type": items, "nullable": True, "metadata": marks},
        {"name": "labels", "type": labels, "nullable": True, "metadata": {}},
    ]

    assert columns_of({"type": "struct", "fields": fields}) == (
        ("`a.b`", "int", False),
        ("items", "array", True),
        ("items.element", "struct", False),
        ("items.element.price", "double", True),
        ("items.element.no", "choice<int,string>", True),
        ("labels", "map<string>", True),
        ("labels.value", "bigint", True),
    )


def test_what_a_loop_reads_in_parts_is_one_schema():
    (whole,) = joined([schema(id="int", tip="int"), schema(id="bigint")])

    assert whole.columns == (("id", "bigint", True), ("tip", "int", True))
