"""apply_mapping: paths, types, what is not there; and that it, as toDF, changes nothing else."""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import types as T  # noqa: N812 (as in PySpark's own documents)

from tests.tries import tries
from tidemark.errors import UnsupportedError, UsageError

pytestmark = pytest.mark.spark


@pytest.mark.rule("Frames", source="DYF")
def test_mapping_renames_converts_and_drops_fields(rows_of, printed):
    """The example of the page."""
    persons = rows_of(
        "family_name string, name string, birth_date string, gender string",
        ("Collins", "Michael", "1944-10-15", "male"),
    )

    mapped = persons.apply_mapping(
        [
            ("family_name", "String", "last_name", "String"),
            ("name", "String", "first_name", "String"),
            ("birth_date", "String", "date_of_birth", "Date"),
        ]
    )

    assert (
        printed(mapped) == "|-- last_name: string\n|-- first_name: string\n|-- date_of_birth: date"
    )
    assert mapped.toDF().collect() == [("Collins", "Michael", date(1944, 10, 15))]


WORDS = [
    *[(word, "bigint", 7) for word in ("long", "Long", "bigint")],
    *[(word, "int", 7) for word in ("int", "integer", "Integer")],
    *[(word, "smallint", 7) for word in ("short", "smallint")],
    *[(word, "tinyint", 7) for word in ("byte", "tinyint")],
    *[(word, "string", "7") for word in ("string", "String", "varchar", "char(3)")],
    ("float", "float", 7.0),
    ("double", "double", 7.0),
    ("date", "date", None),
    ("decimal", "decimal(10,2)", Decimal("7.00")),
    ("boolean", "boolean", None),
    ("decimal(5,1)", "decimal(5,1)", Decimal("7.0")),
    ("timestamp", "timestamp", None),
    ("binary", "binary", bytearray(b"7")),
]


def test_the_words_of_types_in_any_case(rows_of):
    mapping = [("a", "string", f"{n} {word}", word) for n, (word, *_) in enumerate(WORDS)]
    mapped = rows_of("a string", ("7",)).apply_mapping(mapping).toDF()

    assert mapped.dtypes == [(f"{n} {word}", kind) for n, (word, kind, _) in enumerate(WORDS)]
    assert mapped.collect() == [tuple(value for *_, value in WORDS)]


@pytest.mark.rule("Frames", source="SILENT", choice="null; the row is not an error")
def test_a_value_that_cannot_be_converted_is_null(rows_of):
    mapped = rows_of("a string", ("x",), ("2",)).apply_mapping(("a", "string", "b", "int"))

    assert mapped.toDF().collect() == [(None,), (2,)]
    assert mapped.errorsCount() == 0


@pytest.mark.rule("Frames", source="SILENT", choice="null, not another number")
def test_a_number_too_large_for_an_integer_is_null(rows_of):
    frame = rows_of("n long, x double", (1, 1.9), (5000000000, 1e300), (-129, float("nan")))

    mapped = frame.apply_mapping(
        [("n", "long", "i", "int"), ("n", "long", "b", "byte"), ("x", "double", "l", "long")]
    )

    rows = [(1, 1, 1), (None, None, None), (-129, None, None)]
    assert mapped.toDF().collect() == rows


def test_nested_paths_of_sources_and_targets(rows_of, printed):
    frame = rows_of(
        "id int, s struct<x: string, `y.z`: int>, l array<struct<v: int>>",
        (1, ("a", 2), [(3,), (4,)]),
        (5, None, None),
    )

    mapped = frame.apply_mapping(
        [
            ("s.x", "string", "t.x", "string"),
            ("id", "int", "t.u.id", "long"),
            ("s.`y.z`", "int", "`y.z`", "string"),
            ("l.v", "array", "v", "array"),
        ]
    )

    assert printed(mapped) == (
        "|-- t: struct\n"
        "|    |-- x: string\n"
        "|    |-- u: struct\n"
        "|    |    |-- id: long\n"
        "|-- y.z: string\n"
        "|-- v: array\n"
        "|    |-- element: int"
    )
    assert mapped.toDF().collect() == [(("a", (1,)), "2", [3, 4]), ((None, (5,)), None, None)]


@pytest.mark.rule("Frames", source="SILENT", choice="a struct without any value is null")
def test_a_nested_target_without_a_value_is_null(rows_of):
    frame = rows_of("a int, b int", (None, None), (1, None))

    mapped = frame.apply_mapping([("a", "int", "s.a", "int"), ("b", "int", "s.b", "int")])

    assert mapped.toDF().collect() == [(None,), ((1, None),)]


@pytest.mark.rule("Frames", source="APM")
def test_source_names_ignore_case_by_default(rows_of, warned):
    frame = rows_of("CustId int", (1,))
    mapping = [("custid", "int", "id", "int")]

    assert frame.apply_mapping(mapping).toDF().collect() == [(1,)]
    assert frame.apply_mapping(mapping, case_sensitive=True).toDF().columns == []
    assert warned() == [("MAPPING_SOURCE", "custid")]


