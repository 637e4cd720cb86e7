"""Nested fields as columns, text as records, and fields without values.

Golden schemas are of AWS's page of the class DynamicFrame.
"""

from __future__ import annotations

import json

import pytest

from tidemark.errors import UnsupportedError, UsageError
from tidemark.model.messages import plural

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


@pytest.mark.rule("Frames", source="DYF", choice="text that is not JSON makes an error record")
def test_unbox_parses_a_string_into_a_record(rows_of, printed):
    """The example of the page: a field of JSON."""
    address = {"Street": "1108 ROSS", "Zip.Code": "36301", "Array": ["1108 ROSS", "DOTHAN"]}
    frame = rows_of("id int, a string", (1, json.dumps(address)), (2, "{bad"), (3, None))

    unboxed = frame.unbox("a", "json")

    assert printed(unboxed) == (
        "|-- id: int\n"
        "|-- a: struct\n"
        "|    |-- Street: string\n"
        "|    |-- Zip.Code: string\n"
        "|    |-- Array: array\n"
        "|    |    |-- element: string"
    )
    assert unboxed.toDF().collect() == [
        (1, ("1108 ROSS", "36301", ["1108 ROSS", "DOTHAN"])),
        (3, None),
    ]
    (row,) = unboxed.errorsAsDynamicFrame().toDF().collect()
    assert row.error.msg == "the text cannot be unboxed: {bad"
    assert row.error.dynamicRecord == (2, "{bad")


@pytest.mark.rule("Frames", source="TYPES")
def test_unbox_makes_a_choice_if_strings_differ_in_type(rows_of, printed):
    texts = ('{"a": 1, "b": [1]}', '{"a": "1"}', "[5]", "{bad", '"t"', None, "7")
    frame = rows_of("id int, j string", *enumerate(texts))

    unboxed = frame.unbox("j", "json")

    assert printed(unboxed.select_fields(["j"])) == (
        "|-- j: choice\n"
        "|    |-- array\n"
        "|    |    |-- element: int\n"
        "|    |-- int\n"
        "|    |-- string\n"
        "|    |-- struct\n"
        "|    |    |-- a: choice\n"
        "|    |    |    |-- int\n"
        "|    |    |    |-- string\n"
        "|    |    |-- b: array\n"
        "|    |    |    |-- element: int"
    )
    rows = unboxed.map(lambda record: {"v": repr(record["j"])}).toDF().collect()
    assert [row.v for row in rows] == [
        "{'a': 1, 'b': [1]}",
        "{'a': '1'}",
        "[5]",
        "'t'",
        "None",
        "7",
    ]
    assert [row.error.msg for row in unboxed.errorsAsDynamicFrame().toDF().collect()] == [
        "the text cannot be unboxed: {bad"
    ]


def test_unbox_reads_quoted_csv_and_ignores_what_glue_does_not_know(rows_of, warned):
    frame = rows_of("c string", ("x,1",), ('"a, ""b""",2',), (None,))

    unboxed = frame.unbox("c", "csv", withheader=True)

    assert unboxed.toDF().collect() == [(("x", "1"),), (('a, "b"', "2"),), (None,)]
    assert warned() == [("OPTION_IGNORED", "the option 'withheader' of unbox from csv")]


def boxed(rows_of, texts, **options):
    """Return the values of unboxed CSV by the number of their text, and the errors."""
    rows = rows_of("id int, c string", *enumerate(texts)).unbox("c", "csv", **options)
    values = {row.id: row.c and row.c.asDict() for row in rows.toDF().collect()}
    errors = [row.error for row in rows.errorsAsDynamicFrame().toDF().collect()]
    return values, {one.dynamicRecord.id: one.msg.partition(": ")[2] for one in errors}


