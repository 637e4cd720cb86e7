"""Files that drift as people have reported it, one after the other: what is told, and what is kept.

Each second file is read by a bookmark after a first one. Its rows go through contracts of each
mode: rows in are rows out and rows taken out, and a value that is in no column is rescued.
"""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from decimal import Decimal

import fastavro
import pyarrow as pa
import pytest
from pyarrow import orc, parquet

from tests.sampled import sampled

pytestmark = pytest.mark.spark
SCRIPT = """
import json, sys
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext
from watermarks import Contract, SchemaContractError

args = getResolvedOptions(sys.argv, ["JOB_NAME", "format", "options", "ddl"])
glue = GlueContext(SparkContext.getOrCreate())
job = Job(glue)
job.init(args["JOB_NAME"], args)
rows = glue.create_dynamic_frame.from_options(
    "s3", {"paths": ["s3://lake/in/"], "recurse": True}, args["format"],
    json.loads(args["options"]), transformation_ctx="orders",
)
rescued = Contract(args["ddl"], columns="rescue", types="rescue").apply(rows).toDF().collect()
right, wrong = Contract(args["ddl"], types="discard_row").split(rows)
told = {"in": rows.count(), "right": right.count(), "wrong": wrong.count()}
for mode in ("evolve", "freeze"):
    try:
        contract = Contract(args["ddl"], columns=mode, types=mode)
        told[mode] = str(contract.apply(rows).toDF().select("v").collect())
    except SchemaContractError as error:
        told[mode] = str(error)
left = [json.loads(row["_rescued_data"] or "{}") for row in rescued]
for values in left:
    values.pop("_file_path", None)
told["rescued"] = sorted(map(str, zip([row["v"] for row in rescued], left)))
print(json.dumps(told))
job.commit()
"""
INT, NOW = pa.int32(), datetime(2026, 1, 1, tzinfo=UTC)


def lines(*rows: object) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def table(kind: str, **columns: pa.Array) -> bytes:
    buffer, module = io.BytesIO(), {"parquet": parquet, "orc": orc, "int96": parquet}[kind]
    named = {"use_deprecated_int96_timestamps": True} if kind == "int96" else {}
    module.write_table(pa.table(columns), buffer, **named)
    return buffer.getvalue()


def one(value: object, kind: pa.DataType = INT, name: str = "v", as_kind: str = "parquet") -> bytes:
    return table(as_kind, **{name: pa.array([value], kind)})


def avro(kind: list[str], *values: object) -> bytes:
    buffer, fields = io.BytesIO(), [{"name": "v", "type": kind}]
    fastavro.writer(
        buffer, {"type": "record", "name": "r", "fields": fields}, [{"v": v} for v in values]
    )
    return buffer.getvalue()


