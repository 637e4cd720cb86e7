"""Code of npm runs only from the project and from Tidemark, and where nobody else can write it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidemark.errors import UsageError
from tidemark.local_state.machine import node_packages
from tidemark.local_state.machine.node_packages import check_owner, project_folders


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a project, in which this process works."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "package.json").write_text("{}", encoding="utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setattr(node_packages, "CHECKOUT", tmp_path / "tidemark")
    monkeypatch.setattr(node_packages.sys, "prefix", str(tmp_path / "tools" / ".venv"))
    return folder


def test_packages_are_those_of_the_project_and_of_tidemark(project: Path) -> None:
    assert list(project_folders()) == [
        project,
        project.parent / "tools",
        project.parent / "tidemark",
    ]


def test_in_a_folder_of_the_project_none_above_the_project_is_looked_into(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "jobs").mkdir()
    monkeypatch.chdir(project / "jobs")

    assert list(project_folders())[:2] == [project / "jobs", project]
    assert project.parent not in set(project_folders())


@pytest.mark.parametrize("place", ["node_modules", "node_modules/engine"])
def test_what_others_can_write_is_refused(project: Path, place: str) -> None:
    engine = project / "node_modules" / "engine"
    engine.mkdir(parents=True)
    check_owner(engine, project, "the engine")
    (project / place).chmod(0o777)

    with pytest.raises(UsageError, match="other users can write"):
        check_owner(engine, project, "the engine")
