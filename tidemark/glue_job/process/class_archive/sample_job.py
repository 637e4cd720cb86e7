"""Reads, joins and writes a little of everything, to load the classes that job scripts need.

Called as ``python sample_job.py [FILE]`` with the settings of a job run and a bucket ``sample``;
writes the JVM's class path into FILE.
"""

import sys
from pathlib import Path

from pyspark.sql import SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812 (every PySpark user's convention)

BUCKET = "s3://sample"


def main() -> None:
    """Write and read JSON, CSV, Parquet and ORC; aggregate, join, rank and replace partitions."""
    spark = SparkSession.builder.getOrCreate()
    rows = spark.range(100).select(
        "id",
        (F.col("id") % 7).cast("int").alias("day"),
        F.concat(F.lit("name "), F.col("id")).alias("name"),
        F.lit("2013-01-01 05:15:00").cast("timestamp").alias("at"),
    )
    for file_format in ("json", "csv", "orc", "parquet"):
        rows.write.format(file_format).save(f"{BUCKET}/{file_format}")
        spark.read.format(file_format).load(f"{BUCKET}/{file_format}").count()
    spark.read.schema("id LONG, day INT, at TIMESTAMP").json(f"{BUCKET}/json").collect()

    stored = spark.read.parquet(f"{BUCKET}/parquet")
    newest = Window.partitionBy("day").orderBy(F.col("at").desc(), "id")
    ranked = stored.withColumn("rank", F.row_number().over(newest)).where("rank = 1")
    per_day = stored.groupBy("day").agg(F.count("*").alias("rows"), F.avg("id"), F.max("at"))
    joined = ranked.join(per_day, "day", "left").where(F.to_date("at").isin("2013-01-01"))
    joined.select("day", "id", "name", "rows", F.to_date("at").alias("date")).repartition(
        "date"
    ).write.mode("overwrite").option("partitionOverwriteMode", "dynamic").partitionBy(
        "date"
    ).parquet(f"{BUCKET}/mart")
    spark.createDataFrame([(1, "a")], "id INT, name STRING").rdd.map(lambda row: row.id).collect()
    stored.createOrReplaceTempView("stored")
    spark.sql("SELECT DISTINCT day FROM stored ORDER BY day").collect()

    if len(sys.argv) == 2:
        class_path = spark.sparkContext._jvm.System.getProperty("java.class.path")  # type: ignore[union-attr]
        Path(sys.argv[1]).write_text(str(class_path), encoding="utf-8")
    spark.stop()


if __name__ == "__main__":
    main()
