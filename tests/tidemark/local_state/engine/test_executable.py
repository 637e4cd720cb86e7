"""Where the executable of the embedded DynamoDB engine is taken from, and where it is not."""

from __future__ import annotations

import os

import pytest

from tidemark.errors import UsageError
from tidemark.local_state.engine import executable
from tidemark.local_state.engine.executable import find_engine, package_name
from tidemark.local_state.machine import node_packages
from tidemark.local_state.machine.node_packages import check_owner

VARIABLE = "AWS_ENDPOINT_URL_DYNAMODB"


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch):
    """Leave out the engine of this installation; work in an empty folder."""
    monkeypatch.setattr(node_packages, "CHECKOUT", tmp_path / "no-checkout")
    monkeypatch.setattr(executable, "IN_WHEEL", tmp_path / "wheel" / "bin")
    monkeypatch.setattr(executable.sys, "prefix", str(tmp_path / "elsewhere" / ".venv"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    here = tmp_path / "shared" / "project"
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    return here


def put_engine(folder, package=None):
    place = folder / "node_modules" / "@dynoxide" / (package or package_name())
    place.mkdir(parents=True)
    engine = place / "dynoxide"
    engine.write_text("#!/bin/sh\n", encoding="utf-8")
    engine.chmod(0o755)
    return engine


def test_the_engine_of_the_project_is_found(alone):
    engine = put_engine(alone)

    assert find_engine(VARIABLE) == engine


def test_a_project_is_found_from_its_folders(alone, monkeypatch):
    engine = put_engine(alone)
    (alone / "package.json").write_text("{}", encoding="utf-8")
    (alone / "etl").mkdir()
    monkeypatch.chdir(alone / "etl")

    assert find_engine(VARIABLE) == engine


@pytest.mark.parametrize(
    ("mark", "mark_above"),
    [(None, None), ("pyproject.toml", None), ("pyproject.toml", "package.json"), (".git", ".git")],
)
def test_a_folder_above_the_project_is_not_trusted(alone, mark, mark_above):
    put_engine(alone.parent)
    for folder, name in ((alone, mark), (alone.parent, mark_above)):
        if name:
            (folder / name).write_text("", encoding="utf-8")

    with pytest.raises(UsageError, match="is not installed"):
        find_engine(VARIABLE)


def test_only_the_package_of_this_platform_is_taken(alone):
    put_engine(alone, "aaa-first")

    with pytest.raises(UsageError, match=f"npm install @dynoxide/{package_name()}`"):
        find_engine(VARIABLE)


@pytest.mark.parametrize("level", ["dynoxide", package_name(), "@dynoxide", "node_modules"])
def test_what_everybody_may_write_is_refused(alone, level):
    engine = put_engine(alone)
    (place,) = [path for path in (engine, *engine.parents) if path.name == level]
    place.chmod(0o777)

    with pytest.raises(UsageError, match=f"other users can write {place}, .*chmod go-w"):
        find_engine(VARIABLE)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_what_another_user_owns_is_refused(alone):
    engine = put_engine(alone)
    os.chown(engine.parent, 65534, 65534)

    with pytest.raises(UsageError, match="other users can write"):
        check_owner(engine, alone, "the engine")


def test_the_engine_of_the_wheel_is_found(tmp_path):
    engine = tmp_path / "wheel" / "bin" / "dynoxide"
    engine.parent.mkdir(parents=True)
    engine.write_text("#!/bin/sh\n", encoding="utf-8")
    engine.chmod(0o755)

    assert find_engine(VARIABLE) == engine


def test_an_engine_on_the_path_is_found(tmp_path):
    engine = tmp_path / "bin" / "dynoxide"
    engine.parent.mkdir()
    engine.write_text("#!/bin/sh\n", encoding="utf-8")
    engine.chmod(0o755)

    assert find_engine(VARIABLE) == engine


def test_a_missing_engine_is_reported_with_the_ways_out():
    with pytest.raises(UsageError, match=rf"`npm install.*on the PATH.*set {VARIABLE}"):
        find_engine(VARIABLE)


@pytest.mark.parametrize(
    ("system", "machine", "package"),
    [
        ("linux", "x86_64", "linux-x64"),
        ("linux", "aarch64", "linux-arm64"),
        ("darwin", "arm64", "darwin-arm64"),
        ("win32", "AMD64", "win32-x64"),
    ],
)
def test_the_package_of_each_platform(system, machine, package):
    assert package_name(system, machine) == package
