"""The job scripts, loaded from their files as Glue loads them, and runs of them in this process."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import boto3
import pytest

from tidemark.assembly.definitions import TableDefinition
from tidemark.local_glue.bookmarks import session as bookmark_session
from tidemark.local_glue.dynamodb import create_tables, dynamodb_client, dynamodb_endpoint

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tidemark.local_glue.home import Home

SCRIPTS = Path(__file__).parents[2] / "glue_jobs"
REGION = "us-east-1"
KEYS = {"jobName": "HASH", "runId": "RANGE"}
WATERMARKS = TableDefinition(
    "glue-watermarks",
    {
        "TableName": "glue-watermarks",
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": key, "KeyType": kind} for key, kind in KEYS.items()],
        "AttributeDefinitions": [{"AttributeName": key, "AttributeType": "S"} for key in KEYS],
    },
)


@pytest.fixture(scope="module")
def job(request: pytest.FixtureRequest) -> ModuleType:
    """Return the script that the test module is named after; ``main`` does not run."""
    name = request.path.stem.removeprefix("test_")
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


@pytest.fixture
def run_job(
    spark: SparkSession, job: ModuleType, s3: Any, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., None]:
    """Return a function that runs the script once, with a bookmark, as a job of this test's own."""
    monkeypatch.setattr(bookmark_session, "_sessions", [])
    numbers = count(1)

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
    with dynamodb_endpoint(spark_home) as endpoint:
        with dynamodb_client(endpoint, REGION) as client:
            create_tables(client, [WATERMARKS])
        for name, value in {
            "AWS_ENDPOINT_URL_DYNAMODB": endpoint,
            "AWS_ACCESS_KEY_ID": "local",
            "AWS_SECRET_ACCESS_KEY": "local",
            "AWS_DEFAULT_REGION": REGION,
        }.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
        yield WATERMARKS.name
