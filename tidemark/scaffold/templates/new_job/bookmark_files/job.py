"""Glue job template-job: copy files that are new to the job bookmark.

Source:  JSON lines under ``source_path``, read through the bookmark of context ``landed``.
Target:  ``target_path``*.parquet, appended. A run that died before ``job.commit()`` is read again
         and leaves its rows twice; readers keep the newest version of each row.
"""

import sys

from pyspark.context import SparkContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions

# The columns to keep and their types: put your own here.
COLUMNS = {
    "id": "bigint",
    "status": "string",
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
        transformation_ctx="landed",
    ).toDF()
    if landed.columns:  # a run with nothing new gets a frame without columns
        (
            typed(landed)
            .write.mode("append")  # tidemark: ignore[retry-appends] readers keep the newest row
            .parquet(args["target_path"])
        )
    job.commit()


def typed(landed: DataFrame) -> DataFrame:
    """Return COLUMNS with their types.

    The types are stated because JSON inference differs from batch to batch.
    """
    return landed.select(*(F.col(name).cast(kind).alias(name) for name, kind in COLUMNS.items()))


if __name__ == "__main__":
    main()
