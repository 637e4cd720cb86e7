"""Gives a run its executors, as long as its script runs."""

import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tidemark.errors import UsageError
from tidemark.glue_job.cluster.asked import asked_for
from tidemark.glue_job.process.spark import (
    CONF_FILE,
    NO_PERF_DATA,
    QUICK,
    TEMPORARY_FOLDER,
    as_properties,
)

STANDALONE = "spark://"
ANSWER_S = 5.0
# What Python workers on other machines need of the environment of a run.
ENVIRONMENT = ("PYTHONPATH", "TIDEMARK_HOME", "LC_ALL", "TZ")


@contextmanager
def executors_of_run(folder: Path) -> Iterator[None]:
    """Let the settings of Spark in the folder of a run name its cluster, if one is asked for."""
    asked = asked_for(os.environ)
    conf = folder / CONF_FILE
    if not asked or not conf.is_file():  # a Python shell job has none
        yield
        return
    if asked.master:
        _check_answers(asked.master)
        wanted = {f"spark.executorEnv.{n}": os.environ[n] for n in ENVIRONMENT if n in os.environ}
        _add(conf, wanted)
        yield
        return
    # Slow to import, and most runs need none of it.
    from tidemark.glue_job.cluster.standalone import FOLDER, standalone_cluster
    from tidemark.glue_job.process.class_archive.archive import archive_options

    archive = archive_options(Path(os.environ["JAVA_HOME"]))
    options = [QUICK, "-XX:+UseSerialGC", NO_PERF_DATA, *archive]
    variables = {**os.environ, "SPARK_LOCAL_DIRS": str(folder / TEMPORARY_FOLDER)}
    started = standalone_cluster(asked.executors, folder / FOLDER, variables, options)
    with started as settings:
        _add(conf, settings)
        yield


def _check_answers(master: str) -> None:
    """Raise if no master of a standalone cluster answers: Spark would try for a minute."""
    if not master.startswith(STANDALONE):
        return
    failures = []
    for place in master.removeprefix(STANDALONE).split(","):
        host, _, port = place.rpartition(":")
        try:
            socket.create_connection((host, int(port)), ANSWER_S).close()
        except (OSError, ValueError) as error:
            failures.append(str(error))
        else:
            return
    raise UsageError(
        f"{master} does not answer ({failures[-1]}); start the cluster, or give the URL that its "
        "master shows: --master spark://HOST:PORT"
    )


def _add(conf: Path, settings: Mapping[str, str]) -> None:
    """Add settings to a file that from now on only its owner reads: one may be a secret."""
    conf.chmod(0o600)
    with conf.open("a", encoding="utf-8") as file:
        file.write(as_properties(settings))
