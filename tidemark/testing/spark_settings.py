"""Which settings of Spark a running context takes, and which need a JVM of their own."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidemark.glue_job.metastore.asked import settings_of_script
from tidemark.glue_job.process.borrow import PACKAGES
from tidemark.local_state.run_warnings import RunWarning, note
from tidemark.testing.process_state import NeedsProcessError

if TYPE_CHECKING:
    from pyspark import SparkContext

    from tidemark.local_state.home import Home

OF_SESSIONS = ("spark.sql.", "spark.hadoop.", "spark.executorEnv.")
OF_ONE_CONTEXT = ("spark.sql.catalogImplementation", "spark.sql.hive.", "spark.sql.streaming.ui.")
# What differs between any two contexts, and says nothing about what a script wants.
OF_EVERY_RUN = ("spark.app.submitTime", "spark.app.startTime", "spark.app.id", "spark.driver.port")
NAME = "spark.app.name"


@dataclass
class Taken:
    """What was decided about the settings of one run.

    Attributes:
        home: of the run.
        refuse: makes the error for a setting that needs a process.
    """

    home: Home
    refuse: Callable[[str], NeedsProcessError]


def why_process(name: str, value: str, *, is_of_spark: bool) -> str | None:
    """Return why a setting needs a process of its own; None if a running context takes it.

    Args:
        name: of the setting.
        value: its value.
        is_of_spark: whether Spark's core knows it, and so read it when the context began.
    """
    if name == "spark.master":
        return None if value in _own_masters() else f"{name} is {value}"
    if name.startswith(OF_ONE_CONTEXT):
        return f"{name} is set"
    if name == NAME or name.startswith(OF_SESSIONS) or not is_of_spark:
        return None
    return f"{name} is set"


def _own_masters() -> tuple[str, ...]:
    return ("local[*]", f"local[{os.cpu_count() or 2}]")


def asked_of(conf: Any, shared: SparkContext) -> dict[str, str]:
    """Return the settings of a SparkConf of Java that the running context does not have so."""
    running = debugged(shared._jsc.sc().conf())
    return {
        name: value
        for name, value in debugged(conf).items()
        if running.get(name) != value and name not in OF_EVERY_RUN
    }


def debugged(conf: Any) -> dict[str, str]:
    """Return all settings of a SparkConf of Java, in one call."""
    pairs = (line.partition("=") for line in conf.toDebugString().split("\n"))
    return {name: value for name, separator, value in pairs if separator}


def taken_in_process(
    asked: Mapping[str, str], taken: Taken, shared: SparkContext
) -> dict[str, str]:
    """Return what is to be set on the running context for a script that asks for something.

    Raises:
        NeedsProcessError: a setting cannot be changed while Spark runs.
    """
    jvm: Any = shared._jvm
    entries = jvm.org.apache.spark.internal.config.ConfigEntry
    found = {}
    for name, value in asked.items():
        if name in PACKAGES:
            note(RunWarning.PACKAGES_IGNORED, f"{name} {value}")
            continue
        is_of_spark = name.startswith("spark.") and entries.findEntry(name) is not None
        if why := why_process(name, value, is_of_spark=is_of_spark):
            raise taken.refuse(why)
        if name != "spark.master":
            found[name] = value
    return {**found, **settings_of_script(taken.home, found)}
