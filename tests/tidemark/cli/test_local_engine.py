"""`tidemark engine`, and what is said of a Python that Glue does not have."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tidemark.cli.engines import python_warning
from tidemark.cli.main import main
from tidemark.local_state.sparks import installed, make
from tidemark.local_state.sparks.installed import Spark, own_glue_version, own_spark


def invoke(*words):
    return CliRunner().invoke(main, ["engine", *words])


@pytest.fixture
def none_made(tmp_path, monkeypatch):
    for module in (installed, make):
        monkeypatch.setattr(module, "ENVIRONMENTS", tmp_path / "sparks")


def test_the_list_names_what_is_there_and_the_command_for_what_is_not(none_made):
    own, other = own_glue_version(), "6.0" if own_glue_version() != "6.0" else "5.1"

    done = invoke("list")
    rows = {
        row["glueVersion"]: row for row in json.loads(invoke("list", "--format", "json").stdout)
    }

    assert done.exit_code == 0
    assert f"tidemark engine add {other}" in done.stdout
    assert rows[own]["interpreter"] == sys.executable
    assert rows[own]["pyspark"] == own_spark().version
    assert rows[other]["python"] is None


def test_a_version_that_does_not_run_here_is_a_usage_error():
    done = invoke("add", "4.0")

    assert done.exit_code == 2
    assert "6.0" in done.output


def test_what_is_not_there_is_not_deleted(none_made):
    other = "6.0" if own_glue_version() != "6.0" else "5.1"

    assert invoke("remove", other).exit_code == 0


def test_another_python_than_glues_is_warned_of():
    folder = "/x/lib/python{}/site-packages/pyspark"
    same, older = (
        Spark("4.1.1", Path(f"/x/{version}"), Path(folder.format(version)))
        for version in ("3.13", "3.11")
    )

    assert python_warning("6.0", same) is None
    assert "Python 3.13" in python_warning("6.0", older)
    assert "engine remove 6.0" in python_warning("6.0", older)
