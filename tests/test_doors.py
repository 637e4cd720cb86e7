"""Every socket that a command listens on is a row of SECURITY.md, and no other user comes in."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import pytest

from tests.other_user import NOBODY, as_root, holding, on_linux, run_as
from tests.sockets import Socket, descendants, sockets_of, unix_sockets_of
from tests.waiting import wait_until
from tidemark.glue_job.edge.announce import Edge
from tidemark.glue_job.edge.jvm import JvmEdge
from tidemark.glue_job.process.pool import read_pool_file
from tidemark.glue_service.runs.jvms.server import serve_pool
from tidemark.local_state.dynamodb import dynamodb_endpoint
from tidemark.local_state.home import Home
from tidemark.local_state.machine.java import find_java_home
from tidemark.local_state.operations import Recorder, record_operations

PROJECT = Path(__file__).parents[1]
LOOPBACK = ("127.", "::1", "::ffff:7f")
JVMS, PAGES = "driver and block managers", "pages of master and workers"
# Words of the command line of a process: the rows of the table for all that it may listen on.
DOORS = {
    "org.apache.spark.deploy.master.Master": ("master and workers", PAGES),
    "org.apache.spark.deploy.worker.Worker": ("master and workers", PAGES),
    "org.apache.spark.executor.CoarseGrainedExecutorBackend": (JVMS,),
    "org.apache.spark.deploy.SparkSubmit": (
        *("Py4J in a JVM", "Py4J in a JVM", JVMS, JVMS),
        *("results", "results"),
    ),
    "tidemark.glue_job.process.worker_daemon": ("daemon of Python workers",),
    "tidemark.glue_job.process.": (
        "callbacks of Py4J",
        "accumulators",
        "announcements for `prove`",
    ),
    "--db-path": ("engine of DynamoDB",),
    "tidemark": ("port", "front of DynamoDB", "pool of warm JVMs"),
}
AT_THE_PORT = {"live page"}
# Connects, sends what was given, and prints the first bytes of the answer.
SEND = """
import socket, sys
with socket.socket(int(sys.argv[1])) as client:
    client.settimeout(60)
    client.connect(eval(sys.argv[2]))
    try:
        client.sendall(sys.argv[3].encode())
        client.shutdown(socket.SHUT_WR)
        print(ascii(client.recv(1000)))
    except OSError:
        print("b''")
"""
# Says to many ports what each of them might obey, and leaves; arguments: ports.
ATTACK = """
import os, socket, sys
SAID = (
    b"g\\np0\\ne\\n" * 3,
    b"c\\np0\\ncall\\ne\\n",
    b"A\\nwrong\\nr\\nu\\njava\\ne\\n",
    b"POST / HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n",
    os.urandom(200),
    b"",
)
for port in map(int, sys.argv[1:]):
    for said in SAID:
        with socket.socket() as client:
            client.settimeout(2)  # some accept no more, once who they wait for is there
            try:
                client.connect(("127.0.0.1", port))
                client.sendall(said)
                if b"wrong" in said:
                    client.shutdown(socket.SHUT_WR)
                    if client.recv(100).startswith(b"!y"):
                        print(port, "obeys")
            except OSError:
                pass
    try:
        for _ in range(200):
            with socket.create_connection(("127.0.0.1", port), 2) as client:
                client.sendall(b"GET / HTTP/1.1\\r\\n")
    except OSError:
        pass
"""
# Holds silent connections to many ports, as many as each takes.
HOLD_ALL = """
import socket, sys
held = []
for port in map(int, sys.argv[1:]):
    try:
        held += [socket.create_connection(("127.0.0.1", port), 2) for _ in range(20)]
    except OSError:
        pass
print("held", flush=True)
sys.stdin.read()
"""
SCRIPT = """
import os, sys, time
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext
arguments = getResolvedOptions(sys.argv, ["JOB_NAME", "signal"])
context = SparkContext.getOrCreate()
glue = GlueContext(context)
job = Job(glue)
job.init(arguments["JOB_NAME"], arguments)
total = context.accumulator(0)

def use():
    context.parallelize(range(4), 2).foreach(lambda number: total.add(number))
    glue.spark_session.range(4).write.mode("overwrite").parquet("s3://lake/out")
    return total.value, glue.spark_session.sql("SHOW DATABASES").count()

print(use(), flush=True)
if os.path.exists(arguments["signal"]):
    os.rename(arguments["signal"], arguments["signal"] + ".begun")
    while not os.path.exists(arguments["signal"] + ".go"):
        time.sleep(0.05)
    print(use(), flush=True)
