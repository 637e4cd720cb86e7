"""Which Python an environment gets."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from uv import find_uv_bin

from tidemark.local_state.sparks.make import find_python

OWN = sys.version_info[:2]
OTHER = (3, 99)


def program(path: Path, prints: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{prints}'\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def uv(tmp_path, monkeypatch):
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    return lambda prints="": str(program(tmp_path / "uv", prints))


def test_a_python_of_the_version_that_runs_this_is_itself(uv):
    assert find_python(OWN, uv()) == Path(sys.executable)


def test_the_one_that_uv_finds_is_taken_if_it_is_of_the_version(uv, tmp_path):
    right = program(tmp_path / "right", "3 99")
    wrong = program(tmp_path / "wrong", "3 98")

    assert find_python(OTHER, uv(right)) == right
    assert find_python(OTHER, uv(wrong)) == Path(sys.executable)
    assert find_python(OTHER, str(tmp_path / "none")) == Path(sys.executable)


def test_an_environment_of_the_current_folder_is_not_run(uv, tmp_path, monkeypatch):
    version = ".".join(map(str, OTHER))
    ran = tmp_path / "ran"
    foreign = program(tmp_path / "project" / ".venv" / "bin" / "python", "3 99")
    foreign.write_text(f"#!/bin/sh\ntouch {ran}\n")
    (foreign.parents[1] / "pyvenv.cfg").write_text(f"home = /usr\nversion = {version}\n")
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("VIRTUAL_ENV", str(foreign.parents[1]))

    assert find_python(OTHER, find_uv_bin()) == Path(sys.executable)
    assert not ran.exists()


def test_pyenv_is_looked_at_too(uv, tmp_path):
    kept = program(tmp_path / "pyenv/versions/3.99.1/bin/python3.99", "3 99")

    assert find_python(OTHER, uv()) == kept
