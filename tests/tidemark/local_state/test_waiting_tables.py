"""Tables that an app defines are there for whoever asks first, and nothing starts before that."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tidemark.errors import DamagedDatabaseError, TidemarkError
from tidemark.local_state.dynamodb import (
    create_tables,
    dynamodb_client,
    dynamodb_endpoint,
    have_tables,
    may_have_tables,
)
from tidemark.local_state.engine import embedded, on_demand
from tidemark.local_state.home import Home
from tidemark.local_state.watermark_tables import watermark_table
from tidemark.model.assembly.definitions import TableDefinition

REGION = "eu-west-2"
MARKS = watermark_table("marks")
BY_ID = TableDefinition(
    "marks",
    {
        "TableName": "marks",
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
    },
)


@pytest.fixture(autouse=True)
def no_other_dynamodb(monkeypatch):
    monkeypatch.delenv("AWS_ENDPOINT_URL_DYNAMODB", raising=False)


@pytest.fixture
def home(tmp_path):
    return Home.open(tmp_path / "home")


def tables_of(endpoint):
    with dynamodb_client(endpoint, REGION) as client:
        return client.list_tables()["TableNames"]


def has_engine(home):
    return embedded.runs_here(home)


def test_the_first_request_finds_the_table_and_starts_the_engine(home):
    with dynamodb_endpoint(home) as endpoint:
        have_tables(home, endpoint, [MARKS])
        assert not has_engine(home)

        with dynamodb_client(endpoint, REGION) as client:
            assert client.scan(TableName="marks")["Items"] == []
            ttl = client.describe_time_to_live(TableName="marks")["TimeToLiveDescription"]
        assert ttl["AttributeName"] == "expiresAt"
        assert has_engine(home)


def test_a_later_command_finds_what_no_request_of_the_run_has_asked_for(home):
    with dynamodb_endpoint(home) as endpoint:
        have_tables(home, endpoint, [MARKS])
    assert not home.dynamodb_tables.exists()
    assert may_have_tables(home)

    with dynamodb_endpoint(home) as endpoint:
        assert tables_of(endpoint) == ["marks"]


def test_a_table_that_was_made_and_deleted_stays_away_until_it_is_wanted_again(home):
    with dynamodb_endpoint(home) as endpoint:
        have_tables(home, endpoint, [MARKS])
        with dynamodb_client(endpoint, REGION) as client:
            client.delete_table(TableName="marks")

    with dynamodb_endpoint(home) as endpoint:
        assert tables_of(endpoint) == []
        have_tables(home, endpoint, [MARKS])  # into an engine that runs
        with dynamodb_client(endpoint, REGION) as client:
            client.delete_table(TableName="marks")

    with dynamodb_endpoint(home) as endpoint:
        assert tables_of(endpoint) == []


def test_no_engine_starts_for_tables_that_are_there(home):
    with dynamodb_endpoint(home) as endpoint, dynamodb_client(endpoint, REGION) as client:
        create_tables(client, [MARKS])

    with dynamodb_endpoint(home) as endpoint:
        have_tables(home, endpoint, [MARKS])
        assert not has_engine(home)


def test_other_keys_than_those_of_the_app_are_refused_before_anything_starts(home):
    with dynamodb_endpoint(home) as endpoint, dynamodb_client(endpoint, REGION) as client:
        create_tables(client, [BY_ID])

    with dynamodb_endpoint(home) as endpoint:
        with pytest.raises(TidemarkError, match=r"marks has the keys .*'id'.* defines"):
            have_tables(home, endpoint, [MARKS])
        assert not has_engine(home)


def test_two_first_requests_at_once_find_the_table(home):
    with dynamodb_endpoint(home) as endpoint:
        have_tables(home, endpoint, [MARKS])
        with ThreadPoolExecutor(4) as threads:
            answers = list(threads.map(lambda _: tables_of(endpoint), range(8)))

        assert answers == [["marks"]] * 8
        assert len(list(home.dynamodb.glob("*.pid"))) == 1


def test_an_engine_whose_tables_cannot_be_made_ends(home):
    def fails(engine):
        raise TidemarkError("no room for tables")

    with on_demand.engine_on_demand(home, fails) as engine:
        for _ in range(2):
            with pytest.raises(TidemarkError, match="no room for tables"):
                engine.request("POST", "/", {}, b"{}")
        assert not has_engine(home)


def test_a_lost_file_is_refused_although_a_table_is_expected(home):
    with dynamodb_endpoint(home) as endpoint:
        have_tables(home, endpoint, [MARKS])
        assert tables_of(endpoint) == ["marks"]
    home.dynamodb_tables.unlink()

    with dynamodb_endpoint(home) as endpoint:
        have_tables(home, endpoint, [MARKS])
        with pytest.raises(DamagedDatabaseError, match="is gone; lost with it: watermarks"):
            tables_of(endpoint)
