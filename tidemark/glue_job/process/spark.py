"""Writes the Spark configuration of a job process: s3:// paths are folders of the lake."""

import os
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tidemark.glue_job.cluster.asked import (
    DAEMON,
    IN_THE_DRIVER,
    WORKERS,
    Asked,
    engine_settings_of,
    with_executors,
)
from tidemark.glue_job.iceberg.jars import format_jars
from tidemark.glue_job.metastore.catalog_settings import EXTENSIONS, OURS
from tidemark.glue_job.process.class_archive.archive import NO_CONF, archive_options
from tidemark.glue_job.process.lake_fs.jar import hadoop_settings, lake_jar
from tidemark.glue_job.process.lake_fs.semantics import FOLDER, semantics_settings
from tidemark.local_state.home import Home
from tidemark.local_state.outside import withholds_others
from tidemark.local_state.sparks.installed import Spark, own_spark

COMMITTER_FACTORY = "org.apache.hadoop.mapreduce.lib.output.FileOutputCommitterFactory"
EVENTS_FOLDER = "spark-events"
CONF_FILE = "spark.conf"
# Options of sources that Spark redacts: by their names, and by the content of their values.
REDACTED = "(?i)passw|pwd|secret|token|credential|access.?key|@"
NO_PERF_DATA = "-XX:-UsePerfData"  # a file in /tmp, which a killed JVM leaves there
# For JVMs that live for seconds: compiling well costs more than it saves. It names no collector of
# garbage, for a job may name one, and a JVM with two does not start.
QUICK = "-XX:TieredStopAtLevel=1"
FOR_SECONDS = f"{QUICK} -XX:+UseSerialGC"  # for a JVM that gets no options from a job
MAX_LITTLE_BYTES = 32_000_000  # of a lake; of more, what is compiled well pays
MAX_LITTLE_FILES = 5_000
TEMPORARY_FOLDER = "tmp"  # of the run's JVM if it is its own: a killed JVM leaves files


def write_spark_conf(
    run_folder: Path,
    home: Home,
    java_home: Path,
    user_settings: Mapping[str, str],
    spark: Spark | None = None,
    semantics: str = FOLDER,
    asked: Asked = IN_THE_DRIVER,
) -> dict[str, str]:
    """Write ``run_folder``/spark.conf, the job's settings last; return the variables of its Spark.

    It is this Python's unless another one is given. The lake has the semantics of folders or S3's.
    Its executors are where it is asked for.
    """
    spark = spark or own_spark()
    (run_folder / EVENTS_FOLDER).mkdir(exist_ok=True)
    (run_folder / TEMPORARY_FOLDER).mkdir(exist_ok=True)
    class_path = [lake_jar(java_home, spark), *format_jars(java_home, spark)]
    options = java_options(home, run_folder, java_home, spark)
    engine = engine_settings(home, run_folder, java_home, spark, options)
    engine = engine_settings_of(asked, engine | semantics_settings(semantics), options)
    settings = with_executors({**engine, **user_settings}, asked, class_path)
    conf = run_folder / CONF_FILE
    conf.write_text(as_properties(settings), encoding="utf-8")
    return {
        "JAVA_HOME": str(java_home),
        "PYSPARK_PYTHON": str(spark.python),
        "PYSPARK_SUBMIT_ARGS": shlex.join(["--properties-file", str(conf), "pyspark-shell"]),
        # A folder on the class path that must be the same for every run: see class_archive.
        "SPARK_CONF_DIR": str(NO_CONF),
        # Jars of formats come last: the class archive is for those before.
        "SPARK_DIST_CLASSPATH": os.pathsep.join(map(str, class_path)),
        "SPARK_HOME": str(spark.home),  # else Spark starts a Python to find it
        **({} if asked.master else {"SPARK_LOCAL_IP": "127.0.0.1"}),
        "TZ": "UTC",  # as on Glue's workers
    }


def as_properties(values: Mapping[str, str]) -> str:
    """Return a string that Java's ``Properties.load`` reads as these values."""
    return "".join(
        f"{_escaped(name, ':= #!')}={_escaped(value)}\n" for name, value in values.items()
    )


