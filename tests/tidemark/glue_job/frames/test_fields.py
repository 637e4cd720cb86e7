"""Fields by path: drop, select, rename, split off.

Golden outputs are of AWS's page of the class DynamicFrame.
"""

from __future__ import annotations

import pytest

from tests.sampled import at_night
from tidemark.errors import UnsupportedError, UsageError

pytestmark = pytest.mark.spark

FRIENDS = (
    "name string, age int, location struct<state: string, county: string>, "
    "friends array<struct<name: string, age: int>>"
)
ROWS = (
    ("Sally", 23, ("WY", "Fremont"), []),
    ("Varun", 34, ("NE", "Douglas"), [("Arjun", 3)]),
    ("Haruki", 21, None, None),
)


@pytest.mark.rule("Frames", source="DYF")
def test_drop_fields_drops_fields_at_any_depth_and_in_arrays(rows_of, printed):
    friends = rows_of(FRIENDS, *ROWS)

    dropped = friends.drop_fields(paths=["age", "location.county", "friends.age"])

    assert printed(dropped) == (
        "|-- name: string\n"
        "|-- location: struct\n"
        "|    |-- state: string\n"
        "|-- friends: array\n"
        "|    |-- element: struct\n"
        "|    |    |-- name: string"
    )
    assert dropped.toDF().collect() == [
        ("Sally", ("WY",), []),
        ("Varun", ("NE",), [("Arjun",)]),
        ("Haruki", None, None),
    ]


def test_a_struct_goes_with_its_last_field(rows_of):
    frame = rows_of("a int, s struct<x: int>", (1, (2,)))

    assert frame.drop_fields("s.x").toDF().columns == ["a"]


def test_a_field_that_is_not_there_can_be_dropped(rows_of):
    assert rows_of("a int", (1,)).drop_fields(["b", "a.b"]).toDF().collect() == [(1,)]


@pytest.mark.rule("Frames", source="DYF", choice="in the order of the paths")
def test_select_fields_keeps_fields_and_parts_of_structs(rows_of, warned):
    friends = rows_of(FRIENDS, *ROWS)

    assert friends.select_fields(["location", "name"]).toDF().columns == ["location", "name"]
    assert friends.select_fields("friends.age").toDF().collect() == [([],), ([(3,)],), (None,)]
    assert friends.select_fields(paths=["nme"]).toDF().columns == []
    assert warned() == [("FIELD_MISSING", "nme")]


@pytest.mark.rule("Frames", source="DYF")
def test_rename_field_renames_in_place(rows_of, printed):
    orgs = rows_of("id string, name string, links array<struct<note: string, url: string>>")

    renamed = orgs.rename_field("id", "org_id").rename_field("links[].url", "links[].address")

    assert printed(renamed) == (
        "|-- org_id: string\n"
        "|-- name: string\n"
        "|-- links: array\n"
        "|    |-- element: struct\n"
        "|    |    |-- note: string\n"
        "|    |    |-- address: string"
    )


@pytest.mark.parametrize(
    ("column", "path"),
    [
        ("this.old.name", "`this.old.name`"),
        ("$amount (usd)", "$amount (usd)"),
        (".id", "`.id`"),
        ("tick`ed", "`tick``ed`"),
        ("[id]", "`[id]`"),
        *at_night(("with space", "with space"), ("a:b/c", "a:b/c"), ("a[0]", "a[0]")),
    ],
)
def test_odd_names_are_fields_like_others(rows_of, column, path):
    escaped = column.replace("`", "``")
    frame = rows_of(f"`{escaped}` string, other int", ("x", 1))

    assert frame.rename_field(path, "new").toDF().columns == ["new", "other"]
    assert frame.select_fields([path]).toDF().collect() == [("x",)]
    assert frame.drop_fields([path]).toDF().columns == ["other"]
    mapped = frame.apply_mapping([(path, "string", path, "string")])
    assert (mapped.toDF().columns, mapped.toDF().collect()) == ([column], [("x",)])


def test_columns_that_differ_in_case_only_are_two(glue_context):
    from awsglue.dynamicframe import DynamicFrame

    frame = DynamicFrame.fromDF(glue_context.sql("SELECT 1 AS id, 2 AS ID, 3 AS x"), glue_context)

    assert frame.drop_fields("id").toDF().collect() == [(2, 3)]
    assert frame.rename_field("ID", "other").toDF().columns == ["id", "other", "x"]


@pytest.mark.rule("Frames", source="SILENT", choice="it is replaced, with a warning")
def test_a_rename_to_an_existing_name_replaces_that_field(rows_of, warned):
    frame = rows_of("a int, b int, s struct<x: int>", (1, 2, (3,)))

    assert frame.rename_field("a", "b").toDF().collect() == [(1, (3,))]
    assert warned() == [("FIELD_REPLACED", "b")]
    assert frame.rename_field("s.x", "x").toDF().collect() == [(1, 2, 3)]
    assert frame.rename_field("c", "d").toDF().columns == ["a", "b", "s"]
    assert frame.rename_field("a", "a").toDF().columns == ["a", "b", "s"]
    assert warned() == [("FIELD_REPLACED", "b"), ("FIELD_MISSING", "c")]
    assert frame.rename_field("a", "s.a").toDF().collect() == [(2, (3, 1))]
    assert frame.rename_field("a", "who.is.a").toDF().collect() == [(2, (3,), ((1,),))]
    assert frame.rename_field("s.x", "who.x").toDF().collect() == [(1, 2, (3,))]
    assert frame.rename_field("a", "s.x").toDF().collect() == [(2, (1,))]
    assert warned()[2:] == [("FIELD_REPLACED", "s.x")]
    arrays = rows_of("a int, l array<struct<x: int>>", (1, [(2,)]))
    with pytest.raises(UnsupportedError, match="out of an array or a map, or into one"):
        arrays.rename_field("a", "l[].a")
    with pytest.raises(UsageError, match=r"'b.a' goes through 'b', which is not a struct but int"):
        frame.rename_field("a", "b.a")


def test_transforms_of_studio_are_methods_once_they_are_imported(rows_of):
    import gs_derived  # noqa: F401 (for what it does to frames)
    import gs_now  # noqa: F401

    frame = rows_of("a int", (1,))

    made = frame.gs_now(colName="at").gs_now("day", "%Y").gs_now("year", dateFormat="yyyy")
    made = made.gs_derived(colName="b", expr="a + 1")

    assert made.toDF().dtypes == [
        ("a", "int"),
        ("at", "timestamp"),
        ("day", "string"),
        ("year", "string"),
        ("b", "int"),
    ]
    (row,) = made.toDF().collect()
    assert (row.day, row.b) == (str(row["at"].year), 2)
    assert frame.toDF().gs_derived("c", "a * 2").collect() == [(1, 2)]


@pytest.mark.rule("Frames", source="DYF")
def test_split_fields_makes_two_frames(rows_of):
    frame = rows_of("id bigint, index int, `val.type` string", (1, 0, "fax"))

    parts = frame.split_fields(["id", "index"], "left", "right")

    assert list(parts.keys()) == ["left", "right"]
    assert [part.name for part in parts.values()] == ["left", "right"]
    assert parts["left"].toDF().collect() == [(1, 0)]
    assert parts["right"].toDF().columns == ["val.type"]


@pytest.mark.parametrize("paths", [None, 1, ["a", 2], [""], ["`a"]])
def test_wrong_paths_are_an_error(rows_of, paths):
    with pytest.raises(UsageError, match="path"):
        rows_of("a int", (1,)).drop_fields(paths)
