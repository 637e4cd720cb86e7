"""A job of kind merge into Iceberg: what its template declares, and what its script does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fixtures.pipelines import Declared, stage_of
from tidemark.checks.lint.linter import lint_jobs
from tidemark.local_state.sparks.installed import own_spark
from tidemark.model.assembly.cloud_assembly import read_assembly
from tidemark.scaffold.new_job import NewJob, script_of, unit_test_of

PROJECT = Path(__file__).parents[3]
STACK = PROJECT / "tidemark/scaffold/templates/new_job/merge_iceberg/stack.py"
JOB = NewJob("merge-orders", "merge", "orders", (), ("id",), iceberg=True)


@pytest.mark.synth
def test_its_declaration_synthesizes_and_has_no_finding(cdk, tmp_path):
    from tidemark.constructs import Lake

    staged = {"aws:cdk:disable-asset-staging": False}
    declared = Declared(cdk, tmp_path, out=str(tmp_path / "out"), context=staged)
    lake = Lake(declared.stack, "Lake", stage=stage_of())
    (tmp_path / "glue_jobs").mkdir()
    (tmp_path / JOB.script).write_text(script_of(JOB), encoding="utf-8")
    text = STACK.read_text(encoding="utf-8").partition("\n\n\ndef ")
    found: dict[str, object] = {"PipelineStack": object}
    source = text[0].replace("from tidemark.scaffold.templates.stack import PipelineStack", "")
    body = text[2].replace("template-job", JOB.name).replace("template_job", JOB.module)
    exec(f"{source}\ndef {body}", found)  # noqa: S102 (the template)

    class Stack:
        pipeline = declared.pipeline(watermarks=lake.watermarks)

    found["add"](Stack, lake, [])
    declared.app.synth()

    (job,) = declared.resources("AWS::Glue::Job")
    arguments = job["DefaultArguments"]
    assert arguments["--target_table"] == "glue_catalog.tidemark_dev.merge_orders"
    assert arguments["--datalake-formats"] == "iceberg"
    linted = lint_jobs(read_assembly(tmp_path / "out"), tmp_path)
    assert [finding for one in linted for finding in one.findings] == []


@pytest.mark.spark
@pytest.mark.nightly
@pytest.mark.skipif(own_spark().major >= 4, reason="the jar of Iceberg is for Spark 3.5")
def test_its_own_test_passes_in_a_project(tmp_path):
    for name in ("app.py", "cdk.json", "package.json", "pyproject.toml"):
        shutil.copy(PROJECT / name, tmp_path / name)
    for name in ("libs", "node_modules", "tidemark"):
        (tmp_path / name).symlink_to(PROJECT / name)
    for path, text in ((JOB.script, script_of(JOB)), (JOB.test, unit_test_of(JOB))):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(text, encoding="utf-8")

    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", JOB.test],
        cwd=tmp_path,
        env={**os.environ, "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "3 passed" in ended.stdout
