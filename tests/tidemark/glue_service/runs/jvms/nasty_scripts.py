"""Scripts that change their JVM or its process, and which of them one plain run follows."""

from __future__ import annotations

START = """
import os, signal, sys, threading, time
from pyspark import StorageLevel
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
sc = spark.sparkContext
jvm = sc._jvm
"""


SPARK_STATE = """
spark.conf.set("spark.sql.shuffle.partitions", "3")
spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
spark.conf.set("spark.leak", "1")
sc.setLocalProperty("spark.leak.local", "1")
sc.setCheckpointDir("checkpoints")
frame = spark.range(1000).repartition(3)
frame.checkpoint()
frame.createTempView("leak")
frame.createGlobalTempView("leak")
spark.udf.register("leak_udf", lambda x: x)
spark.sql("CREATE DATABASE leak")
spark.sql("CREATE TABLE leak.leaked (x INT) USING parquet")
spark.sql("CACHE TABLE leak")
kept = sc.broadcast(list(range(1000)))
counter = sc.accumulator(0)
sc.parallelize(range(100), 2).foreach(lambda x: counter.add(kept.value[x]))
hadoop = sc._jsc.hadoopConfiguration()
hadoop.set("fs.s3.impl", "org.apache.hadoop.fs.LocalFileSystem")
hadoop.set("leak.key", "1")
jvm.org.apache.spark.deploy.SparkHadoopUtil.get().conf().set("leak.key", "1")
sc._jsc.sc().addSparkListener(jvm.org.apache.spark.scheduler.StatsReportListener())
spark.stop()
spark = SparkSession.builder.master("local[1]").config("spark.sql.globalTempDatabase", "other")
spark = spark.config("spark.leak.static", "1").appName("leak").getOrCreate()
assert spark.range(10).count() == 10
spark.stop()
spark.stop()
"""


JVM_STATE = """
from py4j.java_gateway import java_import
java_import(jvm, "java.util.concurrent.*")
kept = [jvm.ArrayBlockingQueue(3), jvm.java.util.Date()]
jvm.java.lang.System.setProperty("spark.leak", "1")
jvm.java.lang.System.setProperty("leak", "1")
jvm.java.lang.System.clearProperty("java.io.tmpdir")
jvm.java.util.TimeZone.setDefault(jvm.java.util.TimeZone.getTimeZone("Asia/Tokyo"))
jvm.java.util.Locale.setDefault(jvm.java.util.Locale.GERMANY)
conf = sc._jsc.hadoopConfiguration()
uri = jvm.java.net.URI("s3://data/")
jvm.org.apache.hadoop.fs.FileSystem.get(uri, conf).close()
jvm.org.apache.hadoop.fs.FileSystem.closeAll()
gone = jvm.java.io.PrintStream("gone.txt")
jvm.java.lang.System.setErr(gone)
jvm.java.lang.System.setOut(gone)
gone.close()
sc.setLogLevel("DEBUG")
core = jvm.org.apache.logging.log4j.core.config.Configurator
core.setRootLevel(jvm.org.apache.logging.log4j.Level.ALL)
core.setLevel("plain", jvm.org.apache.logging.log4j.Level.OFF)
"""


STREAM = """
def each(frame, number):
    frame.count()
rates = spark.readStream.format("rate").option("rowsPerSecond", 50).load()
query = rates.writeStream.foreachBatch(each).option("checkpointLocation", "stream").start()
while not query.recentProgress:
    time.sleep(0.05)
"""


MEMORY = """
spark.conf.set("spark.sql.inMemoryColumnarStorage.compressed", "false")
frame = spark.range(36_000_000)  # 288 MB
frame.persist(StorageLevel.MEMORY_AND_DISK)
frame.count()
"""


KEPT_MEMORY = """
array = sc._gateway.new_array(jvm.long, 36_000_000)  # 288 MB
task = jvm.java.util.concurrent.FutureTask(jvm.java.lang.Thread(), array)
jvm.java.lang.Runtime.getRuntime().addShutdownHook(jvm.java.lang.Thread(task))
"""


IDLE = """
pool = jvm.org.apache.spark.util.ThreadUtils.newDaemonCachedThreadPool("idle")
pool.execute(jvm.java.lang.Thread())
"""


STATICS = """
dialects = jvm.org.apache.spark.sql.jdbc.JdbcDialects
dialects.unregisterDialect(dialects.get("jdbc:derby:x"))
"""


