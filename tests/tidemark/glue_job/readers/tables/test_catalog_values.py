"""Values of tables by the format of their files, and those that are not of the declared type."""

from __future__ import annotations

import pytest

from tests.sampled import at_night
from tidemark.local_state.run_warnings import RUN_FOLDER_VARIABLE, read_warnings

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    ("serde", "parameters", "text"),
    [
        ({"field.delim": "|"}, {}, "1|EWR\n"),
        (
            {"separatorChar": ";", "quoteChar": "'"},
            {"skip.header.line.count": "1"},
            "a;b\n1;'EWR'\n",
        ),
        ({}, {"delimiter": ",", "skip.header.line.count": "1"}, "number,place\n1,EWR\n"),
        ({"escapeChar": "\\"}, {}, '1,"EWR"\n'),
    ],
)
def test_csv_table_is_read_by_position_as_its_serde_says(read, define, s3, serde, parameters, text):
    define(serde=serde, classification="csv", **parameters)
    s3.put("a.csv", text)

    assert read().collect() == [(1, "EWR")]


@pytest.mark.parametrize("kind", ["parquet", "orc"])
def test_columnar_table_has_its_declared_columns(spark, read, define, s3, kind):
    define(keys=[("day", "int")], classification=kind)
    spark.sql("SELECT 1L AS id, true AS other").write.format(kind).save(f"{s3.uri}day=1/")

    assert read().collect() == [(1, None, 1)]


def test_avro_table_has_its_declared_columns(read, define, s3):
    import fastavro

    define(classification="avro")
    schema = {"type": "record", "name": "R", "fields": [{"name": "id", "type": "int"}]}
    with s3.put("a.avro", "").open("wb") as file:
        fastavro.writer(file, schema, [{"id": 1}])

    flights = read()

    assert flights.dtypes == [("id", "bigint"), ("origin", "string")]
    assert flights.collect() == [(1, None)]


def test_xml_table_reads_the_row_tag_of_its_properties(read, define, s3):
    define(classification="xml", rowTag="flight")
    s3.put("a.xml", "<r><flight><id>1</id><origin>EWR</origin></flight></r>")

    assert read().collect() == [(1, "EWR")]


MIXED = [{"Name": "n", "Type": "bigint"}, {"Name": "s", "Type": "struct<a:int>"}]


@pytest.mark.rule(
    "Bad input",
    source="TYPES",
    choice="an error that names column, value and file; Glue makes a choice type of the column",
)
@pytest.mark.parametrize(
    ("kind", "text", "column"),
    [
        ("xml", "<r><row><n>one</n></row></r>", "n"),
        ("orc", "SELECT 'one' AS N", "n"),
        ("parquet", "SELECT 'one' AS N", "n"),
    ],
)
def test_a_value_that_is_not_of_the_declared_type_is_named_with_its_column(
    spark, read, define, s3, kind, text, column
):
    define(MIXED, classification=kind, rowTag="row")
    if kind in ("orc", "parquet"):
        spark.sql(text).write.format(kind).mode("append").save(s3.uri)
    else:
        s3.put(f"bad.{kind}", text)

    with pytest.raises(Exception, match=rf"the column '{column}' is declared \w+ and") as failure:
        read().collect()

    text = str(failure.value)
    assert f"holds 'one' in {s3.uri}" in text
    assert "choice<" in text
    assert "repair or delete" not in text


PROVIDERS = [{"Name": "provider id", "Type": "bigint"}, {"Name": "city", "Type": "string"}]
CSV = {"classification": "csv", "skip.header.line.count": "1"}


@pytest.mark.rule(
    "Formats", source="RCS, DYF", choice="of CSV and JSON; of another format the action fails"
)
def test_a_csv_column_with_strings_that_are_not_of_its_type_is_a_choice(
    glue_context, define, s3, capsys
):
    define([*PROVIDERS, {"Name": "n", "Type": "int"}], keys=[("day", "date")], **CSV)
    s3.put("day=2024-05-01/a.csv", "id,city,n\n10001,DOTHAN,1\n")
    s3.put("day=2024-05-02/b.csv", 'id,city,n\nn/a,"BO,AZ",\n10006,,3\n')

    frame = glue_context.create_dynamic_frame.from_catalog("lake", s3.folder.name)
    frame.printSchema()

    assert capsys.readouterr().out == (
        "root\n"
        "|-- provider id: choice\n"
        "|    |-- long\n"
        "|    |-- string\n"
        "|-- city: string\n"
        "|-- n: int\n"
        "|-- day: date\n\n"
    )
    rows = frame.drop_fields("day").toDF().orderBy("city").collect()
    assert rows == [
        ((10006, None), None, 3),
        ((None, "n/a"), "BO,AZ", None),
        ((10001, None), "DOTHAN", 1),
    ]
    cast = frame.resolveChoice(specs=[("provider id", "cast:long")])
    assert sorted(row[0] or 0 for row in cast.toDF().collect()) == [0, 10001, 10006]


def test_the_value_of_a_folder_that_is_not_of_the_declared_type_fails(read, define, s3):
    columns = [{"Name": "n", "Type": "int"}]
    define(columns, keys=[("k", "int")], classification="xml", rowTag="row")
    s3.put("k=x/a.xml", "<r><row><n>1</n></row></r>")

    with pytest.raises(Exception, match="the column 'k' is declared int and holds 'x'"):
        read().collect()


