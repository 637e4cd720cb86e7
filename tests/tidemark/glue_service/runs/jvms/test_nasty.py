"""A plain script after a nasty one, in the same pool: all is as in a JVM of its own."""

from __future__ import annotations

from textwrap import dedent
from zipfile import ZipFile

import pytest

from tests.tidemark.glue_service.runs.jvms.nasty_scripts import NASTY, START, TOGETHER
from tests.tidemark.glue_service.runs.jvms.runs import PLAIN, Bench, differences
from tests.waiting import wait_until
from tidemark.glue_service.runs.job_run_process import stop_job_run
from tidemark.glue_service.runs.jvms.server import serve_pool
from tidemark.glue_service.runs.jvms.supply import Jvms
from tidemark.local_state.machine.java import find_java_home
from tidemark.local_state.sparks.installed import own_spark

pytestmark = pytest.mark.spark
COLD = Jvms(cold_reason="a test wants it so")

JVMS_AFTER = {True: ("warm",), False: ("cold",), None: ("warm", "cold")}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    return Bench(tmp_path_factory.mktemp("nasty"))


@pytest.fixture(scope="module")
def one_jvm(tmp_path_factory):
    """A pool of one JVM, which every test of this module uses in turn."""
    folder = tmp_path_factory.mktemp("pool")
    with serve_pool(folder, find_java_home(), 1) as (pool, file):
        pool.want(1, own_spark())
        yield Jvms(file, pool=pool)
    assert not folder.exists() or list(folder.iterdir()) == []


@pytest.fixture(scope="module")
def cold(bench):
    facts = bench.plain(COLD)
    assert facts["jvm"] == "cold: a test wants it so"
    return facts


def check_plain(bench, jvms, cold, is_reused):
    after = bench.plain(jvms)
    assert after["jvm"] in JVMS_AFTER[is_reused]
    assert differences(cold, after) == {}


@pytest.mark.nightly  # test_statics has the state of the JVM at every change
@pytest.mark.parametrize("names", TOGETHER.values(), ids=TOGETHER)
def test_plain_script_sees_nothing_of(names, bench, one_jvm, cold):
    is_reused = None
    for name in names:
        script, state, is_next_reused = NASTY[name]
        seen = bench.run(one_jvm, START + script, arguments={"--conf": "spark.hadoop.leak.key=1"})
        assert (name, seen.run.state) == (name, state), seen.stderr
        assert seen.run.jvm in JVMS_AFTER[is_reused], name
        is_reused = is_next_reused

    check_plain(bench, one_jvm, cold, is_reused)


def test_every_nasty_script_is_run():
    assert sorted(name for names in TOGETHER.values() for name in names) == sorted(NASTY)


TEMPORARY = """
from pyspark.sql import SparkSession
jvm = SparkSession.builder.getOrCreate()._jvm
jvm.java.io.File.createTempFile("first", ".tmp").deleteOnExit()
"""


def test_a_run_makes_temporary_files_after_one_that_made_the_first(bench, one_jvm):
    # Java looks once where they are: libraries in jars, such as that of zstd, are unpacked there.
    for jvm in (None, "warm"):
        seen = bench.run(one_jvm, TEMPORARY)
        assert (seen.run.state, seen.run.jvm) == ("SUCCEEDED", jvm or seen.run.jvm), seen.stderr


ENDLESS = START + dedent("""
    print("ready", flush=True)
    spark.range(10**12).selectExpr("uuid()").write.parquet("s3://data/never/")
    """)


def started(bench, process):
    out = bench.home.runs / process.run.run_id / "stdout.log"
    wait_until(lambda: "ready" in out.read_text(encoding="utf-8"))


@pytest.mark.nightly
def test_run_that_is_stopped_or_runs_too_long_or_is_killed_takes_its_jvm_along(
    bench, one_jvm, cold
):
    process = bench.start(one_jvm, ENDLESS)
    started(bench, process)
    assert stop_job_run(process).state == "STOPPED"
    never = bench.home.lake / "data" / "never"
    left = sorted(never.rglob("*"))

    process = bench.start(one_jvm, ENDLESS.replace("never", "too-long"))
    started(bench, process)
    process.deadline = 0
    assert bench.finish(process).run.state == "TIMEOUT"

    process = bench.start(one_jvm, ENDLESS.replace("never", "killed"))
    started(bench, process)
    process.process.kill()
    assert bench.finish(process).run.state == "FAILED"

    check_plain(bench, one_jvm, cold, False)
    assert sorted(never.rglob("*")) == left  # no one wrote on


