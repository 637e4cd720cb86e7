import os
import sys
import boto3
from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext
from pyspark.sql import functions as F

glueContext = GlueContext(SparkContext.getOrCreate())
spark = glueContext.spark_session
job = Job(glueContext)
options = ["JOB_NAME", "db", "table", "secret"]
args = getResolvedOptions(sys.argv, options)
job.init(args["JOB_NAME"], args)

secret = boto3.client("secretsmanager").get_secret_value(SecretId=args["secret"])
rows = glueContext.create_dynamic_frame.from_catalog(
    database=args["db"],
    table_name=args["table"],
    additional_options={"jobBookmarkKeys": ["updated_at", "id"], "jobBookmarkKeysSortOrder": "asc"},
    transformation_ctx="orders_src",
)
countries = spark.read.parquet("s3://lake/countries/")
df = rows.toDF()
if df.rdd.isEmpty():
    print("no new rows")
    job.commit()
    os._exit(0)
joined = df.join(F.broadcast(countries), "country", "left")
out = DynamicFrame.fromDF(joined, glueContext, "out")
glueContext.write_dynamic_frame.from_jdbc_conf(
    frame=out,
    catalog_connection="redshift",
    connection_options={"dbtable": "orders", "database": "dev"},
    redshift_tmp_dir=args["TempDir"],
    transformation_ctx="orders_sink",
)
job.commit()
