"""Another DynamoDB keeps the watermarks of a home: it is named, tried, and not mixed up."""

from __future__ import annotations

import http.client
import http.server
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import boto3
import pytest

from tests.engines import dynoxide, started, url_of
from tests.servers import free_port
from tidemark.errors import UsageError
from tidemark.glue_service.backups import back_up, restore
from tidemark.local_state.dynamodb import (
    create_tables,
    dynamodb_client,
    dynamodb_endpoint,
    may_have_tables,
)
from tidemark.local_state.home import Home
from tidemark.local_state.home_folder import KEPT_BY
from tidemark.local_state.watermark_tables import watermark_table

VARIABLE = "AWS_ENDPOINT_URL_DYNAMODB"
REGION = "eu-west-2"
TABLE = "glue-watermarks"
ITEM = {"jobName": {"S": "ingest"}, "runId": {"S": "~HEAD"}, "n": {"N": "1"}}


def ask(url: str, headers: dict[str, str], body: bytes) -> tuple[int, bytes]:
    place = urlsplit(url)
    with closing(http.client.HTTPConnection(place.hostname, place.port, timeout=60)) as connection:
        connection.request("POST", place.path or "/", body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()


@contextmanager
def an_engine(*, port: int = 0, tables: Path | None = None) -> Iterator[str]:
    """Yield the URL of a DynamoDB that a user has started."""
    port = port or free_port()
    with dynoxide(port, tables):
        yield url_of(port)


@pytest.fixture
def other(monkeypatch) -> Iterator[str]:
    with an_engine() as url:
        monkeypatch.setenv(VARIABLE, url)
        yield url


@pytest.fixture
def home(tmp_path) -> Home:
    return Home.open(tmp_path / "home")


@contextmanager
def connected(home: Home, region: str = REGION) -> Iterator[object]:
    with dynamodb_endpoint(home) as endpoint, dynamodb_client(endpoint, region) as client:
        yield client


def put_one(home: Home) -> None:
    with connected(home) as client:
        create_tables(client, [watermark_table(TABLE)])
        client.put_item(TableName=TABLE, Item=ITEM)


def items(home: Home, region: str = REGION) -> list[object]:
    with connected(home, region) as client:
        return client.scan(TableName=TABLE)["Items"]


def test_the_tables_are_in_the_named_dynamodb_and_no_engine_is_started(home, other, capsys):
    put_one(home)

    direct = boto3.client("dynamodb", REGION, endpoint_url=other, **keys("a"))
    with closing(direct):
        assert direct.scan(TableName=TABLE)["Items"] == [ITEM]
    assert not home.dynamodb_tables.exists()
    assert f"watermarks are kept by the DynamoDB at {other}" in capsys.readouterr().err


def keys(name: str) -> dict[str, str]:
    return {"aws_access_key_id": name, "aws_secret_access_key": name}


def test_jobs_get_a_front_with_a_secret_path_and_pages_get_nothing(home, other):
    with dynamodb_endpoint(home) as endpoint:
        assert not endpoint.startswith(other)
        assert ask(endpoint, {"Origin": "https://page.example"}, b"{}")[0] == 403


def test_every_client_of_a_home_sees_the_same_tables_whatever_its_key_and_region(home, other):
    put_one(home)

    with dynamodb_endpoint(home) as endpoint:
        client = boto3.client("dynamodb", "us-west-1", endpoint_url=endpoint, **keys("other"))
        with closing(client):
            assert client.scan(TableName=TABLE)["Items"] == [ITEM]


@pytest.mark.nightly
def test_in_a_job_the_url_of_its_front_is_used_as_it_is(home, other, monkeypatch):
    with dynamodb_endpoint(home) as endpoint:
        monkeypatch.setenv(VARIABLE, endpoint)
        with dynamodb_endpoint(home) as of_the_job:
            assert of_the_job == endpoint


def test_a_home_whose_watermarks_another_dynamodb_has_refuses_the_embedded_engine(
    home, other, monkeypatch
):
    put_one(home)
    monkeypatch.delenv(VARIABLE)

    with pytest.raises(UsageError, match=f"are in the DynamoDB at {other}, and {VARIABLE} is not"):
        items(home)
    (home.root / KEPT_BY).unlink()  # as the message says
    with connected(home) as client:
        assert client.list_tables()["TableNames"] == []


def test_a_home_whose_watermarks_the_embedded_engine_has_refuses_another(home, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    put_one(home)

    with an_engine() as url:
        monkeypatch.setenv(VARIABLE, url)
        with pytest.raises(UsageError, match=r"are in its embedded engine; unset AWS_ENDPOINT"):
            items(home)
        assert not (home.root / KEPT_BY).exists()

    monkeypatch.delenv(VARIABLE)
    assert items(home) == [ITEM]


@pytest.mark.nightly
def test_a_home_that_has_tables_without_rows_may_change_to_another(home, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    with connected(home) as client:
        create_tables(client, [watermark_table(TABLE)])

    with an_engine() as url:
        monkeypatch.setenv(VARIABLE, url)
        put_one(home)
        assert items(home) == [ITEM]


@pytest.mark.nightly
def test_the_same_data_at_another_port_are_the_same_dynamodb(home, tmp_path, monkeypatch):
    tables = tmp_path / "kept.db"
    for _ in range(2):
        with an_engine(tables=tables) as url:
            monkeypatch.setenv(VARIABLE, url)
            put_one(home)

    assert json.loads((home.root / KEPT_BY).read_text("utf-8"))["url"] == url


def test_a_dynamodb_that_has_lost_everything_is_refused(home, monkeypatch):
    port = free_port()
    monkeypatch.setenv(VARIABLE, f"http://127.0.0.1:{port}")
    with an_engine(port=port):
        put_one(home)

    with an_engine(port=port), pytest.raises(UsageError, match=r"lacks watermarks of .*lost them"):
        items(home)


@pytest.mark.nightly
def test_a_dynamodb_that_went_back_to_an_earlier_state_is_refused(home, tmp_path, monkeypatch):
    earlier, later = tmp_path / "earlier.db", tmp_path / "later.db"
    with an_engine(tables=later) as url:
        monkeypatch.setenv(VARIABLE, url)
        put_one(home)
    earlier.write_bytes(later.read_bytes())  # as one that writes its state only when it ends
    with an_engine(tables=later) as url:
        monkeypatch.setenv(VARIABLE, url)
        put_one(home)

    with an_engine(tables=earlier) as url:
        monkeypatch.setenv(VARIABLE, url)
        with pytest.raises(UsageError, match=r"lacks watermarks of .*lost them"):
            items(home)


@pytest.mark.nightly
def test_a_home_that_finds_the_tables_of_another_is_told_so(home, other, tmp_path, capsys):
    put_one(Home.open(tmp_path / "first"))
    capsys.readouterr()

    items(home)
    assert f"has tables already: {TABLE}; jobs continue from" in capsys.readouterr().err
    items(home)
    assert "has tables already" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "url",
    [
        "nonsense",
        "http://",
        "ftp://127.0.0.1:1",
        "http://127.0.0.1:port",
        "http://[::1",
        "http://127.0.0.1:99999",
        "http://127.0.0.1:8000/tables",
        "http://me@127.0.0.1:8000",
        "http://127.0.0.1:8000?x=1",
    ],
)
def test_a_url_that_is_none_is_refused_with_what_is_allowed(home, url, monkeypatch):
    monkeypatch.setenv(VARIABLE, url)

    with pytest.raises(UsageError, match=rf"{VARIABLE} is .*; allowed: a URL of a host"):
        items(home)


@pytest.mark.parametrize(
    "host", ["dynamodb.eu-west-1.amazonaws.com", "dynamodb.cn-north-1.amazonaws.com.cn"]
)
def test_aws_itself_is_refused(home, host, monkeypatch):
    monkeypatch.setenv(VARIABLE, f"https://{host}")

    with pytest.raises(UsageError, match="which is AWS"):
        items(home)


def test_where_nothing_answers_the_url_is_named(home, monkeypatch):
    port = free_port()
    monkeypatch.setenv(VARIABLE, f"http://127.0.0.1:{port}")

    with pytest.raises(
        UsageError, match=rf"no DynamoDB answers at http://127.0.0.1:{port}:.*start"
    ):
        items(home)


class Changed(http.server.BaseHTTPRequestHandler):
    """Hands requests on to a DynamoDB that works, but for what the class attributes change."""

    behind = ""
    unknown = "nothing"  # an operation that it does not know
    without = ""  # a member of requests that it does not look at

    def do_POST(self) -> None:
        operation = self.headers["X-Amz-Target"].partition(".")[2]
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if operation == self.unknown:
            self.answer(400, b'{"__type": "com.amazon.coral.service#UnknownOperationException"}')
            return
        left_out = json.loads(body, object_hook=self.leave_out)
        names = ("X-Amz-Target", "X-Amz-Date", "Authorization", "Content-Type")
        sent = {name: self.headers[name] for name in names}
        self.answer(*ask(self.behind, sent, json.dumps(left_out).encode()))

    def leave_out(self, found: dict[str, object]) -> dict[str, object]:
        return {name: value for name, value in found.items() if name != self.without}

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/x-amz-json-1.0")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving(handler: type) -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize(
    ("change", "feature"),
    [
        ({"unknown": "CreateTable"}, "tables"),
        ({"without": "ConditionExpression"}, "conditional writes"),
        ({"unknown": "TransactWriteItems"}, "transactions, all or nothing"),
        ({"without": "ReturnValuesOnConditionCheckFailure"}, "transactions, all or nothing"),
    ],
    ids=["no tables", "conditions ignored", "no transactions", "no reasons with items"],
)
def test_a_dynamodb_that_lacks_a_feature_is_refused_by_its_name(
    home, other, change, feature, monkeypatch
):
    handler = type("Handler", (Changed,), {"behind": other, **change})
    with serving(handler) as url:
        monkeypatch.setenv(VARIABLE, url)

        with pytest.raises(
            UsageError, match=rf"at {url} cannot keep watermarks; it lacks: {feature}"
        ):
            items(home)

    assert not (home.root / KEPT_BY).exists()


@pytest.mark.nightly
def test_the_same_dynamodb_with_nothing_changed_is_taken(home, other, monkeypatch):
    with serving(type("Handler", (Changed,), {"behind": other})) as url:
        monkeypatch.setenv(VARIABLE, url)

        put_one(home)
        assert items(home) == [ITEM]


def test_what_answers_and_is_no_dynamodb_is_named(home, monkeypatch):
    with serving(http.server.SimpleHTTPRequestHandler) as url:
        monkeypatch.setenv(VARIABLE, url)

        with pytest.raises(UsageError, match=f"the server at {url} is not a DynamoDB"):
            items(home)


@pytest.mark.nightly  # its start takes seconds, and each of its transactions copies the table
def test_moto_which_loses_updates_of_several_clients_is_refused(home, monkeypatch):
    port = free_port()
    command = [sys.executable, "-m", "moto.server", "--host", "127.0.0.1", "--port", str(port)]
    with started(command, port):
        monkeypatch.setenv(VARIABLE, url_of(port))

        with pytest.raises(UsageError, match="it lacks: transactions of several clients at once"):
            items(home)


@pytest.mark.nightly
def test_a_backup_with_watermarks_is_not_restored_where_another_dynamodb_keeps_them(
    home, tmp_path, monkeypatch
):
    monkeypatch.delenv(VARIABLE, raising=False)
    embedded = Home.open(tmp_path / "embedded")
    put_one(embedded)
    back_up(embedded, tmp_path / "state.tgz", with_lake=False)
    with an_engine() as url:
        monkeypatch.setenv(VARIABLE, url)
        put_one(home)

        with pytest.raises(UsageError, match=f"are in the DynamoDB at {url}; restore it with"):
            restore(home, tmp_path / "state.tgz")

        assert items(home) == [ITEM]


@pytest.mark.nightly
@pytest.mark.usefixtures("other")
@pytest.mark.parametrize("text", ["[]", '{"url": "a", "home": "b", "starts": "x"}'])
def test_a_mark_that_is_damaged_is_named(home, text):
    put_one(home)
    (home.root / KEPT_BY).write_text(text, encoding="utf-8")

    with pytest.raises(UsageError, match=r"kept-by.json, which says .* is damaged .*accept-loss"):
        items(home)
    (home.root / KEPT_BY).unlink()
    assert items(home) == [ITEM]


@pytest.mark.nightly
@pytest.mark.usefixtures("other")
def test_a_home_is_known_to_have_tables_there(home):
    assert not may_have_tables(home)

    put_one(home)

    assert may_have_tables(home)


@pytest.mark.nightly
@pytest.mark.usefixtures("other")
def test_rows_of_trials_do_not_stay(home):
    with connected(home) as client:
        rows = client.scan(TableName="tidemark-homes")["Items"]

    assert [row["part"]["S"] for row in rows] == ["starts"]
