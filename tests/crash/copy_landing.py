"""A plain Glue script: copies what has landed since the last run."""

import sys

from pyspark.context import SparkContext

from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions

args = getResolvedOptions(sys.argv, ["JOB_NAME", "source_path", "target_path"])
glue_context = GlueContext(SparkContext.getOrCreate())
job = Job(glue_context)
job.init(args["JOB_NAME"], args)
landed = glue_context.create_dynamic_frame.from_options(
    connection_type="s3",
    connection_options={"paths": [args["source_path"]]},
    format="json",
    transformation_ctx="landed",
)
glue_context.write_dynamic_frame.from_options(
    frame=landed,
    connection_type="s3",
    connection_options={"path": args["target_path"]},
    format="json",
)
job.commit()
