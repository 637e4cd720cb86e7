"""Writes the Spark configuration of a job process: s3:// paths are folders of the lake."""

import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from local_glue.class_archive.archive import NO_CONF, archive_options
from local_glue.home import Home
from local_glue.lake_fs.jar import hadoop_settings, lake_jar

COMMITTER_FACTORY = "org.apache.hadoop.mapreduce.lib.output.FileOutputCommitterFactory"
EVENTS_FOLDER = "spark-events"
CONF_FILE = "spark.conf"


def write_spark_conf(
    run_folder: Path, home: Home, java_home: Path, user_settings: Mapping[str, str]
) -> dict[str, str]:
    """Write ``run_folder``/spark.conf, the job's settings last.

    Returns:
        The environment variables with which a Python process starts Spark by that file.
    """
    (run_folder / EVENTS_FOLDER).mkdir(exist_ok=True)
    settings = {**engine_settings(home, run_folder, java_home), **user_settings}
    lines = "".join(f"{name} {_escaped(value)}\n" for name, value in settings.items())
    conf = run_folder / CONF_FILE
    conf.write_text(lines, encoding="utf-8")
    return {
        "JAVA_HOME": str(java_home),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_SUBMIT_ARGS": shlex.join(["--properties-file", str(conf), "pyspark-shell"]),
        # A folder on the class path, which is to be the same for every run: see class_archive.
        "SPARK_CONF_DIR": str(NO_CONF),
        "SPARK_DIST_CLASSPATH": str(lake_jar(java_home)),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "TZ": "UTC",  # as on Glue's workers
    }


def _escaped(value: str) -> str:
    """Return a value as Java's Properties read it back; a bare backslash would vanish."""
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")


def engine_settings(home: Home, run_folder: Path, java_home: Path) -> dict[str, str]:
    """Return the Spark properties of every local job run."""
    cores = os.cpu_count() or 2
    java_options = [
        *(f"-Dderby.system.home={home.derby}", f"-Dderby.stream.error.file={run_folder}/derby.log"),
        *archive_options(java_home),
    ]
    return {
        "spark.master": f"local[{cores}]",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(2 * cores),
        # Listing more than 32 given paths would otherwise start a Spark job of up to 10,000 tasks.
        "spark.sql.sources.parallelPartitionDiscovery.threshold": str(2**31 - 1),
        # Each local file would start an `ls` to learn the permissions that locality comes with.
        "spark.sql.sources.ignoreDataLocality": "true",
        # Spark's guess for a cluster, a task per 32 small files, costs more than reading them.
        "spark.sql.files.openCostInBytes": str(64 * 1024),
        "spark.sql.warehouse.dir": (home.root / "warehouse").as_uri(),
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": (run_folder / EVENTS_FOLDER).as_uri(),
        "spark.driver.defaultJavaOptions": " ".join(f'"{option}"' for option in java_options),
        # Hadoop's defaults name a committer for s3a that PySpark does not ship.
        "spark.hadoop.mapreduce.outputcommitter.factory.scheme.s3a": COMMITTER_FACTORY,
        **{f"spark.hadoop.{name}": value for name, value in hadoop_settings(home.lake).items()},
    }
