"""The embedded DynamoDB engine itself."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import boto3
import pytest
from botocore.exceptions import ClientError

from tests.waiting import wait_until
from tidemark.errors import TidemarkError, UsageError
from tidemark.local_state import dynamodb
from tidemark.local_state.dynamodb import (
    NOWHERE,
    create_tables,
    dynamodb_client,
    dynamodb_endpoint,
)
from tidemark.local_state.engine import embedded, executable, on_demand
from tidemark.local_state.home import Home
from tidemark.local_state.watermark_tables import watermark_table
from tidemark.model.assembly.definitions import TableDefinition

REGION = "eu-west-2"
KEY = {"aws_access_key_id": "a", "aws_secret_access_key": "b"}
KEYS = [
    {"AttributeName": "jobName", "KeyType": "HASH"},
    {"AttributeName": "runId", "KeyType": "RANGE"},
]
WATERMARKS = watermark_table("glue-watermarks")
OTHER_KEYS = TableDefinition(
    "glue-watermarks",
    {
        "TableName": "glue-watermarks",
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
    },
)
ITEM = {"jobName": {"S": "ingest"}, "runId": {"S": "~HEAD"}, "n": {"N": "1"}}
HOLD = """
import json, os, sys
from pathlib import Path
from tidemark.local_state.dynamodb import dynamodb_client, dynamodb_endpoint
from tidemark.local_state.home import Home

home = Home.open(Path(sys.argv[1]))
with dynamodb_endpoint(home) as endpoint, dynamodb_client(endpoint, "us-east-1") as client:
    client.list_tables()
    (pid_file,) = home.dynamodb.glob(f"{os.getpid()}-*.pid")
    print(json.dumps([endpoint, int(pid_file.stem.split("-")[1])]), flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def no_configured_endpoint(monkeypatch):
    monkeypatch.delenv("AWS_ENDPOINT_URL_DYNAMODB", raising=False)


@pytest.fixture
def home(tmp_path):
    return Home.open(tmp_path / "home")


@contextlib.contextmanager
def connected(home):
    with dynamodb_endpoint(home) as endpoint, dynamodb_client(endpoint, REGION) as connection:
        connection.list_tables()  # the first request starts the engine
        yield connection


def is_alive(pid):
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        return stat.rpartition(")")[2].split()[0] not in "ZX"
    return False


def test_tables_are_created_once_with_their_ttl_attribute(home):
    with connected(home) as connection:
        create_tables(connection, [WATERMARKS])
        connection.put_item(TableName="glue-watermarks", Item=ITEM)
        create_tables(connection, [WATERMARKS])

        found = connection.describe_table(TableName="glue-watermarks")["Table"]
        ttl = connection.describe_time_to_live(TableName="glue-watermarks")
        items = connection.scan(TableName="glue-watermarks")["Items"]

    assert found["KeySchema"] == KEYS
    assert ttl["TimeToLiveDescription"]["AttributeName"] == "expiresAt"
    assert items == [ITEM]


def test_table_with_other_keys_than_the_template_is_refused(home):
    with connected(home) as connection:
        create_tables(connection, [OTHER_KEYS])

        with pytest.raises(TidemarkError, match=r"glue-watermarks has the keys .*'id'.* defines"):
            create_tables(connection, [WATERMARKS])


def test_a_table_that_another_command_makes_meanwhile_is_taken(home, monkeypatch):
    with connected(home) as connection:
        create_tables(connection, [WATERMARKS])
        describe, asked = connection.describe_table, []

        def not_yet(TableName):  # noqa: N803 (boto3's name)
            asked.append(TableName)
            return describe(TableName=TableName if len(asked) > 1 else "not-yet")

        monkeypatch.setattr(connection, "describe_table", not_yet)

        assert create_tables(connection, [WATERMARKS]) == []
        assert len(asked) == 2


def test_data_survive_a_restart_of_the_engine(home):
    with connected(home) as connection:
        create_tables(connection, [WATERMARKS])
        connection.put_item(TableName="glue-watermarks", Item=ITEM)

    with connected(home) as connection:
        assert connection.scan(TableName="glue-watermarks")["Items"] == [ITEM]


def test_no_engine_is_started_or_looked_for_without_a_request(home, monkeypatch):
    monkeypatch.setattr(on_demand, "embedded_engine", None)

    with dynamodb_endpoint(home):
        assert list(home.dynamodb.iterdir()) == []


def test_a_missing_engine_is_reported_to_the_command_and_to_the_script_that_asks(home, monkeypatch):
    def missing(variable):
        raise UsageError("the embedded DynamoDB engine is not installed; run `npm install x`")

    monkeypatch.setattr(embedded, "find_engine", missing)
    with dynamodb_endpoint(home) as endpoint:
        script = boto3.client("dynamodb", REGION, endpoint_url=endpoint, **KEY)
        with pytest.raises(ClientError, match="engine is not installed; run `npm install x`"):
            script.list_tables()
        with (
            pytest.raises(UsageError, match=r"^the embedded DynamoDB engine is not installed"),
            dynamodb_client(endpoint, REGION) as client,
        ):
            client.list_tables()


def test_a_folder_in_the_place_of_the_engines_log_is_named_until_it_is_gone(home):
    log = home.dynamodb / "engine.log"
    log.mkdir()
    with dynamodb_endpoint(home) as endpoint:
        with (
            pytest.raises(UsageError, match=r"engine\.log: Is a directory; .*move it away"),
            dynamodb_client(endpoint, REGION) as client,
        ):
            client.list_tables()
        log.rmdir()

        with dynamodb_client(endpoint, REGION) as client:
            assert client.list_tables()["TableNames"] == []


def test_requests_at_once_start_one_engine(home):
    with dynamodb_endpoint(home) as endpoint, dynamodb_client(endpoint, REGION) as client:
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda _: client.list_tables(), range(8)))

        assert len(list(home.dynamodb.glob("*.pid"))) == 1


