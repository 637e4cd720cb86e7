"""A warning that tasks of Spark give: the process of the script notes the first one only."""

import os

from pyspark import Accumulator, AccumulatorParam, SparkContext

from tidemark.local_state.run_warnings import RunWarning, note


class _FirstNote(AccumulatorParam[str]):
    """What the warning is about; empty until a task has met it."""

    def __init__(self, warning: RunWarning) -> None:
        self._warning, self._process = warning, os.getpid()

    def zero(self, value: str) -> str:
        return ""

    def addInPlace(self, value1: str, value2: str) -> str:  # noqa: N802 (Spark's name)
        if value2 and not value1 and os.getpid() == self._process:
            note(self._warning, value2)
        return value1 or value2


def first_note(context: SparkContext, warning: RunWarning) -> Accumulator[str]:
    """Return what tasks add to; the first text that is added is what the warning is about."""
    return context.accumulator("", _FirstNote(warning))
