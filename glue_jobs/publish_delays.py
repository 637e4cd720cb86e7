"""Glue job: publish daily delays per route from the curated days that changed.

Source:  Parquet under ``source_path``; the bookmark of context ``curated_flights`` says which days
         were rewritten, and those days are read whole.
Target:  ``target_path``flight_date=YYYY-MM-DD/*.parquet, one row per route and day, integers
         only, so that any sum over it is exact.
"""

import sys
from datetime import date

from pyspark.context import SparkContext
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions

DELAYED_MINUTES = 15  # the usual definition of a delayed departure


def main() -> None:
    """Run the job once with the arguments in ``sys.argv``."""
    args = getResolvedOptions(sys.argv, ["JOB_NAME", "source_path", "target_path"])
    glue_context = GlueContext(SparkContext.getOrCreate())
    job = Job(glue_context)
    job.init(args["JOB_NAME"], args)

    rewritten = glue_context.create_dynamic_frame.from_options(
        connection_type="s3",
        connection_options={"paths": [args["source_path"]], "recurse": True},
        format="parquet",
        transformation_ctx="curated_flights",
    ).toDF()
    days = rewritten_days(rewritten)
    if days:
        curated = glue_context.spark_session.read.parquet(args["source_path"])
        replace_days(
            daily_delays(curated.where(F.col("flight_date").isin(days))), args["target_path"]
        )
    job.commit()


def rewritten_days(rewritten: DataFrame) -> list[date]:
    """Return the days, ascending, that occur in the columns year, month, day."""
    if not rewritten.columns:
        return []
    rows = rewritten.select("year", "month", "day").distinct().collect()
    return sorted(date(row["year"], row["month"], row["day"]) for row in rows)


def daily_delays(curated: DataFrame) -> DataFrame:
    """Aggregate flights to routes and days.

    Returns:
        One row per (flight_date DATE, origin STRING, dest STRING); flights, cancelled, delayed,
        dep_delay_minutes, arr_delay_minutes, flights_in_rain BIGINT, never null.
    """
    is_delayed: Column = F.col("dep_delay") >= DELAYED_MINUTES
    is_in_rain: Column = F.col("precip") > 0
    return curated.groupBy("flight_date", "origin", "dest").agg(
        F.count(F.lit(1)).alias("flights"),
        F.count_if(F.col("is_cancelled")).alias("cancelled"),
        F.count_if(is_delayed).alias("delayed"),
        F.coalesce(F.sum("dep_delay"), F.lit(0)).alias("dep_delay_minutes"),
        F.coalesce(F.sum("arr_delay"), F.lit(0)).alias("arr_delay_minutes"),
        F.count_if(is_in_rain).alias("flights_in_rain"),
    )


def replace_days(delays: DataFrame, path: str) -> None:
    """Replace exactly the days that ``delays`` holds under ``path``, one file per day."""
    (
        delays.repartition("flight_date")
        .write.mode("overwrite")
        .option("partitionOverwriteMode", "dynamic")
        .partitionBy("flight_date")
        .parquet(path)
    )


if __name__ == "__main__":
    main()
