"""Tables name columns in lower case; the files name them as they like, at every depth."""

from __future__ import annotations

import json
import re

import fastavro
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.sampled import at_night
from tidemark.errors import UsageError
from tidemark.glue_job.readers.json import lines
from tidemark.local_state.catalog.tables import put_tables
from tidemark.local_state.run_warnings import RUN_FOLDER_VARIABLE, read_warnings
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_tables import table_of_request

pytestmark = pytest.mark.spark

NESTED = [
    {"Name": "id", "Type": "bigint"},
    {"Name": "origin", "Type": "struct<code:string,gates:array<struct<terminal:string>>>"},
    {"Name": "delays", "Type": "map<string,struct<minutes:int>>"},
]
ROW = {
    "Id": 1,
    "Origin": {"Gates": [{"Terminal": "B"}], "CODE": "EWR"},
    "Delays": {"Late": {"Minutes": 5}},
}
VALUES = (1, ("EWR", [("B",)]), {"Late": (5,)})


@pytest.fixture
def define(spark_home, s3):
    """Return a definer of the test's table."""

    def define(columns, keys=(), serde=None, location=s3.uri, classification="json", **parameters):
        storage = {
            "Columns": columns,
            "Location": location,
            "SerdeInfo": {"Parameters": serde or {}},
        }
        table = {
            "Name": s3.folder.name,
            "PartitionKeys": [{"Name": name, "Type": kind} for name, kind in keys],
            "StorageDescriptor": storage,
            "Parameters": {"classification": classification, **parameters},
        }
        with Store(spark_home.database) as store:
            put_tables(store, [table_of_request({"DatabaseName": "lake", "TableInput": table})])

    return define


@pytest.fixture
def read(glue_context, s3):
    """Return a reader of the test's table."""

    def read(**arguments):
        return glue_context.create_data_frame.from_catalog("lake", s3.folder.name, **arguments)

    return read


@pytest.fixture
def warnings(monkeypatch, tmp_path):
    """Return a reader of what this test's run has noted."""
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path))
    return lambda: read_warnings(tmp_path)


def put_rows(spark, s3, kind, folder=""):
    """Write ROW as a file of a format, with its names."""
    text = json.dumps(ROW)
    if kind == "json":
        s3.put(f"{folder}a.json", f"{text}\n")
    elif kind == "xml":
        s3.put(
            f"{folder}a.xml",
            "<r><row><Id>1</Id><Origin><Gates><Terminal>B</Terminal></Gates><CODE>EWR</CODE>"
            "</Origin><Delays><Late><Minutes>5</Minutes></Late></Delays></row></r>",
        )
    elif kind == "avro":
        gate = {"type": "record", "name": "G", "fields": [{"name": "Terminal", "type": "string"}]}
        origin = {
            "type": "record",
            "name": "O",
            "fields": [
                {"name": "Gates", "type": {"type": "array", "items": gate}},
                {"name": "CODE", "type": "string"},
            ],
        }
        delay = {"type": "record", "name": "D", "fields": [{"name": "Minutes", "type": "int"}]}
        fields = [
            {"name": "Id", "type": "int"},
            {"name": "Origin", "type": origin},
            {"name": "Delays", "type": {"type": "map", "values": delay}},
        ]
        with s3.put(f"{folder}a.avro", "").open("wb") as file:
            fastavro.writer(file, {"type": "record", "name": "R", "fields": fields}, [ROW])
    else:
        schema = (
            "Id INT, Origin STRUCT<Gates: ARRAY<STRUCT<Terminal: STRING>>, CODE: STRING>, "
            "Delays MAP<STRING, STRUCT<Minutes: INT>>"
        )
        frame = spark.createDataFrame([ROW], schema)
        frame.write.format(kind).mode("append").save(f"{s3.uri}{folder}")


@pytest.mark.rule(
    "Formats", source="SERDE", choice="case.insensitive is on for every format, at every depth"
)
@pytest.mark.parametrize("kind", ["json", "avro", "parquet", *at_night("xml", "orc")])
def test_columns_of_a_table_are_found_whatever_the_case_in_the_files(
    spark, read, define, s3, warnings, kind
):
    define(NESTED, keys=[("day", "string")], classification=kind, rowTag="row")
    put_rows(spark, s3, kind, "Day=01/")

    rows = read(push_down_predicate="day = '01'")

    assert rows.columns == ["id", "origin", "delays", "day"]
    assert rows.collect() == [(*VALUES, "01")]
    assert warnings() == []


