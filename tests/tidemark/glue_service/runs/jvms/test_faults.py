"""Pools whose JVMs, owners or clients fail."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import subprocess
import sys
from multiprocessing.connection import Client
from pathlib import Path

import pytest

from tests.tidemark.glue_service.runs.jvms.runs import Bench
from tests.waiting import wait_until
from tidemark.glue_job.process.pool import POOL_VARIABLE, ask, connect, read_pool_file
from tidemark.glue_job.process.spark import QUICK
from tidemark.glue_service.runs.jvms import pool
from tidemark.glue_service.runs.jvms.server import serve_pool
from tidemark.glue_service.runs.jvms.supply import Jvms, jvms_of
from tidemark.local_state.machine.java import find_java_home
from tidemark.local_state.machine.processes import is_running
from tidemark.local_state.sparks.installed import own_spark

pytestmark = pytest.mark.spark
COUNT = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
print(spark.range(5).count())
"""
OPTIONS = (
    COUNT
    + """
management = spark.sparkContext._jvm.java.lang.management.ManagementFactory
print(management.getRuntimeMXBean().getInputArguments().toString())
"""
)
WAIT = (
    COUNT
    + """
import time
from pathlib import Path
print(spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid(), flush=True)
while not Path("go").exists():
    time.sleep(0.02)
print(spark.range(7).count())
"""
)
OWNER = """
import sys, time
from pathlib import Path
from tidemark.local_state.machine.java import find_java_home
from tidemark.glue_service.runs.jvms.server import serve_pool
from tidemark.local_state.sparks.installed import own_spark
if __name__ == "__main__":
    with serve_pool(Path(sys.argv[1]), find_java_home(), 1, Path(sys.argv[2])) as (pool, _):
        pool.want(1, own_spark())
        sys.stdin.read()
"""


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    return Bench(tmp_path_factory.mktemp("faults"))


@pytest.fixture(scope="module")
def one_jvm(tmp_path_factory):
    with serve_pool(tmp_path_factory.mktemp("pool"), find_java_home(), 1) as (pool, file):
        pool.want(1, own_spark())
        yield Jvms(file, pool=pool)


def started(bench, jvms):
    """Start a run that waits; return it, its folder, and its JVM."""
    process = bench.start(jvms, WAIT)
    folder = bench.home.runs / process.run.run_id
    out = folder / "stdout.log"
    wait_until(lambda: out.exists() and out.read_text().count("\n") == 2)
    lines = out.read_text().split()
    return process, folder, int(lines[1])


def finished(bench, process, folder):
    (folder / "go").touch()
    return bench.finish(process)


@pytest.mark.nightly
def test_jvm_that_dies_while_idle_is_replaced_silently(bench, one_jvm):
    process, folder, jvm = started(bench, one_jvm)
    assert finished(bench, process, folder).run.state == "SUCCEEDED"
    os.kill(jvm, signal.SIGKILL)

    seen = bench.run(one_jvm, COUNT)

    assert (seen.run.state, seen.run.jvm, seen.stdout) == ("SUCCEEDED", "cold", "5\n")


@pytest.mark.nightly
def test_jvm_that_died_while_idle_is_replaced_before_a_run_asks(bench, one_jvm):
    process, folder, jvm = started(bench, one_jvm)
    assert finished(bench, process, folder).run.state == "SUCCEEDED"
    os.kill(jvm, signal.SIGKILL)

    def lives():
        one_jvm.want(1, own_spark())
        return jvms_below(one_jvm) not in ([], [jvm])

    wait_until(lives)


@pytest.mark.nightly
def test_jvm_is_not_lent_again_after_its_last_run(bench, one_jvm, monkeypatch):
    monkeypatch.setattr(pool, "MAX_RUNS", 1)

    bench.run(one_jvm, COUNT)  # by a JVM that an earlier test may have used
    seen = [bench.run(one_jvm, COUNT) for _ in range(2)]

    assert [(it.run.state, it.run.jvm) for it in seen] == [("SUCCEEDED", "cold")] * 2


@pytest.mark.nightly
def test_jvm_that_compiles_quickly_makes_room_once_there_is_much_data(bench, tmp_path):
    is_little = [True]
    with serve_pool(
        tmp_path / "jvms", find_java_home(), 1, is_quick=lambda: is_little[0]
    ) as of_pool:
        jvms = Jvms(of_pool[1], pool=of_pool[0])
        seen = [bench.run(jvms, OPTIONS) for _ in range(2)]
        is_little.clear()
        is_little.append(False)
        seen += [bench.run(jvms, OPTIONS) for _ in range(2)]

    assert [run.run.jvm for run in seen] == ["cold", "warm", "cold", "warm"]
    assert [QUICK in run.stdout for run in seen] == [True, True, False, False]


