"""Fixtures for the tests of job scripts; a script is loaded from its file, as Glue loads it."""

from __future__ import annotations

import importlib.util
import itertools
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from awsglue.context import GlueContext
    from tidemark.local_state.home import Home
    from tidemark.testing.kit import Kit

BUCKET = "tests"
SCRIPTS = "glue_jobs"  # folder of the project that pytest runs in
REGION = "us-east-1"
TABLE = "glue-watermarks"
_prefixes = itertools.count(1)


@dataclass(frozen=True)
class Prefix:
    """A place in S3 that no other test uses, and its folder, which nothing has made yet."""

    uri: str
    folder: Path

    def put(self, key: str, text: str, minutes_ago: int = 0) -> Path:
        """Write an object that was last modified some minutes ago."""
        path = self.folder / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        at = time.time() - 60 * minutes_ago
        os.utime(path, (at, at))
        return path

    def names(self) -> list[str]:
        """Return the keys of all objects, hidden ones too."""
        return sorted(
            str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file()
        )


@pytest.fixture(scope="session")
def spark_home(glue_kit: Kit) -> Home:
    """Return the state home of the session."""
    return glue_kit.home


@pytest.fixture(scope="session")
def spark_session(glue_kit: Kit) -> SparkSession:
    """Start the JVM of this process as a job run starts its own."""
    return glue_kit.engine.session


@pytest.fixture
def spark(
    glue_kit: Kit, spark_home: Home, monkeypatch: pytest.MonkeyPatch
) -> Iterator[SparkSession]:
    """Return the session, in a process that looks like a job run: its state home, and UTC."""
    monkeypatch.setenv("TIDEMARK_HOME", str(spark_home.root))
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    session = glue_kit.engine.session  # a new one, if a script has ended the JVM
    yield session
    session.catalog.clearCache()
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def glue_context(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> GlueContext:
    """Return a GlueContext in a process without an initialised job."""
    from awsglue.context import GlueContext
    from tidemark.glue_job.process import bookmark_session

    monkeypatch.setattr(bookmark_session, "_sessions", [])
    monkeypatch.setattr(bookmark_session, "_early", [])
    return GlueContext(spark.sparkContext)


@pytest.fixture
def s3(spark_home: Home) -> Prefix:
    """Return a prefix of the test bucket that no other test uses."""
    name = f"prefix-{next(_prefixes):03}"
    return Prefix(f"s3://{BUCKET}/{name}/", spark_home.lake / BUCKET / name)


@pytest.fixture(scope="module")
def job(request: pytest.FixtureRequest) -> ModuleType:
    """Return the script that the test module is named after; ``main`` does not run."""
    name = request.path.stem.removeprefix("test_")
    file = request.config.rootpath / SCRIPTS / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(f"there is no script {file} to test")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


@pytest.fixture
def run_job(
    spark: SparkSession, job: ModuleType, s3: Prefix, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., None]:
    """Return a function that runs the script once, with a bookmark, as a job of this test's own."""
    from tidemark.glue_job.process import bookmark_session

    monkeypatch.setattr(bookmark_session, "_sessions", [])
    numbers = itertools.count(1)

    def run(**arguments: str) -> None:
        given = {
            "JOB_NAME": s3.folder.name,
            "JOB_RUN_ID": f"jr_{next(numbers)}",
            "job-bookmark-option": "job-bookmark-enable",
            **arguments,
        }
        words = [word for name, value in given.items() for word in (f"--{name}", value)]
        monkeypatch.setattr(sys, "argv", [job.__name__, *words])
        job.main()

    return run


@pytest.fixture
def watermark_table(spark_home: Home, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Return the name of a watermark table that boto3 finds by the environment."""
    from tidemark.local_state import watermark_tables
    from tidemark.local_state.dynamodb import have_tables
    from tidemark.testing.empty_dynamodb import empty_dynamodb, let_boto3_find

    with empty_dynamodb(spark_home) as endpoint:
        have_tables(spark_home, endpoint, [watermark_tables.watermark_table(TABLE)])
        let_boto3_find(monkeypatch, endpoint, REGION)
        yield TABLE
