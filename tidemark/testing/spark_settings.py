"""Settings of Spark that a running context takes, and those that need their own JVM."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidemark.glue_job.metastore.catalog_settings import settings_of_script
from tidemark.glue_job.process.borrow import PACKAGES
from tidemark.local_state.run_warnings import RunWarning, note
from tidemark.testing.process_state import NeedsProcessError

if TYPE_CHECKING:
    from pyspark import SparkContext

    from tidemark.local_state.home import Home

SESSION_PREFIXES = ("spark.sql.", "spark.hadoop.", "spark.executorEnv.")
CONTEXT_PREFIXES = ("spark.sql.catalogImplementation", "spark.sql.hive.", "spark.sql.streaming.ui.")
# Settings that differ between any two contexts, whatever a script asks for.
VARYING = ("spark.app.submitTime", "spark.app.startTime", "spark.app.id", "spark.driver.port")
NAME = "spark.app.name"


@dataclass
class Taken:
    """The decision about the settings of one run.

    Attributes:
        home: of the run.
        refuse: builds the error for a setting that needs a process.
    """

    home: Home
    refuse: Callable[[str], NeedsProcessError]


def isolation_by_setting(name: str, value: str, *, is_of_spark: bool) -> str | None:
    """Return why a setting needs its own process; None if a running context takes it.

    Args:
        name: of the setting.
        value: its value.
        is_of_spark: whether Spark's core knows it, and so read it at the start of the context.
    """
    if name == "spark.master":
        own = ("local[*]", f"local[{os.cpu_count() or 2}]")
        return None if value in own else f"{name} is {value}"
    is_of_session = name == NAME or name.startswith(SESSION_PREFIXES) or not is_of_spark
    is_taken = is_of_session and not name.startswith(CONTEXT_PREFIXES)
    return None if is_taken else f"{name} is set"


def asked_of(conf: Any, shared: SparkContext) -> dict[str, str]:
    """Return the settings of a SparkConf of Java that the running context does not have so."""
    running = debugged(shared._jsc.sc().conf())
    return {
        name: value
        for name, value in debugged(conf).items()
        if running.get(name) != value and name not in VARYING
    }


def debugged(conf: Any) -> dict[str, str]:
    """Return all settings of a SparkConf of Java, in one call."""
    pairs = (line.partition("=") for line in conf.toDebugString().split("\n"))
    return {name: value for name, separator, value in pairs if separator}


def taken_in_process(
    asked: Mapping[str, str], taken: Taken, shared: SparkContext
) -> dict[str, str]:
    """Return the settings to make on the running context for a script that asks for some.

    Raises:
        NeedsProcessError: a setting cannot be changed while Spark runs.
    """
    jvm: Any = shared._jvm
    entries = jvm.org.apache.spark.internal.config.ConfigEntry
    wanted = {}
    for name, value in asked.items():
        if name in PACKAGES:
            note(RunWarning.PACKAGES_IGNORED, f"{name} {value}")
            continue
        is_of_spark = name.startswith("spark.") and entries.findEntry(name) is not None
        if why := isolation_by_setting(name, value, is_of_spark=is_of_spark):
            raise taken.refuse(why)
        if name != "spark.master":
            wanted[name] = value
    return {**wanted, **settings_of_script(taken.home, wanted)}
