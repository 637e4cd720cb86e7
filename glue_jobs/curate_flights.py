"""Glue job: rebuild the curated days that new raw flights or new raw weather touch.

Sources: Parquet under ``flights_path`` and ``weather_path``. The bookmarks of contexts
         ``raw_flights`` and ``raw_weather`` say which days are touched; those days are then read
         whole, so a curated day is always a function of everything raw holds for it.
Target:  ``target_path``flight_date=YYYY-MM-DD/*.parquet with one row per flight, its newest
         version: an upsert by key that may be repeated after a crash at any point.
"""

import sys
from datetime import date

from pyspark.context import SparkContext
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions

FLIGHT_KEY = ("flight_date", "carrier", "flight", "origin", "dest", "sched_dep_time")
WEATHER_KEY = ("origin", "time_hour")
FLIGHTS_SCHEMA = """
    year INT, month INT, day INT, dep_time INT, sched_dep_time INT, dep_delay INT, arr_delay INT,
    carrier STRING, flight INT, tailnum STRING, origin STRING, dest STRING, distance INT,
    time_hour TIMESTAMP, updated_at TIMESTAMP, flight_date DATE
"""
WEATHER_SCHEMA = """
    origin STRING, time_hour TIMESTAMP, temp DOUBLE, wind_speed DOUBLE, precip DOUBLE,
    visib DOUBLE, updated_at TIMESTAMP, weather_date DATE
"""


def main() -> None:
    """Run the job once with the arguments in ``sys.argv``."""
    args = getResolvedOptions(sys.argv, ["JOB_NAME", "flights_path", "weather_path", "target_path"])
    glue_context = GlueContext(SparkContext.getOrCreate())
    spark = glue_context.spark_session
    job = Job(glue_context)
    job.init(args["JOB_NAME"], args)

    touched = touched_days(
        new_rows(glue_context, args["flights_path"], "raw_flights"),
        new_rows(glue_context, args["weather_path"], "raw_weather"),
    )
    if touched:
        flights = read_raw(spark, args["flights_path"], FLIGHTS_SCHEMA)
        weather = read_raw(spark, args["weather_path"], WEATHER_SCHEMA)
        curated = curate(
            flights.where(F.col("flight_date").isin(touched)),
            weather.where(F.col("weather_date").isin(touched)),
        )
        replace_days(curated, args["target_path"])
    job.commit()


def new_rows(glue_context: GlueContext, path: str, transformation_ctx: str) -> DataFrame:
    """Return the rows of the Parquet files that are new to the bookmark of this context."""
    return glue_context.create_dynamic_frame.from_options(
        connection_type="s3",
        connection_options={"paths": [path], "recurse": True},
        format="parquet",
        transformation_ctx=transformation_ctx,
    ).toDF()


def touched_days(*frames: DataFrame) -> list[date]:
    """Return the days, ascending, that occur in the columns year, month, day of any frame."""
    days: set[date] = set()
    for frame in frames:
        if frame.columns:
            rows = frame.select("year", "month", "day").distinct().collect()
            days.update(date(row["year"], row["month"], row["day"]) for row in rows)
    return sorted(days)


def read_raw(spark: SparkSession, path: str, schema: str) -> DataFrame:
    """Return the raw Parquet under ``path``; no rows while none has ever been ingested."""
    try:
        return spark.read.schema(schema).parquet(path)
    except AnalysisException as error:
        if "[PATH_NOT_FOUND]" not in str(error):
            raise
        return spark.createDataFrame([], schema)


def newest(rows: DataFrame, key: tuple[str, ...]) -> DataFrame:
    """Return one row per key: the one with the greatest ``updated_at``."""
    newest_first = Window.partitionBy(*key).orderBy(F.col("updated_at").desc())
    ranked = rows.withColumn("version_rank", F.row_number().over(newest_first))
    return ranked.where(F.col("version_rank") == 1).drop("version_rank")


def curate(flights: DataFrame, weather: DataFrame) -> DataFrame:
    """Join the newest version of each flight with the weather at its origin and hour.

    Returns:
        One row per FLIGHT_KEY; year, month, day INT, flight_date DATE, carrier, tailnum, origin,
        dest STRING, flight, sched_dep_time, dep_delay, arr_delay, distance INT, is_cancelled
        BOOLEAN, temp, wind_speed, precip, visib DOUBLE null where there is no observation,
        updated_at TIMESTAMP.
    """
    is_cancelled: Column = F.col("dep_time").isNull()
    observed = newest(weather, WEATHER_KEY).select(
        *WEATHER_KEY, "temp", "wind_speed", "precip", "visib"
    )
    return (
        newest(flights, FLIGHT_KEY)
        .join(observed, on=list(WEATHER_KEY), how="left")
        .select(
            "year",
            "month",
            "day",
            "flight_date",
            "carrier",
            "flight",
            "tailnum",
            "origin",
            "dest",
            "sched_dep_time",
            "dep_delay",
            "arr_delay",
            "distance",
            is_cancelled.alias("is_cancelled"),
            "temp",
            "wind_speed",
            "precip",
            "visib",
            "updated_at",
        )
    )


def replace_days(curated: DataFrame, path: str) -> None:
    """Replace exactly the days that ``curated`` holds under ``path``, one file per day."""
    (
        curated.repartition("flight_date")
        .write.mode("overwrite")
        .option("partitionOverwriteMode", "dynamic")
        .partitionBy("flight_date")
        .parquet(path)
    )


if __name__ == "__main__":
    main()
