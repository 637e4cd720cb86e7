"""Runs that lose an executor, for an experiment: whether this machine can, and their settings."""

import sys

from tidemark.glue_job.cluster.asked import memory_bytes, too_small_for
from tidemark.local_state.lost_executor import EXECUTORS

# Tasks that take longer than the others are started twice, earlier than by Spark's defaults.
SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.multiplier": "1.2",
}


def no_executors_reason() -> str:
    """Return why no run of this machine can lose an executor; empty if one can."""
    if sys.platform != "linux":
        return "only Linux reports which process changes the lake"
    return too_small_for(EXECUTORS, memory_bytes())
