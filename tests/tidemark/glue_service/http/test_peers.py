"""Loopback is open to every user of a machine; the port answers its own user only."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys

import pytest

from tests.signing import signed
from tests.tidemark.glue_service.conftest import Port
from tidemark.glue_service.http.peers import foreign_user, user_of
from tidemark.glue_service.http.serving import Options
from tidemark.local_state.access_key import access_key
from tidemark.local_state.home import Home

NOBODY = 65534
ASK = """
import http.client, json, sys
connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=60)
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

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose a socket is"),
]
as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user")


def run_as(user, program, *words):
    python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable  # noqa: PTH110
    done = subprocess.run(
        [python, "-c", program, *words],
        user=user,
        group=user,
        extra_groups=[],
        cwd="/",
        capture_output=True,
        text=True,
        timeout=120,
    )
    if "Permission denied" in done.stderr:
        pytest.skip("another user of this machine cannot run Python")
    return done


def port_of(url):
    return url.rpartition(":")[2]


def words_of(url, engine):
    """Return the words of ASK: a port, and the headers of a request that is signed."""
    key = access_key(engine.ask(lambda glue: glue.machine.home))
    headers = signed(key, "POST", url, {"X-Amz-Target": "AWSGlue.ListJobs"}, b"{}")
    return port_of(url), json.dumps(headers)


@pytest.mark.parametrize(
    ("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]
)
def test_the_user_of_a_connection_is_found(family, host):
    with socket.create_server((host, 0), family=family) as server:
        port = server.getsockname()[1]
        with socket.create_connection((host, port)) as client:
            accepted, peer = server.accept()
            with accepted:
                assert user_of(peer[0], peer[1], port) == os.getuid()
                assert foreign_user(peer[0], peer[1], port) is None
                client.close()
                assert user_of(peer[0], peer[1], port) is None
                assert "gone" in (foreign_user(peer[0], peer[1], port) or "")


def test_a_client_of_another_machine_is_not_judged_here():
    assert foreign_user("192.0.2.7", 40000, 4566) is None


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
def test_another_user_is_refused_with_the_way_out(serve):
    with serve() as (url, engine):
        done = run_as(NOBODY, ASK, *words_of(url, engine))

    answers = done.stdout.splitlines()
    assert [line[:3] for line in answers] == ["403", "403"], done.stderr
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
