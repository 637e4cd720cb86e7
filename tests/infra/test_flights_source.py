"""Where the sample reads its flights: what is accepted, and one clear line for what is not."""

import json

import pytest

from infra.flights_source import FilesSource, JdbcSource, flights_source
from tidemark.errors import ConfigError
from tidemark.model.stage.config import StageConfig
from tidemark.model.stage.runtime import JobRuntime

JDBC = {"kind": "jdbc", "url": "jdbc:postgresql://db/air", "table": "flights", "driver": "a.Driver"}


def source_of(value):
    return flights_source(
        StageConfig("dev", None, None, None, JobRuntime(), own={"flightsSource": value})
    )


def test_a_stage_that_says_nothing_reads_files():
    stage = StageConfig("dev", None, None, None, JobRuntime())

    assert flights_source(stage) == FilesSource()


@pytest.mark.parametrize("value", [json.dumps(JDBC), JDBC], ids=["text", "object"])
def test_a_database_may_need_no_secret_and_no_connection(value):
    assert source_of(value) == JdbcSource("jdbc:postgresql://db/air", "flights", "a.Driver")


BAD = {
    "source-unknown": ({"kind": "kafka"}, "allowed: files, jdbc"),
    "source-without-kind": ({}, "flightsSource has no 'kind'"),
    "source-not-json": ("{kind", 'flightsSource is "{kind"; allowed: a JSON'),
    "source-not-an-object": ("7", "flightsSource is 7; allowed: a JSON object"),
    "files-with-a-url": (
        {"kind": "files", "url": "jdbc:x"},
        "flightsSource has an unknown key 'url'; allowed: kind",
    ),
    "jdbc-without-table": (
        json.dumps({"kind": "jdbc", "url": "jdbc:x"}),
        "flightsSource has no 'table'; add it; it has: nothing else",
    ),
    "jdbc-url": (JDBC | {"url": "postgres://db"}, 'has url "postgres://db"'),
    "jdbc-secret-arn": (
        JDBC | {"secretName": "arn:aws:secretsmanager:x:1:secret:air"},
        "allowed: null or the name (no ARN) of a secret",
    ),
    "jdbc-secret": (JDBC | {"secretName": 7}, "flightsSource has secretName 7"),
}


@pytest.mark.parametrize(("given", "message"), BAD.values(), ids=BAD.keys())
def test_another_source_is_refused_in_one_line(given, message):
    with pytest.raises(ConfigError) as error:
        source_of(given)

    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "url",
    [
        "jdbc:postgresql://db/air?user=me&password=hunter2",
        "jdbc:sqlserver://db;databaseName=air;PASSWORD=hunter2",
        "jdbc:mysql://me:hunter2@db/air",
        "jdbc:oracle:thin:me/hunter2@//db:1521/air",
    ],
)
def test_a_password_in_an_address_is_refused_and_not_repeated(url):
    with pytest.raises(ValueError, match="put it into a secret and name that as secretName") as it:
        source_of(JDBC | {"url": url})

    assert "hunter2" not in str(it.value)


@pytest.mark.parametrize(
    "url",
    ["jdbc:postgresql://db:5432/air?ssl=true", "jdbc:oracle:thin:@//db:1521/air", "jdbc:derby:a"],
)
def test_an_address_without_a_password_is_taken(url):
    source = source_of(JDBC | {"url": url})

    assert source.url == url


def test_a_source_made_in_code_has_no_password_either():
    with pytest.raises(ConfigError, match="name that as secretName"):
        JdbcSource("jdbc:postgresql://me:hunter2@db/air", "flights", "a.Driver")
