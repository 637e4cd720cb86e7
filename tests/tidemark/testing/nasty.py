"""Scripts that leave a Python process or a JVM as no later run may find it, and a plain one."""

from __future__ import annotations

START = """
import os, signal, sys, threading, time, logging, warnings, locale, decimal, atexit
from pathlib import Path
from pyspark.context import SparkContext
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
sc = spark.sparkContext
jvm = sc._jvm
"""
PYTHON = """
import json as real
sys.modules["json"] = type(sys)("json")
sys.path[:] = ["/nowhere"]
sys.argv = ["other"]
os.environ.clear()
os.environ["LEAK"] = "1"
os.makedirs("elsewhere")
os.chdir("elsewhere")
Path("leak_module.py").write_text("ME = 1")
sys.path.insert(0, ".")
import leak_module
sys.setrecursionlimit(5000)
sys.stdout = sys.stderr
sys.excepthook = print
logging.basicConfig(level=logging.DEBUG)
logging.getLogger("leak").addHandler(logging.StreamHandler())
logging.disable(logging.CRITICAL)
warnings.simplefilter("error")
decimal.getcontext().prec = 3
os.umask(0o077)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
atexit.register(print, "bye")
threading.Thread(target=time.sleep, args=(0.2,)).start()
"""
SPARK = """
spark.conf.set("spark.sql.shuffle.partitions", "3")
spark.conf.set("spark.leak", "1")
sc.setLocalProperty("spark.leak.local", "1")
sc.setJobGroup("leak", "leak")
frame = spark.range(100).repartition(3)
frame.createTempView("leak")
frame.createGlobalTempView("leak")
frame.cache().count()
spark.udf.register("leak_udf", lambda x: x)
spark.sql("CREATE DATABASE leak")
spark.sql("CREATE TABLE leak.leaked (x INT) USING parquet")
spark.sql("CACHE TABLE leak")
hadoop = sc._jsc.hadoopConfiguration()
hadoop.set("fs.s3.impl", "org.apache.hadoop.fs.LocalFileSystem")
hadoop.set("leak.key", "1")
jvm.org.apache.spark.deploy.SparkHadoopUtil.get().conf().set("leak.key", "1")
sc._jsc.sc().addSparkListener(jvm.org.apache.spark.scheduler.StatsReportListener())
spark.stop()
spark = SparkSession.builder.config("spark.sql.globalTempDatabase", "other")
spark = spark.config("spark.leak.static", "1").appName("leak").getOrCreate()
assert spark.range(10).count() == 10
spark.stop()
spark.stop()
"""
JVM = """
jvm.java.lang.System.setProperty("leak", "1")
jvm.java.lang.System.clearProperty("java.io.tmpdir")
jvm.java.util.TimeZone.setDefault(jvm.java.util.TimeZone.getTimeZone("Asia/Tokyo"))
jvm.java.util.Locale.setDefault(jvm.java.util.Locale.GERMANY)
jvm.org.apache.hadoop.fs.FileSystem.closeAll()
gone = jvm.java.io.PrintStream("gone.txt")
jvm.java.lang.System.setErr(gone)
gone.close()
sc.setLogLevel("DEBUG")
"""
STREAM = """
rates = spark.readStream.format("rate").option("rowsPerSecond", 5).load()
rates.writeStream.format("noop").option("checkpointLocation", "stream").start()
"""
# Script, the state it ends in, and whether it runs in the test's process.
NASTY = {
    "state of Python": (PYTHON, "SUCCEEDED", True),
    "state of Spark": (SPARK, "SUCCEEDED", True),
    "state of the JVM": (JVM, "SUCCEEDED", True),
    "a running stream": (STREAM, "SUCCEEDED", True),
    "an error in a task": ("spark.range(9).rdd.foreach(lambda _: 1 / 0)", "FAILED", True),
    "sys.exit(3)": ("sys.exit(3)", "FAILED", True),
    "sys.exit(0)": ("sys.exit(0)", "SUCCEEDED", True),
    "a thread of the JVM": ("jvm.java.util.Timer(True)", "SUCCEEDED", True),
    "an exit of the JVM": ("jvm.java.lang.System.exit(3)", "FAILED", True),
    "its context stopped below PySpark": ("sc._jsc.sc().stop()", "SUCCEEDED", True),
    "os._exit(0)": ("os._exit(0)", "SUCCEEDED", False),
    "os._exit by another name": ("getattr(os, '_ex' + 'it')(0)", "SUCCEEDED", False),
    "a killed script": ("os.kill(os.getpid(), signal.SIGKILL)", "FAILED", False),
    "a file for the workers": ("Path('x').touch(); sc.addFile('x')", "SUCCEEDED", False),
    "a serializer": (
        "spark.stop()\nSparkSession.builder.config('spark.serializer', "
        "'org.apache.spark.serializer.KryoSerializer').getOrCreate()",
        "SUCCEEDED",
        False,
    ),
}
CORE = ("state of Python", "os._exit by another name")