def test_engine_outlives_the_thread_of_the_request_that_started_it(home):
    with dynamodb_endpoint(home) as endpoint:
        for _ in range(2):  # a connection each, which the front answers in a thread each
            with dynamodb_client(endpoint, REGION) as client:
                client.list_tables()
        (pid_file,) = home.dynamodb.glob("*.pid")

        assert is_alive(int(pid_file.stem.split("-")[1]))


def test_engine_and_its_pid_file_are_gone_afterwards(home):
    with connected(home):
        (pid_file,) = home.dynamodb.glob("*.pid")
        owner, engine = (int(part) for part in pid_file.stem.split("-"))

        assert owner == os.getpid()
        assert is_alive(engine)

    assert not is_alive(engine)
    assert list(home.dynamodb.glob("*.pid")) == []


def test_engine_ends_when_its_user_raises(home):
    with pytest.raises(RuntimeError, match="x"), connected(home):
        raise RuntimeError("x")

    assert list(home.dynamodb.glob("*.pid")) == []


def test_two_commands_share_one_home(home):
    with connected(home) as first, connected(home) as second:
        create_tables(first, [WATERMARKS])
        first.put_item(TableName="glue-watermarks", Item=ITEM)

        create_tables(second, [WATERMARKS])
        assert second.scan(TableName="glue-watermarks")["Items"] == [ITEM]