def jvms_below(jvms):
    """Return the processes whose command line names a folder of this pool."""
    found = subprocess.run(["ps", "-eww", "-o", "pid=,args="], capture_output=True, text=True)
    lines = [line.split(maxsplit=1) for line in found.stdout.splitlines()]
    return [int(pid) for pid, line in lines if f"{jvms.pool_file.parent}/" in line]


@pytest.mark.nightly
def test_jvm_that_dies_under_a_run_fails_it_with_its_last_words(bench, one_jvm, monkeypatch):
    monkeypatch.setattr(logging.root, "handlers", [])
    script = COUNT + (
        'spark.sparkContext._jvm.java.lang.System.err.print("last words")\n'
        "spark.sparkContext._jvm.java.lang.Runtime.getRuntime().halt(9)\n"
    )

    seen = bench.run(one_jvm, script)

    assert seen.run.state == "FAILED"
    assert "last words" in seen.stderr
    assert logging.root.handlers == []  # Py4J, here the owner's, adds one before it logs
    assert bench.run(one_jvm, COUNT).run.state == "SUCCEEDED"


@pytest.mark.nightly
def test_more_runs_than_jvms_start_their_own(bench, one_jvm):
    process, folder, _ = started(bench, one_jvm)

    extra = bench.run(one_jvm, COUNT)
    first = finished(bench, process, folder)

    assert (extra.run.state, extra.run.jvm) == ("SUCCEEDED", "cold: all 1 JVMs are in use")
    assert first.run.state == "SUCCEEDED"


def connected(file):
    pool = read_pool_file(file)
    return Client(("127.0.0.1", pool.port), authkey=bytes.fromhex(pool.key))


@pytest.mark.nightly
def test_clients_that_say_nothing_or_garbage_hinder_nobody(bench, one_jvm):
    port = read_pool_file(one_jvm.pool_file).port
    silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
    for text in (b"GET / HTTP/1.0\r\n\r\n", b"\x7f\xff\xff\xff", b"\0\0\0\3abc"):
        silent.append(socket.create_connection(("127.0.0.1", port)))
        silent[-1].sendall(text)
    known = [connected(one_jvm.pool_file) for _ in range(6)]
    garbage = (b"", b"{", b"[]", b"1", json.dumps({"settings": "", "environment": 3}).encode())
    for connection, text in zip(known, garbage, strict=False):
        connection.send_bytes(text)

    seen = bench.run(one_jvm, COUNT)

    assert (seen.run.state, seen.stdout) == ("SUCCEEDED", "5\n")
    assert not seen.run.jvm.startswith("cold: ")
    for connection in (*silent, *known):
        connection.close()


def test_secret_is_needed(one_jvm):
    pool = read_pool_file(one_jvm.pool_file)

    with pytest.raises(Exception, match=r"digest|reset|EOF|^$"):
        Client(("127.0.0.1", pool.port), authkey=b"another")


def is_alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except FileNotFoundError:
        return False
    return state not in "ZX"


@pytest.fixture
def owner(tmp_path):
    """A process that owns a pool, which another command may use."""
    file = tmp_path / "pool.json"
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path / "jvms"), str(file)], stdin=subprocess.PIPE
    ) as process:
        wait_until(file.is_file)
        yield process, file
        process.kill()


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_killed_owner_takes_its_jvms_along_and_the_next_one_cleans_up(
    bench, owner, tmp_path, monkeypatch
):
    process, file = owner
    monkeypatch.setenv(POOL_VARIABLE, str(file))
    with jvms_of(bench.home) as jvms:
        assert jvms.pool_file == file
        run, folder, jvm = started(bench, jvms)
        assert is_alive(jvm)
        process.kill()
        process.wait()
        wait_until(lambda: not is_alive(jvm))
        killed = finished(bench, run, folder)
        after = bench.run(jvms, COUNT)

    assert killed.run.state == "FAILED"
    assert (after.run.state, after.stdout) == ("SUCCEEDED", "5\n")
    assert after.run.jvm.startswith("cold: the pool does not answer")
    assert list((tmp_path / "jvms").iterdir()) != []
    with serve_pool(tmp_path / "jvms", find_java_home(), 1):
        assert len(list((tmp_path / "jvms").iterdir())) == 1
    assert not (tmp_path / "jvms").exists()


@pytest.mark.nightly
def test_engine_ends_the_jvm_of_its_run_in_the_pool_of_another(bench, owner, monkeypatch):
    process, file = owner
    monkeypatch.setenv(POOL_VARIABLE, str(file))
    with jvms_of(bench.home) as jvms:
        run, _, jvm = started(bench, jvms)
        run.process.kill()
        assert bench.finish(run).run.state == "FAILED"
        assert not is_alive(jvm)
        assert bench.run(jvms, COUNT).run.jvm == "cold"
        assert bench.run(jvms, COUNT).run.jvm == "warm"
        with connect(file) as connection:
            assert ask(connection, {"end": "no run"}) == {}
    assert is_running(process.pid)
