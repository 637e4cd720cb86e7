"""As a visual editor writes jobs: files to a table that the job makes, and a table to files."""

import sys

from pyspark.context import SparkContext

from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.transforms import *  # noqa: F403 (as such scripts have it)
from awsglue.utils import getResolvedOptions

args = getResolvedOptions(sys.argv, ["JOB_NAME"])
sc = SparkContext()
glue_context = GlueContext(sc)
spark = glue_context.spark_session
job = Job(glue_context)
job.init(args["JOB_NAME"], args)

orders = glue_context.create_dynamic_frame.from_options(
    format_options={"multiline": False},
    connection_type="s3",
    format="json",
    connection_options={"paths": ["s3://shop/orders/"], "recurse": True},
    transformation_ctx="orders",
)
mapped = ApplyMapping.apply(  # noqa: F405
    frame=orders,
    mappings=[("id", "int", "order_id", "long"), ("country", "string", "country", "string")],
    transformation_ctx="mapped",
)
sink = glue_context.getSink(
    path="s3://shop/curated/",
    connection_type="s3",
    updateBehavior="UPDATE_IN_DATABASE",
    partitionKeys=["country"],
    compression="snappy",
    enableUpdateCatalog=True,
    transformation_ctx="sink",
)
sink.setCatalogInfo(catalogDatabase="shop", catalogTableName="orders")
sink.setFormat("glueparquet")
sink.writeFrame(mapped)
job.commit()
