"""Options of MongoDB and DocumentDB: Glue's, as MongoDB's connector for Spark takes them."""

from __future__ import annotations

import pytest

from tidemark.errors import UnsupportedError, UsageError
from tidemark.glue_job.readers.databases.connectors import connector_options

PLACE = {"database": "shop", "collection": "orders"}


def test_user_password_and_tls_go_into_the_uri():
    given = {
        **PLACE,
        "uri": "mongodb://host:27017",
        "username": "ann",
        "password": "p@ss/word",
        "ssl": True,
        "ssl.domain_match": "false",
        "disableUpdateUri": "false",
        "batchSize": 10,
        "partitioner": None,
    }

    assert connector_options(given) == {
        **PLACE,
        "batchSize": "10",
        "connection.uri": (
            "mongodb://ann:p%40ss%2Fword@host:27017/?tls=true&tlsAllowInvalidHostnames=true"
        ),
    }


@pytest.mark.parametrize(
    "uri", ["mongodb+srv://a:b@host/", "mongodb://host/db?retryWrites=false", "mongodb://host"]
)
def test_a_uri_without_more_stays_as_it_is(uri):
    options = connector_options({**PLACE, "connection.uri": uri})

    assert options == {**PLACE, "connection.uri": uri}


def test_parameters_are_added_to_those_of_the_uri():
    given = {**PLACE, "connection.uri": "mongodb://host/db?retryWrites=false", "ssl": "true"}

    assert connector_options(given)["connection.uri"] == (
        "mongodb://host/db?retryWrites=false&tls=true"
    )


def test_what_is_missing_is_named():
    with pytest.raises(UsageError, match=r"has no collection, connection\.uri; MongoDB needs"):
        connector_options({"database": "shop"})
    with pytest.raises(UnsupportedError, match="secretId"):
        connector_options({"secretId": "x"})
