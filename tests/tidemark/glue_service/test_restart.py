"""A local Glue that ended, was killed, or finds its port or home in use."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys

import pytest

from tests.signing import raw, signed
from tests.tidemark.glue_service.conftest import Port
from tests.waiting import wait_until
from tidemark.errors import UsageError
from tidemark.glue_service.http.serving import Options, serving
from tidemark.local_state.access_key import access_key
from tidemark.local_state.home import Home

SERVE = """
import sys, time
from pathlib import Path
from tidemark.local_state.home import Home
from tidemark.glue_service.http.serving import serving

with serving(Home.open(Path(sys.argv[1]))) as (url, engine):
    print(url, flush=True)
    time.sleep(600)
"""
PIDS = "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(60)"


@pytest.fixture
def killed_home(tmp_path):
    """Return a home whose server was killed while one run ran, and how many runs were waiting."""
    home = Home.open(tmp_path / "home")
    server = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(home.root)], stdout=subprocess.PIPE, text=True
    )
    port = Port(home, server.stdout.readline().strip(), None)
    port.job("busy", PIDS, JobRunQueuingEnabled=True)
    port.job("counts", "open('../ran', 'a').write('x')", JobRunQueuingEnabled=True)
    port.job("deleted", PIDS, JobRunQueuingEnabled=True)
    runs = {"busy": port.start("busy"), "waits": port.start("busy"), "gone": port.start("deleted")}
    runs["gone-waits"] = port.start("deleted")
    wait_until(lambda: (home.runs / runs["busy"] / "pid").exists())
    server.send_signal(signal.SIGKILL)
    server.communicate()
    return home, runs


def test_after_a_kill_no_run_is_running_and_what_waited_runs_once(killed_home):
    home, runs = killed_home
    (home.lake / "scripts" / "busy.py").write_text("print('second')", encoding="utf-8")

    with serving(home) as (url, engine):
        port = Port(home, url, engine)
        was_running = port.run("busy", runs["busy"])
        waited = port.ended("busy", runs["waits"])

    assert was_running["JobRunState"] == "FAILED"
    assert "killed" in was_running["ErrorMessage"]
    assert waited["JobRunState"] == "SUCCEEDED"
    assert (home.runs / runs["waits"] / "stdout.log").read_text() == "second\n"


def test_a_server_that_is_closed_stops_its_runs_and_keeps_what_waits(serve):
    with serve() as (url, engine):
        port = Port(Home.open(engine.ask(lambda glue: glue.machine.home.root)), url, engine)
        port.job("long", PIDS, JobRunQueuingEnabled=True)
        running, waiting = port.start("long"), port.start("long")
        pid_file = port.home.runs / running / "pid"
        wait_until(lambda: pid_file.exists() and pid_file.read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_file.read_text()), 0)
    (port.home.lake / "scripts" / "long.py").write_text("", encoding="utf-8")

    with serve() as (url, engine):
        port = Port(port.home, url, engine)
        assert port.run("long", running)["JobRunState"] == "STOPPED"
        assert port.ended("long", waiting)["JobRunState"] == "SUCCEEDED"


def test_a_port_or_a_home_that_is_in_use_is_told(serve, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        with pytest.raises(UsageError, match=str(number)), serve(options=Options(port=number)):
            pass
    with serve(), pytest.raises(UsageError, match=str(os.getpid())), serve():
        pass


def test_many_connections_at_once_are_answered(serve):
    with serve() as (url, engine):
        host, port = url.removeprefix("http://").split(":")
        connections = [socket.create_connection((host, int(port))) for _ in range(300)]
        try:
            body = b'{"JobName": "none"}'
            sent = {"X-Amz-Target": "AWSGlue.GetJob", "Content-Length": str(len(body))}
            key = access_key(engine.ask(lambda glue: glue.machine.home))
            connections[-1].sendall(raw("POST", "/", signed(key, "POST", url, sent, body)) + body)
            connections[-1].settimeout(20)
            assert connections[-1].recv(65536).startswith(b"HTTP/1.1 400 ")
        finally:
            for connection in connections:
                connection.close()


def test_an_engine_that_dies_says_so_and_answers_nothing_more(serve):
    deaths = []
    with serve(options=Options(on_death=deaths.append)) as (url, engine):
        port = Port(Home.open(engine.ask(lambda glue: glue.machine.home.root)), url, engine)

        def break_the_clock(glue):
            glue.now_ms = None

        engine.ask(break_the_clock)
        wait_until(lambda: deaths)

        assert isinstance(deaths[0], TypeError)
        with pytest.raises(port.glue.exceptions.InternalServiceException, match="being stopped"):
            port.glue.get_jobs()


def test_a_run_whose_result_cannot_be_read_has_failed(serve):
    script = "open('error.json', 'w').write('{'); import os; os._exit(1)"
    with serve() as (url, engine):
        port = Port(Home.open(engine.ask(lambda glue: glue.machine.home.root)), url, engine)
        port.job("odd", script)

        run = port.ended("odd", port.start("odd"))

    assert run["JobRunState"] == "FAILED"
    assert "cannot be read" in run["ErrorMessage"]
