"""One embedded DynamoDB for all tests of rewinding in a process; each test has a table's worth."""

from __future__ import annotations

import pytest

from tidemark.local_state.dynamodb import dynamodb_client, dynamodb_endpoint
from tidemark.local_state.home import Home
from watermarks import create_table_request


@pytest.fixture(scope="session")
def dynamodb(tmp_path_factory):
    home = Home.open(tmp_path_factory.mktemp("tables") / "home")
    with dynamodb_endpoint(home) as url, dynamodb_client(url, "eu-west-1") as client:
        client.create_table(**create_table_request())
        yield client
