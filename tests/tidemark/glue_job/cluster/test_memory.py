"""What a run says of executors that are too small, or that cannot use a database."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidemark.glue_job.process.failures import Failure, RemedyPlaces, with_remedy


@pytest.mark.parametrize(
    ("cause", "remedy"),
    [
        (
            "java.lang.OutOfMemoryError: Java heap space",
            "with --executors spark.executor.memory=2g",
        ),
        (
            "ExecutorLostFailure (executor 3 exited caused by one of the running tasks) Reason: "
            "Command exited with code 52",
            "--conf spark.executor.memory=2g gives each more",
        ),
        ("[INVALID_EXECUTOR_MEMORY] Executor memory 1 must be at least 2", "at least 450m"),
        (
            "ERROR XSDB6: Another instance of Derby may have booted",
            "use PostgreSQL",
        ),
    ],
)
def test_a_failure_of_executors_says_what_to_do(cause, remedy):
    said = with_remedy(Failure(cause, ""), "", RemedyPlaces(Path("lake"), "python"), None)

    assert remedy in said