@pytest.mark.parametrize(
    ("classification", "text"),
    [(CSV, 'd,n\n1.50,1\n"1,5",2\n'), ({}, '{"d": 1.50, "n": 1}\n{"d": "1,5", "n": 2}\n')],
)
def test_a_text_with_a_comma_is_no_decimal(glue_context, define, s3, classification, text):
    define([{"Name": "d", "Type": "decimal(5,2)"}, {"Name": "n", "Type": "int"}], **classification)
    s3.put("a", text)

    frame = glue_context.create_dynamic_frame.from_catalog("lake", s3.folder.name)

    rows = frame.toDF().selectExpr("string(d.decimal)", "d.string", "n").collect()
    assert sorted(rows, key=str) == [("1.50", None, 1), (None, "1,5", 2)]


def test_a_data_frame_of_such_a_column_fails_by_column_and_value(glue_context, define, s3):
    define(PROVIDERS, **CSV)
    s3.put("a.csv", "id,city\none,EWR\n")

    frame = glue_context.create_data_frame.from_catalog("lake", s3.folder.name)

    with pytest.raises(
        Exception, match="the column 'provider id' is declared bigint and holds 'one'"
    ):
        frame.collect()


def test_a_line_of_another_length_fails_also_where_choices_are_made(read, define, s3):
    define(PROVIDERS, **CSV)
    s3.put("a.csv", "id,city\n1,EWR\n2,JFK,3\n")

    with pytest.raises(Exception, match="'2,JFK,3' does not parse"):
        read().collect()


@pytest.mark.parametrize("kind", ["parquet", "orc"])
def test_partitions_written_before_a_column_was_widened_are_read(spark, read, define, s3, kind):
    define([{"Name": "id", "Type": "bigint"}], keys=[("day", "date")], classification=kind)
    for value, day in (("1", "2024-05-01"), ("5000000000", "2024-05-02")):
        spark.sql(f"SELECT {value} AS id").write.format(kind).save(f"{s3.uri}day={day}/")

    assert sorted(row.id for row in read().collect()) == [1, 5000000000]


def test_a_wider_or_a_narrower_number_is_read_if_it_fits(spark, read, define, s3):
    columns = [{"Name": "a", "Type": "bigint"}, {"Name": "b", "Type": "int"}]
    define(columns, classification="parquet")
    spark.sql("SELECT 1 AS a, 2L AS b").write.mode("append").parquet(s3.uri)
    assert read().collect() == [(1, 2)]
    spark.sql("SELECT 1 AS a, 3000000000L AS b").write.mode("append").parquet(s3.uri)

    with pytest.raises(Exception, match="the column 'b' is declared int and holds '3000000000'"):
        read().collect()


def test_files_of_a_table_may_disagree_on_a_type_that_the_declared_one_holds(
    spark, read, define, s3
):
    define([{"Name": "n", "Type": "string"}], classification="parquet")
    spark.sql("SELECT 1 AS N").write.mode("append").parquet(s3.uri)
    spark.sql("SELECT 'one' AS n").write.mode("append").parquet(s3.uri)

    assert sorted(read().collect()) == [("1",), ("one",)]


NULLS = ("\\N,1\nx,\\N\n", {}, "\\N")
NAMED_NULLS = ("NULL,1\n", {"serialization.null.format": "NULL"}, "NULL")


@pytest.mark.rule(
    "Formats",
    source="SILENT",
    choice="a string through from_catalog, whose reader has no null string",
)
@pytest.mark.parametrize(("text", "serde", "null"), [NULLS, NAMED_NULLS])
def test_the_null_string_of_a_hive_serde_is_read_as_a_string_with_a_warning(
    define, read, s3, tmp_path, monkeypatch, text, serde, null
):
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path))
    columns = [{"Name": name, "Type": "string"} for name in ("a", "b")]
    define(columns, serde=serde, classification="csv")
    s3.put("a.csv", text)

    assert (null, "1") in [tuple(row) for row in read().collect()]
    [warning] = read_warnings(tmp_path)
    assert warning.startswith(f"{s3.uri}a.csv: some values are the string that LazySimpleSerDe")


def test_a_text_that_has_such_a_null_inside_is_not_named(define, read, s3, tmp_path, monkeypatch):
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path))
    define([{"Name": name, "Type": "string"} for name in ("a", "b")], classification="csv")
    s3.put("a.csv", "C:\\N,1\n\\Nx,2\n")

    assert read().count() == 2
    assert read_warnings(tmp_path) == []


@pytest.mark.parametrize(
    ("kind", "value", "is_named"),
    [
        ("decimal(10,2)", "1.005", True),
        ("decimal(10,2)", "1.5e-3", True),
        ("decimal(10,2)", "1.500", False),
        *at_night(
            ("decimal(38,0)", "1.5", True),
            ("decimal(10,2)", "1.50", False),
            ("decimal(10,2)", "-7", False),
        ),
    ],
)
@pytest.mark.parametrize(
    "form",
    [
        "number",
        "csv",
        *(pytest.param(one, marks=pytest.mark.nightly) for one in ("text", "inside")),
    ],
)
def test_a_number_that_a_declared_decimal_rounds_is_named(
    define, read, s3, tmp_path, monkeypatch, form, kind, value, is_named
):
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path))
    path = "d.x" if form == "inside" else "d"
    texts = {
        "number": f'{{"d": {value}}}\n{{"d": 0.5e1}}\n',
        "text": f'{{"d": "{value}"}}\n',
        "inside": f'{{"d": [{{"x": 1}}, {{"x": {value}}}]}}\n',
        "csv": f"{value},1\n7,2\n",
    }
    more = [{"Name": "n", "Type": "int"}] if form == "csv" else []
    declared = f"array<struct<x:{kind}>>" if form == "inside" else kind
    define(
        [{"Name": "d", "Type": declared}, *more], classification="csv" if form == "csv" else "json"
    )
    s3.put("a", texts[form])

    assert read().count() == texts[form].count("\n")
    named = [one for one in read_warnings(tmp_path) if "more digits after the point" in one]
    assert len(named) == is_named
    assert all(path[0] in one for one in named)
