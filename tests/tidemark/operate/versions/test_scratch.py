"""The folders of comparisons: of those that run, and of those that were killed."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from tidemark.local_state.home import Home
from tidemark.operate.versions.scratch import scratch_of

KILLED = """
import os, signal, sys
from pathlib import Path
from tidemark.local_state.home import Home
from tidemark.operate.versions.scratch import scratch_of

with scratch_of(Home.open(Path(sys.argv[1]))) as folder:
    (folder / "rows").write_text("many")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_comparison_left_is_deleted_by_the_next_one(tmp_path):
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)])
    assert len(list(tmp_path.glob("experiment-*/rows"))) == 1

    with scratch_of(Home.open(tmp_path)) as folder:
        assert list(tmp_path.glob("experiment-*")) == [folder]

    assert list(tmp_path.glob("experiment-*")) == []


def test_a_folder_whose_deletion_was_interrupted_is_deleted_by_the_next_one(tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    scratch = scratch_of(Home.open(tmp_path))
    folder = scratch.__enter__()
    (folder / "home").mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", interrupted)
        with pytest.raises(KeyboardInterrupt):
            scratch.__exit__(None, None, None)
    assert (folder / "home").is_dir()

    with scratch_of(Home.open(tmp_path)) as another:
        assert list(tmp_path.glob("experiment-*")) == [another]


def test_two_comparisons_at_once_leave_each_other_alone(tmp_path):
    home = Home.open(tmp_path)

    with scratch_of(home) as one:
        (one / "rows").write_text("many")
        with scratch_of(home) as other:
            assert one != other
        assert (one / "rows").read_text() == "many"
