"""Only the secret URL reaches the embedded DynamoDB, and nothing reaches the engine's own port."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import sys
from contextlib import closing
from urllib.parse import urlsplit

import pytest

from tests.sockets import sockets_of
from tidemark.errors import TidemarkError
from tidemark.local_state.dynamodb import create_tables, dynamodb_client, dynamodb_endpoint
from tidemark.local_state.engine import closed_port, embedded
from tidemark.local_state.home import Home
from tidemark.local_state.watermark_tables import watermark_table

REGION = "eu-west-2"
LIST = {
    "X-Amz-Target": "DynamoDB_20120810.ListTables",
    "Content-Type": "application/x-amz-json-1.0",
    "X-Amz-Date": "20261125T120000Z",
    "Authorization": "AWS4-HMAC-SHA256 Credential=local/20261125/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=host;x-amz-date, Signature=0",
}
CONNECT = """
import socket, sys
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), 5).close()
except ConnectionRefusedError:
    sys.exit(7)
"""

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux closes the engine's port")


# Tries to connect for two seconds, again and again, and says whether it did.
KNOCK = """
import socket, sys, time
print("knocks", flush=True)
end = time.monotonic() + 2
while time.monotonic() < end:
    with socket.socket() as client:
        client.settimeout(0.2)
        try:
            client.connect((sys.argv[1], int(sys.argv[2])))
            client.recv(1)
        except TimeoutError:
            pass
        except OSError:
            continue
        else:
            print("reached")
            break
