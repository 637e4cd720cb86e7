"""Which keys of files the columns of a table are: on plain types, without Spark."""

from __future__ import annotations

import re

import pytest
from pyspark.sql.types import (
    ArrayType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from tidemark.glue_job.frames.types import choice_of, numbered
from tidemark.glue_job.readers.json.lines import EMPTY, FULL
from tidemark.glue_job.readers.tables.declared import (
    EMPTY_OBJECT_KEY,
    Names,
    case_duplicates,
    in_files,
    missing,
    undeclared,
)

INT, LONG, TEXT = IntegerType(), LongType(), StringType()


def struct(**fields):
    return StructType([StructField(name, kind) for name, kind in fields.items()])


@pytest.mark.parametrize(
    ("declared", "found", "expected"),
    [
        (struct(id=LONG), struct(Id=TEXT), struct(Id=LONG)),
        (struct(id=LONG), struct(other=TEXT), struct(id=LONG)),
        (struct(id=LONG), struct(Id=TEXT, ID=TEXT), struct(Id=LONG, ID=LONG)),
        (
            struct(a=ArrayType(struct(b=MapType(TEXT, struct(c=INT))))),
            struct(A=ArrayType(struct(B=struct(x=struct(C=TEXT), y=struct(c=TEXT))))),
            struct(A=ArrayType(struct(B=MapType(TEXT, struct(C=INT, c=INT))))),
        ),
        (
            struct(m=MapType(TEXT, struct(c=INT))),
            struct(M=struct(x=struct(C=TEXT), **{EMPTY_OBJECT_KEY: TEXT})),
            struct(M=MapType(TEXT, struct(C=INT))),
        ),
        (
            struct(a=ArrayType(struct(b=INT))),
            struct(a=struct(B=TEXT)),
            struct(a=ArrayType(struct(B=INT))),
        ),
        (struct(a=TEXT), struct(A=struct(b=INT)), struct(A=TEXT)),
    ],
    ids=["other case", "absent", "both", "deep", "empty map", "one element of xml", "json text"],
)
def test_a_declared_type_gets_the_names_of_the_files(declared, found, expected):
    assert in_files(declared, found, Names()) == expected


def test_a_mapped_key_is_exact_where_case_counts():
    names = Names({"url1": "URL", "url2": "Url"}, is_case_sensitive=True)
    found = struct(URL=TEXT, Url=TEXT, url=TEXT)

    assert in_files(struct(url1=TEXT, url2=TEXT), found, names).names == ["URL", "Url"]
    assert missing(struct(url1=TEXT, url2=TEXT, URl=TEXT), found, names) == ["URl"]


def test_a_column_is_missing_if_no_spelling_has_it_at_any_depth():
    declared = struct(a=struct(b=INT, c=INT), d=ArrayType(struct(e=INT)), f=INT)
    found = struct(A=struct(B=TEXT), a=struct(b=TEXT), D=ArrayType(struct(x=TEXT)))

    assert missing(declared, found, Names()) == ["a.c", "d.e", "f"]
    either = choice_of([struct(b=INT), TEXT])
    assert missing(struct(a=struct(b=INT, c=INT)), struct(a=either), Names()) == ["a.c"]


def test_what_a_table_does_not_declare_is_found_at_any_depth():
    declared = struct(
        id=INT, s=struct(a=INT), l=ArrayType(struct(e=INT)), m=MapType(TEXT, struct(k=INT)), t=TEXT
    )
    part = struct(k=INT, no=INT)
    found = struct(
        ID=INT,
        S=choice_of([struct(A=INT, b=INT), TEXT, ArrayType(INT)]),
        l=ArrayType(struct(e=INT, f=struct(g=INT))),
        m=struct(x=part, y=struct(k=INT)),
        t=struct(any=INT),
        more=struct(x=INT),
    )

    assert list(undeclared(declared, found, Names())) == ["S.b", "l.f", "m.no", "more"]
    assert list(undeclared(struct(m=MapType(TEXT, INT)), struct(m=part), Names())) == []
    mapped = Names({"id": "Key"}, is_case_sensitive=True)
    assert list(undeclared(struct(id=INT), struct(Key=INT, key=INT, id=INT), mapped)) == [
        "key",
        "id",
    ]


def test_twins_are_found_at_any_depth():
    kind = struct(a=ArrayType(struct(X=INT, x=INT)), b=MapType(TEXT, struct(y=INT)), B=INT)

    assert list(case_duplicates(kind)) == [["a.X", "a.x"], ["b", "B"]]
    assert numbered(struct(a=ArrayType(struct(X=INT, x=INT)))).simpleString() == (
        "struct<0:array<struct<0:int,1:int>>>"
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{"A": {}, "B": [{ }]}', f'{{"A": {FULL}, "B": [{FULL}]}}'),
        ('{"a": "x{}y"}', f'{{"a": "x{FULL}y"}}'),
    ],
)
def test_an_empty_object_shows_its_key_and_a_text_stays_a_text(line, expected):
    assert re.sub(EMPTY, FULL, line) == expected
    assert '"' not in FULL
