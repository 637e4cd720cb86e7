"""The settings of Spark for executors that are other processes than the driver."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from tidemark.glue_job.cluster.asked import Asked

EXECUTOR_CLASS_PATH = "spark.executor.extraClassPath"
DRIVER_CLASS_PATH = "spark.driver.extraClassPath"
OPTIONS = "spark.executor.defaultJavaOptions"
DAEMON = "spark.python.daemon.module"  # starts the Python workers
WORKERS = "tidemark.glue_job.process.worker_daemon"
# Those of a driver that only its own machine reaches; a cluster has its own ones.
LOCAL_SETTINGS = ("spark.driver.host", "spark.driver.bindAddress", "spark.authenticate", DAEMON)
# Properties of Hadoop that a configuration which a library makes, without Spark's, has as well.
PROPERTIES = ("tidemark.lake", "tidemark.lake.semantics")


def engine_settings_of(
    asked: Asked, engine: Mapping[str, str], java_options: Sequence[str]
) -> dict[str, str]:
    """Return the settings of a run whose driver does all, changed for where its executors are."""
    if not asked:
        return dict(engine)
    given = {name: engine.get(f"spark.hadoop.{name}") for name in PROPERTIES}
    properties = [f"-D{name}={value}" for name, value in given.items() if value]
    if asked.executors:
        options = [f'"{option}"' for option in (*properties, *java_options)]
        return {**engine, OPTIONS: " ".join(options), "spark.executor.memory": "512m"}
    kept = {name: value for name, value in engine.items() if name not in LOCAL_SETTINGS}
    options = [f'"{option}"' for option in properties]
    return {**kept, OPTIONS: " ".join(options), "spark.master": asked.master}


def with_executors(
    settings: Mapping[str, str], asked: Asked, class_path: Sequence[Path]
) -> dict[str, str]:
    """Return the settings of a run, including its arguments, with those of its executors."""
    if not asked:
        return dict(settings)
    # Executors of this machine have the jars in their environment.
    jars = [] if asked.executors else map(str, class_path)
    given = (settings.get(EXECUTOR_CLASS_PATH), settings.get(DRIVER_CLASS_PATH), *jars)
    found = {**settings, **_fixed(asked.executors)}
    if entries := list(dict.fromkeys(filter(None, given))):
        found[EXECUTOR_CLASS_PATH] = os.pathsep.join(entries)
    return found


def _fixed(executors: int) -> dict[str, str]:
    """Return the settings that fit the cluster of a run: each of its workers has one core."""
    if not executors:
        return {}
    return {
        "spark.executor.cores": "1",
        "spark.cores.max": str(executors),
        "spark.dynamicAllocation.enabled": "false",
        # Else the first executor that is there would get all tasks of a short job.
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "60s",
    }
