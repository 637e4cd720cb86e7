"""Which types hold the values of others."""

import pytest

from tidemark.model.column_types import fits, is_promotion

PROMOTIONS = [
    ("int", "int"),
    ("int", "bigint"),
    ("tinyint", "int"),
    ("float", "double"),
    ("decimal(10,2)", "decimal(12,2)"),
    ("array<int>", "array<bigint>"),
    ("map<string,float>", "map<string,double>"),
    ("struct<a:int,b:array<float>>", "struct<b:array<double>,a:bigint,c:string>"),
]


@pytest.mark.parametrize(("old", "new"), PROMOTIONS)
def test_a_wider_type_reads_the_files_of_the_old_one_and_not_the_other_way(old, new):
    assert is_promotion(old, new)
    assert fits(old, new)
    assert old == new or not is_promotion(new, old)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("int", "double"),
        ("int", "string"),
        ("decimal(10,2)", "decimal(12,3)"),
        ("struct<a:int,b:int>", "struct<a:int>"),
        ("array<int>", "int"),
        ("map<int,int>", "array<int>"),
        ("date", "timestamp"),
        ("int", ""),
    ],
)
def test_other_types_do_not(old, new):
    assert not is_promotion(old, new)


@pytest.mark.parametrize(
    ("old", "new", "is_held"),
    [
        ("int", "double", True),
        ("bigint", "double", False),
        ("int", "decimal(10,0)", True),
        ("int", "decimal(11,2)", False),
        ("decimal(10,2)", "decimal(13,4)", True),
        ("decimal(10,2)", "decimal(11,4)", False),
        ("decimal(10,2)", "string", True),
        ("date", "string", True),
        ("timestamp", "string", False),
        ("string", "int", False),
        ("array<int>", "string", False),
        ("array<int>", "array<string>", True),
        ("map<int,int>", "map<int,double>", True),
        ("map<int,int>", "map<bigint,int>", False),  # keys stay as they are
        ("struct<a:map<int,int>>", "struct<a:map<string,int>>", False),
        ("smallint", "float", True),
        ("string", "binary", True),
    ],
)
def test_a_type_holds_values_that_say_all_that_they_say(old, new, is_held):
    assert fits(old, new) == is_held