job.commit()
"""


def rows() -> dict[str, list[str]]:
    """Return the cells of the table, by the name of the door."""
    page = (PROJECT / "SECURITY.md").read_text(encoding="utf-8")
    table = page.split("## Doors")[1].split("##")[0]
    lines = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| ")]
    return {name.strip(): [cell.strip() for cell in cells] for name, *cells in lines[1:]}


def test_the_table_names_what_is_told_apart_here_and_a_test_for_each() -> None:
    assert set(rows()) == AT_THE_PORT | {name for names in DOORS.values() for name in names}
    for name, (*_, test) in rows().items():
        (path,) = re.findall(r"\((.*)\)", test)
        assert "def test_" in (PROJECT / path).read_text(encoding="utf-8"), name


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8").replace("\0", " ")
    except OSError:
        return ""


def listening(pid: int) -> dict[tuple[int, str], set[Socket]]:
    """Return what a process and its descendants listen on, by process and its kind."""
    found = {}
    for each in descendants(pid):
        sockets = [*sockets_of([each]), *unix_sockets_of([each])]
        if command := command_of(each):  # else it has ended
            kind = next((words for words in DOORS if words in command), command)
            found[each, kind] = {one for one in sockets if one.is_listening}
    return found


@contextmanager
def watched(pid: int) -> Iterator[list[str]]:
    """Look again and again; yield the sockets that no row of the table is for."""
    wrong: list[str] = []
    seen: dict[str, int] = defaultdict(int)
    ends = threading.Event()

    def look() -> None:
        while not ends.wait(0.2):
            for (_, kind), sockets in listening(pid).items():
                seen[kind] = max(seen[kind], len(sockets))
                wide = [one for one in sockets if one.port and not one.address.startswith(LOOPBACK)]
                if wide or len(sockets) > len(DOORS.get(kind, ())):
                    wrong.append(f"{kind}: {sockets}")

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield wrong
    finally:
        ends.set()
        thread.join()
    assert seen["tidemark"] >= 1, seen
    assert seen["org.apache.spark.deploy.SparkSubmit"] >= 3, seen


@contextmanager
def command(home: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-m", "tidemark", *words],
        env={**os.environ, "TIDEMARK_HOME": str(home)},
        cwd=home.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        yield process
        process.terminate()


@pytest.mark.nightly
@on_linux
@pytest.mark.parametrize(
    ("served", "words"),
    [
        (["--jvms", "1"], []),
        (None, []),
        (None, ["--isolated"]),
        (None, ["--executors", "2"]),
    ],
)
def test_every_socket_of_a_run_is_in_the_table_and_no_other_user_comes_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: list[str] | None, words: list[str]
) -> None:
    monkeypatch.delenv("TIDEMARK_JVM_POOL")  # that of all tests
    home, signal = tmp_path / "home", tmp_path / "signal"
    (Home.open(home).lake / "lake").mkdir()
    signal.touch()
    (tmp_path / "doors.py").write_text(SCRIPT, encoding="utf-8")
    with ExitStack() as stack:
        ours = []
        if served is not None:
            up = stack.enter_context(command(home, "serve", "--port", "0", *served))
            wait_until((home / "port.json").exists)
            ours.append(up.pid)
        run = stack.enter_context(
            command(home, "submit", *words, "doors.py", "--signal", str(signal))
        )
        wrong = stack.enter_context(watched((ours or [run.pid])[0]))
        begun = signal.with_suffix(".begun")
        wait_until(lambda: begun.exists() or run.poll() is not None)
        assert begun.exists(), run.stdout and run.stdout.read()
        ports = [
            one.port
            for pid in [*ours, run.pid]
            for sockets in listening(pid).values()
            for one in sockets
            if one.port
        ]
        assert len(ports) >= 6
        if os.getuid() == 0:
            assert run_as(NOBODY, ATTACK, *map(str, ports)).stdout == ""
            stack.enter_context(holding(HOLD_ALL, *map(str, ports), user=NOBODY))
        signal.with_suffix(".go").touch()
        printed, _ = run.communicate()

    assert run.returncode == 0, printed
    assert [line for line in printed.splitlines() if line.startswith("(")] == ["(6, 1)", "(12, 1)"]
    assert "Traceback" not in printed
    assert wrong == []
    (log,) = home.glob("runs/*/stderr.log")
    text = log.read_text(encoding="utf-8")
    assert "Traceback" not in text
    assert len(text) < 200_000, "what others send fills it"


@pytest.mark.nightly
@on_linux
def test_every_socket_of_a_proof_is_in_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TIDEMARK_JVM_POOL")
    home = tmp_path / "home"
    (Home.open(home).lake / "lake").mkdir()
    (tmp_path / "doors.py").write_text(SCRIPT, encoding="utf-8")
    words = ["prove", "--kind", "again", "doors.py", "--signal", "/nowhere"]
    with command(home, *words) as proof, watched(proof.pid) as wrong:
        printed, _ = proof.communicate()

    assert proof.returncode == 0, printed
    assert wrong == []


def said_to(place: object, text: str) -> str:
    """Return what another user is told; an address is a path, or a host and a port."""
    family = socket.AF_UNIX if isinstance(place, str) else socket.AF_INET
    return run_as(NOBODY, SEND, str(int(family)), repr(place), text).stdout


@as_root
def test_the_front_of_dynamodb_and_the_pool_tell_another_user_nothing_even_with_their_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ENDPOINT_URL_DYNAMODB", raising=False)
    with (
        dynamodb_endpoint(Home.open(tmp_path / "home")) as url,
        serve_pool(tmp_path / "jvms", find_java_home(), 1) as (_, file),
    ):
        front = urlsplit(url)
        head = f"GET {front.path} HTTP/1.1\r\nHost: {front.netloc}\r\n\r\n"
        pool = read_pool_file(file)
        assert pool is not None

        assert said_to((front.hostname, front.port), head) == "b''\n"
        assert said_to(("127.0.0.1", pool.port), "") == "b''\n"  # else it begins with a challenge
        with socket.create_connection(("127.0.0.1", pool.port), 60) as own:
            assert b"CHALLENGE" in own.recv(100)


@as_root
def test_announcements_of_another_user_are_not_read_where_the_folder_is_open() -> None:
    with TemporaryDirectory() as folder:
        home = Home.open(Path(folder, "home"))
        record_operations(home)
        jvm = JvmEdge(Edge(Recorder(home, "jr_1"), __file__), home, home.root)
        try:
            for place in (jvm.path, jvm.path.parent, home.root / "operations", home.root):
                place.chmod(0o777)
            Path(folder).chmod(0o755)
            with socket.socket(socket.AF_UNIX) as own:
                own.connect(str(jvm.path))
                own.sendall(b"open\ts3://lake/in\n")
                assert own.recv(10) == b"go\n"

            assert said_to(str(jvm.path), "open\ts3://lake/in\n") == "b''\n"
        finally:
            jvm.close()
