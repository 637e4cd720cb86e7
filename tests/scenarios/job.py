"""Reads orders through the job bookmark; as a whole also countries in full, and bounded events.

Other variants read orders only, and do one thing otherwise.
"""

import json
import sys

from pyspark.context import SparkContext

from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions

args = getResolvedOptions(sys.argv, ["JOB_NAME", "data_path", "report_path", "variant"])
variant = args["variant"]
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


report = {"orders": read_ids("orders", "renamed" if variant == "renamed ctx" else "orders")}
if variant == "whole":
    report["countries"] = read_ids("countries", "")
    report["events"] = read_ids("events", "events", boundedFiles="2")
spark = glue_context.spark_session
line = spark.createDataFrame([(json.dumps(report),)], "value string")
line.coalesce(1).write.mode("overwrite").text(args["report_path"])
if variant != "without commit":
    job.commit()
if variant == "failing after its commit":
    raise RuntimeError("a statement after Job.commit failed")
