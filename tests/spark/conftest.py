"""Glue's context on the session, job runs with bookmarks, and what an action logs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from local_glue.bookmarks import session as bookmark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from awsglue.context import GlueContext
    from awsglue.job import Job


@pytest.fixture
def glue_context(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> GlueContext:
    """Return a GlueContext in a process where no job was initialised yet."""
    from awsglue.context import GlueContext

    monkeypatch.setattr(bookmark_session, "_sessions", [])
    return GlueContext(spark.sparkContext)


@pytest.fixture
def start_job(glue_context: GlueContext, s3: Any) -> Callable[..., Job]:
    """Return a starter of runs of one job that no other test uses."""
    from awsglue.job import Job

    def start(option: str = "job-bookmark-enable") -> Job:
        job = Job(glue_context)
        job.init(s3.folder.name, {"job_bookmark_option": option, "JOB_RUN_ID": "jr_1"})
        return job

    return start


@pytest.fixture
def logged(spark: SparkSession) -> Iterator[Callable[[Callable[[], Any]], str]]:
    """Return a function that runs an action and returns what it adds to the event log."""
    folder = Path(urlsplit(spark.sparkContext.getConf().get("spark.eventLog.dir")).path)
    (log,) = folder.iterdir()
    bus = spark.sparkContext._jsc.sc().listenerBus()

    def run(action: Callable[[], Any]) -> str:
        bus.waitUntilEmpty()
        before = log.stat().st_size
        action()
        bus.waitUntilEmpty()
        return log.read_bytes()[before:].decode()

    return run
