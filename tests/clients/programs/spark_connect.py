"""Connects to a session by Spark Connect: writes rows, and prints what it reads, as JSON."""

import json
import sys

from pyspark.sql import SparkSession

spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
spark.range(5).write.mode("overwrite").parquet("s3://connect/out/")
count = spark.read.parquet("s3://connect/out/").count()
json.dump({"version": spark.version, "count": count}, sys.stdout)
