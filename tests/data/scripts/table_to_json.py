"""As a console generated jobs: a table of the catalog to compressed JSON."""

import sys

from pyspark.context import SparkContext

from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions

args = getResolvedOptions(sys.argv, ["JOB_NAME"])
glue_context = GlueContext(SparkContext.getOrCreate())
job = Job(glue_context)
job.init(args["JOB_NAME"], args)
datasource0 = glue_context.create_dynamic_frame.from_catalog(
    name_space="shop", table_name="orders", transformation_ctx="datasource0"
)
datasink1 = glue_context.write_dynamic_frame.from_options(
    frame=datasource0,
    connection_type="s3",
    connection_options={"path": "s3://shop/json", "compression": "gzip"},
    format="json",
    transformation_ctx="datasink1",
)
job.commit()
