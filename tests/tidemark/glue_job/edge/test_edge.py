"""What a job changes outside its process is announced, with the line of the script."""

from __future__ import annotations

import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tidemark.glue_job.edge import announce
from tidemark.glue_job.edge.announce import Calls, Edge, announced, calls_of
from tidemark.glue_job.edge.hooks import _changes, _listed, _read
from tidemark.glue_job.edge.jvm import EXECUTOR, PLACE, JvmEdge, delete_left_socket
from tidemark.local_state.home import Home
from tidemark.local_state.lost_executor import (
    Moment,
    has_lost,
    lose_executor,
    moment_of,
)
from tidemark.local_state.operations import (
    Recorder,
    count_looks,
    has_failed,
    let_fail_once,
    read_operations,
    record_operations,
)
from tidemark.local_state.reads import read_opened


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home.open(tmp_path / "home")
    (home.lake / "lake").mkdir()
    (home.lake / "lake" / "a\tb").write_text("rows", encoding="utf-8")
    record_operations(home)
    return home


@pytest.fixture
def edge(home: Home, monkeypatch: pytest.MonkeyPatch) -> Edge:
    edge = Edge(Recorder(home, "jr_1"), __file__)
    monkeypatch.setattr(announce, "_edge", edge)
    return edge


def test_changes_are_announced_with_the_line_that_runs(home, edge):
    with announced(("bookmark", ""), ("request", "sns Publish topic")):
        pass

    one, other = read_operations(home)
    assert (one.run_id, one.kind, one.script) == ("jr_1", "bookmark", "test_edge.py")
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    assert "with announced" in lines[(one.line or 0) - 1]
    assert other.places == ("sns Publish topic",)
    assert (one.continues, other.continues) == (False, True)


def test_a_change_is_recorded_with_whether_a_service_may_do_a_part_of_it(home, edge):
    for in_part in (True, False):
        with announced(("delete", "s3://lake/a"), in_part=in_part):
            pass

    assert [change.in_part for change in read_operations(home)] == [True, False]


def test_a_change_that_fails_is_not_announced(home, edge):
    with pytest.raises(ValueError, match="refused"), announced(("bookmark", "")):
        raise ValueError("refused")

    assert read_operations(home) == []


def test_without_anybody_who_records_nothing_happens():
    with announced(("bookmark", "")):
        pass
    assert calls_of("/no/script/runs/that/has/this/name.py") == Calls()


def test_the_socket_is_in_the_home_for_its_user_alone_where_its_path_is_short(edge, home):
    short = Home.open(Path(tempfile.mkdtemp(dir="/tmp")) / "home")
    long = Home.open(home.root / ("n" * 80))
    for one in (short, long):
        record_operations(one)
    try:
        paths = []
        for one in (short, long):
            jvm = JvmEdge(edge, one, one.root)
            paths.append(jvm.path)
            assert stat.S_IMODE(jvm.path.parent.stat().st_mode) == 0o700
            jvm.close()
    finally:
        shutil.rmtree(short.root.parent)

    assert paths[0].is_relative_to(short.root)
    assert not paths[1].is_relative_to(long.root)
    assert len(str(paths[1])) < 100


def test_the_jvm_announces_through_a_socket_one_change_at_a_time(home, edge):
    jvm = JvmEdge(edge, home, home.root)
    with socket.socket(socket.AF_UNIX) as one, socket.socket(socket.AF_UNIX) as other:
        for client in (one, other):
            client.connect(str(jvm.path))
            client.settimeout(60)
        ask(one, b"enter\n")
        other.sendall(b"enter\n")
        other.settimeout(0.2)
        with pytest.raises(TimeoutError):
            other.recv(3)
        other.settimeout(60)
        ask(one, rb"leave" + b"\tput\t" + rb"s3://lake/a\tb" + b"\n")
        assert other.recv(3) == b"go\n"
        ask(other, b"leave\n")
        ask(one, b"open\ts3://lake/in\n")
        ask(one, b"list\ts3://lake/in\n")
    jvm.close()

    (found,) = read_operations(home)
    assert (found.kind, found.places) == ("put", ("s3://lake/a\tb",))
    assert read_opened(home) == [("jr_1", "s3://lake/in")]
    assert count_looks(home, "s3://lake/in/a") == 1
    assert count_looks(home, "s3://lake/in/day=1/a") == 0
    assert not jvm.path.parent.exists()


