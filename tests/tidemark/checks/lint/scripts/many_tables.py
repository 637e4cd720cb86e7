import sys

from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

ARGS = ["JOB_NAME", "bucket"]
DATABASE = "shop"


def read(glue_context: GlueContext, table: str, transformation_ctx: str):
    return glue_context.create_dynamic_frame.from_catalog(
        database=DATABASE, table_name=table, transformation_ctx=transformation_ctx
    ).toDF()


def process(df, table, bucket):
    try:
        if df.columns:
            df.write.mode("append").parquet(f"s3://{bucket}/{table}/")
        return True
    except Exception as error:
        print(f"{table}: {error}")
        return False


def main():
    args = getResolvedOptions(sys.argv, ARGS)
    glue_context = GlueContext(SparkContext.getOrCreate())
    job = Job(glue_context)
    job.init(args["JOB_NAME"], args)
    frames = {
        "orders": read(glue_context, "orders", "orders"),
        "customers": read(glue_context, "customers", transformation_ctx="customers"),
    }
    failed = []
    for table, df in frames.items():
        try:
            df.write.mode("append").parquet(f"s3://{args['bucket']}/{table}/")
        except Exception as error:
            failed.append((table, error))
    if failed:
        raise RuntimeError(f"failed: {failed}")
    if not process(frames["orders"], "orders", args["bucket"]):
        sys.exit(1)
    job.commit()


main()