PLAIN = """
import json, locale, logging, os, sys, threading, warnings, decimal
from pathlib import Path
from pyspark.context import SparkContext
from awsglue.context import GlueContext
glue = GlueContext(SparkContext.getOrCreate())
spark, sc = glue.spark_session, glue.spark_session.sparkContext
jvm = sc._jvm
Path("beside.txt").write_text("beside")
read = spark.read.json("s3://landing/in/")
read.write.mode("overwrite").parquet("s3://raw/out/")
hadoop = sc._jsc.hadoopConfiguration()
mine = ("_", "TIDEMARK_", "PYTEST_", "PYTHONPATH", "PYSPARK_", "JAVA_", "SPARK_")
print(json.dumps({
    "rows": spark.read.parquet("s3://raw/out/").count(),
    "python": spark.range(3).rdd.map(lambda row: row.id).sum(),
    "conf": sorted(k for k, _ in sc.getConf().getAll() if "leak" in k),
    "app": sc.appName,
    "shuffle": spark.conf.get("spark.sql.shuffle.partitions"),
    "leak": [spark.conf.get("spark.leak", None), sc.getLocalProperty("spark.leak.local")],
    "hadoop": [hadoop.get("leak.key"), hadoop.get("fs.s3.impl")],
    "static": jvm.org.apache.spark.deploy.SparkHadoopUtil.get().conf().get("leak.key"),
    "properties": [jvm.java.lang.System.getProperty(n) for n in ("leak", "spark.leak")],
    "tmp": bool(jvm.java.lang.System.getProperty("java.io.tmpdir")),
    "zone": jvm.java.util.TimeZone.getDefault().getID(),
    "views": [t.name for t in spark.catalog.listTables()],
    "global views": [t.name for t in spark.catalog.listTables("global_temp")],
    "databases": [d.name for d in spark.catalog.listDatabases()],
    "functions": [r.function for r in spark.sql("SHOW USER FUNCTIONS").collect()],
    "cached": sc._jsc.sc().getPersistentRDDs().size(),
    "streams": len(spark.streams.active),
    "level": str(jvm.org.apache.logging.log4j.LogManager.getRootLogger().getLevel()),
    "argv": sys.argv[1:3],
    "folder": sorted(p.name for p in Path.cwd().iterdir() if p.suffix == ".txt"),
    "modules": [name for name in sys.modules if "leak" in name],
    "environment": sorted(k for k in os.environ if "LEAK" in k),
    "path": [p for p in sys.path if p in (".", "/nowhere")],
    "limit": sys.getrecursionlimit() < 5000,
    "logging": [
        [str(it) for it in logging.root.handlers], logging.root.level, logging.root.manager.disable
    ],
    "prec": decimal.getcontext().prec,
    "umask": os.umask(0o022),
}))
print("told", file=sys.stderr)
"""