"""


@pytest.fixture
def endpoint(tmp_path, monkeypatch):
    monkeypatch.delenv("AWS_ENDPOINT_URL_DYNAMODB", raising=False)
    with dynamodb_endpoint(Home.open(tmp_path / "home")) as url:
        with dynamodb_client(url, REGION) as client:
            create_tables(client, [watermark_table("glue-watermarks")])
        yield url


@pytest.fixture
def engines(monkeypatch):
    """Return the connections to each engine that a test starts."""
    made = []

    def record(*arguments):
        made.append(closed_port.ClosedPort(*arguments))
        return made[-1]

    monkeypatch.setattr(embedded, "ClosedPort", record)
    return made


def ask(url, headers=LIST, path=None, method="POST", body=b"{}"):
    place = urlsplit(url)
    with closing(http.client.HTTPConnection(place.hostname, place.port, timeout=60)) as connection:
        connection.request(method, place.path if path is None else path, body, headers)
        answer = connection.getresponse()
        found = {name.lower(): value for name, value in answer.getheaders()}
        return answer.status, found, answer.read().decode()


def engine_places(pid):
    """Return where a process listens, and where it has connections: (address, port) each."""
    found = list(sockets_of([pid]))
    listening = {one[:2] for one in found if one.is_listening}
    return listening, {one[:2] for one in found if not one.is_listening}


def engine_pid(home):
    (file,) = (home / "dynamodb").glob("*.pid")
    return int(file.stem.split("-")[1])


def test_the_secret_url_answers(endpoint):
    status, _, text = ask(endpoint)

    assert status == 200
    assert json.loads(text) == {"TableNames": ["glue-watermarks"]}


@on_linux
def test_nobody_else_connects_to_the_engine(endpoint, tmp_path):
    listening, connected = engine_places(engine_pid(tmp_path / "home"))

    assert not listening
    (place,) = connected
    tried = subprocess.run([sys.executable, "-c", CONNECT, place[0], str(place[1])], timeout=60)
    assert tried.returncode == 7


@pytest.mark.parametrize("path", ["/", "", "/x", "/glue-watermarks/", "/../"])
def test_without_the_secret_path_nothing_is_answered(endpoint, path):
    status, _, text = ask(endpoint, path=path)

    assert status == 403
    assert "glue-watermarks" not in text


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:3000"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": ""},
    ],
)
@pytest.mark.parametrize("method", ["POST", "OPTIONS", "GET"])
def test_web_pages_are_refused_even_with_the_secret_path(endpoint, headers, method):
    status, found, text = ask(endpoint, LIST | headers, method=method)

    assert status == 403
    assert not [name for name in found if name.startswith("access-control")]
    assert "glue-watermarks" not in text


def test_an_answer_has_no_cors_header(endpoint):
    _, found, _ = ask(endpoint)

    assert not [name for name in found if name.startswith("access-control")]


def test_a_body_without_a_length_or_too_large_is_refused_and_the_engine_goes_on(endpoint):
    too_large = ask(endpoint, LIST | {"Content-Length": "30000000"})
    chunked = ask(endpoint, LIST, body=iter([b"{}"]))

    assert (too_large[0], chunked[0]) == (413, 413)
    assert ask(endpoint)[0] == 200


def test_requests_that_the_engine_closes_its_connection_after_do_not_use_it_up(endpoint):
    odd = [b"", b"not json", b"[" * 100_000, b"\x00" * 3_000_000]
    for body in odd * 5:
        ask(endpoint, body=body)

    assert ask(endpoint)[0] == 200


@on_linux
def test_connections_that_broke_are_made_anew_and_the_port_is_closed_again(
    engines, endpoint, tmp_path
):
    (engine,) = engines
    broken = [engine._free.get() for _ in range(closed_port.CONNECTIONS)]
    for connection in broken:
        connection.sock.shutdown(socket.SHUT_RDWR)
        engine._free.put(connection)

    statuses = [ask(endpoint)[0] for _ in range(closed_port.CONNECTIONS + 1)]

    assert statuses[-1] == 200
    listening, _ = engine_places(engine_pid(tmp_path / "home"))
    assert not listening


@on_linux
def test_where_the_kernel_does_not_close_the_port_the_front_works_as_well(
    engines, tmp_path, monkeypatch, capsys
):
    monkeypatch.delenv("AWS_ENDPOINT_URL_DYNAMODB", raising=False)
    monkeypatch.setattr(closed_port, "_take_listener", lambda pid, port: None)
    monkeypatch.setattr(embedded, "can_copy_sockets", lambda: False)

    with dynamodb_endpoint(Home.open(tmp_path / "home")) as url:
        assert ask(url)[0] == 200
        assert not engines[0].is_closed
        assert "can change watermarks; see SECURITY.md" in capsys.readouterr().err
        ((address, _),) = engine_places(engine_pid(tmp_path / "home"))[0]
        assert address.startswith("127.")
        assert address != "127.0.0.1"


@on_linux
def test_nobody_else_reaches_an_engine_while_it_starts(tmp_path, monkeypatch):
    monkeypatch.delenv("AWS_ENDPOINT_URL_DYNAMODB", raising=False)
    knocking = []
    real = embedded._free_place

    def told():
        host, port = real()  # other users read them in the list of processes
        command = [sys.executable, "-c", KNOCK, host, str(port)]
        knocking.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        knocking[-1].stdout.readline()
        return host, port

    monkeypatch.setattr(embedded, "_free_place", told)

    with dynamodb_endpoint(Home.open(tmp_path / "home")) as url:
        assert ask(url)[0] == 200
        said = [knock.communicate()[0] for knock in knocking]

    assert said == [""]


@on_linux
def test_an_engine_that_another_process_reached_first_is_ended(tmp_path, monkeypatch):
    monkeypatch.delenv("AWS_ENDPOINT_URL_DYNAMODB", raising=False)
    monkeypatch.setattr(embedded, "can_copy_sockets", lambda: False)  # a kernel without seccomp
    monkeypatch.setattr(closed_port, "hear_only", lambda listener, clients: None)
    others = []
    real = closed_port.ClosedPort._connect

    def connect(self, client):
        others.append(real(self))  # stands for another process, which the engine has answered
        return real(self, client)

    monkeypatch.setattr(closed_port.ClosedPort, "_connect", connect)

    with dynamodb_endpoint(Home.open(tmp_path / "home")) as url:
        answers = [ask(url), ask(url)]  # no other engine is started: the tables may be changed
        with (
            pytest.raises(TidemarkError, match="another program connected to the embedded Dyn"),
            dynamodb_client(url, "us-east-1") as client,
        ):
            client.list_tables()

    for status, _, text in answers:
        assert (status, "check the watermarks" in text) == (400, True)
    assert len(others) == closed_port.CONNECTIONS
    assert not list((tmp_path / "home" / "dynamodb").glob("*.pid"))
    for connection in others:
        connection.close()
