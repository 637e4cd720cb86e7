"""The fixture `pipeline` runs the synthesized app of this project in the lake of a test."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.fixtures.commands import write_assembly as write_assembly  # a fixture
from tidemark.errors import EntityNotFoundError, UsageError
from tidemark.testing.pipeline import Pipeline, synthesized

pytestmark = pytest.mark.spark


def test_a_run_says_which_jobs_ran_and_which_triggers_fired(glue_test, write_assembly, lake):
    assembly = write_assembly(
        {"first": "print('one')", "second": "raise ValueError('boom')", "third": ""},
        after={"second": ["first"], "third": ["second"]},
    )
    pipeline = Pipeline(glue_test, assembly)

    run = pipeline.run()

    assert (run.state, run.states) == ("FAILED", {"first": "SUCCEEDED", "second": "FAILED"})
    assert len(run.fired) == 2
    assert (run["first"].stdout, "boom" in run["second"].error) == ("one\n", True)
    assert list(run.blocked) == ["third"]
    with pytest.raises(KeyError, match="job third did not run: waited for"):
        _ = run["third"]
    assert pipeline.run(only="first").is_success
    assert pipeline.bucket("landing") == "landing"
    lake.put(f"{pipeline.bucket('land')}/1.json", [{"id": 1}])
    assert pipeline.starts(datetime.now(UTC)) == []
    with pytest.raises(EntityNotFoundError, match="there is no job 'fourth'"):
        pipeline.run(only="fourth")


def test_project_without_an_app_has_no_pipeline(tmp_path: Path):
    with pytest.raises(UsageError, match=r"has no cdk\.json"):
        synthesized(tmp_path, tmp_path, {})