FINER = pa.decimal128(12, 4)
X, XY = pa.struct([("x", INT)]), pa.struct([("x", INT), ("y", INT)])
MAP, TEXTS = pa.map_(pa.string(), INT), pa.map_(pa.string(), pa.string())
NAME = "id,v\n1,10\n"
# What drifts, the type of v, the files by name; values and what is rescued, rows taken out, what
# freezing refuses, and the warning, each as far as it is asked.
CASES = {
    "a choice": ("INT",
        {"1.json": lines({"v": 1}), "2.json": lines({"v": 2}, {"v": "x"}, {"v": "7"})},
        ["(2, {})", "(7, {})", "(None, {'v': 'x'})"], 1,
        "the column v is string, and was int (1 row does not", "v was int and is choice"),
    "int to long": ("INT", {"1.json": lines({"v": 1}), "2.json": lines({"v": 2**40})},
        ["(None, {'v': 1099511627776})"], 1, "the column v is bigint, and was int", ""),
    "int to double": ("INT", {"1.json": lines({"v": 1}), "2.json": lines({"v": 1.5})},
        ["(None, {'v': 1.5})"], 1, "the column v is double, and was int", ""),
    "an object, a text and a list": ("STRUCT<x: INT>",
        {"1.json": lines({"v": {"x": 1}}),
         "2.json": lines({"v": {"x": 2}}, {"v": "gone"}, {"v": [1]}, {"v": None})},
        ["(None, {'v': [1]})", "(None, {'v': 'gone'})", "(None, {})", "(Row(x=2), {})"], 2,
         "the column v is array<int>, and was struct<x:int>", "v was struct"),
    "one or many": ("ARRAY<INT>",
        {"1.json": lines({"v": [1]}), "2.json": lines({"v": [1, 2]}, {"v": 5}, {"v": []}, {})},
        ["(None, {'v': 5})", "(None, {})", "([1, 2], {})", "([], {})"], 1,
        "the column v is int, and was array<int>", "v was array and is choice<array,int>"),
    "a scale": ("DECIMAL(10,2)", {"1.parquet": one(Decimal("1.50"), pa.decimal128(10, 2)),
        "2.parquet": table("parquet", v=pa.array([Decimal("1.5"), Decimal("1.2345")], FINER))},
        ["(Decimal('1.50'), {})", "(None, {'v': 1.2345})"], 1,
        "the column v is decimal(12,4)", "v was decimal(10,2) and is decimal(12,4)"),
    "no zone": ("TIMESTAMP", {"1.parquet": one(NOW, pa.timestamp("us", "UTC")),
        "2.parquet": one(NOW.replace(tzinfo=None), pa.timestamp("us"))},
        ["(datetime.datetime(2026, 1, 1, 0, 0), {})"], 0, "", "v was timestamp and is"),
    "int96": ("TIMESTAMP", {"1.parquet": one(NOW, pa.timestamp("us", "UTC")),
        "2.parquet": one(NOW, pa.timestamp("ns"), as_kind="int96")},
        ["(datetime.datetime(2026, 1, 1, 0, 0), {})"], 0, "", ""),
    "forms of dates": ("DATE", {"1.csv": "id,v\n1,2026-01-02\n",
        "2.csv": "id,v\n2,02/01/2026\n3,20260102\n4,2026-1-3\n5,\n"},
        ["(None, {'v': '02/01/2026', 'id': '2'})", "(None, {'v': '20260102', 'id': '3'})",
         "(None, {'v': '2026-1-3', 'id': '4'})", "(None, {'id': '5'})"], 3, "the column id", ""),
    "only the case": ("INT", {"1.parquet": one(1), "2.parquet": one(2, name="V")},
        ["(2, {})"], 0, "", "V is new (int)"),
    "dots": ("INT", {"1.json": lines({"v": 1, "a.b": 1}),
        "2.json": lines({"v": 2, "a.b": 3, "a": {"b": 4}})},
        ["(2, {'a.b': 3, 'a': {'b': 4}})"], 0, "the column a.b (int) is new", "a is new (struct)"),
    "a field more": ("STRUCT<x: INT>",
        {"1.parquet": one({"x": 1}, X), "2.parquet": one({"x": 2, "y": 3}, XY)},
        ["(Row(x=2), {'v.y': 3})"], 0, "the column v.y (int) is new", "v.y is new (int)"),
    "a field more in a list": ("ARRAY<STRUCT<x: INT>>",
        {"1.json": lines({"v": [{"x": 1}]}), "2.json": lines({"v": [{"x": 1, "y": 2}]})},
        ["([Row(x=1)], {'v': [{'x': 1, 'y': 2}]})"], 0, "the column v.element.y (int)",
        "v.element.y is new (int), in s3://lake/in/2.json (1 row)"),
    "values of a map": ("MAP<STRING,INT>", {"1.parquet": one([("a", 1)], MAP),
        "2.parquet": table("parquet", v=pa.array([[("a", "x")], [("a", "7")]], TEXTS))},
        ["(None, {'v': {'a': 'x'}})", "({'a': 7}, {})"], 1, "the column v.value is string",
        "v.value was int and is string"),
    "folders": ("INT", {"v=1/1.json": lines({"id": 1}), "v=x/2.json": lines({"id": 2})},
        ["(None, {'v': 'x', 'id': 2})"], 1, "the column", "v was int and is string"),
    "an empty file": ("INT", {"1.json": lines({"v": 1}), "2.json": ""}, [], 0, "", ""),
    "an empty table": ("INT", {"1.csv": NAME, "2.csv": ""}, [], 0, "", ""),
    "only a header": ("INT", {"1.csv": NAME, "2.csv": "id,v,tip\n"}, [], 0,
        "the column tip (string) is new", "tip is new (string)"),
    "the order of a header": ("INT", {"1.csv": NAME, "2.csv": "v,id\n20,2\n"},
        ["(20, {'id': '2'})"], 0, "the column id", ""),
    "no header": ("INT", {"1.csv": NAME, "2.csv": "2,20\n3,30\n"},
        ["(None, {'2': '3', '20': '30'})"], 0, "the column 2 (string) is new", "v is gone"),
    "a mark of bytes": ("INT", {"1.csv": NAME, "2.csv": "\ufeffv\n20\n"},
        ["(20, {})"], 0, "", "id is gone"),
    "a union": ("INT",
        {"1.avro": avro(["null", "int"], 1), "2.avro": avro(["null", "long"], 2, None)},
        ["(2, {})", "(None, {})"], 0, "", "v was int and is bigint"),
    "columns of ORC without names": ("INT", {"1.orc": one(1, as_kind="orc"),
        "2.orc": one(2, name="_col0", as_kind="orc")},
        ["(None, {'_col0': 2})"], 0, "the column _col0 (int) is new", "v is gone (int)"),
}  # fmt: skip


@pytest.mark.parametrize(
    "name", sampled(CASES, "a choice", "the order of a header", "only the case")
)
def test_a_file_that_drifts_is_told_and_no_row_and_no_value_is_lost(lake, glue_job, tmp_path, name):
    kind, files, rescued, taken, refusal, warning = CASES[name]
    script = tmp_path / "orders.py"
    script.write_text(SCRIPT, encoding="utf-8")
    suffix = next(iter(files)).rpartition(".")[2]
    options = json.dumps({"withHeader": True} if suffix == "csv" else {})
    for path, content in files.items():
        lake.put(f"s3://lake/in/{path}", content)
        ended = glue_job(
            str(script), bookmark="enable", format=suffix, options=options, ddl=f"v {kind}"
        ).check()

    told = json.loads(ended.stdout.splitlines()[-1])
    changes = [text for text in ended.warnings if "(TM277)" in text]
    assert told["rescued"] == sorted(rescued)
    assert (told["right"], told["wrong"]) == (told["in"] - taken, taken)
    assert (refusal in told["freeze"]) if refusal else told["freeze"].startswith("[")
    assert [warning in text for text in changes] == [True] * bool(warning)


def test_a_choice_of_numbers_becomes_the_type_that_holds_them_all(lake, glue_job, tmp_path):
    script = tmp_path / "orders.py"
    script.write_text(SCRIPT, encoding="utf-8")
    lake.put("s3://lake/in/1.parquet", one(1))
    lake.put("s3://lake/in/2.parquet", one(2**40, pa.int64()))

    ended = glue_job(str(script), format="parquet", options="{}", ddl="v INT").check()

    told = json.loads(ended.stdout.splitlines()[-1])
    assert "v=1)" in told["evolve"]
    assert f"v={2**40})" in told["evolve"]
    assert "the column v is bigint, and was int (1 row does not fit" in told["freeze"]
