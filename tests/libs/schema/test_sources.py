"""The columns of a contract come from a file beside the job, or from a table."""

from __future__ import annotations

import pytest
from pyspark.sql.types import StructType

from watermarks.errors import WatermarkValueError
from watermarks.schema import Contract

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("form", ["DDL", "JSON"])
def test_a_file_has_ddl_or_the_json_of_a_struct_type(spark, tmp_path, form):
    frame = spark.createDataFrame([(1, "12")], "id INT, amt STRING")
    ddl = "id BIGINT, -- its number\n amt INT\n"
    json_text = spark.createDataFrame([], ddl).schema.json()
    file = tmp_path / "orders.schema"
    file.write_text({"DDL": ddl, "JSON": json_text}[form], encoding="utf-8")

    contract = Contract.from_file(str(file), columns="rescue", types="rescue")

    assert (contract.columns, contract.types, contract.missing) == ("rescue", "rescue", "null")
    assert [tuple(row) for row in contract.apply(frame).collect()] == [(1, 12, None)]
    assert isinstance(contract.schema, StructType) == (form == "JSON")


@pytest.mark.parametrize("content", [None, b"\xff", b"{", b"{}", b'{"fields": 1}'])
def test_a_file_that_says_no_columns_is_refused(tmp_path, content):
    file = tmp_path / "orders.schema"
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(WatermarkValueError, match="allowed is a file beside the job") as error:
        Contract.from_file(str(file))
    assert str(file) in str(error.value)


def test_a_table_has_its_columns_with_partitions_and_without_what_is_rescued(spark, tmp_path):
    spark.sql(
        f"CREATE TABLE of_contract (id BIGINT, _rescued_data STRING, day DATE) USING parquet "
        f"PARTITIONED BY (day) LOCATION '{tmp_path / 't'}'"
    )
    try:
        contract = Contract.from_table(spark, "of_contract", types="rescue")
        kept = Contract.from_table(spark, "of_contract", rescued="_left")
    finally:
        spark.sql("DROP TABLE of_contract")

    assert contract.schema.simpleString() == "struct<id:bigint,day:date>"
    assert kept.schema.names == ["id", "_rescued_data", "day"]
    with pytest.raises(WatermarkValueError, match="--enable-glue-datacatalog"):
        Contract.from_table(spark, "of_contract")
