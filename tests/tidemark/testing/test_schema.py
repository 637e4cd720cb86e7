"""`assert_schema` names each column that differs, and `lake.put` puts files with other columns."""

from __future__ import annotations

import pytest

from tidemark.errors import UsageError
from tidemark.model.drift import COLUMN, VALUE
from tidemark.testing import assert_schema

pytestmark = pytest.mark.spark
ROWS = [{"id": 1, "amt": 5}, {"id": 2, "amt": 6}]


@pytest.mark.parametrize("suffix", ["json", "csv", "parquet", "orc", "avro", "json.gz"])
def test_a_place_of_the_lake_has_the_columns_of_its_files(lake, suffix):
    lake.put(f"raw/orders/day=3/1.{suffix}", ROWS)
    number = "INT" if suffix == "csv" else "BIGINT"
    day = "STRING" if suffix == "avro" else "INT"

    assert_schema("raw/orders/", f"ID {number}, amt {number}, day {day}")
    with pytest.raises(AssertionError) as error:
        assert_schema("s3://raw/orders/", f"amt STRING, tip DOUBLE, day {day}")

    assert str(error.value) == (
        f"s3://raw/orders/: amt is {number.lower()}, not string; tip (double) is missing; "
        f"id ({number.lower()}) is not in the schema"
    )


def test_a_frame_and_a_table_are_compared_too(catalog, spark):
    catalog.put_table("sales.orders", {"id": "bigint", "amt": "decimal(9,2)"}, "s3://raw/orders/")
    frame = spark.createDataFrame([], "id INT, address STRUCT<zip: INT>")

    assert_schema("sales.orders", "id BIGINT, amt DECIMAL(9,2)")
    assert_schema(frame, frame.schema)
    with pytest.raises(AssertionError, match=r"DataFrame: address.zip is int, not string$"):
        assert_schema(frame, "id INT, address STRUCT<zip: STRING>")


def test_the_folders_of_windows_are_no_columns(lake):
    lake.put("raw/orders/window=1/attempt=1/1.parquet", ROWS)

    assert_schema("raw/orders/", "id BIGINT, amt BIGINT")


def test_files_of_two_types_and_a_place_without_files_are_named(lake):
    lake.put("raw/orders/1.parquet", ROWS)
    lake.put("raw/orders/2.parquet", ROWS, drift="type")

    with pytest.raises(AssertionError, match=r"raw/orders/: files have two types for one column"):
        assert_schema("raw/orders/", "id BIGINT, amt BIGINT")
    with pytest.raises(UsageError, match="there is no file; let a job write first"):
        assert_schema("raw/nothing/", "id BIGINT")


@pytest.mark.parametrize("suffix", ["json", "csv", "parquet", "avro"])
def test_rows_are_put_with_other_columns(lake, suffix):
    def put(drift: str) -> list[dict]:
        lake.put(f"landing/{drift}.{suffix}", ROWS, drift=drift)
        return lake.rows(f"landing/{drift}.{suffix}")

    assert [row.get(COLUMN) for row in put("more")] == [VALUE, None]
    assert [list(row) for row in put("fewer")] == [["id"], ["id"]]
    assert [row["amt"] for row in put("type")] == [VALUE, 6 if suffix == "json" else "6"]


def test_rows_that_cannot_have_such_columns_are_refused(lake):
    with pytest.raises(UsageError, match=r"put\('a/1.json', drift='type'\): .* numbers"):
        lake.put("a/1.json", [{"note": "a"}], drift="type")
