"""Loopback is open to every user of a machine; the port answers its own user, and has places."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from urllib.request import urlopen

import pytest

from tests.other_user import NOBODY, as_root, card_address, held, on_linux, run_as
from tests.signing import signed
from tests.tidemark.glue_service.conftest import Port
from tests.waiting import BOUND_S, wait_until
from tidemark.glue_service.access.gate import Gate
from tidemark.glue_service.http import server
from tidemark.glue_service.http.serving import Options
from tidemark.local_state.access_key import access_key
from tidemark.local_state.home import Home
from tidemark.local_state.machine.loopback import LOOPBACK_NAMES

ASK = """
import http.client, json, sys
source = (sys.argv[3], 0) if len(sys.argv) > 3 else None
place = "127.0.0.1", int(sys.argv[1])
connection = http.client.HTTPConnection(*place, timeout=60, source_address=source)
for _ in range(2):
    connection.request("POST", "/", b"{}", json.loads(sys.argv[2]))
    answer = connection.getresponse()
    print(answer.status, answer.read().decode())
"""
# It closes its end as soon as it has asked: the kernel then lists the socket without its user.
ASK_AND_GO = """
import socket, sys
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 60)
command = b'{"Name": "pythonshell", "ScriptLocation": "s3://b/k"}'
body = b'{"Name": "evil", "Role": "x", "Command": ' + command + b"}"
head = "POST / HTTP/1.1\\r\\nHost: localhost\\r\\nX-Amz-Target: AWSGlue.CreateJob\\r\\n"
connection.sendall(f"{head}Content-Length: {len(body)}\\r\\n\\r\\n".encode() + body)
connection.close()
"""
# It says that it will send much, and waits for what it is told.
ASK_TO_SEND = """
import socket, sys
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 60)
head = "PUT /bucket/key HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Length: 5000000000\\r\\n"
connection.sendall(f"{head}{sys.argv[2]}\\r\\n".encode())
print(connection.makefile("rb").read().decode())  # until the end
"""

pytestmark = on_linux


def port_of(url):
    return url.rpartition(":")[2]


def words_of(url, engine):
    """Return the words of ASK: a port, and the headers of a request that is signed."""
    key = access_key(engine.ask(lambda glue: glue.machine.home))
    headers = signed(key, "POST", url, {"X-Amz-Target": "AWSGlue.ListJobs"}, b"{}")
    return port_of(url), json.dumps(headers)


def test_the_own_user_is_answered(serve):
    with serve() as (url, engine):
        done = subprocess.run(
            [sys.executable, "-c", ASK, *words_of(url, engine)],
            capture_output=True,
            text=True,
            timeout=120,
        )

    assert [line[:3] for line in done.stdout.splitlines()] == ["200", "200"]


@as_root
@pytest.mark.parametrize("from_card", [False, True])
@pytest.mark.parametrize("any_key", [False, True])
def test_another_user_is_refused_with_the_way_out(serve, any_key, from_card):
    source = [card_address()] if from_card else []
    with serve(options=Options(any_key=any_key)) as (url, engine):
        done = run_as(NOBODY, ASK, *words_of(url, engine), *source)

    answers = done.stdout.splitlines()
    assert [line[:3] for line in answers] == ["403", "403"], done.stderr
    assert f"from the user {NOBODY}, and this port answers user {os.getuid()} only" in answers[0]
    assert "--any-user" in answers[0]


@pytest.mark.nightly
@as_root
def test_another_user_who_hangs_up_at_once_changes_nothing(serve, tmp_path):
    with serve() as (url, engine):
        for _ in range(20):
            assert run_as(NOBODY, ASK_AND_GO, port_of(url)).returncode == 0

        glue = Port(Home.open(tmp_path / "home"), url, engine).glue
        assert [glue.list_jobs()["JobNames"] for _ in range(20)] == [[]] * 20


@as_root
@pytest.mark.parametrize("expect", ["", "Expect: 100-continue\r\n"])
@pytest.mark.parametrize("any_key", [False, True])
def test_another_user_is_refused_before_a_body_is_read(serve, expect, any_key):
    with serve(options=Options(any_key=any_key)) as (url, _):
        answer = run_as(NOBODY, ASK_TO_SEND, port_of(url), expect).stdout

    assert answer.startswith("HTTP/1.1 403 ")
    assert "this port answers user" in answer


@as_root
def test_any_user_is_answered_where_that_is_asked_for(serve):
    with serve(options=Options(any_user=True)) as (url, engine):
        done = run_as(NOBODY, ASK, *words_of(url, engine))

    assert [line[:3] for line in done.stdout.splitlines()] == ["200", "200"], done.stderr


SILENT = server.MAX_CONNECTIONS + 60


def seconds_to_answer(glue):
    """Return how long a client waits for an answer, its connection included."""
    begun_s = time.monotonic()
    glue.list_jobs()
    return time.monotonic() - begun_s


def client_of(served, tmp_path):
    glue = Port(Home.open(tmp_path / "home"), *served).client("glue", read_timeout=60)
    glue.list_jobs()  # what a first request loads is not measured
    glue.close()
    return glue


@as_root
def test_silent_connections_of_another_user_take_no_place(serve, tmp_path):
    with serve() as served:
        glue = client_of(served, tmp_path)
        alone_s = seconds_to_answer(glue)
        glue.close()
        with held("127.0.0.1", int(port_of(served[0])), SILENT, user=NOBODY):
            assert seconds_to_answer(glue) < 1 + 5 * alone_s


@pytest.mark.parametrize("begun", [b"", b"GET / HTTP/1.1\r\nHost: localhost\r\nX-", None])
def test_an_own_client_that_leaks_connections_leaves_a_place(serve, tmp_path, begun):
    """They have sent nothing, a part of a request, or a request that was answered."""
    with ExitStack() as stack:
        served = stack.enter_context(serve())
        glue = client_of(served, tmp_path)
        alone_s = seconds_to_answer(glue)
        glue.close()
        place = "127.0.0.1", int(port_of(served[0]))
        request = f"GET / HTTP/1.1\r\nHost: localhost:{place[1]}\r\n\r\n".encode()
        for _ in range(SILENT):
            leaked = stack.enter_context(closing(socket.create_connection(place, 60)))
            leaked.sendall(request if begun is None else begun)
            if begun is None:
                leaked.recv(1000)

        assert seconds_to_answer(glue) < 1 + 5 * alone_s


def test_a_request_that_is_answered_keeps_its_place():
    may_end = threading.Event()

    def answer(environ, start_response):
        may_end.wait(BOUND_S)
        start_response("200 OK", [("Content-Length", "4")])
        return [b"done"]

    with (
        server.listening("127.0.0.1", 0) as listener,
        ThreadPoolExecutor(1) as pool,
        ExitStack() as stack,
    ):
        listener.serve(lambda: answer, Gate(None, "", LOOPBACK_NAMES))
        asked = pool.submit(urlopen, listener.url)
        wait_until(lambda: listener._server and listener._server.active_channels)
        for _ in range(SILENT):
            place = "127.0.0.1", int(port_of(listener.url))
            stack.enter_context(closing(socket.create_connection(place, 60)))
        may_end.set()

        assert asked.result().read() == b"done"
        assert len(listener._server.active_channels) <= server.MAX_CONNECTIONS
