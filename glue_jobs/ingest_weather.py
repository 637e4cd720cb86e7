"""Glue job: copy the weather files that are new to the job bookmark from landing into raw.

Source:  JSON lines under ``source_path``, read through the bookmark of context ``landing_weather``.
Target:  ``target_path``weather_date=YYYY-MM-DD/*.parquet, appended. A run that died before
         ``job.commit()`` is read again and leaves the rows twice; readers keep the newest version
         of each (origin, time_hour).
"""

import sys

from pyspark.context import SparkContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions

WEATHER_COLUMNS = {
    "origin": "string",
    "year": "int",
    "month": "int",
    "day": "int",
    "hour": "int",
    "temp": "double",
    "humid": "double",
    "wind_speed": "double",
    "precip": "double",
    "visib": "double",
    "time_hour": "timestamp",
    "updated_at": "timestamp",
}


def main() -> None:
    """Run the job once with the arguments in ``sys.argv``."""
    args = getResolvedOptions(sys.argv, ["JOB_NAME", "source_path", "target_path"])
    glue_context = GlueContext(SparkContext.getOrCreate())
    job = Job(glue_context)
    job.init(args["JOB_NAME"], args)

    landed = glue_context.create_dynamic_frame.from_options(
        connection_type="s3",
        connection_options={"paths": [args["source_path"]], "recurse": True},
        format="json",
        transformation_ctx="landing_weather",
    ).toDF()
    if landed.columns:
        (
            typed_weather(landed)
            .repartition("weather_date")
            .write.mode("append")
            .partitionBy("weather_date")
            .parquet(args["target_path"])
        )
    job.commit()


def typed_weather(landed: DataFrame) -> DataFrame:
    """Return WEATHER_COLUMNS with their types, plus ``weather_date DATE``.

    The types are stated because JSON inference differs from batch to batch.
    """
    columns = [F.col(name).cast(kind).alias(name) for name, kind in WEATHER_COLUMNS.items()]
    return landed.select(*columns).withColumn("weather_date", F.make_date("year", "month", "day"))


if __name__ == "__main__":
    main()
