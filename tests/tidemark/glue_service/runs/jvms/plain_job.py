"""A job script that does a little of everything and prints what it can see of its JVM."""

import json
import os
import sys
from pathlib import Path

from pyspark.context import SparkContext
from pyspark.sql import functions as F  # noqa: N812 (every PySpark user's convention)

from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions

arguments = getResolvedOptions(sys.argv, ["JOB_NAME", "out"])
glue = GlueContext(SparkContext.getOrCreate())
spark, sc = glue.spark_session, glue.spark_session.sparkContext
# Before any query: an adaptive one takes as many numbers for columns as its timing wants.
plan = spark.range(3).withColumn("x", F.col("id") + 1)._jdf.queryExecution().toString()
job = Job(glue)
job.init(arguments["JOB_NAME"], arguments)

source = glue.create_dynamic_frame.from_options(
    "s3", {"paths": ["s3://data/in/"]}, "json", transformation_ctx="source"
)
counted = source.toDF().groupBy("kind").agg(F.count("*").alias("number"), F.max("at").alias("at"))
glue.write_dynamic_frame.from_options(
    source.fromDF(counted.coalesce(1), glue, "counted"),
    "s3",
    {"path": arguments["out"]},
    "parquet",
)
job.commit()


@F.udf("string")
def worker(_: int) -> str:
    import from_a_library

    shown = {name: value for name, value in os.environ.items() if name != "SPARK_LOCAL_DIRS"}
    # Spark's own archives are on the path of the workers of a cold JVM only.
    path = [entry for entry in sys.path if not entry.startswith(os.environ["SPARK_HOME"])]
    return json.dumps([dict(sorted(shown.items())), str(Path.cwd()), path, from_a_library.ME])


jvm = sc._jvm
Path("beside.txt").write_text("beside\n")
sc.addFile("beside.txt")
hadoop = {
    name: sc._jsc.hadoopConfiguration().get(name)
    for name in ("fs.s3.impl", "tidemark.lake", "leak.key", "hadoop.tmp.dir")
}
statics = jvm.org.apache.spark.deploy.SparkHadoopUtil.get().conf()
variables = dict(jvm.java.lang.System.getenv())
seen = {
    "counted": sorted(map(list, counted.collect())),
    "worker": json.loads(spark.range(1).select(worker("id")).first()[0]),
    "rdd": sc.parallelize(range(10), 2).map(lambda n: n * n).sum(),
    "conf": dict(sc.getConf().getAll()),
    "session": {row.key: row.value for row in spark.sql("SET").collect()},
    "properties": dict(jvm.java.lang.System.getProperties()),
    "variables": {name: variables[name] for name in sorted(variables)},
    "zone": jvm.java.util.TimeZone.getDefault().getID(),
    "locale": jvm.java.util.Locale.getDefault().toString(),
    "hadoop": hadoop,
    "static hadoop": {name: statics.get(name) for name in hadoop},
    "views": [table.name for table in spark.catalog.listTables()],
    "global views": [table.name for table in spark.catalog.listTables("global_temp")],
    "functions": [row.function for row in spark.sql("SHOW USER FUNCTIONS").collect()],
    "plan": plan,
    "cached": sc._jsc.sc().getPersistentRDDs().size(),
    "streams": len(spark.streams.active),
    "relative": spark.read.text("beside.txt").first()[0],
    "file": [
        str(sc.textFile(f"file:{Path.cwd()}/beside.txt").count()),
        jvm.java.io.File("a").getAbsolutePath(),
    ],
    "level": str(jvm.org.apache.logging.log4j.LogManager.getRootLogger().getLevel()),
    "handler": str(jvm.java.lang.Thread.getDefaultUncaughtExceptionHandler()),
    "date": spark.sql("SELECT date_format(timestamp '2024-07-01 12:00:00', 'EEEE z')").first()[0],
}
print(json.dumps(seen, sort_keys=True, default=str))  # noqa: T201 (read by the test)
sys.stdout.flush()
print("told on stderr", file=sys.stderr)  # noqa: T201 (read by the test)
jvm.java.lang.System.out.println("printed by the JVM")
jvm.java.lang.System.err.println("said by the JVM")
jvm.org.apache.logging.log4j.LogManager.getLogger("plain").warn("logged as a warning")
jvm.org.apache.logging.log4j.LogManager.getLogger("plain").info("logged as information")
