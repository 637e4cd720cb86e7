"""Tests have an empty DynamoDB, also where the environment names one that outlives them."""

from __future__ import annotations

import pytest

from tests.engines import dynoxide, url_of
from tests.servers import free_port
from tidemark.errors import UsageError
from tidemark.local_state.dynamodb import create_tables, dynamodb_client, dynamodb_endpoint
from tidemark.local_state.engine.features import TABLE
from tidemark.local_state.home import Home
from tidemark.local_state.watermark_tables import watermark_table
from tidemark.testing.empty_dynamodb import empty_dynamodb

VARIABLE = "AWS_ENDPOINT_URL_DYNAMODB"
REGION = "us-east-1"


@pytest.fixture
def home(tmp_path):
    return Home.open(tmp_path / "home")


@pytest.fixture
def other(monkeypatch):
    port = free_port()
    monkeypatch.setenv(VARIABLE, url_of(port))
    with dynoxide(port):
        yield url_of(port)


def make_table(endpoint):
    with dynamodb_client(endpoint, REGION) as client:
        create_tables(client, [watermark_table("glue-watermarks")])


def tables(home):
    with dynamodb_endpoint(home) as url, dynamodb_client(url, REGION) as client:
        return [name for name in client.list_tables()["TableNames"] if name != TABLE]


@pytest.mark.usefixtures("other")
def test_tables_of_a_test_are_gone_after_it_also_if_it_fails(home):
    def fail():
        with empty_dynamodb(home) as endpoint:
            make_table(endpoint)
            raise LookupError

    with pytest.raises(LookupError):
        fail()

    assert tables(home) == []


def test_tables_that_somebody_has_there_are_refused_and_stay(home, other):
    with dynamodb_endpoint(home) as endpoint:
        make_table(endpoint)

    with (
        pytest.raises(UsageError, match=rf"at {other} has tables \(glue-watermarks\), and tests"),
        empty_dynamodb(home),
    ):
        pass

    assert tables(home) == ["glue-watermarks"]


def test_the_embedded_engine_keeps_what_its_home_has(home, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    with empty_dynamodb(home) as endpoint:
        make_table(endpoint)

    with empty_dynamodb(home):
        assert tables(home) == ["glue-watermarks"]
