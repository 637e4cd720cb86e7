"""Glue job: windows of a source like that of DMS into three tables of Iceberg, while others write.

Before its windows it does what its day asks for: compacts, expires, evolves schema and partitions,
writes to a branch, makes a tag. All of it may be repeated. Prints the rows of the tables at its end.
"""

import json
import sys
import threading
from contextlib import suppress

import boto3
from pyspark.context import SparkContext
from pyspark.sql import functions as F

from awsglue.context import GlueContext
from awsglue.utils import getResolvedOptions
from watermarks import Watermarks, append_window, create_table_request, merge_window, newest
from watermarks import rows_of as rows_of_window

args = getResolvedOptions(sys.argv, ["JOB_NAME", "day"])
day = int(args["day"])
spark = GlueContext(SparkContext.getOrCreate()).spark_session
dynamodb = boto3.client("dynamodb")
with suppress(dynamodb.exceptions.ResourceInUseException):
    dynamodb.create_table(**create_table_request("marks"))
spark.sql("CREATE DATABASE IF NOT EXISTS glue_catalog.sales")
LOG, LAST, VERSIONS = (f"glue_catalog.sales.{name}" for name in ("log", "last", "versions"))
TABLES = (LOG, LAST, VERSIONS)
spark.sql(
    f"CREATE TABLE IF NOT EXISTS {LOG} (op STRING, id INT, name STRING, at INT, seq INT) USING iceberg"
)
spark.sql(
    f"CREATE TABLE IF NOT EXISTS {LAST} (id INT, name STRING, at INT, gone BOOLEAN) USING iceberg"
)
spark.sql(
    f"CREATE TABLE IF NOT EXISTS {VERSIONS} (id INT, name STRING, since INT, till INT) USING iceberg"
)


def columns(table):
    return dict(spark.table(table).dtypes)


def maintain(table):
    name = table.removeprefix("glue_catalog.")
    has = columns(table)
    if day == 2 and "note" not in has:
        spark.sql(f"ALTER TABLE {table} ADD COLUMN note STRING")
    if day == 3 and "title" not in has:
        spark.sql(f"ALTER TABLE {table} RENAME COLUMN name TO title")
    if day == 3:
        spark.sql(f"ALTER TABLE {table} ALTER COLUMN id TYPE BIGINT")
        spark.sql(f"ALTER TABLE {table} CREATE BRANCH IF NOT EXISTS audit")
        spark.sql(f"ALTER TABLE {table} CREATE TAG IF NOT EXISTS third")
        spark.sql(f"INSERT INTO {table}.branch_audit SELECT * FROM {table}")
    if day == 4 and "note" in has:
        spark.sql(f"ALTER TABLE {table} DROP COLUMN note")
    if day == 4:
        with suppress(Exception):  # of the attempt before
            spark.sql(f"ALTER TABLE {table} ADD PARTITION FIELD bucket(2, id)")
    if day > 1:
        spark.sql(
            f"CALL glue_catalog.system.rewrite_data_files(table => '{name}', "
            "options => map('rewrite-all', 'true'))"
        )
        spark.sql(
            f"CALL glue_catalog.system.expire_snapshots(table => '{name}', "
            "older_than => TIMESTAMP '2100-01-01', retain_last => 2)"
        )


def as_now(frame, table):
    """Return the rows of a window with the columns that the table has now."""
    if "title" in columns(table):
        frame = frame.withColumnRenamed("name", "title")
    return frame.withColumn("note", F.lit("n")) if "note" in columns(table) else frame


def write_beside(stop):
    """Commit to the tables, and change no row of them, until it is stopped."""
    number = 0
    while not stop.wait(0.4):
        number += 1
        with suppress(Exception):  # the other writer was faster
            spark.sql(f"ALTER TABLE {TABLES[number % 3]} SET TBLPROPERTIES ('beside' = '{number}')")
            spark.sql(f"DELETE FROM {LOG} WHERE id = -{number}")
            spark.sql(f"INSERT INTO {LOG} (op, id, at, seq) VALUES ('B', -{number + 1}, 0, 0)")


print("begun", flush=True)
for one in TABLES:
    maintain(one)
stop = threading.Event()
other = threading.Thread(target=write_beside, args=(stop,), daemon=True)
other.start()
schema = "op STRING, id INT, name STRING, at INT, seq INT"
frame = spark.read.schema(schema).json("s3://lake/dms/").withColumn("gone", F.lit(False))
for window in Watermarks("marks").windows(
    args["JOB_NAME"], run_id=args["JOB_RUN_ID"], cursor="seq", high=newest(frame, "seq")
):
    rows = rows_of_window(frame, window)
    log = as_now(rows.drop("gone"), LOG)
    append_window(log.select(*columns(LOG)), LOG, window)
    given = {"keys": ["id"], "column": "at", "deleted": "op = 'D'"}
    merge_window(as_now(rows, LAST), LAST, window, keep_deleted="gone", **given)
    changes = as_now(rows, VERSIONS)
    merge_window(changes, VERSIONS, window, history=("since", "till"), **given)
stop.set()
other.join()


def found(table, *names):
    title = "title" if "title" in columns(table) else "name"
    rows = spark.table(table).where("id >= 0").select("id", title, *names).collect()
    return sorted(([*row] for row in rows), key=json.dumps)


facts = {
    "log": found(LOG, "op", "at", "seq"),
    "last": [row[:3] for row in found(LAST, "at", "gone") if not row[3]],
    "versions": found(VERSIONS, "since", "till"),
    "branches": [
        row.name
        for table in TABLES
        for row in spark.table(f"{table}.refs").collect()
        if row.name not in ("main", "audit", "third")
    ],
}
print("facts " + json.dumps(facts), flush=True)