@pytest.mark.nightly
@pytest.mark.parametrize("options", [{}, {"groupFiles": "inPartition"}], ids=["plain", "grouped"])
def test_many_small_files_have_the_same_columns(read, define, s3, monkeypatch, options):
    monkeypatch.setattr(lines, "MANY", 2)
    define(NESTED)
    for number in range(3):
        s3.put(f"{number}.json", f"{json.dumps({**ROW, 'Id': number})}\n")

    rows = read(additional_options=options).orderBy("id").collect()

    assert rows == [(number, *VALUES[1:]) for number in range(3)]


def test_a_json_path_of_a_table_leads_to_its_columns(read, define, s3):
    define(NESTED, jsonPath="$.Flights[*]")
    s3.put("a.json", json.dumps({"Flights": [ROW, ROW], "Other": 1}) + "\n")

    assert read().collect() == [VALUES, VALUES]


@pytest.mark.rule("Formats", source="SERDE", choice="one column, from either spelling")
def test_files_that_spell_a_key_differently_fill_one_column(read, define, s3):
    define([{"Name": "id", "Type": "bigint"}, {"Name": "at", "Type": "struct<zone:string>"}])
    s3.put("a.json", '{"Id": 1, "at": {"Zone": "ET"}}\n[{"ID": 2}]\n')
    s3.put("b.json", '{"id": 3, "At": {"zone": "CT"}, "ID": null}\n')

    assert sorted(read().collect()) == [(1, ("ET",)), (2, None), (3, ("CT",))]


@pytest.mark.nightly
@pytest.mark.parametrize("many", [200, 1], ids=["few", "many"])
def test_records_that_are_alike_but_for_the_case_of_keys_fill_the_same_columns(
    read, define, s3, monkeypatch, many
):
    monkeypatch.setattr(lines, "MANY", many)
    columns = [{"Name": "id", "Type": "int"}, {"Name": "at", "Type": "struct<zone:string>"}]
    define(columns)
    s3.put("a.json", '{"Id": 1, "At": {"Zone": "ET"}}\n')
    s3.put("b.json", '{"id": 2, "at": {"zone": "CT"}}\n')

    assert sorted(read().collect()) == [(1, ("ET",)), (2, ("CT",))]


@pytest.mark.parametrize("many", [200, 1], ids=["few", "many"])
def test_without_a_table_records_alike_but_for_case_are_not_read_as_null(
    glue_context, s3, monkeypatch, many
):
    monkeypatch.setattr(lines, "MANY", many)
    s3.put("a.json", '{"Id": 1}\n')
    s3.put("b.json", '{"id": 2}\n')

    with pytest.raises(UsageError, match=r"Id, id .* differ in case only"):
        glue_context.create_data_frame.from_options("s3", {"paths": [s3.uri]}, "json")


@pytest.mark.rule("Bad input", source="SERDE")
def test_a_record_with_two_keys_that_differ_in_case_only_fails_the_run(read, define, s3):
    define([{"Name": "url", "Type": "string"}])
    s3.put("a.json", '{"URL": "x", "Url": "y"}\n')

    with pytest.raises(Exception, match=r"several keys for the column 'url'.*mapping\.url"):
        read().collect()


@pytest.mark.rule("Formats", source="SERDE")
def test_keys_that_differ_in_case_only_can_be_mapped_to_columns(read, define, s3):
    serde = {"case.insensitive": "FALSE", "mapping.url1": "URL", "mapping.url2": "Url"}
    define([{"Name": n, "Type": "string"} for n in ("url1", "url2")], serde=serde)
    s3.put("a.json", '{"URL": "x", "Url": "y"}\n')

    assert read().collect() == [("x", "y")]


@pytest.mark.rule("Formats", source="INFER", choice="null, and a warning")
@pytest.mark.parametrize("kind", ["json", "parquet", *at_night("xml", "avro", "orc")])
def test_a_declared_column_missing_in_all_files_causes_a_warning(
    spark, read, define, s3, warnings, kind
):
    columns = [
        {"Name": "id", "Type": "bigint"},
        {"Name": "gone", "Type": "string"},
        {"Name": "origin", "Type": "struct<code:string,city:string>"},
    ]
    define(columns, classification=kind, rowTag="row")
    put_rows(spark, s3, kind)

    assert read().collect() == [(1, None, ("EWR", None))]
    told = [text.split()[3] for text in warnings() if "is in no file" in text]
    assert told == ["gone", "origin.city"]


