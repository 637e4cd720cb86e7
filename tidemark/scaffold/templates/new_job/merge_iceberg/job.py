"""Glue job template-job: merge new rows into a table of Iceberg by key.

Source:  Parquet under ``source_path``; the bookmark of context ``source`` yields the new files.
Target:  the table of Iceberg ``target_table`` with one row per KEY, the newest by VERSION. One
         MERGE in a window of the watermark table: it has the same effect when it is repeated after
         a crash at any point. A column that the table lacks fails the run, until ALTER TABLE adds
         it or ``rows.drop`` leaves it out.
"""

import sys
from datetime import timedelta

from pyspark.context import SparkContext
from pyspark.sql import DataFrame, SparkSession

from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from watermarks import Watermarks, merge_window

KEY = ("id",)
VERSION = "updated_at"  # of the rows with one KEY, the one with the greatest VERSION stays
FOLDERS = ("source_file", "window", "attempt")  # of what jobs with bookmarks or watermarks write


def main() -> None:
    """Run the job once with the arguments in ``sys.argv``."""
    names = ["JOB_NAME", "source_path", "target_table", "watermark_table"]
    args = getResolvedOptions(sys.argv, names)
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
        rows = new.drop(*FOLDERS)
        create_table(glue_context.spark_session, args["target_table"], rows)
        # The bookmark says which rows are new; the window, of the clock, which run merges them.
        with Watermarks(args["watermark_table"]).window(
            args["JOB_NAME"], run_id=args["JOB_RUN_ID"], cursor="merged_at", settle=timedelta(0)
        ) as window:
            merge_window(rows, args["target_table"], window, KEY, column=VERSION)
    job.commit()


def create_table(spark: SparkSession, table: str, rows: DataFrame) -> None:
    """Create the table with the columns of the rows, if it does not exist."""
    columns = ", ".join(f"`{field.name}` {field.dataType.simpleString()}" for field in rows.schema)
    spark.sql(f"CREATE TABLE IF NOT EXISTS {table} ({columns}) USING iceberg")


if __name__ == "__main__":
    main()
