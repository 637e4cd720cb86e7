"""The DynamoDB engine, one per test session and process, and a table in it.

It is the embedded one; with TIDEMARK_TEST_DYNAMODB=ministack it is ministack, whose code is
independent of it, and only the tests that talk to a DynamoDB run.
"""

from __future__ import annotations

import itertools
import os
import re
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ConnectionClosedError

from tests.servers import MINISTACK, served
from watermarks import WatermarkAdmin, create_table_request

ENGINES = Path(__file__).parents[2] / "node_modules" / "@dynoxide"
REGION = "eu-west-2"

ENGINE = os.environ.get("TIDEMARK_TEST_DYNAMODB", "dynoxide")
# Tests that ministack cannot pass, by name, and why: a difference of the engine, not of ours.
NOT_ON_MINISTACK: dict[str, str] = {}
# What ministack's venv lacks: modules that import one are about SQL or Spark, not about DynamoDB.
NOT_IN_ITS_VENV = re.compile(r"^(?:import|from) (?:duckdb|pandas|pyspark)\b", re.MULTILINE)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """With ministack, do not import what its venv cannot."""
    if ENGINE == "ministack" and collection_path.parent.name in {"spark", "schema"}:
        return True
    is_test = ENGINE == "ministack" and collection_path.match("test_*.py")
    if is_test and NOT_IN_ITS_VENV.search(collection_path.read_text(encoding="utf-8")):
        return True
    return None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With ministack, leave only the tests that talk to it."""
    if ENGINE != "ministack":
        return
    folder = Path(__file__).parent
    left_out = [item for item in items if folder in item.path.parents and not _is_contract(item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


def _is_contract(item: pytest.Item) -> bool:
    talks = "endpoint_url" in getattr(item, "fixturenames", ())
    return talks and item.originalname not in NOT_ON_MINISTACK


@pytest.fixture(scope="session")
def endpoint_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    command_at = {"dynoxide": _dynoxide, "ministack": _ministack}[ENGINE]
    with served(command_at, tmp_path_factory.mktemp(ENGINE)) as port:
        yield f"http://127.0.0.1:{port}"


def _dynoxide(port: int) -> tuple[list[str], dict[str, str]]:
    binary = next(ENGINES.glob("*/dynoxide*"), None)
    assert binary, f"there is no embedded DynamoDB in {ENGINES.name}: run `make setup`"
    return [str(binary), "serve", "--host", "127.0.0.1", "--port", str(port)], {}


def _ministack(port: int) -> tuple[list[str], dict[str, str]]:
    settings = {"GATEWAY_PORT": str(port), "SERVICES": "dynamodb"}
    return [sys.executable, "-m", "ministack"], {**MINISTACK, **settings}


@pytest.fixture(scope="session")
def new_client(endpoint_url: str) -> Iterator[Callable[[], Any]]:
    """Return a maker of clients, each with connections and event handlers of its own."""
    clients = []
    session = boto3.Session("test", "test", region_name=REGION)

    def make() -> Any:
        # One request, so that the retries seen are the library's.
        config = Config(retries={"total_max_attempts": 1}, max_pool_connections=32)
        client = session.client("dynamodb", endpoint_url=endpoint_url, config=config)
        clients.append(client)
        return client

    yield make
    for client in clients:
        client.close()


@pytest.fixture(scope="session")
def table_name(new_client: Callable[[], Any]) -> str:
    name = "glue-watermarks"
    new_client().create_table(**create_table_request(name))
    return name


@pytest.fixture(scope="session")
def client(new_client: Callable[[], Any]) -> Any:
    return new_client()


@pytest.fixture
def watermarks(client: Any, table_name: str) -> WatermarkAdmin:
    return WatermarkAdmin(table_name, client)


@pytest.fixture
def job() -> str:
    """Return a job that no other test uses."""
    return f"job-{uuid.uuid4().hex}"


@pytest.fixture
def rows(client: Any, table_name: str, job: str) -> Callable[[], dict[str, dict[str, Any]]]:
    """Return a reader of all rows of the job as they are stored, by run id."""

    def read() -> dict[str, dict[str, Any]]:
        found = client.query(
            TableName=table_name,
            KeyConditionExpression="jobName = :job",
            ExpressionAttributeValues={":job": {"S": job}},
            ConsistentRead=True,
        )["Items"]
        return {row["runId"]["S"]: row for row in found}

    return read


@pytest.fixture
def put_legacy(client: Any, table_name: str, job: str) -> Callable[..., None]:
    """Return a writer of rows as the v1 class writes them."""

    def put(run_id: str, **values: dict[str, Any]) -> None:
        item = {"jobName": {"S": job}, "runId": {"S": run_id}, "watermarks": {"M": values}}
        client.put_item(TableName=table_name, Item=item)

    return put


@pytest.fixture
def lossy_client(new_client: Callable[[], Any]) -> Callable[..., Any]:
    """Return a maker of clients that lose the responses to requests that were really sent.

    The first `responses` to `operation`; or every so many to any write.
    """

    def make(responses: int = 0, operation: str = "TransactWriteItems", *, every: int = 0) -> Any:
        client = new_client()
        sent = itertools.count(1)
        lock = threading.Lock()

        def lose(**_: Any) -> None:
            with lock:
                number = next(sent)
            if number <= responses or (every and number % every == 0):
                raise ConnectionClosedError(endpoint_url=client.meta.endpoint_url)

        operations = ("TransactWriteItems", "UpdateItem", "PutItem") if every else (operation,)
        for name in operations:
            client.meta.events.register(f"after-call.dynamodb.{name}", lose)
        return client

    return make
