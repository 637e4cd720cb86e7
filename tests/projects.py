"""Copies of the whole project, in which a test may change what it likes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[1]
LEFT_OUT = shutil.ignore_patterns(
    *(".git", ".venv*", "node_modules", "cdk.out", "build", "*.egg-info"),
    *(".tidemark*", ".hypothesis", ".*_cache", "__pycache__"),
)


def copy_project(folder: Path) -> Path:
    """Copy the project into a new folder and return that; what was installed is linked."""
    project = folder / "project"
    shutil.copytree(PROJECT, project, ignore=LEFT_OUT)
    (project / "node_modules").symlink_to(PROJECT / "node_modules")
    return project


def shell(project: Path, line: str) -> str:
    """Run a line as a user in the project does whose venv is active; return what it prints."""
    environment = {name: value for name, value in os.environ.items() if "PYTEST" not in name}
    environment.pop("TIDEMARK_HOME", None)
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment["PYTHONPATH"] = str(project)  # the venv would find the project it was made for
    command = ["sh", "-c", line]
    run = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def guide(name: str) -> str:
    """Return the block of docs/add-a-job.md that is marked `<!-- test: name -->`.

    Its jobs get other names here, for who has followed the guide has jobs of these already.
    """
    text = (PROJECT / "docs" / "add-a-job.md").read_text(encoding="utf-8")
    _, mark, after = text.partition(f"<!-- test: {name} -->\n```")
    assert mark, name
    block = after.partition("\n")[2].partition("```")[0]
    return block.replace("orders", "guideorders").replace("payments", "guidepayments")
