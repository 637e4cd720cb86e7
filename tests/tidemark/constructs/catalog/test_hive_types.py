"""The small parser of Hive's types."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.constructs.catalog.hive_types import PLAIN, HiveType, parse_hive_type

FIELDS = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)
PRIMITIVES = st.one_of(
    st.sampled_from(sorted(PLAIN)).map(HiveType),
    st.integers(1, 255).map(lambda size: HiveType("char", (size,))),
    st.integers(1, 65_535).map(lambda size: HiveType("varchar", (size,))),
    st.tuples(st.integers(1, 38), st.integers(0, 38))
    .filter(lambda sizes: sizes[1] <= sizes[0])
    .map(lambda sizes: HiveType("decimal", sizes)),
)


def _nested(inner):
    return st.one_of(
        inner.map(lambda kind: HiveType("array", inner=(("", kind),))),
        st.tuples(PRIMITIVES, inner).map(
            lambda kinds: HiveType("map", inner=(("", kinds[0]), ("", kinds[1])))
        ),
        st.dictionaries(FIELDS, inner, min_size=1, max_size=4).map(
            lambda fields: HiveType("struct", inner=tuple(fields.items()))
        ),
    )


@given(st.recursive(PRIMITIVES, _nested, max_leaves=8))
def test_every_type_is_read_as_it_is_written(kind):
    assert parse_hive_type(str(kind)) == kind


@given(st.text(alphabet="abcdeghimnrstuy<>(),:0123456789 ", max_size=30))
def test_any_other_text_is_a_type_or_refused_by_a_value_error(text):
    try:
        kind = parse_hive_type(text)
    except ValueError:
        return
    assert parse_hive_type(str(kind)) == kind


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("BIGINT", "bigint"),
        ("decimal(10, 2)", "decimal(10,2)"),
        (
            "map<string, array<struct<id:int, at: timestamp>>>",
            "map<string,array<struct<id:int,at:timestamp>>>",
        ),
    ],
)
def test_case_and_spaces_do_not_matter(text, canonical):
    assert str(parse_hive_type(text)) == canonical


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "'' is not a type"),
        ("integer", "Hive's name is int"),
        ("decimal", "the form decimal(p,s)"),
        ("decimal(4)", "the form decimal(p,s)"),
        ("decimal(4,²)", "'²' where a number"),
        ("decimal(39,2)", "a number of 1 to 38"),
        ("decimal(4,5)", "more digits after the point"),
        ("varchar(0)", "a number of 1 to 65535"),
        ("array<int", "the form array<type>"),
        ("array<int,int>", "the form array<type>"),
        ("map<int>", "the form map<type,type>"),
        ("array<decimal(1,2>)", "the form array<type>"),
        ("array<>", "'' is not a type"),
        ("array<int>>", "'>' stands after int"),
        ("struct<a:int>,b:int>", "'>,b:int' stands after int"),
        ("map<array<int>,int>", "the key of a map"),
        ("struct<>", "the field ''"),
        ("struct<a:int,>", "the field ''"),
        ("struct<:int>", "the field ''"),
        ("struct<a:int,a:int>", "the field 'a'"),
        ("struct<A:int>", "the field 'A'"),
        ("struct<a int>", "the field 'a int'"),
        ("struct<a:>", "the field 'a' has no type"),
        ("struct<a:int,b:array<int>", "the form array<type>"),
        ("int;drop", "';drop' stands after int"),
        (";", "';' is not a type"),
        ("array<" * 40 + "int" + ">" * 40, "more than 32 deep"),
    ],
)
def test_what_is_no_type_is_told(text, reason):
    with pytest.raises(ValueError, match=re.escape(reason)):
        parse_hive_type(text)