def test_engine_that_does_not_start_is_told_with_its_output(home, monkeypatch):
    package = home.root / executable.PACKAGES / executable.package_name()
    package.mkdir(parents=True)
    engine = package / "dynoxide"
    engine.write_text("#!/bin/sh\necho wrong architecture >&2\nexit 1\n", encoding="utf-8")
    engine.chmod(0o755)
    monkeypatch.chdir(home.root)

    with (
        pytest.raises(TidemarkError, match=r"did not start in 3 .*: wrong architecture; see "),
        connected(home),
    ):
        pass


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the next command ends it")
def test_engine_dies_when_its_command_is_killed_and_the_next_one_cleans_up(home):
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(home.root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as command:
        endpoint, engine = json.loads(command.stdout.readline())
        with dynamodb_client(endpoint, REGION) as connection:
            create_tables(connection, [WATERMARKS])
            connection.put_item(TableName="glue-watermarks", Item=ITEM)

        command.kill()
        command.wait()

    wait_until(lambda: not is_alive(engine))
    left_over = home.dynamodb / f"{command.pid}-{engine}.pid"
    assert left_over.exists()
    with connected(home) as connection:
        assert connection.scan(TableName="glue-watermarks")["Items"] == [ITEM]
    assert not left_over.exists()


def test_process_that_is_no_engine_survives_the_pid_file_that_names_it(home):
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as stranger:
        (home.dynamodb / f"{2**22 + 1}-{stranger.pid}.pid").write_text("port 1\n", "utf-8")

        with dynamodb_endpoint(home):
            pass

        assert stranger.poll() is None
        stranger.kill()


def test_engine_of_another_home_survives_the_pid_file_that_names_it(home, tmp_path):
    other = Home.open(tmp_path / "other")
    with connected(other) as connection:
        (engine,) = [int(file.stem.split("-")[1]) for file in other.dynamodb.glob("*.pid")]
        (home.dynamodb / f"{2**22 + 1}-{engine}.pid").write_text("port 1\n", "utf-8")

        with dynamodb_endpoint(home):
            pass

        assert connection.list_tables()["TableNames"] == []


def test_engine_that_ends_while_it_is_needed_is_told_as_such(home):
    def use_it_and_kill_it():
        with connected(home) as connection:
            (engine,) = [int(file.stem.split("-")[1]) for file in home.dynamodb.glob("*.pid")]
            os.kill(engine, 9)
            connection.list_tables()

    with pytest.raises(TidemarkError, match="engine ended with -9 while it was needed"):
        use_it_and_kill_it()


def test_an_endpoint_that_does_not_answer_is_named_with_the_remedy() -> None:
    with (
        pytest.raises(TidemarkError, match=r"127\.0\.0\.1:1 does not do the work.*unset AWS_"),
        dynamodb_client("http://127.0.0.1:1", REGION) as connection,
    ):
        connection.list_tables()


def test_a_test_without_watermarks_is_told_of_the_fixture() -> None:
    with (
        pytest.raises(TidemarkError, match="in a test, add the fixture `watermarks`"),
        dynamodb_client(NOWHERE, REGION) as client,
    ):
        client.list_tables()


def test_an_endpoint_that_is_no_url_is_named_with_the_remedy() -> None:
    with (
        pytest.raises(UsageError, match=r"AWS_ENDPOINT_URL_DYNAMODB is 'nonsense'; allowed: a URL"),
        dynamodb_client("nonsense", REGION),
    ):
        pass


def test_refused_request_is_told_with_the_answer(home):
    with (
        dynamodb_endpoint(home) as endpoint,
        pytest.raises(TidemarkError, match=r"does not do the work of the run: .*ResourceNotFound"),
        dynamodb_client(endpoint, REGION) as connection,
    ):
        connection.get_item(TableName="gone", Key={"jobName": {"S": "x"}})


def test_neither_a_proxy_nor_a_profile_of_the_caller_is_in_the_way(home, monkeypatch):
    # As in a process that has made no client before.
    monkeypatch.setattr(dynamodb, "_loader", cache(dynamodb._loader.__wrapped__))
    monkeypatch.setattr(dynamodb, "_local", threading.local())
    monkeypatch.setenv("AWS_PROFILE", "there-is-none-of-this-name")
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)

    with dynamodb_endpoint(home) as endpoint, dynamodb_client(endpoint, "us-east-1") as client:
        assert client.list_tables()["TableNames"] == []
