"""Declared dates and timestamps, and texts that are none."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.spark


CSV = {"classification": "csv", "skip.header.line.count": "1"}
TIMES = [{"Name": "d", "Type": "date"}, {"Name": "t", "Type": "timestamp"}]


def test_texts_of_csv_that_are_no_times_make_choices(glue_context, define, s3, capsys):
    define([*TIMES, {"Name": "n", "Type": "int"}], keys=[("day", "date")], **CSV)
    s3.put("day=2024-05-01/a.csv", "d,t,n\n2024-12-01,2024-12-01T10:00:00Z,1\n2024-13-01,,2\n")
    s3.put("day=2024-05-02/b.csv", 'd,t,n\n2024-12-03,"2024, soon",3\n31.12.2024,2024-02-30,x\n')

    frame = glue_context.create_dynamic_frame.from_catalog("lake", s3.folder.name)
    frame.printSchema()
    rows = frame.toDF().selectExpr(
        "string(d.date)", "d.string", "string(t.timestamp)", "t.string", "n.int", "n.string"
    )

    shown = capsys.readouterr().out
    assert shown.startswith("root\n|-- d: choice\n|    |-- date\n|    |-- string\n|-- t: choice\n")
    assert sorted(map(tuple, rows.collect()), key=str) == [
        ("2024-12-01", None, "2024-12-01 10:00:00", None, 1, None),
        ("2024-12-03", None, None, "2024, soon", 3, None),
        (None, "2024-13-01", None, None, 2, None),
        (None, "31.12.2024", None, "2024-02-30", None, "x"),
    ]


@pytest.mark.parametrize(
    ("classification", "text"),
    [
        (CSV, "d\n2024-12-01\n2024-12-02T00:00:00Z\n2024-12-03 10:00\n2024-12-04 or so\n"),
        (
            {},
            '{"d": "2024-12-01"} {"d": "2024-12-02T00:00:00Z"} {"d": "2024-12-03 10:00"} '
            '{"d": "2024-12-04 or so"}',
        ),
    ],
)
def test_a_date_with_more_than_a_day_is_no_date(read, define, s3, classification, text):
    define(TIMES[:1], **classification)
    s3.put("a", text)

    rows = sorted((str(row.d.date), row.d.string) for row in read().collect())

    assert rows == [
        ("2024-12-01", None),
        ("2024-12-02", None),
        ("None", "2024-12-03 10:00"),
        ("None", "2024-12-04 or so"),
    ]


@pytest.mark.parametrize(
    "value", ["TIMESTAMP'2024-12-01 10:00:00' AS d", "TIMESTAMP'2024-12-01 00:00:00' AS d, 5 AS b"]
)
def test_a_value_of_which_the_declared_type_loses_a_part_fails(spark, read, define, s3, value):
    flag = {"Name": "b", "Type": "boolean"}
    define([TIMES[0], flag], classification="parquet")
    spark.sql(f"SELECT {value}").write.mode("append").parquet(s3.uri)

    with pytest.raises(Exception, match=r"the column '[bd]' is declared \w+ and holds"):
        read().collect()


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("classification", "text"),
    [
        (CSV, "d,t\n2024-12-01,2024-12-01 10:00:00\n2024-13-01,\n"),
        ({}, '{"d": "2024-12-01", "t": 1733047200}\n{"d": "2024-13-01"}\n'),
    ],
)
def test_a_data_frame_of_a_text_that_is_no_date_fails_by_column_and_value(
    glue_context, define, s3, classification, text
):
    define(TIMES, **classification)
    s3.put("a", text)

    frame = glue_context.create_data_frame.from_catalog("lake", s3.folder.name)

    with pytest.raises(Exception, match="the column 'd' is declared date and holds '2024-13-01'"):
        frame.collect()


NESTED_TIMES = {"Name": "s", "Type": "struct<l:array<struct<t:timestamp>>,m:map<string,date>>"}


@pytest.mark.nightly
def test_texts_of_json_that_are_no_times_make_choices_at_every_depth(
    glue_context, define, s3, capsys
):
    define([*TIMES, NESTED_TIMES])
    good = '{"l": [{"t": "2024-12-01T10:00:00Z"}], "m": {"k": "2024-12-01"}}'
    bad = '{"l": [{"t": "2024-02-30 10:00:00"}], "m": {"k": "soon"}}'
    s3.put("a.json", f'{{"d": "2024-12-01", "t": 1733047200, "s": {good}}}\n')
    s3.put("b.json", f'{{"d": "2024-13-01", "t": "2024-12-01", "s": {bad}}}\n')

    frame = glue_context.create_dynamic_frame.from_catalog("lake", s3.folder.name)
    frame.printSchema()
    rows = frame.toDF().selectExpr(
        "string(d.date)",
        "d.string",
        "string(t)",
        "string(s.l[0].t.timestamp)",
        "s.l[0].t.string",
        "string(s.m['k'].date)",
        "s.m['k'].string",
    )

    date = "choice\n{0}|    |-- date\n{0}|    |-- string\n"
    assert capsys.readouterr().out == (
        f"root\n|-- d: {date.format('')}|-- t: timestamp\n|-- s: struct\n"
        "|    |-- l: array\n|    |    |-- element: struct\n|    |    |    |-- t: choice\n"
        "|    |    |    |    |-- string\n|    |    |    |    |-- timestamp\n"
        f"|    |-- m: map\n|    |    |-- keyType: string\n"
        f"|    |    |-- valueType: {date.format('|    |    ')}\n"
    )
    ten = "2024-12-01 10:00:00"
    assert sorted(map(tuple, rows.collect()), key=str) == [
        ("2024-12-01", None, ten, ten, None, "2024-12-01", None),
        (None, "2024-13-01", "2024-12-01 00:00:00", None, "2024-02-30 10:00:00", None, "soon"),
    ]


@pytest.mark.nightly
@pytest.mark.parametrize("is_dynamic", [True, False])
def test_times_of_json_have_keys_of_any_case(glue_context, define, s3, is_dynamic):
    define(TIMES)
    s3.put("a.json", '{"d": "2024-12-01", "T": 0}\n{"D": "2024-12-02", "t": "2024-12-01"}\n')

    source = glue_context.create_dynamic_frame if is_dynamic else glue_context.create_data_frame
    frame = source.from_catalog("lake", s3.folder.name)
    rows = (frame.toDF() if is_dynamic else frame).selectExpr("string(d)", "string(t)").collect()

    assert sorted(map(tuple, rows)) == [
        ("2024-12-01", "1970-01-01 00:00:00"),
        ("2024-12-02", "2024-12-01 00:00:00"),
    ]


def test_times_of_json_stay_beside_numbers_and_texts(glue_context, define, s3):
    define([*TIMES, {"Name": "n", "Type": "int"}])
    lines = ['{"d": 5, "t": "x", "n": 1}', '{"d": "no", "t": 0, "n": "one"}', '{"d": "2024-12-01"}']
    s3.put("a.json", "\n".join(lines))

    frame = glue_context.create_dynamic_frame.from_catalog("lake", s3.folder.name)
    rows = frame.toDF().selectExpr(
        "string(d.date)", "d.int", "d.string", "string(t.timestamp)", "t.string", "n.string"
    )

    assert sorted(map(tuple, rows.collect()), key=str) == [
        ("2024-12-01", None, None, None, None, None),
        (None, 5, None, None, "x", None),
        (None, None, "no", "1970-01-01 00:00:00", None, "one"),
    ]
