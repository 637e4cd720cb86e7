"""Where the executors of a run are: in its JVM, in own processes, or in another cluster.

If they are other processes than the driver, some settings of Spark differ.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tidemark.errors import UsageError
from tidemark.glue_job.process.lake_fs.semantics import S3, semantics_of

EXECUTORS_VARIABLE = "TIDEMARK_EXECUTORS"
MASTER_VARIABLE = "TIDEMARK_MASTER"
YARN = "yarn"
FOR_YARN = ("HADOOP_CONF_DIR", "YARN_CONF_DIR")
EXECUTOR_BYTES = 900 * 1024**2  # an executor of the default size, and its worker
DRIVER_BYTES = 2 * 1024**3  # the driver, Spark's master and Python


@dataclass(frozen=True)
class Asked:
    """What a command asks for.

    Attributes:
        executors: how many processes of this machine; 0: the driver does all.
        master: URL of a cluster that exists; empty: none.
    """

    executors: int = 0
    master: str = ""

    def __bool__(self) -> bool:
        return bool(self.executors or self.master)

    @property
    def own_jvm_reason(self) -> str:
        """Why a run cannot borrow a JVM; empty if it can."""
        if self.executors:
            return f"--executors {self.executors} was given"
        return f"--master {self.master} was given" if self.master else ""


IN_THE_DRIVER = Asked()


def asked_for(environment: Mapping[str, str]) -> Asked:
    """Return what the environment of a command asks for.

    Example: asked_for({"TIDEMARK_EXECUTORS": "2"}) is Asked(executors=2).
    Source: https://spark.apache.org/docs/latest/submitting-applications.html#master-urls
    """
    text, master = environment.get(EXECUTORS_VARIABLE) or "", environment.get(MASTER_VARIABLE) or ""
    if text and master:
        raise UsageError(
            f"{text} executors of this machine and the cluster {master} are asked for; allowed: "
            "one of --executors and --master; leave one out"
        )
    if master:
        return Asked(master=_checked_master(master, environment))
    if not text:
        return Asked()
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(
            f"the number of executors is {text!r}; allowed: a whole number from 1; give one to "
            "--executors"
        )
    if why := too_small_for(int(text), memory_bytes()):
        raise UsageError(why)
    return Asked(int(text))


def too_small_for(executors: int, memory_bytes: int) -> str:
    """Return why a machine with so much memory is too small; empty if it is not."""
    needed = DRIVER_BYTES + executors * EXECUTOR_BYTES
    if needed <= memory_bytes:
        return ""
    most = (memory_bytes - DRIVER_BYTES) // EXECUTOR_BYTES
    remedy = f"give --executors {most} at most" if most > 0 else "run without --executors"
    size, least = (f"{count / 1024**3:.1f} GB" for count in (memory_bytes, needed))
    return f"this machine has {size} of memory, and {executors} executors need {least}; {remedy}"


def memory_bytes() -> int:
    """Return how much memory this machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _checked_master(master: str, environment: Mapping[str, str]) -> str:
    if not master.startswith(("spark://", "k8s://", YARN)):
        raise UsageError(
            f"--master is {master!r}; allowed: spark://HOST:PORT, k8s://URL or yarn; for processes "
            "of this machine give --executors N"
        )
    if master == YARN and not any(environment.get(name) for name in FOR_YARN):
        raise UsageError(
            f"--master is {YARN}, and Spark finds it by a folder of Hadoop's settings; set "
            f"{' or '.join(FOR_YARN)} to that folder"
        )
    if semantics_of(environment) == S3:
        raise UsageError(
            f"--s3-semantics is for processes of this machine, and {master} may have others; leave "
            "it out, or give --executors N in place of --master"
        )
    return master


EXECUTOR_CLASS_PATH = "spark.executor.extraClassPath"
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
    given = (settings.get(EXECUTOR_CLASS_PATH), settings.get("spark.driver.extraClassPath"), *jars)
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
