"""Every command in the documents exists, and every snippet is run."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest

from sample.__main__ import main as sample
from tests.pages import DOCUMENTS, FENCE, PROJECT, Page
from tests.projects import of_the_sample
from tidemark.cli.main import main

README = Page("README.md")
SNIPPETS = {**Page("docs/add-a-job.md").blocks, **Page("docs/sample.md").blocks}
SHELL = {"source .venv/bin/activate"}
PROJECT_PARTS = ("app.py", "cdk.json", "infra", "glue_jobs", "libs", "sample")


def blocks(text: str, language: str) -> list[re.Match[str]]:
    return [block for block in FENCE.finditer(text) if block["language"] == language]


def commands() -> list[str]:
    found = {
        line
        for document in DOCUMENTS
        for block in blocks(document.read_text(encoding="utf-8"), "sh")
        for line in block["text"].splitlines()
        if line
    }
    inline = {
        match
        for document in DOCUMENTS
        for match in re.findall(
            r"`((?:make|tidemark) [^`]+)`", document.read_text(encoding="utf-8")
        )
    }
    return sorted(found | inline)


def lines_that_a_test_runs() -> set[str]:
    """Return the lines of the marked blocks; the test of each document runs them."""
    return {
        line
        for document in DOCUMENTS
        for block in blocks(document.read_text(encoding="utf-8"), "sh")
        if block["test"]
        for line in block["text"].splitlines()
    }


def make_targets() -> set[str]:
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z0-9-]+):.*## ", makefile, re.MULTILINE))


def check_command(command: click.Command, words: list[str]) -> None:
    """Parse a command line without running it; click raises on what does not exist."""
    while isinstance(command, click.Group):
        verbs = command.list_commands(click.Context(command))
        is_verb = bool(words) and words[0] in verbs and "--to" not in words
        if command.invoke_without_command and not is_verb:
            break
        if len(words) == 1 and words[0] in options_of(command):
            return  # such as `tidemark --version`, which needs no command
        name, *words = words
        found = command.get_command(click.Context(command), name)
        assert found is not None, name
        assert not found.hidden, f"{name} has a new name"
        command = found
    parameters = command.get_params(click.Context(command))
    old = {o for p in parameters if isinstance(p, click.Option) and p.hidden for o in p.opts}
    assert not old & set(words), "an option that has a new name"
    if words:
        command.make_context(command.name, words).close()  # options may have set variables


def options_of(command: click.Command) -> set[str]:
    """Return the options that a command has itself."""
    parameters = command.get_params(click.Context(command))
    return {option for parameter in parameters for option in parameter.opts}


@pytest.mark.parametrize("line", commands())
def test_every_command_in_the_documents_exists(line: str) -> None:
    program, *words = shlex.split(line.removeprefix('eval "$(').removesuffix(')"'))
    if program == "make":
        targets = [word for word in words if "=" not in word]
        assert set(targets) <= make_targets()
    elif program == "tidemark":
        check_command(main, words)
    elif words[:2] == ["-m", "sample"]:
        check_command(sample, words[2:])
    elif line in lines_that_a_test_runs():
        pass  # it is neither make nor tidemark
    elif program == "pytest":
        assert (PROJECT / words[0]).is_dir()
    else:
        known = (
            "aws glue start-workflow-run --name ",
            "npx cdk destroy --all -c stage=dev",  # run in tests/deploy
            "pip install aws-glue-sessions jupyterlab",  # tests/clients: notebook
            "dbt run",  # tests/clients/test_dbt.py
        )
        assert line in SHELL or line.startswith(known)


def test_every_link_between_documents_leads_to_a_file() -> None:
    broken = [
        (document.name, target)
        for document in DOCUMENTS
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", document.read_text(encoding="utf-8"))
        if not (document.parent / target).exists()
    ]

    assert broken == []


def test_install_names_every_extra() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    page = (PROJECT / "docs" / "install.md").read_text(encoding="utf-8")

    named = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert sorted(named) == sorted(project["project"]["optional-dependencies"])


def test_every_make_target_is_in_help() -> None:
    run = subprocess.run(["make", "help"], cwd=PROJECT, capture_output=True, text=True, check=True)

    shown = {line.split()[0] for line in run.stdout.splitlines() if line.startswith("  ")}
    assert shown == make_targets()
    assert {"demo", "test"} <= shown


def test_ci_and_the_gate_call_the_same_targets() -> None:
    gate = re.findall(r"make ([a-z0-9-]+)", (PROJECT / ".ci" / "run").read_text(encoding="utf-8"))
    workflow = (PROJECT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    (job,) = re.findall(r"^  gate:\n(.*?)(?=^  \S)", workflow, re.MULTILINE | re.DOTALL)

    assert sorted(gate) == sorted(re.findall(r"run: make ([a-z0-9-]+)", job))
    assert {"setup", "check", "test", "test-install", "demo"} <= set(gate)


def test_the_readme_shows_what_make_demo_prints() -> None:
    shown = README.text.split("<!-- output: make demo -->")[1].split("```")[1]

    assert "Run 3: nothing new" in shown
    assert "equal a from-scratch recomputation" in shown


@pytest.mark.spark
@pytest.mark.synth
@pytest.mark.nightly
def test_the_sample_and_a_job_by_hand_run_one_after_the_other(tmp_path, monkeypatch) -> None:
    """The job is added between the two runs, and works the first time."""
    monkeypatch.setenv("TIDEMARK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    project = copy_project(tmp_path)
    lines = SNIPPETS["run these"].splitlines()
    at = lines.index("tidemark run") + 1

    first = [run_line(project, line) for line in lines[:at]]
    add_the_job_by_hand(project)
    *_, ran, status, _ = [run_line(project, line) for line in lines[at:]]

    assert "publish-origins" not in first[-1]
    assert re.search(r"publish-origins  SUCCEEDED .* 9 written", ran)  # three airports and days
    assert "publish-origins" in status


def run_line(project: Path, line: str) -> str:
    command = shlex.split(of_the_sample(line))
    run = subprocess.run(command, cwd=project, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def add_the_job_by_hand(project: Path) -> None:
    script = SNIPPETS["glue_jobs/publish_origins.py"]
    (project / "glue_jobs" / "publish_origins.py").write_text(script, encoding="utf-8")
    stack = project / "infra" / "flights_stack.py"
    before, mark, after = stack.read_text(encoding="utf-8").partition("        cdk.CfnOutput(")
    job = SNIPPETS["infra/flights_stack.py"]
    stack.write_text(f"{before}{job}{mark}{after}", encoding="utf-8")


def copy_project(folder: Path) -> Path:
    project = folder / "project"
    project.mkdir()
    for name in PROJECT_PARTS:
        source = PROJECT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, project / name)
    return project
