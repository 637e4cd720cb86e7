"""Glue job template-job: copy rows that are new or changed.

Source:  a JDBC table with the column CURSOR, which an update of a row raises.
Target:  ``target_path``window=…/attempt=…/*.parquet. A run reads a window of CURSOR that is
         recorded before anything is written and committed after; a run that died is repeated with
         the same window, in place of its leftovers. `tidemark backfill` loads a range of days
         again, in addition to the incremental runs.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import boto3
from pyspark.context import SparkContext

from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from watermarks import Subquery, Watermarks, Window, newest_jdbc, read_jdbc, write_window

CURSOR = "updated_at"


def main() -> None:
    """Run the job once with the arguments in ``sys.argv``."""
    names = ["JOB_NAME", "jdbc_url", "jdbc_driver", "jdbc_table", "target_path", "watermark_table"]
    args = getResolvedOptions(sys.argv, [*names, "backfill_from", "backfill_to"])
    glue_context = GlueContext(SparkContext.getOrCreate())
    job = Job(glue_context)
    job.init(args["JOB_NAME"], args)

    spark = glue_context.spark_session
    options = {"url": args["jdbc_url"], "driver": args["jdbc_driver"], **credentials()}
    table = Subquery(f"SELECT * FROM {args['jdbc_table']}")  # noqa: S608 (the stack's own table)
    for window in windows_of(args, newest_jdbc(spark, options, table)):
        rows = read_jdbc(spark, options, table, window)
        rows = rows.toDF(*(name.lower() for name in rows.columns))
        write_window(rows, args["target_path"], window)
    job.commit()


def windows_of(args: Mapping[str, Any], high: Any) -> Iterator[Window]:
    """Return the window of new rows; in a run of `tidemark backfill`, that of its range."""
    job, run_id = args["JOB_NAME"], args["JOB_RUN_ID"]
    watermarks = Watermarks(args["watermark_table"])
    if args["backfill_from"] == "none":
        # Rows of the last 5 minutes wait for the next run: a transaction may still add to them.
        # Give settle=timedelta(...) if transactions of the source last longer.
        return watermarks.windows(job, run_id=run_id, cursor=CURSOR, high=high)
    low, end = (
        datetime.fromisoformat(args[name]).replace(tzinfo=UTC)
        for name in ("backfill_from", "backfill_to")
    )
    return watermarks.backfill(
        job, backfill_id=run_id, run_id=run_id, cursor=CURSOR, low=low, high=end, bounds="[)"
    )


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
