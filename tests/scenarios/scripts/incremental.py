"""Reads orders through the job bookmark, countries in full, and events two files at a time."""

import json
import sys

from pyspark.context import SparkContext

from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions

args = getResolvedOptions(sys.argv, ["JOB_NAME", "data_path", "report_path"])
glue_context = GlueContext(SparkContext.getOrCreate())
job = Job(glue_context)
job.init(args["JOB_NAME"], args)


def read_ids(folder, ctx, **options):
    frame = glue_context.create_dynamic_frame.from_options(
        connection_type="s3",
        connection_options={"paths": [f"{args['data_path']}{folder}/"], **options},
        format="json",
        transformation_ctx=ctx,
    )
    return sorted(row["id"] for row in frame.toDF().collect())


report = {
    "orders": read_ids("orders", "orders"),
    "countries": read_ids("countries", ""),
    "events": read_ids("events", "events", boundedFiles="2"),
}
spark = glue_context.spark_session
line = spark.createDataFrame([(json.dumps(report),)], "value string")
line.coalesce(1).write.mode("overwrite").text(args["report_path"])
job.commit()
