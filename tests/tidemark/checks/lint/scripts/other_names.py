import argparse
import sys
import awsglue.utils
from awsglue.context import GlueContext as Context
from awsglue.job import Job as GlueJob
from pyspark.sql import SparkSession

SOURCE_CTX: str = "clicks"


def set_up():
    context = Context(SparkSession.builder.getOrCreate().sparkContext)
    glue_job = GlueJob(context)
    return context, glue_job


def finish(this_job):
    this_job.commit()


def main() -> int:
    args = awsglue.utils.getResolvedOptions(sys.argv, ("JOB_NAME", "target"))
    context, glue_job = set_up()
    glue_job.init(args["JOB_NAME"], args)
    reader = context.create_dynamic_frame
    clicks = reader.from_options(connection_type="s3", connection_options={"paths": ["s3://lake/clicks/"]}, format="json", transformation_ctx=SOURCE_CTX)
    with open("/tmp/schema.txt") as file:
        print(file.read())
    clicks.toDF().write.format("parquet").mode("append").save(args["target"])
    finish(glue_job)
    return 0


if __name__ == "__main__":
    sys.exit(main())
