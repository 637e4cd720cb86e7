# No Job at first, several contexts, arguments in all spellings, settings of Hadoop, plain Spark.
import sys

from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import GlueArgumentError, getResolvedOptions
from pyspark.context import SparkContext
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("any").getOrCreate()
contexts = [
    GlueContext(spark.sparkContext),
    GlueContext(SparkContext.getOrCreate(), minPartitions=2, targetPartitions=4),
    GlueContext(SparkSession.builder.getOrCreate()),
    GlueContext(),
]
hadoop = spark.sparkContext._jsc.hadoopConfiguration()
hadoop.set("fs.s3.impl", "org.apache.hadoop.fs.s3a.S3AFileSystem")
hadoop.set("fs.s3.canned.acl", "BucketOwnerFullControl")

names = ["source-path", "n_rows", "ENV"]
args = getResolvedOptions(sys.argv, names + (["day"] if "--day" in sys.argv else []))
print(args["source_path"], args["n_rows"], args["ENV"], args["TempDir"], "day" in args)
try:
    getResolvedOptions(sys.argv, ["missing"])
except GlueArgumentError as error:
    print("GlueArgumentError:", error)
print(spark.conf.get("spark.sql.session.timeZone"), spark.conf.get("spark.sql.ansi.enabled"))

for number, context in enumerate(contexts):
    frame = context.read.option("header", "true").csv(args["source_path"])
    frame.createOrReplaceTempView("sales" + str(number))
print(contexts[0].sql("select count(*) as n from sales3").collect())
print(sorted(contexts[2].tableNames()))
job = Job(contexts[1])
job.init("a-name-of-its-own", {})
job.commit()
frame.write.mode("overwrite").partitionBy("name").parquet("s3a://lake/sales/")
print(spark.read.parquet("s3n://lake/sales/").count())
spark.stop()
