"""docs/iceberg.md: what it declares is synthesized, and what it runs gives what it says."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fixtures.pipelines import Declared, stage_of
from tests.pages import Page
from tidemark.checks.lint.linter import lint_jobs
from tidemark.local_state.sparks.installed import own_spark
from tidemark.model.assembly.cloud_assembly import read_assembly

pytest_plugins = ("pytester",)
PAGE = Page("docs/iceberg.md")
SCRIPTS = [name for name in PAGE.blocks if name.endswith(".py")]


@pytest.fixture(scope="module")
def declared(cdk: Any, tmp_path_factory: pytest.TempPathFactory) -> Declared:
    """Return the app of the page, which passes the rules of the graph."""
    from tidemark.constructs import Lake

    root = tmp_path_factory.mktemp("project")
    (root / "jobs").mkdir()
    for name in SCRIPTS:
        (root / name).write_text(PAGE.blocks[name], encoding="utf-8")
    declared = Declared(cdk, root, out=str(root / "out"))
    lake = Lake(declared.stack, "Lake", stage=stage_of())
    declare = PAGE.run("declaration")["declare"]
    declare(declared.pipeline(watermarks=lake.watermarks), lake)
    declared.app.synth()
    return declared


@pytest.mark.synth
def test_its_jobs_get_iceberg_and_their_own_settings(declared):
    arguments = {
        job["Name"]: job["DefaultArguments"] for job in declared.resources("AWS::Glue::Job")
    }

    assert arguments.keys() == {"merge-orders", "publish-open-orders"}
    for given in arguments.values():
        assert given["--datalake-formats"] == "iceberg"
    assert arguments["merge-orders"]["--target_table"] == "glue_catalog.tidemark_dev.orders"
    assert str(arguments["publish-open-orders"]["--conf"]).count("spark.sql.shuffle") == 1


@pytest.mark.synth
def test_its_jobs_have_no_finding(declared):
    linted = lint_jobs(read_assembly(declared.root / "out"), declared.root)

    assert [(one.job, found.text) for one in linted for found in one.findings] == []


@pytest.mark.synth
def test_its_optimizers_are_declared():
    assert len(PAGE.run("optimizers")["orders"].optimizers) == 3


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.skipif(own_spark().major >= 4, reason="the jar of Iceberg is for Spark 3.5")
def test_its_test_passes(pytester):
    folder = pytester.mkdir("glue_jobs")
    script = PAGE.blocks["jobs/merge_orders.py"]
    (folder / "merge_orders.py").write_text(script, encoding="utf-8")
    pytester.makepyfile(test_page=PAGE.blocks["test"])

    done = pytester.runpytest_subprocess("-q")

    done.assert_outcomes(passed=1)
