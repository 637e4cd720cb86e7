"""Glue job template-job: keep the newest version of each row.

Source:  Parquet under ``source_path``; the bookmark of context ``source`` says whether any of it is
         new, and then all of it is read, so the target is always a function of the whole source.
Target:  ``target_path``*.parquet with one row per KEY: an upsert that may be repeated after a crash
         at any point. To rebuild only the days that changed, partition by day, as
         ``curate_flights.py`` does.
"""

import sys

from pyspark.context import SparkContext
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions

KEY = ("id",)
FOLDERS = ("source_file", "window", "attempt")  # of what jobs with bookmarks or watermarks write
VERSION = "updated_at"  # of the rows with one KEY, the one with the greatest VERSION stays


def main() -> None:
    """Run the job once with the arguments in ``sys.argv``."""
    args = getResolvedOptions(sys.argv, ["JOB_NAME", "source_path", "target_path"])
    glue_context = GlueContext(SparkContext.getOrCreate())
    job = Job(glue_context)
    job.init(args["JOB_NAME"], args)

    new = glue_context.create_dynamic_frame.from_options(
        connection_type="s3",
        connection_options={"paths": [args["source_path"]], "recurse": True},
        format="parquet",
        transformation_ctx="source",
    ).toDF()
    if new.columns:  # a run with nothing new gets a frame without columns
        rows = read_source(glue_context.spark_session, args["source_path"])
        newest(rows, KEY).write.mode("overwrite").parquet(args["target_path"])
    job.commit()


def read_source(spark: SparkSession, path: str) -> DataFrame:
    """Return all rows of the source, without the columns of the folders that they are in."""
    return spark.read.option("mergeSchema", True).parquet(path).drop(*FOLDERS)


def newest(rows: DataFrame, key: tuple[str, ...]) -> DataFrame:
    """Return one row per key: the one with the greatest VERSION."""
    newest_first = Window.partitionBy(*key).orderBy(F.col(VERSION).desc())
    ranked = rows.withColumn("version_rank", F.row_number().over(newest_first))
    return ranked.where(F.col("version_rank") == 1).drop("version_rank")


if __name__ == "__main__":
    main()
