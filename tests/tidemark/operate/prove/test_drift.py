"""A file with other columns arrives: a contract says what is right, and without one it is told."""

from __future__ import annotations

import json
import os
import shutil

import pyarrow
import pyarrow.csv
import pyarrow.parquet
import pytest
from click.testing import CliRunner

from tests.sampled import sampled
from tests.tidemark.operate.prove.drift_jobs import RIGHT, WRONG, DriftCase
from tests.tidemark.operate.prove.jobs import BOOKMARK
from tidemark.cli.main import main


@pytest.fixture
def drift_of(project):
    """Return what proves a case by drift alone, and returns the findings in their order."""

    def findings(case: DriftCase) -> list[dict]:
        lake = project / "home/lake/lake"
        folder = lake / "in"
        if case.has_two_sources:
            shutil.copytree(lake / "in", lake / "more")
            for file in (lake / "more").iterdir():  # each a second after the one of its day
                os.utime(file, (file.stat().st_mtime + 1,) * 2)
        for file in [*folder.iterdir()] if case.format != "json" else ():
            time, lines = file.stat().st_mtime, file.read_text().splitlines()
            made = file.with_suffix(f".{case.format}")
            WRITERS[case.format](pyarrow.Table.from_pylist([*map(json.loads, lines)]), made)
            file.unlink()
            os.utime(made, (time, time))
        script = project / "job.py"
        script.write_text(case.script, encoding="utf-8")
        words = ["prove", "--kind", "drift", "--format", "json", str(script), *BOOKMARK]
        words += ["--JOB_NAME", case.name, "--extra-py-files", "s3://lake/libs.zip"]
        result = CliRunner().invoke(main, [*words, *case.arguments])
        assert result.exit_code in (0, 1, 4), result.output
        document = json.loads(result.stdout)
        experiments = document["experiments"]
        is_bad = document["verdict"] in ("lost", "doubled", "changed", "fails")
        assert (result.exit_code == 1) == is_bad
        targets = {target["target"] for found in experiments for target in found["targets"]}
        assert "s3://lake/in/" not in targets
        return [found for found in experiments if found["kind"] == "drift"]

    return findings


WRITERS = {"csv": pyarrow.csv.write_csv, "parquet": pyarrow.parquet.write_table}
CASES = {case.name: case for case in (*RIGHT, *WRONG)}
KEPT = ("drops-what-does-not-fit", "fails-without-a-contract")


@pytest.mark.spark
@pytest.mark.parametrize("name", sampled(CASES, *KEPT))
def test_a_job_gets_its_verdicts_of_drift(name, drift_of):
    case = CASES[name]

    drifts = drift_of(case)

    assert tuple(drift["verdict"] for drift in drifts) == case.verdicts
