"""The snippets of docs/watermarks.md run as they stand, one after the other."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import boto3
import pytest

from tidemark.local_glue.dynamodb import create_tables, dynamodb_client, dynamodb_endpoint
from tidemark.local_glue.watermark_tables import watermark_table

pytestmark = pytest.mark.spark

DOCUMENT = Path(__file__).parents[2] / "docs" / "watermarks.md"
SNIPPET = re.compile(r"<!-- test: (?P<name>[^>]+) -->\n```python\n(?P<code>.*?)```", re.DOTALL)
SNIPPETS = {m["name"]: m["code"] for m in SNIPPET.finditer(DOCUMENT.read_text(encoding="utf-8"))}
DERBY = "jdbc:derby:memory:document;create=true"
ORDERS = """
    SELECT * FROM VALUES
        (1, TIMESTAMP'2013-01-05 10:00:00.000001'),
        (2, TIMESTAMP'2013-01-20 10:00:00'),
        (3, TIMESTAMP'2013-02-05 10:00:00')
    AS orders(id, updated_at)
"""
TABLE = watermark_table("glue-watermarks")


@pytest.fixture
def dynamodb(spark_home, monkeypatch):
    """A DynamoDB with the watermark table, which boto3 finds by the environment."""
    with dynamodb_endpoint(spark_home) as endpoint:
        with dynamodb_client(endpoint, "us-east-1") as client:
            create_tables(client, [TABLE])
        for name, value in {
            "AWS_ENDPOINT_URL_DYNAMODB": endpoint,
            "AWS_ACCESS_KEY_ID": "local",
            "AWS_SECRET_ACCESS_KEY": "local",
            "AWS_DEFAULT_REGION": "us-east-1",
        }.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
        yield


def run(snippet: str, names: dict[str, object], job: str) -> None:
    code = SNIPPETS[snippet].replace("ingest-orders", job)
    exec(compile(code, f"docs/watermarks.md: {snippet}", "exec"), names)  # noqa: S102


def test_snippets_run_one_after_the_other(spark, s3, dynamodb, capsys):
    job = f"document-{s3.folder.name}"
    names: dict[str, object] = {
        "spark": spark,
        "orders": spark.sql(ORDERS),
        "target_path": s3.uri,
        "run_id": "jr_1",
        "good_run_id": "jr_1",
        "datetime": datetime,
        "UTC": UTC,
    }

    run("window loop", names, job)
    run("operations", names, job)
    run("committed reader", names, job)

    assert "1 commit jr_1 {'updated_at'" in capsys.readouterr().out
    assert sorted(row["id"] for row in names["orders_so_far"].collect()) == [1, 2, 3]
    assert names["watermarks"].latest(job).watermarks == {
        "updated_at": datetime(2013, 2, 5, 10, tzinfo=UTC)
    }
    backfilled = spark.read.option("basePath", s3.uri).parquet(f"{s3.uri}window=backfill-*")
    assert sorted(row["id"] for row in backfilled.collect()) == [1, 2]


def test_recipe_for_jdbc_reads_a_table(spark, s3, dynamodb):
    from watermarks import Watermarks

    driver = "org.apache.derby.jdbc.EmbeddedDriver"
    spark.sql(ORDERS).write.jdbc(DERBY, '"orders"', properties={"driver": driver})
    connection = spark._jvm.java.sql.DriverManager.getConnection(DERBY)
    connection.createStatement().execute('CREATE VIEW ORDERS AS SELECT * FROM "orders"')
    connection.close()
    job = f"recipe-{s3.folder.name}"
    watermarks = Watermarks(table_name="glue-watermarks")
    names = {
        "spark": spark,
        "watermarks": watermarks,
        "options": {"url": DERBY, "driver": driver},
        "target_path": s3.uri,
        "run_id": "jr_1",
    }

    run("jdbc recipe", names, job)

    assert sorted(row["id"] for row in spark.read.parquet(s3.uri).collect()) == [1, 2, 3]
    assert watermarks.latest(job).version == 1


@pytest.fixture
def names(spark, s3, dynamodb):
    from watermarks import Watermarks, newest, rows_of, write_window

    return {
        "spark": spark,
        "watermarks": Watermarks(table_name="glue-watermarks"),
        "landing_path": f"{s3.uri}landing/",
        "target_path": f"{s3.uri}raw/",
        "run_id": "jr_1",
        "newest": newest,
        "rows_of": rows_of,
        "write_window": write_window,
        "datetime": datetime,
        "UTC": UTC,
    }


def test_recipe_for_files_reads_what_landed_since(spark, s3, names):
    job = f"files-{s3.folder.name}"
    s3.put("landing/landed_on=2013-01-05/a.csv", "1,2013-01-05T10:00:00Z\n")
    run("files recipe", names, job)
    s3.put("landing/landed_on=2013-01-05/b.csv", "2,2013-01-05T11:00:00Z\n")
    s3.put("landing/landed_on=2013-01-06/c.csv", "3,2013-01-06T10:00:00Z\n")

    run("files recipe", {**names, "run_id": "jr_2"}, job)
    run("files recipe", {**names, "run_id": "jr_3"}, job)

    assert sorted(row["id"] for row in spark.read.parquet(f"{s3.uri}raw/").collect()) == [1, 2, 3]
    assert names["watermarks"].latest(job).version == 2


def test_recipe_for_an_api_asks_for_ranges_that_meet(spark, s3, names):
    job = f"api-{s3.folder.name}"
    asked = []

    def fetch_orders(since, until):
        asked.append((since, until))
        return spark.range(1)

    run("api recipe", {**names, "fetch_orders": fetch_orders}, job)
    run("api recipe", {**names, "fetch_orders": fetch_orders, "run_id": "jr_2"}, job)

    assert asked[0][0] == datetime(2013, 1, 1, tzinfo=UTC)
    assert asked[0][1] == asked[1][0] < asked[1][1]
