"""The file that tells where a pool answers: only this user's, and nothing but what a pool wrote."""

from __future__ import annotations

import json
import os
import socket
import stat

import pytest

from tidemark.glue_job.process.pool import (
    PoolFile,
    PoolGoneError,
    PoolSilentError,
    connect,
    delete_pool_file,
    fingerprint,
    read_pool_file,
    write_pool_file,
)
from tidemark.local_state.machine.java import find_java_home
from tidemark.local_state.machine.processes import is_running

POOL = PoolFile(os.getpid(), 1234, "ab" * 32, "fingerprint")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "pool.json"
    write_pool_file(path, POOL)
    return path


def test_what_was_written_is_read(file):
    assert read_pool_file(file) == POOL


def test_file_is_of_this_user_only_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        write_pool_file(tmp_path / "pool.json", POOL)
    finally:
        os.umask(before)

    assert stat.S_IMODE((tmp_path / "pool.json").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["pool.json"]


def test_no_file_is_no_pool(tmp_path):
    assert read_pool_file(tmp_path / "pool.json") is None
    with pytest.raises(PoolGoneError):
        connect(tmp_path / "pool.json")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o666, 0o777])
def test_file_that_others_may_read_or_write_is_refused(file, mode):
    file.chmod(mode)

    with pytest.raises(ValueError, match=str(file)):
        read_pool_file(file)
    with pytest.raises(PoolGoneError):
        connect(file)


def test_file_of_another_user_is_refused(file, monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: os.geteuid() + 1)

    with pytest.raises(ValueError, match=str(file)):
        read_pool_file(file)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"1",
        b"\xff\xfe",
        b"{}",
        b'{"pid": 1}',
        b"{}" * 9,
        *(
            json.dumps({"pid": 1, "port": 1, "key": "ab", "jvms": "x"} | wrong).encode()
            for wrong in (
                {"pid": 0},
                {"pid": -1},
                {"pid": 10**30},
                {"pid": "x"},
                {"port": 0},
                {"port": 65536},
                {"port": None},
                {"key": "no digits"},
                {"key": 5},
                {"pid": [1]},
                {"pid": 1.5},
                {"port": 9.5},
            )
        ),
    ],
)
def test_anything_else_is_refused_by_its_name(file, content):
    file.write_bytes(content)

    with pytest.raises(ValueError, match=str(file)):
        read_pool_file(file)
    with pytest.raises(PoolGoneError):
        connect(file)


def test_folder_in_its_place_is_refused(tmp_path):
    (tmp_path / "pool.json").mkdir()

    with pytest.raises(ValueError, match=r"pool\.json"):
        read_pool_file(tmp_path / "pool.json")


def test_pipe_in_its_place_is_refused_without_waiting_for_a_writer(tmp_path):
    os.mkfifo(tmp_path / "pool.json", 0o600)

    with pytest.raises(ValueError, match=r"pool\.json"):
        read_pool_file(tmp_path / "pool.json")


def test_ended_process_does_not_run():
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)

    assert not is_running(child)
    assert is_running(POOL.pid)


def test_fingerprint_tells_what_a_jvm_reads_at_its_start(monkeypatch):
    java = find_java_home()
    before = fingerprint(java)
    monkeypatch.setenv("SOMETHING", "else")
    assert fingerprint(java) == before

    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Xmx1g -Dx=y")
    assert fingerprint(java) != before
    assert fingerprint(java / "elsewhere") != before


def test_owner_deletes_its_own_file_and_not_the_one_of_the_next_owner(tmp_path):
    file = tmp_path / "pool.json"
    write_pool_file(file, PoolFile(1, 1, "ab", "x"))

    delete_pool_file(file, "cd")
    assert file.exists()
    delete_pool_file(file, "ab")
    assert not file.exists()
    delete_pool_file(file, "ab")


def test_suspended_owner_is_told_from_one_that_is_gone(tmp_path):
    file = tmp_path / "pool.json"
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        write_pool_file(file, PoolFile(os.getpid(), nobody.getsockname()[1], "ab", "x"))
        with pytest.raises(PoolSilentError):
            connect(file, 0.05)
    with pytest.raises(PoolGoneError) as gone:
        connect(file, 0.05)
    assert not isinstance(gone.value, PoolSilentError)
