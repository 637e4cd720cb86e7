"""Nested fields as columns, text as records, and fields without values.

Golden schemas are of AWS's page of the class DynamicFrame.
"""

from __future__ import annotations

import pytest

from tidemark.errors import UsageError

pytestmark = pytest.mark.spark

ADDRESS = (
    "`Provider Id` string, "
    "Address struct<`Zip.Code`: string, City: string, Array: array<string>, State: string>"
)


@pytest.mark.rule("Frames", source="DYF")
def test_unnest_turns_structs_into_columns_and_keeps_arrays(rows_of, printed):
    unnested = rows_of(ADDRESS, ("1", ("36301", "DOTHAN", ["a"], "AL")), ("2", None)).unnest()

    assert printed(unnested) == (
        "|-- Provider Id: string\n"
        "|-- Address.Zip.Code: string\n"
        "|-- Address.City: string\n"
        "|-- Address.Array: array\n"
        "|    |-- element: string\n"
        "|-- Address.State: string"
    )
    assert unnested.toDF().collect() == [
        ("1", "36301", "DOTHAN", ["a"], "AL"),
        ("2", None, None, None, None),
    ]


ITEM = "Item struct<ColA: struct<S: string>, ColC: struct<N: string>, ColD: struct<L: array<void>>>"


@pytest.mark.rule("Frames", source="DYF")
def test_unnest_ddb_json_removes_type_descriptors(rows_of, printed):
    unnested = rows_of(ITEM, ((("a",), ("1",), ([],)),)).unnest_ddb_json()

    assert printed(unnested) == (
        "|-- ColA: string\n|-- ColC: string\n|-- ColD: array\n|    |-- element: null"
    )
    assert unnested.toDF().collect() == [("a", "1", [])]


MAPS = (
    "Item struct<"
    "parentMap: struct<M: struct<childMap: struct<M: struct<"
    "appName: struct<S: string>, packageName: struct<S: string>, updatedAt: struct<N: string>>>>>, "
    "strings: struct<SS: array<string>>, numbers: struct<NS: array<string>>, "
    "binaries: struct<BS: array<string>>, isDDBJson: struct<BOOL: boolean>, "
    "nullValue: struct<NULL: boolean>>"
)


@pytest.mark.parametrize("step", ["unnest", "unnest_ddb_json", "simplify_ddb_json"])
def test_two_columns_of_one_flat_name_are_refused(rows_of, step):
    frame = rows_of("Item struct<a: struct<S: string>>, a int, `Item.a.S` int", (((("x",),), 1, 2)))

    with pytest.raises(UsageError, match=f"{step} makes two columns named (Item.a.S|a), as wh"):
        getattr(frame, step)()


@pytest.mark.rule("Frames", source="DYF")
def test_simplify_ddb_json_turns_maps_into_structs(rows_of, printed):
    item = (((((("a",), ("p",), ("7",)),),),), (["s"],), (["1"],), (["b"],), (True,), (True,))

    simple = rows_of(MAPS, (item,)).simplify_ddb_json()

    assert printed(simple) == (
        "|-- parentMap: struct\n"
        "|    |-- childMap: struct\n"
        "|    |    |-- appName: string\n"
        "|    |    |-- packageName: string\n"
        "|    |    |-- updatedAt: string\n"
        "|-- strings: array\n"
        "|    |-- element: string\n"
        "|-- numbers: array\n"
        "|    |-- element: string\n"
        "|-- binaries: array\n"
        "|    |-- element: string\n"
        "|-- isDDBJson: boolean\n"
        "|-- nullValue: null"
    )
    assert simple.toDF().collect() == [((("a", "p", "7"),), ["s"], ["1"], ["b"], True, None)]


@pytest.mark.rule("Frames", source="DYF", choice="an attribute of several types is a choice")
def test_only_lists_of_one_type_are_simplified(rows_of):
    item = (
        "Item struct<one: struct<L: array<struct<S: string>>>, "
        "two: struct<L: array<struct<S: string, N: string>>>, several: struct<S: string, BOOL: "
        "boolean>>"
    )
    rows = rows_of(item, ((([("a",)],), ([("b", None)],), (None, True)),)).simplify_ddb_json()

    assert rows.toDF().collect() == [(["a"], [("b", None)], (True, None))]


@pytest.mark.parametrize("step", ["unnest_ddb_json", "simplify_ddb_json"])
def test_an_attribute_that_is_null_in_some_items_has_the_type_of_the_others(rows_of, step):
    items = "Item struct<a: struct<NULL: boolean, S: string>>"

    frame = getattr(rows_of(items, (((None, "x"),),), (((True, None),),)), step)()

    assert frame.toDF().dtypes == [("a", "string")]
    assert [row.a for row in frame.toDF().collect()] == ["x", None]


def without_nulls(frame):
    from awsglue.transforms import DropNullFields

    return DropNullFields.apply(frame, transformation_ctx="nulls")


@pytest.mark.rule(
    "Frames",
    source="DNF, LIB",
    choice="in a frame of fromDF these are columns of the type void; the type of a column that is "
    "null in every row is its own",
)
def test_drop_null_fields_drops_what_the_schema_shows_as_null(rows_of, printed):
    schema = (
        "id int, note string, n int, v void, s struct<x: int, y: string, v: void>, "
        "l array<struct<p: int, v: void>>, a array<void>, m map<string, void>, all struct<v: void>"
    )
    rows = (1, None, None, None, (None, None, None), [(None, None)], [None], {"k": None}, (None,))
    frame = rows_of(schema, rows)

    dropped = without_nulls(frame)

    assert printed(dropped.drop_fields(["a", "m"])) == (
        "|-- id: int\n"
        "|-- note: string\n"
        "|-- n: int\n"
        "|-- s: struct\n"
        "|    |-- x: int\n"
        "|    |-- y: string\n"
        "|-- l: array\n"
        "|    |-- element: struct\n"
        "|    |    |-- p: int"
    )
    assert {"a", "m"} < set(dropped.toDF().columns)
    assert without_nulls(rows_of("a int, v void")).toDF().columns == ["a"]
    assert without_nulls(frame.filter(lambda row: True)).toDF().columns == dropped.toDF().columns


@pytest.mark.rule("Frames", source="DYF, SPI", choice="written at once, as one file")
def test_spigot_writes_a_sample_and_returns_all_rows(rows_of, s3, spark):
    frame = rows_of("a int, b string", *[(n, "x") for n in range(5)])

    same = frame.spigot(path=s3.uri, options={"topk": 2})

    assert same.count() == 5
    assert spark.read.json(s3.uri).count() == 2
    with pytest.raises(UsageError, match="allowed: topk, prob"):
        frame.spigot(s3.uri, {"top": 2})
    with pytest.raises(UsageError, match="prob"):
        frame.spigot(s3.uri, {"prob": "x"})
