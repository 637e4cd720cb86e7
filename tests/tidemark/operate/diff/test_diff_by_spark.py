"""How the rows of two targets differ, by Spark: as DuckDB says, and as compare-versions does."""

from __future__ import annotations

import json

import fastavro
import pytest

from tests.sampled import at_night
from tidemark.operate.diff.diff_job import compared
from tidemark.operate.diff.duck import NotForDuckError, compared_by_duck
from tidemark.operate.versions.row_job import compared as compared_by_versions

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("own_settings")]
COUNTS = ("rows", "key", "only", "changed", "columns", "twice", "twice_example")
OLD = """
SELECT CAST(id AS INT) AS id, id % 7 AS n, id / 3 AS f, CAST(id AS DECIMAL(20, 3)) AS d,
  IF(id = 4, DOUBLE('NaN'), -0.0D) AS x, CAST(id AS BINARY) AS b, array(id, NULL) AS a,
  named_struct('k', id) AS s, IF(id = 5, NULL, 'ä') AS t, timestamp_seconds(id) AS at
FROM range(9)
"""
NEW = (
    OLD.replace("id % 7 AS n", "IF(id = 3, 70, id % 7) AS n")
    .replace("-0.0D", "0.0D")
    .replace("'k', id", "'k', IF(id = 6, 0, id)")
    .replace(
        "FROM range(9)",
        "FROM range(1, 10) UNION ALL SELECT 2, 0, 0, 0, 0, NULL, NULL, NULL, '', NULL",
    )
)


@pytest.fixture
def pair(spark, tmp_path):
    """Return what writes the rows of two queries, and asks for their difference."""

    def written(old, new, kind="parquet", **asked):
        sides = {}
        for name, query in (("old", old), ("new", new)):
            folder = tmp_path / kind / name
            spark.sql(query).coalesce(1).write.mode("overwrite").format(kind).save(str(folder))
            files = sorted(map(str, folder.glob("[!_.]*")))
            sides[name] = {"folder": str(folder), "files": files, "all": False}
        return {"format": kind, "asked": asked, **sides}

    return written


@pytest.mark.parametrize("asked", [{"key": ["id"], "tolerance": 0.5}, *at_night({})])
def test_spark_and_duckdb_tell_the_same(spark, pair, tmp_path, asked):
    question = pair(OLD, NEW, **asked)

    by_duck = json.loads(json.dumps(compared_by_duck(question, tmp_path)))
    by_spark = json.loads(json.dumps(compared(spark, question)))

    assert "problem" not in by_spark
    assert {name: by_spark[name] for name in COUNTS} == {name: by_duck[name] for name in COUNTS}
    assert any(by_spark["only"])
    if asked:
        assert by_spark["columns"] == {"n": 1, "s": 1}


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SELECT 1 AS id, map('a', 1, 'b', 2) AS m", "SELECT 1 AS id, map('b', 2, 'a', 1) AS m"),
        ("SELECT 1 AS id, map('a', 1) AS m", "SELECT 1 AS id, map('a', 2) AS m"),
        ("SELECT 1 AS id, array(1, 2) AS m", "SELECT 1 AS id, array(2, 1) AS m"),
        ("SELECT 1 AS id, DOUBLE('NaN') AS m", "SELECT 1 AS id, DOUBLE('NaN') AS m"),
    ],
)
@pytest.mark.parametrize("kind", ["orc", "parquet", "json"])
def test_the_verdict_is_that_of_compare_versions(spark, pair, kind, old, new):
    question = pair(old, new, kind)

    law = compared_by_versions(spark, {**question, "times": [[0, 0], [0, 0]]})
    whole, by_key = (compared(spark, {**question, "asked": {"key": key}}) for key in ([], ["id"]))

    is_equal = not law["columns"]
    assert (whole["only"] == (0, 0)) is is_equal
    assert (by_key["changed"] == 0) is is_equal


def test_files_that_are_not_what_they_are_named_are_the_answer(spark, tmp_path):
    (tmp_path / "a.parquet").write_text("no Parquet")
    side = {"folder": str(tmp_path), "files": [str(tmp_path / "a.parquet")], "all": False}

    answer = compared(spark, {"format": "parquet", "asked": {}, "old": side, "new": side})

    assert "is not a Parquet file" in answer["problem"]


