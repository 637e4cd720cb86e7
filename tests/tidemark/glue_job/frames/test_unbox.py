"""Text that becomes records.

Golden schemas are of AWS's page of the class DynamicFrame.
"""

from __future__ import annotations

import json

import pytest

from tidemark.errors import UnsupportedError, UsageError
from tidemark.model.messages import plural

pytestmark = pytest.mark.spark


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


@pytest.mark.nightly
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
    return values, {error.dynamicRecord.id: error.msg.partition(": ")[2] for error in errors}


@pytest.mark.nightly
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


@pytest.mark.nightly
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
    from awsglue.transforms import DropNullFields

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
    assert DropNullFields.apply(unboxed, transformation_ctx="nulls").toDF().dtypes == [
        ("id", "int"),
        ("note", "string"),
        ("s", "struct<t:struct<x:int>,u:string>"),
    ]
    csv = rows_of("c string", ("1,",), ("2,",)).unbox("c", "csv")
    kept = DropNullFields.apply(csv, transformation_ctx="nulls")
    assert kept.toDF().dtypes == [("c", "struct<col0:string>")]


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
