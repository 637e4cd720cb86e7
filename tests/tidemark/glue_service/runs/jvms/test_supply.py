"""Where a command finds its JVMs; nothing starts one here."""

from __future__ import annotations

import errno
import os
import socket
import stat
from functools import partial

import pytest

from tidemark.errors import UsageError
from tidemark.glue_job.process.pool import (
    POOL_VARIABLE,
    PoolFile,
    connect,
    fingerprint,
    write_pool_file,
)
from tidemark.glue_service.runs.jvms import server, supply
from tidemark.glue_service.runs.jvms.pool import Pool
from tidemark.glue_service.runs.jvms.server import serve_pool
from tidemark.glue_service.runs.jvms.supply import ISOLATED, jvms_of, lends_jvms
from tidemark.glue_service.runs.jvms.warm_up import pool_for_home
from tidemark.local_state.home import JVM_POOL_FILE, JVMS_FOLDER, Home
from tidemark.local_state.machine.java import find_java_home

KEY = "ab" * 32


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.delenv(POOL_VARIABLE, raising=False)
    monkeypatch.setattr(Pool, "want", lambda *_: None)  # no test needs a JVM
    return Home.open(tmp_path / "home")


@pytest.fixture
def said():
    return []


def test_command_opens_a_pool_of_its_own_that_leaves_nothing(home, said):
    with jvms_of(home, say=said.append) as jvms:
        assert (jvms.cold_reason, said) == ("", [])
        assert jvms.pool is not None
        (folder,) = (home.root / JVMS_FOLDER).iterdir()
        assert jvms.pool_file.parent == folder
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700

    assert not (home.root / JVMS_FOLDER).exists()


def test_isolated_command_has_none(home, said):
    with jvms_of(home, is_isolated=True, say=said.append) as jvms:
        assert (jvms.pool, jvms.pool_file, jvms.cold_reason) == (None, None, ISOLATED)

    assert said == []
    assert not (home.root / JVMS_FOLDER).exists()


@pytest.mark.parametrize("by", ["home", "variable"])
def test_command_uses_the_pool_of_another(home, said, tmp_path, monkeypatch, by):
    file = home.root / JVM_POOL_FILE if by == "home" else tmp_path / "pool.json"
    if by == "variable":
        monkeypatch.setenv(POOL_VARIABLE, str(file))

    with (
        serve_pool(tmp_path / "theirs", find_java_home(), 1, file),
        jvms_of(home, say=said.append) as jvms,
    ):
        assert (jvms.pool, jvms.pool_file, said) == (None, file, [])


def own_pool_despite(home, said):
    with jvms_of(home, say=said.append) as jvms:
        return jvms.pool is not None


def ended_process():
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return child


def test_file_of_a_killed_owner_counts_for_nothing(home, said):
    file = PoolFile(ended_process(), 1, KEY, fingerprint(find_java_home()))
    write_pool_file(home.root / JVM_POOL_FILE, file)

    assert own_pool_despite(home, said)
    assert said == []


def test_a_pool_says_how_many_jvms_it_may_have(home):
    file = home.root / JVM_POOL_FILE
    assert not lends_jvms(home, 1)

    write_pool_file(file, PoolFile(os.getpid(), 1, KEY, "jvms", 2))
    assert [lends_jvms(home, number) for number in (1, 2, 3)] == [True, True, False]

    file.write_text("[]", encoding="utf-8")
    assert not lends_jvms(home, 1)


def test_neither_if_another_process_has_its_id_by_now(home, said):
    file = PoolFile(os.getpid(), 1, KEY, fingerprint(find_java_home()))
    write_pool_file(home.root / JVM_POOL_FILE, file)

    assert own_pool_despite(home, said)
    assert said == []


def test_pool_with_other_jvms_is_not_used(home, said, tmp_path, monkeypatch):
    file = home.root / JVM_POOL_FILE
    with serve_pool(tmp_path / "theirs", find_java_home(), 1, file):
        monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Dother=1")
        assert own_pool_despite(home, said)

    assert said == []


@pytest.mark.parametrize("spoil", ["mode", "content"])
def test_file_that_is_not_this_users_alone_is_named_once(home, said, tmp_path, spoil):
    file = home.root / JVM_POOL_FILE
    with serve_pool(tmp_path / "theirs", find_java_home(), 1, file):
        file.chmod(0o644) if spoil == "mode" else file.write_text("{}")
        assert own_pool_despite(home, said)

    assert len(said) == 1
    assert str(file) in said[0]


def test_small_machine_has_none_and_is_told_once(home, said, monkeypatch):
    monkeypatch.setattr(supply, "MIN_MEMORY_BYTES", 2**60)

    with jvms_of(home, say=said.append) as jvms:
        assert (jvms.pool, jvms.pool_file) == (None, None)
        assert "memory" in jvms.cold_reason
    assert [jvms.cold_reason in text for text in said] == [True]


def test_home_that_cannot_have_one_is_told_once(home, said):
    (home.root / JVMS_FOLDER).write_text("in the way")

    with jvms_of(home, say=said.append) as jvms:
        assert (jvms.pool, jvms.pool_file) == (None, None)
        assert jvms.cold_reason
    assert [jvms.cold_reason in text for text in said] == [True]


def test_folders_of_killed_owners_are_deleted_and_those_of_living_ones_kept(home):
    folder = home.root / JVMS_FOLDER
    left, living = folder / f"{ended_process()}-1", folder / f"{os.getppid()}-1"
    for each in (left, living, folder / "no process"):
        (each / "1" / "tmp").mkdir(parents=True)

    with jvms_of(home):
        assert not left.exists()
        assert not (folder / "no process").exists()
        assert living.is_dir()
    assert living.is_dir()


def test_suspended_owner_is_named_and_not_waited_for(home, said, monkeypatch):
    monkeypatch.setattr(supply, "connect", partial(connect, timeout_s=0.05))
    file = home.root / JVM_POOL_FILE
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        write_pool_file(file, PoolFile(os.getpid(), port, KEY, fingerprint(find_java_home())))
        assert own_pool_despite(home, said)

    assert len(said) == 1
    assert str(file) in said[0]


def test_local_up_takes_over_from_a_killed_owner_whose_id_another_process_has(home):
    write_pool_file(home.root / JVM_POOL_FILE, PoolFile(os.getpid(), 1, KEY, "x"))

    with pool_for_home(home, 1) as jvms:
        assert jvms.pool is not None
        with pytest.raises(UsageError, match=str(os.getpid())), pool_for_home(home, 1):
            pass


def test_pool_answers_again_after_it_had_too_many_connections():
    class Crowded:
        errors = [errno.EMFILE, errno.EMFILE, errno.EBADF]  # noqa: RUF012 (one test's)

        def accept(self):
            raise OSError(self.errors.pop(0), "")

    server._accept(Crowded(), b"", None)

    assert Crowded.errors == []  # the last one says that it was closed


def test_error_of_the_command_is_not_told_as_one_of_its_pool(home):
    with pytest.raises(BrokenPipeError), pool_for_home(home, 1):
        raise BrokenPipeError

    assert not (home.root / "jvm-pool.json").exists()


def test_local_up_refuses_a_machine_without_room(home, monkeypatch):
    monkeypatch.setattr(supply, "MIN_MEMORY_BYTES", 2**60)

    with pytest.raises(UsageError, match="of memory"), pool_for_home(home, 1):
        pass
