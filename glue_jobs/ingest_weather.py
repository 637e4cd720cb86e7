"""Glue job: flatten the weather reports that are new to the job bookmark from landing into raw.

Source:  JSON lines under ``source_path``, read through the bookmark of context ``landing_weather``:
         a report per airport, with its observations nested. Numbers are whole or not, as they come.
Target:  ``target_path``weather_date=YYYY-MM-DD/*.parquet, appended, one row per observation with
         the id of its report; Relationalize keeps in its bookmark which ids are taken. A run that
         died before ``job.commit()`` is read again and leaves the rows twice; readers keep the
         newest version of each (origin, time_hour).
"""

import sys

from pyspark.context import SparkContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from awsglue.job import Job
from awsglue.transforms import ApplyMapping, Relationalize, ResolveChoice
from awsglue.utils import getResolvedOptions

CALENDAR = ("year", "month", "day", "hour")
NUMBERS = ("temp", "humid", "wind_speed", "precip", "visib")
TIMES = ("time_hour", "updated_at")


def main() -> None:
    """Run the job once with the arguments in ``sys.argv``."""
    args = getResolvedOptions(sys.argv, ["JOB_NAME", "source_path", "target_path", "TempDir"])
    glue_context = GlueContext(SparkContext.getOrCreate())
    job = Job(glue_context)
    job.init(args["JOB_NAME"], args)

    landed = glue_context.create_dynamic_frame.from_options(
        connection_type="s3",
        connection_options={"paths": [args["source_path"]], "recurse": True},
        format="json",
        transformation_ctx="landing_weather",
    )
    if landed.toDF().columns:
        (
            observations(landed, args["TempDir"])
            .repartition("weather_date")
            .write.mode("append")  # tidemark: ignore[retry-appends] readers keep the newest row
            .partitionBy("weather_date")
            .parquet(args["target_path"])
        )
    job.commit()


def observations(reports: DynamicFrame, staging_path: str) -> DataFrame:
    """Return the observations of reports as flat rows.

    Args:
        reports: a row per airport: origin, and observations, an array of structs.
        staging_path: where Relationalize may keep tables while the job runs.

    Returns:
        One row per observation: report_id BIGINT, which no other report of a committed run has;
        origin STRING; year, month, day, hour INT; temp, humid, wind_speed, precip, visib DOUBLE;
        time_hour, updated_at TIMESTAMP; weather_date DATE.
    """
    # 39 and 39.02 make the type of a column a choice of int and double.
    casts = [(f"observations[].{name}", "cast:double") for name in NUMBERS]
    tables = Relationalize.apply(
        frame=ResolveChoice.apply(reports, specs=casts),
        staging_path=staging_path,
        name="reports",
        transformation_ctx="weather_reports",
    )
    flat: DataFrame = ApplyMapping.apply(
        frame=tables.select("reports_observations"),
        mappings=[
            ("id", "long", "report_id", "long"),
            *((f"`observations.val.{name}`", "int", name, "int") for name in CALENDAR),
            *((f"`observations.val.{name}`", "double", name, "double") for name in NUMBERS),
            *((f"`observations.val.{name}`", "string", name, "string") for name in TIMES),
        ],
    ).toDF()
    origins = tables.select("reports").toDF().withColumnRenamed("observations", "report_id")
    return (
        flat.join(F.broadcast(origins), on="report_id")
        .withColumns({name: F.col(name).cast("timestamp") for name in TIMES})
        .withColumn("weather_date", F.make_date("year", "month", "day"))
    )


if __name__ == "__main__":
    main()
