"""Gives a run its executors, as long as its script runs."""

import os
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tidemark.glue_job.cluster.asked import asked_for
from tidemark.glue_job.cluster.standalone import FOLDER, standalone_cluster
from tidemark.glue_job.process.class_archive.archive import archive_options
from tidemark.glue_job.process.spark import CONF_FILE, TEMPORARY_FOLDER, as_properties

# What Python workers on other machines need of the environment of a run.
ENVIRONMENT = ("PYTHONPATH", "TIDEMARK_HOME", "LC_ALL", "TZ")
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData"
# Only for bookkeeping: what an executor may take is its own setting.
MEMORY_OF_WORKER = "1024g"


@contextmanager
def executors_of_run(folder: Path) -> Iterator[None]:
    """Let the settings of Spark in the folder of a run name its cluster, if one is asked for."""
    asked = asked_for(os.environ)
    conf = folder / CONF_FILE
    if not asked or not conf.is_file():  # a Python shell job has none
        yield
        return
    if asked.master:
        wanted = {f"spark.executorEnv.{n}": os.environ[n] for n in ENVIRONMENT if n in os.environ}
        _add(conf, wanted)
        yield
        return
    options = [*QUICK.split(), *archive_options(Path(os.environ["JAVA_HOME"]))]
    variables = {
        **os.environ,
        "SPARK_DAEMON_JAVA_OPTS": shlex.join(options),
        "SPARK_LOCAL_DIRS": str(folder / TEMPORARY_FOLDER),
    }
    started = standalone_cluster(asked.executors, folder / FOLDER, variables, MEMORY_OF_WORKER)
    with started as settings:
        _add(conf, settings)
        yield


def _add(conf: Path, settings: Mapping[str, str]) -> None:
    """Add settings to a file that from now on only its owner reads: one may be a secret."""
    conf.chmod(0o600)
    with conf.open("a", encoding="utf-8") as file:
        file.write(as_properties(settings))