@pytest.mark.rule("Frames", source="SILENT", choice="its target is dropped, with a warning")
def test_a_missing_source_field_is_dropped_with_a_warning(rows_of, warned):
    frame = rows_of("a int, `b.c` int", (1, 2))

    mapped = frame.apply_mapping([("a", "int", "a", "int"), ("b.c", "int", "c", "int")])

    assert mapped.toDF().collect() == [(1,)]
    assert warned() == [("MAPPING_SOURCE", "b.c")]


@pytest.mark.parametrize(
    ("targets", "columns", "about"),
    [
        (("x", "x"), ["x"], "x"),
        (("x", "x.y"), ["x"], "x.y"),
        (("x.y", "x"), ["x"], "x"),
        (("x.y", "x.y"), ["x"], "x.y"),
        (("x.y", "x.z"), ["x"], None),
        (("`x.y`", "x"), ["x.y", "x"], None),
    ],
)
def test_mappings_to_one_target_are_warned_of_with_it(rows_of, warned, targets, columns, about):
    first, second = targets

    mapped = rows_of("a int, b int", (1, 2)).apply_mapping(
        [("a", "int", first, "int"), ("b", "int", second, "int")]
    )

    assert mapped.toDF().columns == columns
    assert warned() == ([("MAPPING_TARGET", about)] if about else [])


@pytest.mark.rule(
    "Frames", source="SILENT", choice="converted from its actual type, with a warning"
)
def test_a_wrong_source_type_causes_a_warning_with_the_column(rows_of, medicare, warned):
    frame = rows_of("a string, b int", ("1", 2))

    mapped = frame.apply_mapping([("a", "int", "a", "int"), ("b", "long", "b", "string")])
    chosen = medicare.apply_mapping([("provider id", "long", "id", "string")])

    assert mapped.toDF().collect() == [(1, "2")]
    assert [row.id for row in chosen.toDF().collect()] == ["10001", "10005", None, None]
    assert warned() == [
        ("MAPPING_TYPE", "a (string, in the mapping int)"),
        ("MAPPING_PART", "long of provider id (choice<long,string>)"),
    ]


def test_of_two_mappings_to_one_target_the_last_one_wins(rows_of):
    frame = rows_of("a int, b int", (1, 2))

    mapped = frame.apply_mapping([("a", "int", "x", "int"), ("b", "int", "x", "int")])

    assert mapped.toDF().collect() == [(2,)]


@pytest.mark.parametrize(
    ("mapping", "text"),
    [
        (("a", "string", "a", "src-col-1-datatype"), "'src-col-1-datatype', which is not a type"),
        (("a", "string", "a", "struct"), "is mapped to a struct, but it is string"),
        (("s", "struct", "a", "int"), r"is struct .* and cannot be converted to int"),
        (("c", "choice", "c", "double"), r"cannot be converted to double; .*\(ResolveChoice\)"),
        (("a", "string", "a", "decimal(40,2)"), "allowed are 1 to 38 digits"),
        (("a", "string", "a", None), "must be a tuple of strings"),
    ],
)
def test_an_impossible_mapping_is_an_error_that_names_it(rows_of, mapping, text):
    columns = "a string, s struct<x: int>, c struct<double: double, int: int>"
    frame = rows_of(columns, ("1", (2,), (None, 1)))

    with pytest.raises(UsageError, match=text):
        frame.apply_mapping(mapping)


@pytest.mark.parametrize("path", ["arr[].k", "arr.k", "arr[]", "m.k"])
def test_a_field_inside_an_array_is_not_mapped(rows_of, path):
    frame = rows_of("arr array<struct<k: int>>, m map<string, struct<k: int>>", ([(1,)], {}))

    with pytest.raises(UnsupportedError, match=rf"the source '{re.escape(path)}'.*relationalize"):
        frame.apply_mapping([(path, "int", "k", "int")])


def test_shorter_mappings_keep_what_they_do_not_say_and_others_are_errors_of_aws(rows_of):
    frame = rows_of("a string, b int", ("1", 2))

    mapped = frame.apply_mapping([("a", "x"), ("b", "y", "string"), ("B", "int", "z", "int")])

    assert mapped.toDF().dtypes == [("x", "string"), ("y", "string"), ("z", "int")]
    assert frame.apply_mapping(("a", "x")).toDF().columns == ["x"]
    with pytest.raises(TypeError, match=r"must be a list of tuples, or tuple\. Got <class 'str'>"):
        frame.apply_mapping("astr")
    with pytest.raises(TypeError, match=r"must be specified as a tuple\. Got \['a', 'b'\]"):
        frame.apply_mapping([["a", "b"]])
    with pytest.raises(ValueError, match=r"of length 2, 3, or 4\. Got tuple of length 1"):
        frame.apply_mapping([("a",)])


