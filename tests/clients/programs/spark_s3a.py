"""Spark's files by Hadoop's own S3A: python spark_s3a.py BUCKET FOLDER_OF_JARS. Prints JSON."""

import json
import os
import sys
from pathlib import Path

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

BUCKET = f"s3a://{sys.argv[1]}"
JARS = sorted(str(path) for path in Path(sys.argv[2]).glob("*.jar"))
MB = 1024**2


def session() -> SparkSession:
    """Return Spark with S3A, which gets its access key from the environment."""
    settings = {
        "endpoint": os.environ["AWS_ENDPOINT_URL"],
        "path.style.access": "true",
        "connection.ssl.enabled": "false",
        "multipart.size": "5M",
    }
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.extraClassPath", os.pathsep.join(JARS))
    for name, value in settings.items():
        builder = builder.config(f"spark.hadoop.fs.s3a.{name}", value)
    return builder.getOrCreate()


def of_spark(spark: SparkSession) -> dict[str, object]:
    """Return what Spark reads back of what it wrote."""
    rows = spark.range(1000).selectExpr("id", "id % 3 AS part", "concat('é ', id) AS text")
    for mode in ("overwrite", "append"):
        rows.write.mode(mode).partitionBy("part").parquet(f"{BUCKET}/a b/é")
    rows.write.json(f"{BUCKET}/json")
    for part in (rows, rows.limit(10)):
        part.write.mode("overwrite").option("header", True).csv(f"{BUCKET}/csv")
    try:
        spark.read.parquet(f"{BUCKET}/none")
    except AnalysisException as error:
        none = error.getErrorClass()
    return {
        "parquet": spark.read.parquet(f"{BUCKET}/a b/é").where("part = 1").count(),
        "json": spark.read.json(f"{BUCKET}/json").count(),
        "csv": spark.read.option("header", True).csv(f"{BUCKET}/csv").count(),
        "none": none,
    }


def of_files(spark: SparkSession) -> dict[str, object]:
    """Return what Hadoop's file system says after it wrote, renamed, read and deleted."""
    path = spark._jvm.org.apache.hadoop.fs.Path
    files = path(f"{BUCKET}/").getFileSystem(spark._jsc.hadoopConfiguration())
    big = files.create(path(f"{BUCKET}/big"))
    for _ in range(12):
        big.write(bytearray(MB))
    big.close()
    small = files.create(path(f"{BUCKET}/one file+x.txt"))
    small.write(bytearray(b"0123456789"))
    small.close()
    opened = files.open(path(f"{BUCKET}/one file+x.txt"))
    opened.seek(4)
    fourth = chr(opened.read())
    opened.close()
    files.mkdirs(path(f"{BUCKET}/empty/folder"))
    files.rename(path(f"{BUCKET}/json"), path(f"{BUCKET}/moved"))
    files.delete(path(f"{BUCKET}/csv"), True)
    return {
        "class": files.getClass().getName(),
        "big": files.getFileStatus(path(f"{BUCKET}/big")).getLen(),
        "fourth": fourth,
        "folder": files.getFileStatus(path(f"{BUCKET}/empty/folder")).isDirectory(),
        "moved": spark.read.json(f"{BUCKET}/moved").count(),
        "listed": sorted(one.getPath().getName() for one in files.listStatus(path(f"{BUCKET}/"))),
    }


if __name__ == "__main__":
    SPARK = session()
    sys.stdout.write("\n" + json.dumps({**of_spark(SPARK), **of_files(SPARK)}))
