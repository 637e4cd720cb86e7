"""Two runs share nothing outside of their copies, unless that is asked for."""

from __future__ import annotations

import pytest

from tidemark.errors import UsageError
from tidemark.operate.versions.shared import refuse_shared


@pytest.mark.parametrize(
    ("script", "named"),
    [
        ("df.write.jdbc(url, 'orders')", "jdbc"),
        ("spark.read.format('JDBC')", "JDBC"),
        ("glue.write_dynamic_frame.from_jdbc_conf(f)", "from_jdbc_conf"),
        ("import psycopg2", "psycopg2"),
        ("write(connection_type='mongodb')", "mongodb"),
    ],
)
def test_a_script_that_names_a_database_is_refused(tmp_path, script, named):
    file = tmp_path / "orders.py"
    file.write_text(script)

    with pytest.raises(UsageError, match=rf"orders\.py names {named}.*--with-databases"):
        refuse_shared([file], {})


@pytest.mark.parametrize("name", ["AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL"])
def test_an_endpoint_of_a_service_is_refused(name):
    with pytest.raises(UsageError, match=f"{name} is set"):
        refuse_shared([], {name: "http://127.0.0.1:8000"})


def test_a_script_of_the_lake_is_taken(tmp_path):
    file = tmp_path / "orders.py"
    file.write_text("spark.read.parquet('s3://lake/orders/').write.json('s3://lake/out/')")

    refuse_shared([file], {"AWS_REGION": "eu-west-1"})
