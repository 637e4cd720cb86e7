"""Two runs share nothing outside of their copies, unless that is asked for."""

from __future__ import annotations

import pytest

from tidemark.errors import UsageError
from tidemark.operate.versions.shared import refuse_shared


@pytest.mark.parametrize(
    "script",
    [
        "df.write.mode('append').jdbc(url, 'orders')",
        "(df.write\n    .format('JDBC')\n    .save())",
        "glue.write_dynamic_frame.from_jdbc_conf(f, catalog_connection='c')",
        "glue.write_dynamic_frame_from_options(f, connection_type='mongodb')",
        "glue.getSink(connection_type='redshift')",
        "upsert_jdbc(rows, url)",
        "import psycopg2",
    ],
)
def test_a_script_that_writes_to_a_database_is_refused(tmp_path, script):
    file = tmp_path / "orders.py"
    file.write_text(f"\n{script}")

    with pytest.raises(UsageError, match=r"orders:2 writes to a database.*--with-databases"):
        refuse_shared({"orders": file}, {})


@pytest.mark.parametrize("name", ["AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL"])
def test_an_endpoint_of_a_service_is_refused(name):
    with pytest.raises(UsageError, match=f"{name} is set"):
        refuse_shared({}, {name: "http://127.0.0.1:8000"})


def test_a_script_that_reads_a_database_and_writes_to_the_lake_is_taken(tmp_path):
    file = tmp_path / "orders.py"
    lines = (
        "rows = spark.read.jdbc(url, 'orders')  # what df.write.jdbc wrote",
        "rows = glue.create_dynamic_frame.from_options('mysql', options)",
        "rows.write.parquet('s3://lake/out/')",
    )
    file.write_text("\n".join(lines))

    refuse_shared({"orders": file}, {"AWS_REGION": "eu-west-1"})