@pytest.mark.rule(
    "Formats",
    source="DYF, CAT",
    choice="a table says what is read, so a field that it does not declare is in no column, at any "
    "depth, and a warning counts and names such fields. AWS says that a DynamicFrame computes its "
    "schema from the data, and of DataFrames that useCatalogSchema takes the columns of the table",
)
@pytest.mark.parametrize("kind", ["json", "parquet", *at_night("xml", "avro", "orc")])
@pytest.mark.parametrize("is_dynamic", [True, False], ids=["dynamic", "data frame"])
def test_fields_of_files_that_a_table_does_not_declare_are_named(
    spark, glue_context, read, define, s3, warnings, kind, is_dynamic
):
    columns = [{"Name": "id", "Type": "bigint"}, {"Name": "origin", "Type": "struct<code:string>"}]
    define(columns, keys=[("day", "string")], classification=kind, rowTag="row")
    put_rows(spark, s3, kind, "day=1/")

    if is_dynamic:
        frame = glue_context.create_dynamic_frame.from_catalog("lake", s3.folder.name).toDF()
    else:
        frame = read()

    assert frame.collect() == [(1, ("EWR",), "1")]
    (told,) = warnings()
    assert f"2 of the table lake.{s3.folder.name}: " in told
    assert {"Origin.Gates", "Delays"} <= set(re.findall(r"[\w.]+", told))


def test_a_field_of_some_records_that_a_table_does_not_declare_is_named_too(
    glue_context, define, s3, warnings
):
    define([{"Name": "id", "Type": "bigint"}, {"Name": "s", "Type": "struct<a:int>"}])
    lines = '{"id": 1, "s": {"a": 1}}', '{"id": 2, "s": "text", "x.y": 1}', '{"s": {"b": null}}'
    s3.put("a.json", "\n".join(lines))

    rows = glue_context.create_dynamic_frame.from_catalog("lake", s3.folder.name)

    assert rows.count() == 3
    (told,) = warnings()
    assert re.search(r"2 of the table \S+: (s\.b, x\.y|x\.y, s\.b); declare them", told)


@pytest.mark.parametrize("of_catalog", [True, False])
def test_a_native_source_of_spark_has_the_declared_columns(read, define, s3, warnings, of_catalog):
    define([{"Name": "id", "Type": "bigint"}])
    s3.put("a.json", '{"id": 1, "more": 2}\n')

    options = {"useSparkDataSource": True, "useCatalogSchema": of_catalog}
    assert read(additional_options=options).collect() == [(1,)]

    assert ["useCatalogSchema" in text for text in warnings() if "more" not in text] == (
        [] if of_catalog else [True]
    )


def test_keys_of_one_file_that_differ_in_case_only_are_not_called_damage(glue_context, s3):
    s3.put("a.json", '{"Id": 1, "id": 2}\n')

    with pytest.raises(Exception, match=r"(?i)\bid\b.*spark\.sql\.caseSensitive") as failure:
        glue_context.create_data_frame.from_options("s3", {"paths": [s3.uri]}, "json")

    assert "repair or delete" not in str(failure.value)


NAMES = st.text("abAB", min_size=1, max_size=2)


def types(depth):
    """Return a strategy of pairs: a Hive type, and values of it in JSON by the names of files."""
    if not depth:
        return st.just(("bigint", st.integers(0, 9)))
    inner = types(depth - 1)
    structs = st.lists(
        st.tuples(NAMES, inner), min_size=1, max_size=3, unique_by=lambda one: one[0].lower()
    )
    return st.one_of(
        inner,
        inner.map(lambda one: (f"array<{one[0]}>", st.lists(one[1], max_size=2))),
        inner.map(
            lambda one: (f"map<string,{one[0]}>", st.dictionaries(NAMES, one[1], max_size=2))
        ),
        structs.map(
            lambda fields: (
                f"struct<{','.join(f'{name}:{kind}' for name, (kind, _) in fields)}>",
                st.fixed_dictionaries({name: values for name, (_, values) in fields}),
            )
        ),
    )


@pytest.mark.nightly
@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_lower_case_columns_have_the_values_that_the_own_names_of_the_file_have(
    spark, read, define, s3, data
):
    """As one JSON and one Parquet file: a table in lower case, and Spark by the exact names."""
    kind, values = data.draw(types(3))
    s3.put("json/a.json", json.dumps({"Top": data.draw(values)}) + "\n")
    expected = spark.read.schema(f"Top {kind}").json(f"{s3.uri}json/")
    expected.write.mode("overwrite").parquet(f"{s3.uri}parquet/")
    columns = [{"Name": "top", "Type": kind.lower()}]

    for name in ("json", "parquet"):
        define(columns, location=f"{s3.uri}{name}/", classification=name)
        assert read().collect() == expected.collect()
