"""Ion: text and binary, types, choices, and files that are none."""

from __future__ import annotations

import datetime
import gzip
from decimal import Decimal

import pytest
from amazon.ion import simpleion

from tidemark.local_state.run_warnings import RUN_FOLDER_VARIABLE, read_warnings

pytestmark = pytest.mark.spark

TEXT = """
{id: 1, name: "a", at: 2020-01-02T03:04:05Z, price: 1.50, share: 1e-1, kind: new, n: null.int,
 tags: ["x", y], raw: {{aGk=}}, inner: {ok: true, deep: [{z: 1}]}, marked: note::5}
{id: "two", extra: (a b)}
"""


@pytest.fixture
def read(glue_context, s3):
    def read(reader="create_dynamic_frame", **options):
        return getattr(glue_context, reader).from_options(
            "s3", {"paths": [s3.uri]}, "ion", options, "records"
        )

    return read


@pytest.mark.rule("Formats", source="INFER", choice="symbols are strings; a typed null is null")
def test_structs_of_ion_are_rows_with_their_types(read, s3, capsys):
    s3.put("day=1/a.ion", TEXT)
    s3.put("day=2/b.10n.gz", "").write_bytes(gzip.compress(simpleion.dumps({"id": 3})))

    frame = read()
    frame.printSchema()

    assert capsys.readouterr().out.removeprefix("root\n").rstrip() == (
        "|-- id: choice\n|    |-- int\n|    |-- string\n"
        "|-- name: string\n|-- at: timestamp\n|-- price: decimal(3,2)\n|-- share: double\n"
        "|-- kind: string\n|-- tags: array\n|    |-- element: string\n"
        "|-- raw: binary\n|-- inner: struct\n|    |-- ok: boolean\n|    |-- deep: array\n"
        "|    |    |-- element: struct\n|    |    |    |-- z: int\n|-- marked: int\n"
        "|-- extra: array\n|    |-- element: string\n|-- day: int"
    )
    rows = {str(row.id): row for row in frame.toDF().collect()}
    first = rows["Row(int=1, string=None)"]
    assert first.at.astimezone(datetime.UTC).isoformat() == "2020-01-02T03:04:05+00:00"
    assert (first.price, first.share, first.kind, first.n) == (Decimal("1.50"), 0.1, "new", None)
    assert (first.tags, first.raw, first.inner) == (["x", "y"], b"hi", (True, [(1,)]))
    assert (first.marked, first.day) == (5, 1)
    assert rows["Row(int=None, string='two')"].extra == ["a", "b"]
    assert rows["Row(int=3, string=None)"].day == 2


@pytest.mark.rule(
    "Frames",
    source="INFER",
    choice="a null in Ion, XML, DynamoDB and MongoDB counts as missing too; the run warns when a "
    "function first meets one",
)
def test_records_of_items_and_documents_lack_fields_without_value(read, s3, tmp_path, monkeypatch):
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path))
    s3.put("a.ion", "{id: 1, v: 5} {id: 2} {id: 3, v: null}")

    frame = read()
    assert frame.filter(lambda r: r["id"] == 1).count() == 1

    assert [row.id for row in frame.filter(lambda r: r["v"] != 7).toDF().collect()] == [1]
    assert [row.id for row in frame.filter(lambda r: "v" in r).toDF().collect()] == [1]
    (told,) = [text for text in read_warnings(tmp_path) if "does not show" in text]
    assert "first met in v:" in told


def test_a_function_that_meets_no_field_without_value_is_not_warned(
    read, s3, tmp_path, monkeypatch
):
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path))
    s3.put("a.ion", "{id: 1, s: {v: 5}} {id: 2, s: {v: 6}}")

    assert read().map(lambda r: {"id": r["id"], "v": r["s"]["v"]}).count() == 2
    assert read_warnings(tmp_path) == []


def test_what_is_no_ion_or_no_struct_is_named(read, s3):
    s3.put("empty.ion", "")
    assert read().count() == 0

    s3.put("bad.ion", "{id: 1} {id:")
    with pytest.raises(Exception, match=r"bad\.ion as ion: IonException.*; repair"):
        read()

    s3.put("bad.ion", "{id: 1} 5")
    with pytest.raises(Exception, match=r"bad\.ion as ion: a value is not a struct: '5'; repair"):
        read()


def test_a_data_frame_of_ion_has_structs_where_a_dynamic_frame_has_choices(read, s3):
    s3.put("a.ion", '{id: 1} {id: "x"}')

    frame = read("create_data_frame")

    assert frame.dtypes == [("id", "struct<int:int,string:string>")]


def test_a_timestamp_keeps_its_microseconds_in_every_year_and_no_finer_digits(read, s3):
    s3.put("a.ion", "{t: 9999-12-31T23:59:59.999999999Z} {t: 2500-01-01T00:00:00.000001Z}")

    times = [row.t.astimezone(datetime.UTC).isoformat() for row in read().toDF().collect()]

    assert times == ["9999-12-31T23:59:59.999999+00:00", "2500-01-01T00:00:00.000001+00:00"]


def test_a_decimal_may_have_an_exponent_above_zero(read, s3):
    s3.put("a.ion", "{n: 1d2} {n: 12.5}")

    assert [row.n for row in read().toDF().collect()] == [100, Decimal("12.5")]
