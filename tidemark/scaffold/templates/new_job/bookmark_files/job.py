"""Glue job template-job: copy files that are new to the job bookmark.

Source:  JSON lines under ``source_path``, read through the bookmark of context ``landed``.
Target:  ``target_path``source_file=…/*.parquet, a folder for each file of the source. A run that
         died before ``job.commit()`` is repeated, and replaces the folders of the files that it
         reads again.
"""

import sys

from pyspark.context import SparkContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions

SOURCE_FILE = "source_file"  # the folder of a row: a hash of the address of its file
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
        format_options={"attachFilename": SOURCE_FILE},
        transformation_ctx="landed",
    ).toDF()
    if landed.columns:  # a run with nothing new gets a frame without columns
        replace_files(typed(landed), args["target_path"])
    job.commit()


def typed(landed: DataFrame) -> DataFrame:
    """Return COLUMNS with their types, and SOURCE_FILE.

    The types are stated because JSON inference differs from batch to batch.
    """
    columns = [F.col(name).cast(kind).alias(name) for name, kind in COLUMNS.items()]
    return landed.select(*columns, F.sha2(F.col(SOURCE_FILE), 256).alias(SOURCE_FILE))


def replace_files(rows: DataFrame, path: str) -> None:
    """Replace exactly the folders of the files that ``rows`` come from, under ``path``."""
    (
        rows.write.mode("overwrite")
        .option("partitionOverwriteMode", "dynamic")
        .partitionBy(SOURCE_FILE)
        .parquet(path)
    )


if __name__ == "__main__":
    main()