TAILER = """
files = jvm.org.apache.commons.io.input
tailer = files.Tailer(jvm.java.io.File("/dev/null"), files.TailerListenerAdapter(), 50)
"""


IN_COMMON_POOL = f"""{TAILER}
jvm.java.util.concurrent.ForkJoinPool.commonPool().execute(tailer)
time.sleep(0.5)
tailer.stop()
"""


LEFT_IN_COMMON_POOL = IN_COMMON_POOL.replace("tailer.stop()", "")


LATER = f"""{TAILER}
seconds = jvm.java.util.concurrent.TimeUnit.SECONDS
later = jvm.java.util.concurrent.CompletableFuture.delayedExecutor(60, seconds)
later.execute(tailer)
"""


BUILT_IN = """
function = jvm.org.apache.spark.sql.catalyst.FunctionIdentifier("upper")
jvm.org.apache.spark.sql.catalyst.analysis.FunctionRegistry.builtin().dropFunction(function)
"""


LONG_CALL = """
call = lambda: jvm.java.lang.Thread.sleep(600_000)
threading.Thread(target=call, daemon=True).start()
time.sleep(0.5)
"""


WORKER_KILLED = """
sc.parallelize(range(2), 2).foreach(lambda _: os.kill(os.getpid(), signal.SIGKILL))
"""


# Script, the state it ends in, and whether the next run gets its JVM.
NASTY = {
    "state of Spark": (SPARK_STATE, "SUCCEEDED", True),
    "state of the JVM": (JVM_STATE, "SUCCEEDED", True),
    "an idle thread of an executor": (IDLE, "SUCCEEDED", True),
    "cached data": (MEMORY, "SUCCEEDED", True),
    "an error in a task": ("spark.range(9).rdd.foreach(lambda _: 1 / 0)", "FAILED", True),
    "a killed Python worker, sys.exit": (
        f"try:\n    {WORKER_KILLED.strip()}\nexcept Exception as e:\n    sys.exit(3)",
        "FAILED",
        True,
    ),
    "a Python thread that outlives the script": (
        "threading.Thread(target=time.sleep, args=(1,)).start()\nsys.exit(0)",
        "SUCCEEDED",
        True,
    ),
    "a running stream": (STREAM, "SUCCEEDED", None),
    # The thread of a timer ends when the timer is garbage.
    "a thread of the JVM": ("jvm.java.util.Timer()", "SUCCEEDED", None),
    "a daemon thread of the JVM": ("jvm.java.util.Timer(True)", "SUCCEEDED", None),
    "a static of the JVM": (STATICS, "SUCCEEDED", False),
    "a built-in function of Spark": (BUILT_IN, "SUCCEEDED", False),
    "a task that the common pool has done": (IN_COMMON_POOL, "SUCCEEDED", True),
    "a task in the common pool": (LEFT_IN_COMMON_POOL, "SUCCEEDED", False),
    "a task for later": (LATER, "SUCCEEDED", False),
    "a call that does not end": (LONG_CALL, "SUCCEEDED", False),
    "memory that is kept": (KEPT_MEMORY, "SUCCEEDED", False),
    "no memory": ("sc._gateway.new_array(jvm.long, 2_000_000_000)", "FAILED", False),
    "os._exit(0)": ("os._exit(0)", "SUCCEEDED", False),
    "a killed script": ("os.kill(os.getpid(), signal.SIGKILL)", "FAILED", False),
    "an exit of the JVM": ("jvm.java.lang.System.exit(3)", "FAILED", False),
}


TOGETHER = {  # one plain run after them all is enough: what one of them leaves, no other removes
    "state of the JVM": ("state of the JVM",),
    "state of Spark": ("state of Spark", "an idle thread of an executor"),
    "work": (
        "cached data",
        "an error in a task",
        "a killed Python worker, sys.exit",
        "a Python thread that outlives the script",
    ),
    "a stream": ("a running stream",),
    "memory that is kept": ("memory that is kept",),
    "no memory": ("no memory",),
    "ends": (
        "a thread of the JVM",
        "a daemon thread of the JVM",
        "a static of the JVM",
        "a built-in function of Spark",
        "a task that the common pool has done",
        "a task in the common pool",
        "a task for later",
        "a call that does not end",
        "os._exit(0)",
        "a killed script",
        "an exit of the JVM",
    ),
}