@pytest.mark.parametrize(
    ("before", "why"),
    [
        ("conf.set('spark.driver.memory', '600m')", "cold: spark.driver.memory is set"),
        pytest.param(
            "os.environ['TZ'] = 'Asia/Tokyo'",
            "cold: the script changed the environment variable TZ",
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            "os.environ['PYSPARK_SUBMIT_ARGS'] = '--verbose ' + os.environ['PYSPARK_SUBMIT_ARGS']",
            "cold: the script changed the environment variable PYSPARK_SUBMIT_ARGS",
            marks=pytest.mark.nightly,
        ),
    ],
    ids=["memory", "time zone", "arguments"],
)
def test_script_that_wants_another_jvm_gets_one(before, why, bench, one_jvm):
    script = (
        "import os\nfrom pyspark import SparkConf, SparkContext\nconf = SparkConf()\n"
        f"{before}\nsc = SparkContext(conf=conf)\nprint(sc.parallelize(range(3)).count())"
    )

    seen = bench.run(one_jvm, script)

    assert (seen.run.state, seen.run.jvm, seen.stdout) == ("SUCCEEDED", why, "3\n"), seen.stderr


MOVED = """
import os, json, sys
from pathlib import Path
from zipfile import ZipFile
os.makedirs("elsewhere")
os.chdir("elsewhere")
Path("here.txt").write_text("here")
Path("module_of_here.py").write_text("ME = 'here'")
os.environ["MINE"] = "a = \\u00e9 \\\\ #!:\\n\\t "
os.environb[b"RAW"] = b"\\xff\\xe9"
from pyspark import SparkConf
from pyspark.sql import SparkSession, functions as F
conf = SparkConf().set("spark.sql.shuffle.partitions", " 3 ")
conf.set("spark.text", "a = \\u00e9 \\\\ \\n #!:")
conf.set("foreign.setting", "x").set("user.timezone", "Asia/Tokyo").setAppName("mine")
spark = SparkSession.builder.config(conf=conf).getOrCreate()
sc = spark.sparkContext
Path("module_to_send.py").write_text("ME = 'sent'")
sc.addPyFile("module_to_send.py")
@F.udf("string")
def seen(_):
    import module_of_here, module_to_send
    raw = os.environb[b"RAW"].hex()
    return json.dumps([os.environ["MINE"], raw, Path("here.txt").read_text(), module_to_send.ME])
text = [row.value for row in spark.read.text("here.txt").collect()]
shown = dict(sc.getConf().getAll())
print(json.dumps([
    json.loads(spark.range(1).select(seen("id")).first()[0]), text,
    [shown.get(n) for n in ("spark.text", "spark.sql.shuffle.partitions", "foreign.setting")],
    sc.appName, sc._jvm.java.util.TimeZone.getDefault().getID(),
    sc._jvm.java.lang.System.getProperty("spark.text"),
    sc._jvm.java.lang.System.getProperty("foreign.setting"),
]))
"""


@pytest.mark.nightly
def test_what_a_script_changes_before_spark_starts_reaches_it_and_its_workers(bench, one_jvm):
    own, borrowed = bench.run(COLD, MOVED), bench.run(one_jvm, MOVED)

    assert own.run.state == borrowed.run.state == "SUCCEEDED", own.stderr + borrowed.stderr
    assert borrowed.run.jvm in ("warm", "cold")
    assert borrowed.stdout == own.stdout


