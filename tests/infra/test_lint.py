"""The sample jobs and the arguments that their template passes fit each other."""

import json
from pathlib import Path

import pytest

from tests.fixtures.synthesis import DATABASE
from tidemark.cli.lint import findings_of, lint_app

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.synth


def test_no_job_of_a_stage_has_a_finding(assembly, monkeypatch):
    monkeypatch.chdir(ROOT)

    linted = lint_app(assembly.folder)

    assert findings_of(linted) == []
    assert {one.file: one.job for one in linted} == {
        f"glue_jobs/{name.replace('-', '_')}.py": name for name in assembly.jobs()
    }


@pytest.mark.nightly
def test_no_job_has_a_finding_if_flights_come_from_a_database(synth, monkeypatch):
    monkeypatch.chdir(ROOT)

    linted = lint_app(synth(flightsSource=json.dumps(DATABASE)).folder)

    assert findings_of(linted) == []
