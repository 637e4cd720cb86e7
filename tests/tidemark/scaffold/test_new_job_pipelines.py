"""`tidemark new-job` in an app with two pipelines."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixtures.new_job import SAMPLE, STACK, assert_refused, new_job, texts, write_snapshot
from tidemark.scaffold.new_job import MARKER, Declared, stack_file

SECOND = stack_file("sales-eu")


TO_FLIGHTS = "--pipeline=flights"


@pytest.fixture
def second(project: Path) -> Path:
    """Return the stack of a second pipeline, which has one job."""
    before, _, _ = SAMPLE.partition("        landing_weather = ")
    job = 'self.pipeline.add_job("ingest-sales", writes=[Dataset(lake.raw, "sales/")])'
    path = project / SECOND
    path.write_text(f"{before}        {job}\n{MARKER}", encoding="utf-8")
    return path


def test_a_job_goes_into_the_pipeline_that_is_named(project, second):
    before = texts(project)

    result = new_job("made-up", "--pipeline=sales-eu", "--after=ingest-sales")

    assert result.exit_code == 0, result.output
    after = texts(project)
    assert {path for path in before if before[path] != after[path]} == {SECOND}
    assert Declared.by(after[SECOND]).jobs == {"ingest-sales", "made-up"}
    assert f"added the job to {SECOND}" in result.stdout
    assert "  tidemark run --workflow sales-eu\n" in result.stdout


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["curate-flights", "--pipeline=sales-eu"], f"{STACK} has a job 'curate-flights' already"),
        (["ingest-sales", TO_FLIGHTS], f"{SECOND} has a job 'ingest-sales' already"),
        (
            ["sales", TO_FLIGHTS],
            f"the data raw/sales/ of the new job is that of another job of {SECOND}",
        ),
        (["made-up"], "the app has 2 pipelines: flights, sales-eu; name the one"),
        (["made-up", TO_FLIGHTS, "--after=ingest-sales"], f"{STACK} does not declare this job"),
        (["made-up", "--pipeline=sales-eu", "--after=curate-flights"], "allowed: ingest-sales"),
    ],
)
def test_what_another_pipeline_has_is_taken_and_cannot_be_waited_for(project, second, words, part):
    before = texts(project)

    assert_refused(new_job(*words), part)

    assert texts(project) == before


def test_with_a_second_pipeline_the_next_steps_name_the_first_too(project, second):
    result = new_job("made-up", TO_FLIGHTS)

    assert result.exit_code == 0, result.output
    assert "  tidemark run --workflow flights\n" in result.stdout


def test_a_job_in_a_second_pipeline_that_fails_leaves_nothing_behind(project, second):
    (project / "app.py").write_text("raise SystemExit('error: no synthesis today')")
    write_snapshot(project)
    before = texts(project)

    result = new_job("made-up", "--pipeline=sales-eu")

    assert result.exit_code == 1
    assert texts(project) == before