def test_an_object_that_spark_opens_is_refused_once_and_the_jvm_is_told(home):
    let_fail_once(home, 0, of_requests=True, what="s3://lake/in/b")
    jvm = JvmEdge(Edge(Recorder(home, "jr_1"), "/no/line/runs.py"), home, home.root)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(jvm.path))
        client.settimeout(60)
        ask(client, b"open\ts3://lake/in/a\n")
        client.sendall(b"open\ts3://lake/in/b\n")
        assert client.recv(100) == b"503 Slow Down: an experiment lets this request fail once\n"
        ask(client, b"open\ts3://lake/in/b\n")
    jvm.close()

    assert has_failed(home)
    assert read_opened(home) == [("jr_1", "s3://lake/in/a"), ("jr_1", "s3://lake/in/b")]


def test_the_socket_of_a_run_that_was_killed_is_deleted_and_nothing_else(home, edge, tmp_path):
    jvm = JvmEdge(edge, home, home.root)
    other = tmp_path / "other"
    other.mkdir()

    delete_left_socket(home.root)
    assert not jvm.path.parent.exists()
    for make in (lambda place: place.symlink_to(other), lambda place: place.write_bytes(b"\xff")):
        (home.root / PLACE).unlink()
        make(home.root / PLACE)
        delete_left_socket(home.root)

    assert other.is_dir()
    jvm.close()


def test_a_jvm_that_dies_in_the_middle_of_a_change_stops_no_other(home, edge):
    jvm = JvmEdge(edge, home, home.root)
    with socket.socket(socket.AF_UNIX) as dying:
        dying.connect(str(jvm.path))
        ask(dying, b"enter\n")
    with socket.socket(socket.AF_UNIX) as other:
        other.settimeout(60)
        other.connect(str(jvm.path))
        ask(other, b"enter\n")
        ask(other, b"leave\n")
    jvm.close()

    assert read_operations(home) == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who is at the other end")
def test_only_an_executor_is_killed(home, edge):
    lose_executor(home, Moment(1, is_before=True))
    jvm = JvmEdge(edge, home, home.root)
    with socket.socket(socket.AF_UNIX) as own:
        own.settimeout(60)
        own.connect(str(jvm.path))
        ask(own, b"enter\n")
        ask(own, b"leave\n")
    jvm.close()

    assert not has_lost(home)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who is at the other end")
@pytest.mark.parametrize("moment", [Moment(2, is_before=True), Moment(2)])
def test_an_executor_is_killed_at_its_moment_and_once(home, edge, moment):
    lose_executor(home, moment)
    assert moment_of(home) == moment
    jvm = JvmEdge(edge, home, home.root)
    first, second = (like_an_executor(jvm) for _ in range(2))
    jvm.close()

    assert (first.returncode, second.returncode) == (-signal.SIGKILL, 0)
    assert first.stdout.count("go") == (2 if moment.is_before else 3)
    assert has_lost(home)
    assert moment_of(home) is None  # the next run has no executors


def like_an_executor(jvm: JvmEdge) -> subprocess.CompletedProcess[str]:
    """Return a process that makes three changes, and has an executor's word on its command line."""
    program = """
import socket, sys

edge = socket.socket(socket.AF_UNIX)
edge.connect(sys.argv[1])
for line in (b"enter\\n", b"leave\\n") * 3:
    edge.sendall(line)
    print(edge.recv(3).decode().strip(), flush=True)
"""
    command = [sys.executable, "-c", program, str(jvm.path), EXECUTOR.decode()]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def ask(client: socket.socket, line: bytes) -> None:
    client.sendall(line)
    assert client.recv(3) == b"go\n"


