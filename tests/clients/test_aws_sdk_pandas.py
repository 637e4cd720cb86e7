"""awswrangler (AWS SDK for pandas), s3fs and pyiceberg, unmodified, against the port."""

from __future__ import annotations

import pytest

from tests.waiting import wait_until

pytestmark = pytest.mark.clients


def test_awswrangler_writes_and_reads_tables_of_the_data_catalog(facts, port):
    port.home.create_bucket("wrangler")

    found = facts("awswrangler", "wrangler.py", "wrangler")

    days = [["2026-01-01"], ["2026-01-02"]]
    assert found["partitions written"] == [[days[0]], [days[1]], [days[1]]]
    assert found["rows"] == [
        [1, 1.5, "2026-01-01"],
        [1, 9.5, "2026-01-02"],
        [2, 2.5, "2026-01-01"],
        [2, 10.5, "2026-01-02"],
    ]
    assert (found["rows of a partition"], found["read by path"]) == (2, 4)
    assert found["types"] == {"id": "bigint", "amount": "double", "day": "string"}
    assert (found["partitions"], found["filtered"]) == (days, days[:1])
    assert found["location"] == "s3://wrangler/deliveries/"
    assert (found["description"], found["comments"]["id"]) == (
        "deliveries of a day",
        "the delivery",
    )
    assert found["parameters"] == {"team": "data", "owner": "me", "classification": "parquet"}
    assert (found["versions"], found["versions of the wider one"]) == (1, 2)
    assert (found["tables"], found["columns"]) == (["deliveries"], ["id", "amount", "day"])
    assert found["search"] == ["deliveries"]
    assert "wrangler" in found["databases"]
    assert (found["csv"], found["json"]) == (2, 2)
    assert found["stored"] == {"id": "bigint", "amount": "double"}
    assert list(found["evolved"]) == ["id", "amount", "note", "day"]
    deleted = [found[f"deleted {name}"] for name in ("deliveries", "deliveries_csv", "crawled")]
    assert (deleted, found["deleted twice"]) == ([True] * 3, False)
    assert (found["left"], found["exists"], found["size"]) == ([], False, True)


def test_s3fs_and_pandas_read_and_write_objects(facts, port):
    port.home.create_bucket("file-systems")

    found = facts("awswrangler", "file_systems.py", "file-systems")

    assert found["listed"] == [f"file-systems/{key}" for key in ("a/big", "a/é b.txt", "b/c/d")]
    assert found["folders"] == ["file-systems/a", "file-systems/b"]
    assert found["globbed"] == ["file-systems/a/é b.txt"]
    assert (found["range"], found["tail"]) == ("234", "789")
    assert (found["size"], found["type"]) == (12 * 2**20, "directory")
    assert (found["metadata"], found["tags"]) == ("me", {"k": "v"})
    assert (found["moved"], found["merged"]) == ("d+", 24 * 2**20)
    assert (found["exclusive"], found["none"]) == ("FileExistsError", "FileNotFoundError")
    assert (found["signed"], found["pandas"]) == ("moved", 1)
    assert "file-systems/a/big" not in found["left"]
    assert found["bucket is gone"]
    assert (port.home.lake / "file-systems" / "moved").read_bytes() == b"d+"


def test_pyiceberg_keeps_its_tables_in_the_data_catalog(facts, port):
    port.home.create_bucket("iceberg")

    found = facts("awswrangler", "iceberg.py", "iceberg")

    assert found["properties"] == {"comment": "a namespace", "owner": "you"}
    assert found["stale"] == "none"  # refused by VersionId, then committed on what is there
    assert (found["rows"], found["left"]) == (6, 3)
    assert found["columns"] == ["id", "day", "note"]
    assert found["tables"] == ["ice.events"]
    assert "ice" in found["namespaces"]
    assert (found["renamed"], found["registered"]) == (3, 3)
    assert found["not empty"] == "NamespaceNotEmptyError"
    assert found["made by Glue"] == {
        "empty": 0,
        "rows": 2,
        "types": ["long", "string", "map<string, decimal(10, 2)>"],
        "version": 2,
    }


JOB = """
import sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
name = "glue_catalog.jobs.orders"
if "--again" not in sys.argv:
    spark.sql("CREATE DATABASE glue_catalog.jobs")
    spark.sql(f"CREATE TABLE {name} (id INT, name STRING) USING iceberg")
spark.sql(f"INSERT INTO {name} VALUES (1, 'by Spark')")
print(spark.table(name).count())
"""
CATALOG = "spark.sql.catalog.glue_catalog"
CONF = " --conf ".join(
    [
        f"{CATALOG}=org.apache.iceberg.spark.SparkCatalog",
        f"{CATALOG}.catalog-impl=org.apache.iceberg.aws.glue.GlueCatalog",
        f"{CATALOG}.warehouse=s3://jobs/warehouse/",
    ]
)


def test_pyiceberg_and_jobs_write_to_one_table(facts, port):
    port.home.create_bucket("jobs")
    (port.home.lake / "jobs" / "orders.py").write_text(JOB)
    command = {"Name": "glueetl", "ScriptLocation": "s3://jobs/orders.py"}
    arguments = {"--datalake-formats": "iceberg", "--conf": CONF}
    glue = port.glue
    glue.create_job(
        Name="orders", Role="r", Command=command, GlueVersion="5.1", DefaultArguments=arguments
    )

    first = ended(glue, glue.start_job_run(JobName="orders")["JobRunId"])
    found = facts("awswrangler", "iceberg_of_jobs.py")
    again = glue.start_job_run(JobName="orders", Arguments={"--again": "1"})
    second = ended(glue, again["JobRunId"])

    assert (first["JobRunState"], second["JobRunState"]) == ("SUCCEEDED", "SUCCEEDED"), second
    assert found["rows"] == [{"id": 1, "name": "by Spark"}]
    assert port.printed(second["Id"]).split() == ["3"]


def ended(glue, run_id):
    """Return a job run once it has ended."""
    runs = []

    def is_over():
        runs.append(glue.get_job_run(JobName="orders", RunId=run_id)["JobRun"])
        return runs[-1]["JobRunState"] not in ("STARTING", "RUNNING", "WAITING")

    wait_until(is_over)
    return runs[-1]
