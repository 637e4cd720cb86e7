import sys

from pyspark.context import SparkContext

from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions

args = getResolvedOptions(sys.argv, ["JOB_NAME", "source_path", "target_path"])
context = GlueContext(SparkContext.getOrCreate())
job = Job(context)
job.init(args["JOB_NAME"], args)
orders = context.create_dynamic_frame.from_options(
    "s3", {"paths": [args["source_path"]]}, "parquet", transformation_ctx="orders"
)
if orders.count():
    orders.toDF().write.mode("overwrite").parquet(args["target_path"])
job.commit()
