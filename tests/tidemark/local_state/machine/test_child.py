"""A child ends with its parent, even if the parent is killed."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import wait_until
from tidemark.local_state.machine import child

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux ties them")

PARENT = """
import os, subprocess, sys
sleep = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(60)"]
command = [sys.executable, "-S", "-E", sys.argv[1], str(os.getpid()), *sleep]
with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
    child.stdout.readline()
    print(child.pid, flush=True)
    child.wait()
"""


def is_alive(pid):
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        return stat.rpartition(")")[2].split()[0] not in "ZX"
    return False


def test_child_is_killed_with_its_killed_parent():
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, child.__file__], stdout=subprocess.PIPE, text=True
    ) as parent:
        pid = int(parent.stdout.readline())
        assert is_alive(pid)

        parent.kill()
        parent.wait()

    wait_until(lambda: not is_alive(pid))


def test_child_of_a_parent_that_ended_already_does_not_start():
    strangers_pid = os.getpid() + 1_000_000
    command = [sys.executable, child.__file__, str(strangers_pid), sys.executable, "-c", "print(1)"]

    done = subprocess.run(command, capture_output=True, text=True)

    assert (done.returncode, done.stdout) == (1, "")


def test_command_replaces_the_child_and_keeps_its_exit_code():
    command = [sys.executable, child.__file__, str(os.getpid()), sys.executable, "-c", "exit(7)"]

    assert subprocess.run(command).returncode == 7