def test_a_target_inside_of_an_array_is_refused(rows_of):
    with pytest.raises(UnsupportedError, match=r"'l\[\]\.x' .* map the whole array"):
        rows_of("a int", (1,)).apply_mapping([("a", "int", "l[].x", "int")])


def test_what_has_parts_becomes_json_as_text(rows_of):
    frame = rows_of("s struct<x: int>, l array<int>", ((1,), [2]))

    mapped = frame.apply_mapping([("s", "struct", "s", "string"), ("l", "array", "l", "string")])

    assert mapped.toDF().collect() == [('{"x":1}', "[2]")]


def test_parts_are_converted_as_values_are_and_fields_by_their_names(rows_of):
    kinds = "l array<bigint>, s struct<x: int, y: string>, m map<string, bigint>"
    frame = rows_of(kinds, ([5_000_000_000, 7], (1, "2"), {"k": 2**40}), (None, None, None))

    mapped = frame.apply_mapping(
        [
            ("l", "array", "l", "array<int>"),
            ("s", "struct", "s", "struct<y: int, x: string>"),
            ("m", "map", "m", "map<string, int>"),
        ]
    )

    assert mapped.toDF().collect() == [([None, 7], (2, "1"), {"k": None}), (None, None, None)]
    with pytest.raises(UsageError, match="cannot be converted to struct"):
        frame.apply_mapping([("s", "struct", "s", "struct<a: int, b: string>")])


def test_applyMapping_takes_its_mappings_also_after_a_frame(rows_of):  # noqa: N802
    """As AWS's library has it, for scripts of an older one."""
    frame, mappings = rows_of("a int", (1,)), [("a", "int", "b", "int")]

    assert frame.applyMapping(mappings).toDF().collect() == [(1,)]
    assert frame.applyMapping(frame, mappings).toDF().collect() == [(1,)]


def test_of_no_columns_nothing_is_mapped_and_nothing_is_warned_of(glue_context, warned):
    from awsglue.dynamicframe import DynamicFrame

    empty = glue_context.spark_session.createDataFrame([], T.StructType([]))
    frame = DynamicFrame.fromDF(empty, glue_context, "empty")

    assert frame.apply_mapping([("a", "int", "a", "int")]).toDF().columns == []
    assert warned() == []


ATOMIC = st.sampled_from(
    [
        T.StringType(),
        T.IntegerType(),
        T.LongType(),
        T.ShortType(),
        T.ByteType(),
        T.DoubleType(),
        T.FloatType(),
        T.BooleanType(),
        T.DateType(),
        T.TimestampType(),
        T.BinaryType(),
        T.DecimalType(12, 3),
        T.TimestampNTZType(),
    ]
)
NAMES = st.text(alphabet="abZ.`[]() $é", min_size=1, max_size=6).filter(lambda name: name.strip())


def structs(kinds):
    fields = st.lists(st.tuples(NAMES, kinds, st.booleans()), min_size=1, max_size=4)
    unique = fields.filter(lambda ones: len({name.lower() for name, *_ in ones}) == len(ones))
    return unique.map(lambda ones: T.StructType([T.StructField(*one) for one in ones]))


KINDS = st.recursive(
    ATOMIC,
    lambda kinds: st.one_of(
        structs(kinds),
        kinds.map(T.ArrayType),
        kinds.map(lambda kind: T.MapType(T.StringType(), kind)),
    ),
    max_leaves=5,
)


@given(schema=structs(KINDS))
@settings(
    max_examples=tries(25),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_from_and_to_a_data_frame_and_the_identity_mapping_change_no_schema(glue_context, schema):
    from awsglue.dynamicframe import DynamicFrame

    frame = glue_context.spark_session.createDataFrame([], schema)
    dynamic = DynamicFrame.fromDF(frame, glue_context, "any")
    words = {one.name: one.dataType for one in dynamic.schema()}
    mappings = [
        (path, word, path, word)
        for name, kind in words.items()
        for path in [f"`{name.replace('`', '``')}`"]
        for word in [kind.typeName()]
    ]

    assert dynamic.toDF() is frame
    assert dynamic.apply_mapping(mappings).toDF().schema == frame.schema


def test_the_identity_mapping_keeps_the_values(rows_of):
    moment = datetime(2024, 5, 1, 12, 30)  # noqa: DTZ001 (Spark's own)
    frame = rows_of(
        "a int, `b.c` struct<x: array<map<string, decimal(5,2)>>>, t timestamp, d date",
        (1, ([{"k": Decimal("1.50")}, {}],), moment, date(2024, 5, 1)),
        (None, None, None, None),
    )
    kinds = {"a": "int", "`b.c`": "struct", "t": "timestamp", "d": "date"}

    mapped = frame.apply_mapping([(name, kind, name, kind) for name, kind in kinds.items()])

    assert mapped.toDF().schema == frame.toDF().schema
    assert mapped.toDF().collect() == frame.toDF().collect()