@pytest.mark.nightly
def test_avro_and_text_are_compared(spark, tmp_path):
    schema = {
        "type": "record",
        "name": "r",
        "fields": [{"name": "id", "type": "int"}, {"name": "s", "type": ["null", "string"]}],
    }
    sides = {"avro": {}, "lines": {}}
    for name, values in (("old", ["a", None]), ("new", ["b", None])):
        avro, text = tmp_path / f"{name}.avro", tmp_path / f"{name}.txt"
        with avro.open("wb") as file:
            fastavro.writer(file, schema, [{"id": n, "s": s} for n, s in enumerate(values)])
        text.write_text("".join(f"{value}\n" for value in values))
        for kind, file in (("avro", avro), ("lines", text)):
            sides[kind][name] = {"folder": str(tmp_path), "files": [str(file)], "all": False}

    by_key = compared(spark, {"format": "avro", "asked": {"key": ["id"]}, **sides["avro"]})
    by_line = compared(spark, {"format": "lines", "asked": {}, **sides["lines"]})

    assert (by_key["changed"], by_key["columns"]) == (1, {"s": 1})
    assert by_line["only"] == (1, 1)


def test_nested_numbers_are_equal_as_others_are(spark, pair, tmp_path):
    nested = "SELECT 1 AS id, array({0}, DOUBLE('NaN')) AS a, named_struct('k', {0}) AS s"
    same = pair(nested.format("-0.0D"), nested.format("0.0D"), key=["id"])
    other = pair(nested.format("-0.0D"), nested.format("1.0D"), "orc", key=["id"])

    with pytest.raises(NotForDuckError):
        compared_by_duck(same, tmp_path)
    assert compared(spark, same)["columns"] == {}
    assert compared(spark, other)["columns"] == {"a": 1, "s": 1}


def test_csv_that_is_not_of_utf_8_is_compared_by_its_bytes(spark, tmp_path):
    sides = {}
    for name, value, encoding in (
        ("old", "é", "latin-1"),
        ("new", "è", "latin-1"),
        ("same", "é", "utf-8"),
    ):
        file = tmp_path / f"{name}.csv"
        file.write_bytes(f"id,s\n1,{value}\n".encode(encoding))
        sides[name] = {"folder": str(tmp_path), "files": [str(file)], "all": False}
    asked = {"format": "csv", "asked": {"key": ["id"]}, "old": sides["old"]}

    assert compared(spark, {**asked, "new": sides["new"]})["columns"] == {"s": 1}
    assert compared(spark, {**asked, "new": sides["same"]})["columns"] == {}


def test_a_side_without_a_record_has_nothing_of_the_other(spark, tmp_path):
    schema = {"type": "record", "name": "r", "fields": [{"name": "id", "type": "int"}]}
    sides = {}
    for name, rows in (("old", []), ("new", [{"id": 1}])):
        file = tmp_path / f"{name}.avro"
        with file.open("wb") as opened:
            fastavro.writer(opened, schema, rows)
        sides[name] = {"folder": str(tmp_path), "files": [str(file)], "all": False}

    answer = compared(spark, {"format": "avro", "asked": {"key": ["id"]}, **sides})

    assert (answer["rows"], answer["only"]) == ((0, 1), (0, 1))


@pytest.mark.nightly
def test_times_of_the_runs_are_equal(spark, pair, tmp_path):
    query = "SELECT 1 AS id, timestamp_seconds({}) AS at, timestamp_seconds(5) AS past"
    question = pair(query.format(1000), query.format(2000), key=["id"])
    question["asked"]["times"] = [(999.0, 1001.0), (1999.0, 2001.0)]

    assert compared(spark, question)["columns"] == {}
    assert compared_by_duck(question, tmp_path)["columns"] == {}
    question["asked"]["times"] = [(999.0, 1001.0), (1999.0, 1999.5)]
    assert compared(spark, question)["columns"] == {"at": 1}
    assert compared_by_duck(question, tmp_path)["columns"] == {"at": 1}