HIVE = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.enableHiveSupport().getOrCreate()
spark.sql("CREATE TABLE IF NOT EXISTS kept AS SELECT 1 AS x")
jdbc = spark.sparkContext._jvm.java.sql.DriverManager.getConnection("jdbc:derby:mine;create=true")
jdbc.close()
print(spark.table("kept").count())
"""


@pytest.mark.nightly
def test_derby_database_is_free_for_another_jvm_after_the_run(bench, one_jvm, cold):
    seen = [bench.run(jvms, HIVE) for jvms in (one_jvm, COLD)]

    assert [run.stdout for run in seen] == ["1\n"] * 2, seen[1].stderr
    check_plain(bench, one_jvm, cold, None)
    after = [bench.run(one_jvm, PLAIN) for _ in range(2)]
    # Its JVM was made as new before the second one got it.
    assert not (after[0].folder / "derby.log").exists()


IN_MEMORY = START + dedent("""
    url = "jdbc:derby:memory:mine;create=true"
    memory = jvm.java.sql.DriverManager.getConnection(url)
    memory.createStatement().execute("CREATE TABLE mine (x INT)")  # fails if it is there
    """)


def test_derby_database_in_memory_ends_with_its_run(bench, one_jvm):
    seen = [bench.run(one_jvm, IN_MEMORY) for _ in range(2)]

    assert [run.run.state for run in seen] == ["SUCCEEDED"] * 2, seen[1].stderr
    assert seen[1].run.jvm == "warm"


BY_SPARK = START + dedent("""
    rows = spark.createDataFrame([(1,)], "id INT").write.mode("append")
    rows.options(**{options}).jdbc("jdbc:derby:shop;create=true", "orders")
    """)
NAMED = {"driver": "org.apache.derby.jdbc.EmbeddedDriver"}


@pytest.mark.nightly
def test_a_database_is_found_with_and_without_its_driver_in_each_run(bench, one_jvm):
    asked = ({}, {}, NAMED, {}, NAMED, {})

    seen = [bench.run(one_jvm, BY_SPARK.format(options=options)) for options in asked]

    assert [one.run.state for one in seen] == ["SUCCEEDED"] * len(asked), seen[-1].stderr
    assert {one.run.jvm for one in seen[1:]} == {"warm"}


QUERY = """
import sys
from pyspark.sql import SparkSession, functions as F
spark = SparkSession.builder.getOrCreate()
compiled = spark._jvm.org.apache.spark.metrics.source.CodegenMetrics.METRIC_COMPILATION_TIME()
for jar in sys.argv[sys.argv.index("--jar") + 1:][:1] if "--jar" in sys.argv else []:
    spark.sql(f"ADD JAR '{jar}'")
before = compiled.getCount()
rows = spark.range(10).groupBy((F.col("id") % 3).alias("kind")).count().orderBy("kind").collect()
print([tuple(row) for row in rows])
print(compiled.getCount() - before)
"""


def test_a_later_run_compiles_nothing_again_unless_it_adds_a_jar(bench, one_jvm, tmp_path):
    jar = tmp_path / "empty.jar"
    with ZipFile(jar, "w") as file:
        file.writestr("nothing.txt", "")
    bench.run(one_jvm, QUERY)

    def warm_run(**changes):
        """Return rows and count of a run that has the JVM of the run before."""
        for _ in range(5):  # a busy machine may have ended that one
            run = bench.run(one_jvm, QUERY, **changes)
            if run.run.jvm == "warm":
                return run.stdout.splitlines()
        raise AssertionError(run)

    rows, count = warm_run()
    with_jar, count_with_jar = warm_run(arguments={"--jar": str(jar)})
    assert rows == with_jar == "[(0, 4), (1, 3), (2, 3)]"
    assert (int(count), int(count_with_jar) > 0) == (0, True)


@pytest.mark.nightly
def test_homes_that_share_a_pool_read_their_own_lakes(bench, one_jvm, tmp_path):
    script = START + dedent("""
        from pathlib import Path
        read = lambda uri: bytes(jvm.java.net.URL(uri).openStream().readAllBytes()).decode()
        print(spark.read.text("s3://data/whose.txt").first()[0], read("s3://data/whose.txt"))
        """)
    other = Bench(tmp_path)
    for home, text in ((bench.home, "first"), (other.home, "other")):
        (home.lake / "data" / "whose.txt").write_text(text, encoding="utf-8")

    seen = [home.run(one_jvm, script) for home in (bench, other, bench)]

    assert [run.stdout.split() for run in seen] == [
        ["first", "first"],
        ["other", "other"],
        ["first", "first"],
    ], seen[1].stderr
