"""What every job run needs, also those whose Java is only a name; the warnings of a test."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tidemark.glue_job.process.lake_fs.jar import lake_jar
from tidemark.local_state.dynamodb import dynamodb_client, dynamodb_endpoint
from tidemark.local_state.home import Home
from tidemark.local_state.machine.java import find_java_home


@pytest.fixture(scope="session", autouse=True)
def made_lake_jar() -> None:
    """Make the jar of the lake's file system, if it is not there yet."""
    lake_jar(find_java_home())


@pytest.fixture(scope="module")
def dynamodb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A client of an engine of one module's own, which jobs in its process find too."""
    home = Home.open(tmp_path_factory.mktemp("home"))
    with (
        dynamodb_endpoint(home) as endpoint,
        dynamodb_client(endpoint, "us-east-1") as client,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("AWS_ENDPOINT_URL_DYNAMODB", endpoint)
        patch.setenv("AWS_REGION", "us-east-1")
        yield client


@pytest.fixture
def warned(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[tuple[str, str]]]:
    """Return a function that returns the warnings so far: name and what each is about."""
    monkeypatch.setenv("TIDEMARK_RUN_FOLDER", str(tmp_path))

    def warned() -> list[tuple[str, str]]:
        file = tmp_path / "warnings.jsonl"
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        return [(name, about) for name, about in map(json.loads, lines)]

    return warned
