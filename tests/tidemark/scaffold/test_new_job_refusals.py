"""What `tidemark new-job` refuses, or fails at, without writing anything."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.fixtures.new_job import (
    APP,
    SAMPLE,
    STACK,
    assert_refused,
    new_job,
    texts,
    write_snapshot,
)
from tidemark.errors import UsageError
from tidemark.scaffold.new_job import KINDS, MARKER, MAX_NAME_LENGTH, NewJob

KEBAB_CASE = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@given(name=st.text())
@example("a" * (MAX_NAME_LENGTH + 1))
@example("Orders")
@example("made_up")
@example("new--orders")
@example("orders-")
@example("1st")
@example("../orders")
def test_a_name_that_is_not_in_kebab_case_is_refused(name):
    if KEBAB_CASE.fullmatch(name) and len(name) <= MAX_NAME_LENGTH:
        return
    with pytest.raises(UsageError, match="is not in kebab case; allowed"):
        NewJob(name, "merge", "flights")


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["Orders"], "job name 'Orders' is not in kebab case"),
        (["email"], "job name 'email' is that of a Python module"),
        (["pyspark"], "job name 'pyspark' is that of a Python module"),
        (["class"], "job name 'class' is that of a Python module"),
        (["curate-flights"], f"{STACK} has a job 'curate-flights' already"),
        (["weather"], "the data landing/weather/ of the new job is that of another job"),
        (["flights", "--kind=merge"], "the data curated/flights/ of the new job"),
        (["made-up", "--kind=stream"], f"unknown kind 'stream'; allowed: {', '.join(KINDS)}"),
        (
            ["made-up", "--after=no-such-job"],
            f"--after no-such-job: {STACK} does not declare this job; allowed: ",
        ),
        (["made-up", "--after=curate-flights", "--after=curate-flights"], "names a job twice"),
        (["made-up", "--kind=merge", "--after=ingest-weather"], "add --key COLUMN"),
        (["made-up", "--iceberg"], "--iceberg is for --kind merge"),
        (["made-up", "--kind=publish", "--key=id"], "--key is for --kind merge"),
        (["made-up", "--kind=merge", "--key=a b"], "--key 'a b' is not a column name"),
        (
            ["made-up", "--kind=merge", "--key=id", "--after=curate-flights", "--after=other"],
            "reads the output of one job, and --after names 2: curate-flights, other",
        ),
        (["made-up", "--kind=publish", "--after=a", "--after=b"], "add the others to after="),
        (["made-up", "--pipeline=sales"], "there is no pipeline 'sales'"),
        (["made-up", "--pipeline=sales"], "allowed: flights; docs/second-pipeline.md"),
        (["made-up", "--pipeline=../flights"], "--pipeline '../flights' is not in kebab case"),
    ],
)
def test_what_cannot_be_is_one_clear_line_and_nothing_is_written(project, words, part):
    before = texts(project)

    assert_refused(new_job(*words), part)

    assert texts(project) == before


@pytest.mark.parametrize("path", ["glue_jobs/made_up.py", "tests/glue_jobs/test_made_up.py"])
def test_a_file_that_is_there_is_never_overwritten(project, path):
    (project / path).write_text("precious = 1\n", encoding="utf-8")
    before = texts(project)

    assert_refused(new_job("made-up"), f"{path} exists already and is not changed")

    assert texts(project) == before


@pytest.mark.parametrize(
    ("stack", "part"),
    [
        (SAMPLE.replace(MARKER, ""), "0 times, so it is not known where the job goes"),
        (SAMPLE.replace(MARKER, MARKER * 2), "2 times, so it is not known"),
        (f"{SAMPLE}\n)", f"{STACK} is not Python: unmatched ')'"),
    ],
)
def test_a_stack_without_its_one_marked_line_is_refused(project, stack, part):
    (project / STACK).write_text(stack, encoding="utf-8")
    before = texts(project)

    assert_refused(new_job("made-up"), part)

    assert texts(project) == before


@pytest.mark.parametrize("missing", ["infra", "glue_jobs", "tests", "cdk.json"])
def test_a_folder_that_is_no_project_is_refused(project, missing):
    (project / missing).rename(project / "elsewhere")
    before = texts(project)

    assert_refused(new_job("made-up"), str(project), "in the folder of the project")

    assert texts(project) == before


def test_what_fails_halfway_leaves_nothing_behind(project):
    (project / f"{STACK}.unfinished").mkdir()
    before = texts(project)

    result = new_job("made-up")

    assert result.exit_code == 1
    assert "Is a directory; nothing was changed" in result.stderr
    assert texts(project) == before


def test_a_job_with_which_the_snapshot_cannot_be_updated_leaves_nothing_behind(project):
    (project / "app.py").write_text(APP.replace('json.dumps({"Resources": jobs})', "'no JSON'"))
    write_snapshot(project)
    before = texts(project)

    result = new_job("made-up")

    assert result.exit_code == 1
    assert "with the job, cannot read" in result.stderr
    assert result.stderr.endswith("so nothing was changed\n")
    assert texts(project) == before


def test_a_job_with_which_the_app_fails_leaves_nothing_behind(project):
    (project / "app.py").write_text("raise SystemExit('error: two jobs write the same data')")
    write_snapshot(project)
    before = texts(project)

    result = new_job("made-up")

    assert result.exit_code == 1
    assert "with the job, the CDK app failed" in result.stderr
    assert "error: two jobs write the same data" in result.stderr
    assert texts(project) == before


def test_a_job_whose_pipeline_is_not_in_the_app_is_refused(project):
    (project / "app.py").write_text(APP.replace("for name in names", "for name in ['other']"))
    before = texts(project)

    result = new_job("made-up")

    assert result.exit_code == 1
    assert "the app has no job made-up" in result.stderr
    assert "app.py" in result.stderr
    assert texts(project) == before
