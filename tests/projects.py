"""Copies of the whole project, in which a test may change what it likes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.pages import PROJECT, Page

LEFT_OUT = shutil.ignore_patterns(
    ".git",
    ".venv*",
    "node_modules",
    "cdk.out",
    "build",
    "*.egg-info",
    ".tidemark*",
    ".hypothesis",
    ".*_cache",
    "__pycache__",
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


def guide(name: str, page: str = "add-a-job.md") -> str:
    """Return the block of a page of docs/ that is marked `<!-- test: name -->`.

    Its jobs get other names here, for who has followed the guide has jobs of these already.
    """
    block = Page(f"docs/{page}").blocks[name]
    for word in ("orders", "payments", "sales", "returns"):
        block = block.replace(word, f"guide{word}")
    return block


def of_the_sample(line: str) -> str:
    """Return a command of a guide as it is in this app, which may have got more pipelines."""
    files = [PROJECT / "app.py", *(PROJECT / "infra").glob("*_stack.py")]
    made = sum(path.read_text(encoding="utf-8").count("Pipeline(") for path in files)
    made += (PROJECT / "app.py").read_text(encoding="utf-8").count("PipelineSet(")
    if made == 1:
        return line
    if line.startswith("tidemark new-job ") and "--pipeline" not in line:
        return f"{line} --pipeline flights"
    return f"{line} --workflow flights" if line == "tidemark run" else line


def add_second_pipeline(project: Path) -> None:
    """Put the stack of docs/second-pipeline.md into a copy of the project; it has no job yet."""
    page = "second-pipeline.md"
    stack = project / "infra" / "guidesales_stack.py"
    stack.write_text(guide("infra/sales_stack.py", page), encoding="utf-8")
    app = project / "app.py"
    text = app.read_text(encoding="utf-8")
    text = insert_before(
        text, "    from infra.storage_stack import", guide("import of the stack", page)
    )
    text = insert_before(text, "    if stage.github_repository:\n", guide("app.py", page))
    app.write_text(text, encoding="utf-8")


def insert_before(text: str, line: str, block: str) -> str:
    """Return a text with a block before the one line that starts so."""
    before, mark, after = text.partition(line)
    assert mark, line
    return before + block + mark + after
