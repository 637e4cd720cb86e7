"""Code of npm runs only from the project and from Tidemark, and where nobody else can write it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidemark.errors import UsageError
from tidemark.local_state.machine import node_packages
from tidemark.report.drawing import PACKAGES, find_packages


@pytest.fixture
def above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder above a project, with every package, in which the project has none."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "package.json").write_text("{}", encoding="utf-8")
    for name in PACKAGES:
        (tmp_path / "node_modules" / name).mkdir(parents=True)
    monkeypatch.chdir(project)
    monkeypatch.setattr(node_packages, "CHECKOUT", tmp_path / "none")
    monkeypatch.setattr(node_packages.sys, "prefix", str(tmp_path / "none" / ".venv"))
    return tmp_path


def test_packages_above_the_project_are_not_used(above: Path) -> None:
    with pytest.raises(UsageError, match="not installed"):
        find_packages()


def test_those_of_the_project_are(above: Path) -> None:
    (above / "node_modules").rename(above / "project" / "node_modules")

    assert find_packages() == above / "project"


def test_those_that_others_can_write_are_refused(above: Path) -> None:
    (above / "node_modules").rename(above / "project" / "node_modules")
    (above / "project" / "node_modules" / PACKAGES[0]).chmod(0o777)

    with pytest.raises(UsageError, match="other users can write"):
        find_packages()