def _escaped(text: str, also: str = "") -> str:
    for character in f"\\{also}":
        text = text.replace(character, f"\\{character}")
    for character, name in (("\n", "n"), ("\r", "r"), ("\t", "t"), ("\f", "f")):
        text = text.replace(character, f"\\{name}")
    return f"\\{text}" if text.startswith(" ") else text  # else it counts as layout


def system_properties(home: Home, run_folder: Path) -> dict[str, str]:
    """Return the system properties of a run's JVM that are not Spark settings."""
    temporary = str(run_folder / TEMPORARY_FOLDER)
    if "," in temporary:  # where Spark ends a name
        temporary = tempfile.gettempdir()
    return {
        "derby.system.home": str(home.derby),
        "derby.stream.error.file": f"{run_folder}/derby.log",
        "java.io.tmpdir": temporary,  # Spark's files too
    }


def java_options(home: Home, run_folder: Path, java_home: Path, spark: Spark) -> list[str]:
    """Return the options of the JVMs of a run."""
    properties = system_properties(home, run_folder)
    return [
        *(f"-D{name}={value}" for name, value in properties.items()),
        NO_PERF_DATA,
        *([QUICK] if has_little_data(home) else []),
        *archive_options(java_home, spark),
    ]


def has_little_data(home: Home) -> bool:
    """Return whether JVMs for a home should compile quickly, for runs of seconds.

    Who sets ``JAVA_TOOL_OPTIONS`` decides it there.
    """
    if os.environ.get("JAVA_TOOL_OPTIONS"):
        return False
    return withholds_others(home) or (home.lake.is_dir() and _is_little(home.lake))


def _is_little(folder: Path) -> bool:
    # A run waits for it: it stops at the first entry too many, also in one large folder.
    folders, entries, left = [str(folder)], 0, MAX_LITTLE_BYTES
    while folders:
        with suppress(OSError), os.scandir(folders.pop()) as below:  # deleted meanwhile
            for entry in below:
                entries += 1
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    left -= entry.stat(follow_symlinks=False).st_size
                if entries > MAX_LITTLE_FILES or left < 0:
                    return False
    return True


def engine_settings(
    home: Home, run_folder: Path, java_home: Path, spark: Spark, options: Sequence[str]
) -> dict[str, str]:
    """Return the Spark properties of every local job run."""
    cores = os.cpu_count() or 2
    return {
        "spark.master": f"local[{cores}]",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.authenticate": "true",  # by a secret of the JVM: other users share this machine
        DAEMON: WORKERS,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(2 * cores),
        # Listing more than 32 given paths would otherwise start a Spark job of up to 10,000 tasks.
        "spark.sql.sources.parallelPartitionDiscovery.threshold": str(2**31 - 1),
        # Each local file would start an `ls` to read the permissions that come with locality.
        "spark.sql.sources.ignoreDataLocality": "true",
        # Spark's guess for a cluster, a task per 32 small files, costs more than reading them.
        "spark.sql.files.openCostInBytes": str(64 * 1024),
        # Tables without a location end with the run, as with the cluster on AWS.
        "spark.sql.warehouse.dir": (run_folder / TEMPORARY_FOLDER / "warehouse").as_uri(),
        EXTENSIONS: OURS,
        # Written datasets are read from the event log, which may show a URL, but not its secrets.
        "spark.sql.redaction.options.regex": REDACTED,
        "spark.eventLog.enabled": "true",
        "spark.eventLog.rolling.enabled": "false",  # as before Spark 4: one file, and plain
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": (run_folder / EVENTS_FOLDER).as_uri(),
        "spark.driver.defaultJavaOptions": " ".join(f'"{option}"' for option in options),
        # Hadoop's defaults name a committer for s3a that PySpark does not ship.
        "spark.hadoop.mapreduce.outputcommitter.factory.scheme.s3a": COMMITTER_FACTORY,
        **{f"spark.hadoop.{name}": value for name, value in hadoop_settings(home.lake).items()},
    }
