"""Glue's types: equality, JSON, choices and merging."""

from __future__ import annotations

import copy

import pytest

from awsglue.gluetypes import (
    ArrayType,
    ChoiceType,
    DateType,
    DecimalType,
    DynamicRecord,
    EntityType,
    EnumType,
    Field,
    IntegerType,
    LongType,
    MapType,
    NullType,
    SetType,
    StringType,
    StructType,
    UnknownType,
    _deserialize_json_value,
    mergeDataTypes,
)

SCHEMA = StructType(
    [
        Field("id", IntegerType()),
        Field("amount", DecimalType(12, 3)),
        Field("tags", ArrayType(StringType())),
        Field("by", MapType(SetType(DateType()))),
        Field("mixed", ChoiceType([LongType(), StructType([Field("x", StringType())])])),
    ]
)


def test_a_schema_survives_json():
    assert _deserialize_json_value(SCHEMA.jsonValue()) == SCHEMA
    assert SCHEMA.jsonValue()["fields"][0] == {
        "name": "id",
        "container": {"dataType": "int", "properties": {}},
        "properties": {},
    }


def test_types_are_equal_by_their_parts():
    assert StringType() == StringType()
    assert StringType() != IntegerType()
    assert DecimalType() == DecimalType(10, 2) != DecimalType(10, 3)
    assert ArrayType() == ArrayType(UnknownType())
    assert len({StringType(), StringType(), IntegerType()}) == 2
    assert Field("a", StringType()) != Field("b", StringType())


def test_types_show_their_parts():
    assert repr(IntegerType()) == "IntegerType({})"
    assert repr(DecimalType(5, 1)) == "DecimalType(5, 1, {})"
    assert repr(ArrayType(StringType())) == "ArrayType(StringType({}), {})"
    assert repr(ChoiceType([StringType(), LongType()])) == (
        "ChoiceType([LongType({}),StringType({})], {})"
    )
    assert repr(StructType([Field("a", NullType())])) == (
        "StructType([Field(a, NullType({}), {})], {})"
    )
    assert repr(EnumType(["a", "b", "c", "d"])) == "EnumType([a,b,c,...], {})"


def test_a_struct_finds_its_fields():
    schema = StructType([Field("a", StringType())])
    schema.add(Field("b", LongType()))

    assert [field.name for field in schema] == ["a", "b"]
    assert schema.hasField("b")
    assert schema.hasField(Field("a", NullType()))
    assert schema.getField("b").dataType == LongType()
    with pytest.raises(KeyError):
        schema.getField("c")
    with pytest.raises(AssertionError):
        StructType(["a"])


def test_a_choice_has_a_type_once():
    choice = ChoiceType([LongType()])
    choice.merge([StringType(), LongType()])

    assert set(choice.choices) == {"long", "string"}
    with pytest.raises(ValueError, match="duplicate choice"):
        choice.add(LongType())


def test_merging_makes_a_choice_of_what_differs():
    first = StructType([Field("a", LongType()), Field("b", NullType())])
    second = StructType([Field("a", StringType()), Field("b", LongType()), Field("c", DateType())])

    merged = mergeDataTypes(first, second)

    assert merged == StructType(
        [
            Field("a", ChoiceType([LongType(), StringType()])),
            Field("b", LongType()),
            Field("c", DateType()),
        ]
    )
    assert mergeDataTypes(merged, first) == merged
    assert mergeDataTypes(UnknownType(), first) is first
    assert mergeDataTypes(ArrayType(LongType()), ArrayType(NullType())) == ArrayType(LongType())
    assert mergeDataTypes(MapType(LongType()), MapType()) == MapType(LongType())


def test_a_record_has_its_fields_as_attributes_too():
    record = DynamicRecord(a=1)
    record.b = 2

    assert (record.a, record["b"], record) == (1, 2, {"a": 1, "b": 2})
    assert copy.deepcopy(record) == record
    with pytest.raises(KeyError):
        _ = record.c


def test_an_entity_type_cannot_be_made():
    with pytest.raises(NotImplementedError):
        EntityType("x", StringType(), {})
