"""Glue job template-job: copy rows that are new or changed.

Source:  a table behind JDBC with the column CURSOR, which an update of a row raises.
Target:  ``target_path``window=…/attempt=…/*.parquet. What a run reads is a window of CURSOR that is
         recorded before anything is written and committed after; a run that died is repeated with
         the same window, in place of whatever it left behind.
"""

import json
import sys
from datetime import datetime, timedelta

import boto3
from pyspark.context import SparkContext
from pyspark.sql import DataFrame, SparkSession

from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from watermarks import Watermarks, Window
from watermarks.files import write_window
from watermarks.spark import newest_jdbc, rows_of
from watermarks.sql import Subquery

CURSOR = "updated_at"
# Rows younger than this wait for the next run: longer than the source's longest transaction.
SETTLE = timedelta(minutes=5)


def main() -> None:
    """Run the job once with the arguments in ``sys.argv``."""
    names = ["JOB_NAME", "jdbc_url", "jdbc_driver", "jdbc_table", "target_path", "watermark_table"]
    args = getResolvedOptions(sys.argv, names)
    glue_context = GlueContext(SparkContext.getOrCreate())
    job = Job(glue_context)
    job.init(args["JOB_NAME"], args)

    options = {"url": args["jdbc_url"], "driver": args["jdbc_driver"], **credentials()}
    source = Table(glue_context.spark_session, options, args["jdbc_table"])
    watermarks = Watermarks(table_name=args["watermark_table"])
    for window in watermarks.windows(
        job_id=args["JOB_NAME"],
        run_id=args["JOB_RUN_ID"],
        cursor=CURSOR,
        high=source.newest,
        settle=SETTLE,
    ):
        write_window(source.rows(window), args["target_path"], window)
    job.commit()


class Table:
    """A table, or a SELECT in parentheses with a name; only rows of a window cross the wire."""

    def __init__(self, spark: SparkSession, options: dict[str, str], table: str) -> None:
        self._spark = spark
        self._options = options
        self._query = Subquery(f"SELECT * FROM {table}")  # noqa: S608 (the stack's own table)
        self._table = spark.read.format("jdbc").options(**options, dbtable=table).load()

    def newest(self, low: datetime | None) -> datetime | None:
        """Return the greatest CURSOR after ``low``, None if there is none; one query."""
        column = next(name for name in self._table.columns if name.lower() == CURSOR)
        found: datetime | None = newest_jdbc(
            self._spark, self._options, self._query, column, above=low
        )
        return found

    def rows(self, window: Window) -> DataFrame:
        """Return the rows of a window, column names in lower case."""
        names = (name.lower() for name in self._table.columns)
        return rows_of(self._table.toDF(*names), window, CURSOR)


def credentials() -> dict[str, str]:
    """Return user and password from the secret named by ``--jdbc_secret_id``, or nothing."""
    if "--jdbc_secret_id" not in sys.argv:
        return {}
    secret_id = getResolvedOptions(sys.argv, ["jdbc_secret_id"])["jdbc_secret_id"]
    secret = boto3.client("secretsmanager").get_secret_value(SecretId=secret_id)
    found = json.loads(secret["SecretString"])
    return {"user": found["username"], "password": found["password"]}


if __name__ == "__main__":
    main()
