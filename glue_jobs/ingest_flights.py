"""Glue job: copy the flights that changed since the last watermark from the source into raw.

Source:  CSV files under ``source_path`` or a JDBC table; both have the column ``updated_at``.
Target:  ``target_path``window=NNNNNNNNNN/flight_date=YYYY-MM-DD/*.parquet, one window per watermark
         version. A run that died before it advanced the watermark is repeated under the same
         window, which replaces whatever it left behind.
"""

import json
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
from pyspark.context import SparkContext
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from watermarks import Watermarks

FLIGHTS_SCHEMA = """
    year INT, month INT, day INT, dep_time INT, sched_dep_time INT, dep_delay INT, arr_time INT,
    sched_arr_time INT, arr_delay INT, carrier STRING, flight INT, tailnum STRING, origin STRING,
    dest STRING, air_time INT, distance INT, hour INT, minute INT, time_hour TIMESTAMP,
    updated_at TIMESTAMP, landed_on DATE
"""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def main() -> None:
    """Run the job once with the arguments in ``sys.argv``."""
    args = getResolvedOptions(sys.argv, ["JOB_NAME", "source", "target_path", "watermark_table"])
    glue_context = GlueContext(SparkContext.getOrCreate())
    job = Job(glue_context)
    job.init(args["JOB_NAME"], args)

    watermarks = Watermarks(table_name=args["watermark_table"])
    latest = watermarks.latest(job_id=args["JOB_NAME"])
    low: datetime | None = latest.watermarks["updated_at"] if latest else None

    flights = read_source(glue_context.spark_session, args["source"], low)
    changed = changed_since(flights, low).cache()
    high = greatest_update(changed)
    if high is not None:
        window = (latest.version if latest else 0) + 1
        write_window(changed, f"{args['target_path']}window={window:010d}/", high)
        watermarks.advance(
            job_id=args["JOB_NAME"],
            run_id=args["JOB_RUN_ID"],
            to={"updated_at": high},
            base=latest,
        )
    job.commit()


def read_source(spark: SparkSession, source: str, low: datetime | None) -> DataFrame:
    """Return the flights of the source ``files`` or ``jdbc``, lazily.

    Args:
        spark: the session to read with.
        source: ``files`` or ``jdbc``.
        low: the last watermark; folders landed before its date are not listed.

    Raises:
        ValueError: for any other source.
    """
    if source == "files":
        options = getResolvedOptions(sys.argv, ["source_path"])
        return read_files(spark, options["source_path"], low)
    if source == "jdbc":
        return read_jdbc(spark)
    raise ValueError(f"--source is {source!r}; allowed are 'files' and 'jdbc'")


def read_files(spark: SparkSession, path: str, low: datetime | None) -> DataFrame:
    """Return the landed CSV rows; ``landed_on`` is the UTC date of a row's ``updated_at``."""
    try:
        flights = spark.read.schema(FLIGHTS_SCHEMA).option("header", True).csv(path)
    except AnalysisException as error:
        if error.getErrorClass() != "PATH_NOT_FOUND":
            raise
        return spark.createDataFrame([], FLIGHTS_SCHEMA)  # nothing has ever landed
    return flights if low is None else flights.where(F.col("landed_on") >= F.lit(low.date()))


def read_jdbc(spark: SparkSession) -> DataFrame:
    """Return the JDBC table named by the job arguments, its column names in lower case."""
    names = ["jdbc_url", "jdbc_table", "jdbc_driver"]
    options = getResolvedOptions(sys.argv, names)
    reader = (
        spark.read.format("jdbc")
        .option("url", options["jdbc_url"])
        .option("dbtable", options["jdbc_table"])
        .option("driver", options["jdbc_driver"])
    )
    for key, value in jdbc_credentials().items():
        reader = reader.option(key, value)
    table = reader.load()
    return table.toDF(*(name.lower() for name in table.columns))


def jdbc_credentials() -> dict[str, Any]:
    """Return user and password from the secret named by ``--jdbc_secret_id``, or nothing."""
    if "--jdbc_secret_id" not in sys.argv:
        return {}
    secret_id = getResolvedOptions(sys.argv, ["jdbc_secret_id"])["jdbc_secret_id"]
    secret = boto3.client("secretsmanager").get_secret_value(SecretId=secret_id)
    credentials = json.loads(secret["SecretString"])
    return {"user": credentials["username"], "password": credentials["password"]}


def changed_since(flights: DataFrame, low: datetime | None) -> DataFrame:
    """Return the rows with ``updated_at`` after ``low``, plus ``flight_date DATE``."""
    changed = flights if low is None else flights.where(F.col("updated_at") > F.lit(low))
    return changed.drop("landed_on").withColumn("flight_date", F.make_date("year", "month", "day"))


def greatest_update(changed: DataFrame) -> datetime | None:
    """Return the greatest ``updated_at`` as an aware UTC datetime, or None without rows."""
    row = changed.agg(F.unix_micros(F.max("updated_at")).alias("micros")).first()
    if row is None or row["micros"] is None:
        return None
    return EPOCH + timedelta(microseconds=row["micros"])


def write_window(changed: DataFrame, path: str, high: datetime) -> None:
    """Replace the folder ``path`` by the rows up to ``high``, one file per flight date."""
    (
        changed.where(F.col("updated_at") <= F.lit(high))
        .repartition("flight_date")
        .write.mode("overwrite")
        .partitionBy("flight_date")
        .parquet(path)
    )


if __name__ == "__main__":
    main()