@pytest.mark.parametrize(
    ("service", "name", "parameters", "changes"),
    [
        ("s3", "GetObject", {"Bucket": "b", "Key": "k"}, []),
        ("s3", "UploadPart", {"Bucket": "b", "Key": "k"}, []),
        ("s3", "PutObject", {"Bucket": "b", "Key": "k"}, [("put", "s3://b/k")]),
        ("s3", "CompleteMultipartUpload", {"Bucket": "b", "Key": "k"}, [("put", "s3://b/k")]),
        ("s3", "DeleteObject", {"Bucket": "b", "Key": "k"}, [("delete", "s3://b/k")]),
        (
            "s3",
            "DeleteObjects",
            {"Bucket": "b", "Delete": {"Objects": [{"Key": "k"}, {"Key": "l"}]}},
            [("delete", "s3://b/k"), ("delete", "s3://b/l")],
        ),
        ("dynamodb", "Query", {"TableName": "t"}, []),
        ("dynamodb", "UpdateItem", {"TableName": "t"}, [("request", "dynamodb UpdateItem t")]),
        (
            "dynamodb",
            "TransactWriteItems",
            {"TransactItems": [{"Put": {"TableName": "t"}}, {"Update": {"TableName": "t"}}]},
            [("request", "dynamodb TransactWriteItems t")],
        ),
        (
            "dynamodb",
            "BatchWriteItem",
            {"RequestItems": {"t": []}},
            [("request", "dynamodb BatchWriteItem t")],
        ),
        ("sts", "AssumeRole", {}, []),
        ("glue", "StartJobRun", {"JobName": "j"}, [("request", "glue StartJobRun j")]),
    ],
)
def test_requests_of_boto3_that_change_something_are_announced(service, name, parameters, changes):
    assert _changes(service, name, parameters) == changes


@pytest.mark.parametrize(
    ("service", "name", "parameters", "places"),
    [
        ("s3", "GetObject", {"Bucket": "b", "Key": "k/l"}, ["s3://b/k/l"]),
        ("s3", "CopyObject", {"Key": "x", "CopySource": {"Bucket": "b", "Key": "k"}}, ["s3://b/k"]),
        ("s3", "CopyObject", {"Key": "x", "CopySource": "/b/a%20b?versionId=1"}, ["s3://b/a b"]),
        ("s3", "PutObject", {"Bucket": "b", "Key": "k"}, []),
        ("s3", "ListObjectsV2", {"Bucket": "b"}, []),
        ("dynamodb", "GetItem", {"TableName": "t"}, ["dynamodb:t"]),
        (
            "dynamodb",
            "BatchGetItem",
            {"RequestItems": {"arn:aws:dynamodb:us-east-1:1:table/t": {}, "u": {}}},
            ["dynamodb:t", "dynamodb:u"],
        ),
        ("dynamodb", "PutItem", {"TableName": "t"}, []),
    ],
)
def test_requests_of_boto3_that_read_tell_what(service, name, parameters, places):
    assert _read(service, name, parameters) == places


@pytest.mark.parametrize(
    ("service", "name", "parameters", "prefix"),
    [
        ("s3", "ListObjectsV2", {"Bucket": "lake", "Prefix": "in/"}, "s3://lake/in/"),
        ("s3", "ListObjects", {"Bucket": "lake"}, "s3://lake/"),
        ("s3", "ListBuckets", {}, ""),
        ("s3", "GetObject", {"Bucket": "lake", "Key": "in/a"}, ""),
        ("dynamodb", "ListTables", {}, ""),
    ],
)
def test_requests_of_boto3_that_list_objects_tell_where(service, name, parameters, prefix):
    assert _listed(service, name, parameters) == prefix