@pytest.mark.rule(
    "Frames",
    source="UNB",
    choice="a string of CSV has one record, after its header or its first line; one with several "
    "records, or with more fields than names, makes an error record",
)
@pytest.mark.parametrize(
    ("options", "texts", "values", "errors"),
    [
        (
            {"withHeader": True},
            ["a,b\n1,2\n", "b,c\r\n3,4", "a,b", "a,b\n1,2\n3,4", None, "a\n1,2", "a,b\n5"],
            [
                {"a": "1", "b": "2", "c": None},
                {"a": None, "b": "3", "c": "4"},
                None,
                "it has 2 records, and a field takes one: a,b\n1,2\n3,4",
                None,
                "it has 2 fields for 1 name: a\n1,2",
                {"a": "5", "b": None, "c": None},
            ],
            2,
        ),
        (
            {"skipFirst": "true", "separator": "|"},
            ["x|y|z\n1|2", "x\n1|2\n3|4", "\n\nx\n\n9|\n\n", ""],
            [
                {"col0": "1", "col1": "2"},
                "it has 2 records, and a field takes one: x\n1|2\n3|4",
                {"col0": "9", "col1": None},
                None,
            ],
            1,
        ),
        (
            {},
            ['"a\nb",2', "1,2\n3,4", '"open,1\n2', "1,2,3", '"a ""b""",x'],
            [
                {"col0": "a\nb", "col1": "2", "col2": None},
                "it has 2 records, and a field takes one: 1,2\n3,4",
                'it has a quote that is never closed: "open,1\n2',
                {"col0": "1", "col1": "2", "col2": "3"},
                {"col0": 'a "b"', "col1": "x", "col2": None},
            ],
            2,
        ),
        (
            {"escaper": "\\", "quoteChar": "'", "withHeader": True},
            ["a,a,\n'x, y','it\\'s',z"],
            [{"a0": "x, y", "a1": "it's", "_c2": "z"}],
            0,
        ),
        ({"quoteChar": -1}, ['"a","b"'], [{"col0": '"a"', "col1": '"b"'}], 0),
    ],
    ids=["withHeader", "skipFirst", "plain", "escaper", "no quotes"],
)
def test_unbox_of_csv_follows_its_options_and_loses_no_line(
    rows_of, warned, options, texts, values, errors
):
    made, failed = boxed(rows_of, texts, **options)

    assert [made[n] if n in made else failed[n] for n in range(len(texts))] == values
    assert len(made) + len(failed) == len(texts)
    told = [("ERROR_RECORDS", f"{plural(errors, 'string')} of 'c' that cannot be unboxed")]
    assert warned() == (told if errors else [])


def test_unbox_of_csv_by_a_schema_makes_errors_of_what_it_does_not_hold(rows_of, warned):
    from awsglue.gluetypes import Field, IntegerType, StringType, StructType

    schema = StructType([Field("n", IntegerType()), Field("t", StringType())])
    given = json.dumps(schema.jsonValue())

    named = boxed(rows_of, ["t,n\nx,1", "n,z\n1,2"], withSchema=given, withHeader=True)
    placed = boxed(rows_of, ["1,x", "x,1", "1,2,3", "2"], withSchema=given)

    unknown = "its header has ['z'], which withSchema does not have: n,z\n1,2"
    assert named == ({0: {"n": 1, "t": "x"}}, {1: unknown})
    assert placed[0] == {0: {"n": 1, "t": "x"}, 3: {"n": 2, "t": None}}
    assert placed[1] == {
        1: "its field 'n' is not of the type int: x,1",
        2: "it has 3 fields for 2 names: 1,2,3",
    }
    assert warned() == [("ERROR_RECORDS", "strings of 'c' that cannot be unboxed")] * 2
    with pytest.raises(UnsupportedError, match="withHeader and skipFirst of unbox exclude"):
        boxed(rows_of, ["a"], withHeader=True, skipFirst=True)
    nested = StructType([Field("s", schema)])
    with pytest.raises(UsageError, match="'s' as struct<n:int,t:string>, and a field of CSV is"):
        boxed(rows_of, ["a"], withSchema=json.dumps(nested.jsonValue()))


@pytest.mark.rule("Frames", source="INFER", choice="as of a JSON file; other columns keep theirs")
def test_a_field_of_unboxed_text_without_a_value_is_of_the_type_null(rows_of, printed):
    schema = "id int, note string, s struct<t: string, u: string>"
    rows = (1, None, ('{"p": null, "q": {"r": null}}', None)), (2, None, ('{"x": 1}', None))

    unboxed = rows_of(schema, *rows).unbox("s.t", "json")

    assert printed(unboxed) == (
        "|-- id: int\n"
        "|-- note: string\n"
        "|-- s: struct\n"
        "|    |-- t: struct\n"
        "|    |    |-- p: null\n"
        "|    |    |-- q: struct\n"
        "|    |    |    |-- r: null\n"
        "|    |    |-- x: int\n"
        "|    |-- u: string"
    )
    assert unboxed.toDF().select("s.t.p").dtypes == [("p", "string")]
    assert without_nulls(unboxed).toDF().dtypes == [
        ("id", "int"),
        ("note", "string"),
        ("s", "struct<t:struct<x:int>,u:string>"),
    ]
    csv = rows_of("c string", ("1,",), ("2,",)).unbox("c", "csv")
    assert without_nulls(csv).toDF().dtypes == [("c", "struct<col0:string>")]


