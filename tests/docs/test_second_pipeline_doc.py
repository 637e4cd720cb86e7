"""The snippets and commands of docs/second-pipeline.md do what the text says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.projects import PROJECT, add_second_pipeline, copy_project, guide, insert_before, shell

PAGE = "second-pipeline.md"
pytestmark = pytest.mark.synth


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = copy_project(tmp_path_factory.mktemp("second"))
    add_second_pipeline(project)
    printed = shell(project, guide("scaffold", PAGE))
    assert "added the job to infra/guidesales_stack.py" in printed
    assert "[guidesales].json" in printed
    for line in guide("run", PAGE).splitlines():
        assert f"  {line}\n" in printed or line == "tidemark status"
    return project


def test_the_checks_of_the_page_pass(project: Path) -> None:
    for line in guide("check", PAGE).splitlines():
        shell(project, line)
    shell(project, "ruff check && ruff format --check infra app.py glue_jobs")


def test_every_pipeline_is_named_to_destroy_and_no_other_stack(project: Path) -> None:
    named = shell(project, "python -m ops.pipeline_stacks -c stage=dev").split()

    assert {"tidemark-dev-flights", "tidemark-dev-guidesales"} <= set(named)
    assert "tidemark-dev-storage" not in named


@pytest.mark.spark
def test_the_second_pipeline_runs_by_its_name(project: Path) -> None:
    refused = subprocess.run(
        [sys.executable, "-m", "ops", "run"], cwd=project, capture_output=True, text=True
    )
    assert refused.returncode == 2
    assert re.search("error: the app has . workflows.* flights, guidesales", refused.stderr)

    *_, ran, status, explained = [shell(project, line) for line in guide("run", PAGE).splitlines()]

    assert re.search(r"ingest-guidesales  SUCCEEDED .* 1 rows read, 1 written", ran)
    assert "curate-flights" not in ran
    assert "ingest-guidesales" in status
    assert "curate-flights" in status
    assert "would read 0 of 1 files" in explained


def test_a_set_of_pipelines_needs_no_stack_file(project: Path) -> None:
    app = project / "app.py"
    text = app.read_text(encoding="utf-8")
    block = guide("pipeline set", PAGE)
    app.write_text(insert_before(text, "    for stack in stacks:\n", block), encoding="utf-8")
    try:
        shell(project, "python app.py")
    finally:
        app.write_text(text, encoding="utf-8")

    assert (project / "cdk.out" / "tidemark-dev-guidereturns.template.json").is_file()


def test_the_page_is_linked() -> None:
    for page in ("README.md", "docs/add-a-job.md"):
        assert f"{PAGE})" in (PROJECT / page).read_text(encoding="utf-8")
