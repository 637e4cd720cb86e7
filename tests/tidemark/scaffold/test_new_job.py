"""`tidemark new-job`: what it writes."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fixtures.new_job import (
    SAMPLE,
    SNAPSHOT,
    STACK,
    assert_refused,
    new_job,
    texts,
    write_snapshot,
)
from tests.sampled import at_night
from tidemark.checks.state.manifest import Manifest
from tidemark.cli.main import main
from tidemark.scaffold.new_job import (
    KINDS,
    MARKER,
    MAX_NAME_LENGTH,
    READS_UPSTREAM,
    Declared,
    NewJob,
    commands,
    stack_with,
)

KEBAB_CASE = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
KEBAB_NAMES = st.from_regex(KEBAB_CASE, fullmatch=True).map(lambda name: f"made-up-{name}"[:30])
LONG_NAME = "-".join(["abcdefghi"] * 4) + "j"


def test_a_job_is_a_script_a_test_and_a_call(project):
    before = texts(project)

    result = new_job("made-up")

    assert result.exit_code == 0, result.output
    after = texts(project)
    assert after.keys() - before.keys() == {
        "glue_jobs/made_up.py",
        "tests/glue_jobs/test_made_up.py",
    }
    assert {path for path in before if before[path] != after[path]} == {STACK}
    assert Declared.by(after[STACK]).jobs - Declared.by(before[STACK]).jobs == {"made-up"}
    for path in after.keys() - before.keys():
        assert path in result.stdout
        assert "template" not in after[path]


@pytest.mark.stress
@pytest.mark.parametrize(
    ("name", "after"),
    [
        ("a", ()),
        (LONG_NAME, ("curate-flights",)),
        *at_night((LONG_NAME, ()), ("a", ("curate-flights",))),
    ],
)
def test_every_kind_is_linted_and_formatted_whatever_the_length_of_its_name(project, name, after):
    for number, kind in enumerate(KINDS):
        key = ("id", "origin") if kind == "merge" else ()
        options = [*(f"--after={job}" for job in after), *(f"--key={column}" for column in key)]
        result = new_job(
            f"{name[:-1]}{name[-1]}{number}"[-MAX_NAME_LENGTH:], f"--kind={kind}", *options
        )
        assert result.exit_code == 0, result.output

    for check in (["check"], ["format", "--check"]):
        command = [sys.executable, "-m", "ruff", *check, *texts(project)]
        run = subprocess.run(command, capture_output=True, text=True)
        assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.stress
@pytest.mark.parametrize("name", ["a", LONG_NAME])
def test_a_merge_into_iceberg_imports_its_table_and_is_formatted(project, name):
    words = ["--kind=merge", "--iceberg", "--after=ingest-weather", "--key=id", "--key=origin"]

    result = new_job(name, *words)

    assert result.exit_code == 0, result.output
    assert "pip install 'tidemark-glue[iceberg]'" in result.stdout
    stack = texts(project)[STACK]
    imported = next(
        node
        for node in ast.parse(stack).body
        if isinstance(node, ast.ImportFrom) and node.module == "tidemark.constructs"
    )
    assert "IcebergTable" in {alias.name for alias in imported.names}
    for check in (["check"], ["format", "--check"]):
        command = [sys.executable, "-m", "ruff", *check, *texts(project)]
        run = subprocess.run(command, capture_output=True, text=True)
        assert run.returncode == 0, run.stdout + run.stderr


def test_a_job_that_reads_files_is_not_after_one_that_writes_a_table_of_iceberg(project):
    assert new_job("made-up", "--kind=merge", "--iceberg").exit_code == 0
    before = texts(project)

    assert_refused(
        new_job("later", "--kind=publish", "--after=made-up"),
        "--after made-up: it writes a table of Iceberg",
    )

    assert texts(project) == before


@pytest.mark.stress
@given(name=KEBAB_NAMES.filter(KEBAB_CASE.fullmatch), kind=st.sampled_from(KINDS), data=st.data())
def test_the_call_is_all_that_changes_in_the_stack(name, kind, data):
    known = sorted(Declared.by(SAMPLE).jobs)
    most = 1 if kind in READS_UPSTREAM else len(known)
    after = data.draw(st.lists(st.sampled_from(known), unique=True, max_size=most))
    job = NewJob(name, kind, "flights", tuple(after), ("id",) if kind == "merge" else ())

    stack = stack_with(job, SAMPLE)

    before, inserted_and_after = SAMPLE.split(MARKER)
    assert stack.startswith(before)
    assert stack.endswith(MARKER + inserted_and_after)
    calls = [node for node in ast.walk(ast.parse(stack)) if isinstance(node, ast.Call)]
    (call,) = (call for call in calls if call.args and ast.unparse(call.args[0]) == repr(name))
    given_as = {word.arg: ast.unparse(word.value) for word in call.keywords}
    waits_for = "".join(f"self.pipeline.jobs['{upstream}'], " for upstream in after)
    assert given_as.get("after", "[]") == f"[{waits_for.removesuffix(', ')}]"
    assert given_as["script"] == repr(f"glue_jobs/{name.replace('-', '_')}.py")


def test_a_dry_run_shows_the_call_and_writes_nothing(project):
    before = texts(project)

    shown = new_job("made-up", "--kind=publish", "--after=curate-flights", "--dry-run")

    assert shown.exit_code == 0, shown.output
    assert texts(project) == before
    lines = shown.stdout.splitlines()
    assert lines[:3] == [
        "would write glue_jobs/made_up.py",
        "would write tests/glue_jobs/test_made_up.py",
        f"would change {STACK}:",
    ]
    assert new_job("made-up", "--kind=publish", "--after=curate-flights").exit_code == 0
    inserted = set(texts(project)[STACK].splitlines()) - set(before[STACK].splitlines())
    assert inserted <= {line.removeprefix("+") for line in lines[3:]}


def test_the_key_of_a_merge_is_in_its_script(project):
    result = new_job("made-up-weather", "--kind=merge", "--after=ingest-weather", "--key=origin")
    assert result.exit_code == 0, result.output
    again = new_job("made-up-hours", "--kind=merge", "--key=origin", "--key=time_hour")
    assert again.exit_code == 0, again.output

    scripts = texts(project)
    assert '\nKEY = ("origin",)\n' in scripts["glue_jobs/made_up_weather.py"]
    assert '\nKEY = ("origin", "time_hour")\n' in scripts["glue_jobs/made_up_hours.py"]


def test_the_app_is_synthesized_once_for_manifest_and_snapshot(project):
    (project / "state-manifest.json").write_text(Manifest().render())
    write_snapshot(project)

    result = new_job("made-up")

    assert result.exit_code == 0, result.output
    assert (project / "synthesized").read_text() == "once "
    assert f"updated {SNAPSHOT}" in result.stdout


@pytest.mark.parametrize("kind", KINDS)
def test_the_next_steps_are_commands_that_exist(kind):
    job = NewJob("made-up", kind, "flights")

    steps = commands(job, Path("home/lake"), "s3://landing/made_up/")

    assert steps[0] == "pytest tests/glue_jobs/test_made_up.py"
    assert "tidemark run" in steps
    for step in steps:
        program, *words = step.split()
        if program == "tidemark":
            assert main.get_command(click.Context(main), words[0]) is not None
        else:
            assert program in ("pytest", "mkdir", "echo")
