"""Glue job: merge curated flights into a table of Iceberg, one row per flight.

Source: Parquet under ``source_path``; the bookmark of context ``flights`` yields the files that are
        new. curate-flights writes whole days again, so a flight may come again.
Target: ``target_table``, which the first run creates. A window is merged by one commit that names
        it: repeated after a crash at any point, it changes nothing. A column that the table lacks
        fails the run.
"""

import sys
from datetime import timedelta

from pyspark.context import SparkContext
from pyspark.sql import DataFrame, SparkSession

from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from watermarks import Watermarks, merge_window

KEY = ("flight_date", "carrier", "flight", "origin", "dest", "sched_dep_time")


def main() -> None:
    """Run the job once with the arguments in ``sys.argv``."""
    names = ["JOB_NAME", "source_path", "target_table", "watermark_table"]
    args = getResolvedOptions(sys.argv, names)
    glue_context = GlueContext(SparkContext.getOrCreate())
    job = Job(glue_context)
    job.init(args["JOB_NAME"], args)

    flights = glue_context.create_dynamic_frame.from_options(
        connection_type="s3",
        connection_options={"paths": [args["source_path"]], "recurse": True},
        format="parquet",
        transformation_ctx="flights",
    ).toDF()
    if flights.columns:  # a run with nothing new gets a frame without columns
        create_table(glue_context.spark_session, args["target_table"], flights)
        # The bookmark says which files are new; the window, of the clock, which run merges them.
        for window in Watermarks(args["watermark_table"]).windows(
            args["JOB_NAME"], run_id=args["JOB_RUN_ID"], cursor="merged_at", settle=timedelta(0)
        ):
            merge_window(flights, args["target_table"], window, KEY, column="updated_at")
    job.commit()


def create_table(spark: SparkSession, table: str, rows: DataFrame) -> None:
    """Create the table with the columns of the rows, by origin, if it does not exist."""
    columns = ", ".join(f"`{field.name}` {field.dataType.simpleString()}" for field in rows.schema)
    spark.sql(
        f"CREATE TABLE IF NOT EXISTS {table} ({columns}) USING iceberg PARTITIONED BY (origin)"
    )


if __name__ == "__main__":
    main()
