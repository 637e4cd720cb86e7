"""Glue job: copy the flights that changed since the last watermark from the source into raw.

Source:  CSV files under ``source_path`` or a JDBC table; both have the column ``updated_at``.
Target:  ``target_path``window=…/attempt=…/flight_date=YYYY-MM-DD/*.parquet. What a run reads is a
         window of ``updated_at`` that is recorded before anything is written and committed after;
         a run that died is repeated with the same window, in place of whatever it left behind.
"""

import json
import sys
from datetime import datetime
from typing import Any, Protocol

import boto3
from pyspark.context import SparkContext
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from watermarks import (
    Subquery,
    Watermarks,
    Window,
    newest,
    newest_jdbc,
    read_jdbc,
    rows_of,
    write_window,
)

CURSOR = "updated_at"
FLIGHTS_SCHEMA = """
    year INT, month INT, day INT, dep_time INT, sched_dep_time INT, dep_delay INT, arr_time INT,
    sched_arr_time INT, arr_delay INT, carrier STRING, flight INT, tailnum STRING, origin STRING,
    dest STRING, air_time INT, distance INT, hour INT, minute INT, time_hour TIMESTAMP,
    updated_at TIMESTAMP, landed_on DATE
"""


class Source(Protocol):
    """Where flights come from."""

    @property
    def newest(self) -> Any:
        """What finds the greatest ``updated_at`` when a window is opened."""
        ...

    def rows(self, window: Window) -> DataFrame:
        """Return the flights of a window."""
        ...


def main() -> None:
    """Run the job once with the arguments in ``sys.argv``."""
    args = getResolvedOptions(sys.argv, ["JOB_NAME", "source", "target_path", "watermark_table"])
    glue_context = GlueContext(SparkContext.getOrCreate())
    job = Job(glue_context)
    job.init(args["JOB_NAME"], args)

    source = open_source(glue_context.spark_session, args["source"])
    watermarks = Watermarks(table_name=args["watermark_table"], report=sys.stdout)
    for window in watermarks.windows(
        args["JOB_NAME"], run_id=args["JOB_RUN_ID"], cursor=CURSOR, high=source.newest
    ):
        flights = with_flight_date(source.rows(window)).repartition("flight_date")
        write_window(flights, args["target_path"], window, partition_by=["flight_date"])
    job.commit()


def open_source(spark: SparkSession, source: str) -> Source:
    """Return the source that the job arguments describe.

    Raises:
        ValueError: ``--source`` is neither ``files`` nor ``jdbc``.
    """
    if source == "files":
        # Asked for together: by itself, source_path would take --source for its abbreviation.
        args = getResolvedOptions(sys.argv, ["source", "source_path"])
        return LandedFiles(spark, args["source_path"])
    if source == "jdbc":
        names = ["jdbc_url", "jdbc_table", "jdbc_driver"]
        args = getResolvedOptions(sys.argv, names)
        options = {"url": args["jdbc_url"], "driver": args["jdbc_driver"], **jdbc_credentials()}
        return JdbcTable(spark, options, args["jdbc_table"])
    raise ValueError(f"--source is {source!r}; allowed are 'files' and 'jdbc'")


class LandedFiles:
    """CSV files in folders ``landed_on=…``, which is the UTC date of their rows' ``updated_at``."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self._spark = spark
        self._path = path
        self._low: datetime | None = None
        self._changed: DataFrame | None = None

    def newest(self, low: datetime | None) -> datetime | None:
        """Return the greatest ``updated_at`` after ``low``; its rows stay cached for `rows`."""
        self._low, self._changed = low, changed_since(self._landed(low), low).cache()
        found: datetime | None = newest(self._changed, CURSOR)
        return found

    def rows(self, window: Window) -> DataFrame:
        """Return the flights of a window, from the rows that its bound was captured from."""
        if self._changed is not None and window.read_low == self._low:
            return rows_of(self._changed, window)
        return rows_of(self._landed(window.read_low), window)

    def _landed(self, low: datetime | None) -> DataFrame:
        try:
            flights = self._spark.read.schema(FLIGHTS_SCHEMA).option("header", True).csv(self._path)
        except AnalysisException as error:
            if "[PATH_NOT_FOUND]" not in str(error):
                raise
            return self._spark.createDataFrame([], FLIGHTS_SCHEMA)  # nothing has ever landed
        return flights if low is None else flights.where(F.col("landed_on") >= F.lit(low.date()))


class JdbcTable:
    """A database table; only the rows of a window cross the wire.

    Rows of the last 5 minutes wait for the next run, which is the library's default: a transaction
    that is still open may add to them.
    """

    def __init__(self, spark: SparkSession, options: dict[str, str], table: str) -> None:
        self._spark = spark
        self._options = options
        self._query = Subquery(f"SELECT * FROM {table}")  # noqa: S608 (the stage's own table)
        self.newest = newest_jdbc(spark, options, self._query)

    def rows(self, window: Window) -> DataFrame:
        """Return the flights of a window, column names in lower case."""
        flights = read_jdbc(self._spark, self._options, self._query, window)
        return flights.toDF(*(name.lower() for name in flights.columns))


def jdbc_credentials() -> dict[str, Any]:
    """Return user and password from the secret named by ``--jdbc_secret_id``, or nothing."""
    if "--jdbc_secret_id" not in sys.argv:
        return {}
    secret_id = getResolvedOptions(sys.argv, ["jdbc_secret_id"])["jdbc_secret_id"]
    secret = boto3.client("secretsmanager").get_secret_value(SecretId=secret_id)
    credentials = json.loads(secret["SecretString"])
    return {"user": credentials["username"], "password": credentials["password"]}


def changed_since(flights: DataFrame, low: datetime | None) -> DataFrame:
    """Return the rows with ``updated_at`` after ``low``."""
    return flights if low is None else flights.where(F.col(CURSOR) > F.lit(low))


def with_flight_date(flights: DataFrame) -> DataFrame:
    """Return the flights with ``flight_date DATE`` instead of ``landed_on``."""
    return flights.drop("landed_on").withColumn("flight_date", F.make_date("year", "month", "day"))


if __name__ == "__main__":
    main()