def test_what_unbox_of_json_does_not_keep_is_named(rows_of, warned):
    from awsglue.gluetypes import Field, IntegerType, StructType

    schema = json.dumps(StructType([Field("x", IntegerType())]).jsonValue())
    rows_of("c string", ('{"x": 1, "x": 2, "y": "\\ud83d"}',)).unbox("c", "json").toDF().collect()
    frame = rows_of("c string", ("{oops",), ('{"x": 1}',)).unbox("c", "json", withSchema=schema)

    assert frame.toDF().collect() == [((1,),)]
    assert warned() == [
        ("JSON_TWICE", "c.x"),
        ("JSON_HALF", "c.y"),
        ("ERROR_RECORDS", "strings of 'c' that cannot be unboxed"),
    ]


def test_unbox_takes_a_schema_and_reads_csv(rows_of):
    from awsglue.gluetypes import Field, IntegerType, StringType, StructType

    schema = json.dumps(StructType([Field("x", IntegerType())]).jsonValue())
    two = json.dumps(StructType([Field("n", IntegerType()), Field("t", StringType())]).jsonValue())
    frame = rows_of("s struct<t: string>, c string", (('{"x": 1, "y": 2}',), "1|b"))

    unboxed = frame.unbox("s.t", "json", withSchema=schema)

    assert unboxed.toDF().collect() == [(((1,),), "1|b")]
    assert frame.unbox("c", "csv", separator="|").toDF().select("c").collect() == [(("1", "b"),)]
    typed = frame.unbox("c", "csv", separator="|", withSchema=two)
    assert typed.toDF().select("c.*").collect() == [(1, "b")]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (("a", "avro"), UnsupportedError, "unbox of 'avro' is not supported; allowed are json"),
        (("b", "json"), UsageError, "the field 'b' to unbox is missing"),
        (("n", "json"), UsageError, "the field 'n' to unbox is int; it must be a string"),
    ],
)
def test_what_cannot_be_unboxed_is_an_error(rows_of, call, error, text):
    with pytest.raises(error, match=text):
        rows_of("a string, n int", ("{}", 1)).unbox(*call)


def test_a_frame_gets_a_schema(rows_of, warned):
    from awsglue.gluetypes import Field, LongType, StringType, StructType

    schema = StructType([Field("b", StringType()), Field("a", LongType()), Field("c", LongType())])

    frame = rows_of("a int, b int, left int", (1, 2, 3)).with_frame_schema(schema)

    assert frame.toDF().dtypes == [("b", "string"), ("a", "bigint"), ("c", "bigint")]
    assert frame.toDF().collect() == [("2", 1, None)]
    assert warned() == [("SCHEMA_LACKS", "left")]


def test_a_frame_gets_a_schema_with_choices(rows_of, printed):
    from awsglue.gluetypes import ChoiceType, Field, LongType, StringType, StructType

    mixed = rows_of("id int, t string", (1, '"x"'), (2, "5")).unbox("t", "json")
    choice = ChoiceType([StringType(), LongType()])
    schema = StructType([Field("n", choice), Field("new", choice)])

    same = mixed.with_frame_schema(mixed.schema())
    made = rows_of("n long", (7,), (None,)).with_frame_schema(schema)

    assert printed(same) == printed(mixed)
    assert same.toDF().collect() == mixed.toDF().collect()
    assert made.toDF().collect() == [((7, None), None), (None, None)]
    with pytest.raises(UsageError, match=r"'n' of a schema has a choice .* boolean"):
        rows_of("n boolean", (True,)).with_frame_schema(schema)


def test_the_schema_of_a_frame_whose_fields_had_no_value_yet_fits_later_rows(glue_context, s3):
    def read(**options):
        return glue_context.create_dynamic_frame.from_options(
            "s3", {"paths": [s3.uri]}, "json", options
        )

    s3.put("a.json", '{"n": null, "s": {"m": null, "i": 1}}')
    schema = read().schema()
    s3.put("a.json", '{"n": 5, "s": {"m": "x", "i": 2}}')

    assert read().with_frame_schema(schema).toDF().collect() == [(5, ("x", 2))]
    assert read(withSchema=json.dumps(schema.jsonValue())).toDF().collect() == [("5", ("x", 2))]


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
