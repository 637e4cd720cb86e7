"""Glue job template-job: publish a table for people from curated rows.

Source:  Parquet under ``source_path``; the bookmark of context ``source`` says whether any of it is
         new, and then all of it is read, so the target is always a function of the whole source.
Target:  ``target_path``*.parquet, written again, one row per group. Each row of the source counts:
         a file that came twice under two names, or two versions of a row, count twice, unless the
         source is of a job of kind merge, which keeps the newest row of each key.
"""

import sys

from pyspark.context import SparkContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions

# Columns of the source, such as ("status",), to count by; none: one row counts everything.
GROUP_BY: tuple[str, ...] = ()


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
        rows = glue_context.spark_session.read.parquet(args["source_path"])
        published(rows, GROUP_BY).write.mode("overwrite").parquet(args["target_path"])
    job.commit()


def published(rows: DataFrame, group_by: tuple[str, ...]) -> DataFrame:
    """Count rows.

    Returns:
        One row per group, or one in all; the columns of ``group_by``, then row_count BIGINT.
    """
    return rows.groupBy(*group_by).agg(F.count(F.lit(1)).alias("row_count")).coalesce(1)


if __name__ == "__main__":
    main()
