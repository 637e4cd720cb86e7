"""Connections of the local Data Catalog."""

from __future__ import annotations

from itertools import count

import pytest

from tidemark.errors import EntityNotFoundError, UnsupportedError, UsageError
from tidemark.local_state.catalog import definitions
from tidemark.local_state.catalog.definitions import find_connection, put_connections
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_connections import connection_of_request

URL = "jdbc:postgresql://orders.example:5432/orders"


def connection(**properties):
    definition = {
        "Name": "orders-db",
        "ConnectionType": "JDBC",
        "ConnectionProperties": properties,
    }
    return connection_of_request({"ConnectionInput": definition})


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "glue.sqlite") as store:
        yield store


def test_properties_become_the_options_of_a_jdbc_source():
    given = {"JDBC_CONNECTION_URL": URL, "USERNAME": "ana", "PASSWORD": "x"}

    found = connection(**given, JDBC_ENFORCE_SSL="true")

    assert found.jdbc_options() == {"url": URL, "user": "ana", "password": "x"}


def test_connection_that_is_put_again_is_replaced(store):
    put_connections(store, [connection(JDBC_CONNECTION_URL="jdbc:old")])
    put_connections(store, [connection(JDBC_CONNECTION_URL=URL)])

    assert find_connection(store, "orders-db").jdbc_options() == {"url": URL}


def test_only_a_definition_that_differs_changes_when_it_was_updated(store, monkeypatch):
    clock = count(1_000, 1_000)
    monkeypatch.setattr(definitions, "now_ms", lambda: next(clock))
    one, other = connection(JDBC_CONNECTION_URL=URL), connection(JDBC_CONNECTION_URL=f"{URL}2")

    updated = []
    for put in (one, one, other):
        put_connections(store, [put])
        updated.append(find_connection(store, "orders-db").definition["LastUpdatedTime"])

    assert updated == [1, 1, 2]


def test_unknown_connection_names_those_that_are_there(store):
    put_connections(store, [connection(JDBC_CONNECTION_URL=URL)])

    with pytest.raises(EntityNotFoundError, match=r"no connection 'other'; .* has orders-db; add"):
        find_connection(store, "other")


def test_secret_and_other_kinds_of_connections_are_refused_with_the_remedy():
    secret = {"JDBC_CONNECTION_URL": URL, "SECRET_ID": "orders"}

    with pytest.raises(UnsupportedError, match=r"in the secret 'orders'.* of the same name"):
        connection(**secret).jdbc_options()
    with pytest.raises(UsageError, match=r"has no JDBC_CONNECTION_URL but \['HOST'\]"):
        connection(HOST="x").jdbc_options()


@pytest.mark.parametrize("request_", [{}, {"ConnectionInput": {}}, {"ConnectionInput": "x"}])
def test_request_without_a_connection_is_refused(request_):
    with pytest.raises(UsageError, match=r"no ConnectionInput\.Name"):
        connection_of_request(request_)
