"""Frames together and apart: join, union, mergeDynamicFrame, split_rows."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tidemark.errors import UsageError

pytestmark = pytest.mark.spark


def rows(frame):
    return sorted((tuple(row) for row in frame.toDF().collect()), key=repr)


@pytest.mark.rule("Frames", source="DYF")
def test_a_join_has_all_fields_of_both_frames(rows_of):
    persons = rows_of("id string, name string", ("p1", "Ann"), ("p2", "Bob"), name="persons")
    members = rows_of("person_id string, role string", ("p1", "a"), ("p1", "b"), name="members")

    joined = persons.join(paths1=["id"], paths2=["person_id"], frame2=members)

    assert joined.toDF().columns == ["id", "name", "person_id", "role"]
    assert rows(joined) == [("p1", "Ann", "p1", "a"), ("p1", "Ann", "p1", "b")]
    assert joined.name == "personsmembers"


@pytest.mark.rule(
    "Frames",
    source="LIB76",
    choice="keys are compared one by one; on AWS any permutation of several keys is equal, too",
)
def test_fields_of_the_first_frame_with_a_name_in_the_second_get_a_dot(rows_of):
    """The frames and the columns are those of the issue."""
    first, second = rows_of("a int, b int", (1, 2), (2, 1)), rows_of("a int, b int", (1, 2))

    joined = first.join(["a", "b"], ["a", "b"], second)

    assert joined.toDF().columns == [".a", ".b", "a", "b"]
    assert rows(joined) == [(1, 2, 1, 2)]
    assert joined.drop_fields(["`.a`", "`.b`"]).toDF().columns == ["a", "b"]


def test_a_frame_is_joined_with_itself_by_a_nested_key(rows_of):
    frame = rows_of("`id.x` int, s struct<k: int>, `.s` int", (1, (7,), 0), (2, (8,), 0))

    joined = frame.join("s.k", "s.k", frame)

    assert joined.toDF().columns == [".id.x", "..s", "...s", "id.x", "s", ".s"]
    assert joined.count() == 2


def test_a_null_key_matches_nothing(rows_of):
    frame = rows_of("k int", (None,), (1,))

    assert rows(frame.join("k", "k", frame)) == [(1, 1)]


def test_a_choice_is_joined_by_its_value_as_text(rows_of):
    both = rows_of("k int", (1,)).union(rows_of("k string", ("a",)))

    joined = both.join("k", "j", rows_of("j string", ("1",), ("a",), ("b",)))

    assert rows(joined.select_fields("j")) == [("1",), ("a",)]


def test_a_number_equals_the_string_of_its_digits_and_no_other(rows_of):
    numbers = rows_of("id int, v string", (1, "a"), (2, "b"))
    texts = rows_of("id string, w string", ("1", "x"), ("2.7", "y"), ("02", "z"), ("n/a", "q"))

    assert rows(numbers.join(["id"], ["id"], texts)) == [(1, "a", "1", "x")]
    merged = numbers.mergeDynamicFrame(texts, ["id"]).toDF()
    assert sorted(row.v for row in merged.collect() if row.v) == ["b"]


@pytest.mark.parametrize(("kind", "number"), [("bigint", int), ("decimal(20,0)", Decimal)])
def test_a_double_equals_the_one_number_that_has_its_digits(rows_of, kind, number):
    large = 2**53
    exact = rows_of(f"id {kind}, v string", (number(large), "a"), (number(large + 1), "b"))
    doubles = rows_of("id double, w string", (float(large), "x"))

    assert [row.v for row in exact.join(["id"], ["id"], doubles).toDF().collect()] == ["a"]
    merged = exact.mergeDynamicFrame(doubles, ["id"]).toDF().collect()
    assert [row.v for row in merged if row.v] == ["b"]


@pytest.mark.parametrize(
    ("keys1", "keys2", "text"),
    [
        (["x"], ["k"], r"the first frame of a join has no field 'x'; it has k, v"),
        (["k"], ["K"], r"the second frame of a join has no field 'K'"),
        (["k", "v"], ["k"], "as many keys of each frame"),
        ([], [], "as many keys of each frame"),
    ],
)
def test_wrong_keys_are_an_error(rows_of, keys1, keys2, text):
    frame = rows_of("k int, v int", (1, 2))

    with pytest.raises(UsageError, match=text):
        frame.join(keys1, keys2, frame)


@pytest.mark.rule("Frames", source="DYF, TYPES", choice="columns by name, as records have them")
def test_a_union_has_the_columns_of_both_and_choices_if_types_differ(rows_of, printed):
    first = rows_of("a int, s struct<x: int>, d decimal(5,2)", (1, (2,), None))
    second = rows_of("b string, a string, s struct<x: bigint, y: int>", ("z", "t", (3, 4)))

    both = first.union(second)

    assert printed(both) == (
        "|-- a: choice\n"
        "|    |-- int\n"
        "|    |-- string\n"
        "|-- s: struct\n"
        "|    |-- x: choice\n"
        "|    |    |-- int\n"
        "|    |    |-- long\n"
        "|    |-- y: int\n"
        "|-- d: decimal(5,2)\n"
        "|-- b: string"
    )
    assert rows(both) == [
        ((1, None), ((2, None), None), None, None),
        ((None, "t"), ((None, 3), 4), None, "z"),
    ]
    assert both.union(first).count() == 3


def test_a_union_of_decimals_keeps_their_digits_or_fails_by_the_value(rows_of):
    fine = rows_of("d decimal(38,18)", (Decimal("0.000000000000000001"),))
    small, large = (rows_of("d decimal(38,0)", (Decimal(n),)) for n in ("7", "9" * 38))

    assert rows(small.union(fine)) == [(Decimal("0.000000000000000001"),), (Decimal(7),)]
    with pytest.raises(Exception, match=f"for decimals of several types, cannot hold {'9' * 38}:"):
        rows(large.union(fine))


@pytest.mark.parametrize("use", ["union", "map", "filter"])
def test_rows_with_two_columns_of_one_name_have_no_records(rows_of, spark, glue_context, use):
    frame = rows_of("a int", (1,)).fromDF(spark.sql("SELECT 1 AS a, 2 AS a"), glue_context, "twice")
    steps = {"union": lambda: frame.union(frame)}
    steps |= {name: lambda: getattr(frame, use)(dict).count() for name in ("map", "filter")}

    with pytest.raises(UsageError, match=r"have 'a' more than once, as after a join"):
        steps[use]()


def test_a_union_with_a_frame_without_columns_is_the_other_one(rows_of, glue_context):
    from awsglue.dynamicframe import DynamicFrame

    empty = DynamicFrame.fromDF(glue_context.sql("SELECT 1").drop("1"), glue_context)
    frame = rows_of("a int", (1,))

    assert rows(frame.union(empty)) == rows(empty.union(frame)) == [(1,)]


@pytest.mark.rule("Frames", source="DYF")
def test_merge_returns_the_stage_and_source_rows_without_a_match(rows_of):
    source = rows_of("id int, v string", (1, "old"), (2, "kept"), (2, "twice"), (None, "null"))
    stage = rows_of("id int, v string, w int", (1, "new", 5), (3, "more", 6))

    merged = source.mergeDynamicFrame(stage_dynamic_frame=stage, primary_keys=["id"])

    assert rows(merged) == [
        (1, "new", 5),
        (2, "kept", None),
        (2, "twice", None),
        (3, "more", 6),
        (None, "null", None),
    ]
    with pytest.raises(UsageError, match="needs primary_keys"):
        source.mergeDynamicFrame(stage, [])


@pytest.mark.rule("Frames", source="DYF", choice="a row without the value goes to the second frame")
def test_split_rows_separates_rows_that_meet_all_comparisons(rows_of):
    frame = rows_of("id bigint, s struct<x: string>", (1, ("a",)), (11, ("b",)), (20, None))

    parts = frame.split_rows({"id": {">": 10, "<": 20}}, "high", "low")
    text = frame.split_rows({"s.x": {"=": "a"}}, "a", "others")

    assert list(parts.keys()) == ["high", "low"]
    assert rows(parts["high"]) == [(11, ("b",))]
    assert rows(parts["low"]) == [(1, ("a",)), (20, None)]
    assert rows(text["a"]) == [(1, ("a",))]
    assert rows(text["others"]) == [(11, ("b",)), (20, None)]


def test_split_rows_compares_the_values_of_a_choice_of_the_type_of_the_literal(medicare):
    parts = medicare.split_rows({"provider id": {">": 10001}}, "more", "others")

    assert rows(parts["more"].select_fields("drg definition")) == [("b",)]


def test_split_rows_compares_no_part_of_a_choice_that_is_not_comparable(rows_of):
    frame = rows_of("v int", (1,)).union(rows_of("v boolean", (True,)))
    frame = frame.union(rows_of("v struct<x: int>", ((2,),)))

    parts = frame.split_rows({"v": {">": 0}}, "more", "others")

    assert (parts["more"].count(), parts["others"].count()) == (1, 2)


@pytest.mark.parametrize(
    ("comparison", "text"),
    [
        ({"id": {"like": 1}}, r"operator 'like' for 'id' .* <, <=, >, >=, =, ==, !="),
        ({"x": {">": 1}}, r"no field 'x' to compare; it has id"),
        ({}, "needs a comparison"),
    ],
)
def test_a_wrong_comparison_is_an_error(rows_of, comparison, text):
    with pytest.raises(UsageError, match=text):
        rows_of("id int", (1,)).split_rows(comparison, "one", "two")
