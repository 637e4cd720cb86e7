"""`tidemark new-job`: what it writes, and what it refuses without writing anything."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import example, given
from hypothesis import strategies as st

from tidemark.checks.state.manifest import Manifest
from tidemark.cli.main import main
from tidemark.errors import UsageError
from tidemark.scaffold.new_job import (
    KINDS,
    MARKER,
    MAX_NAME_LENGTH,
    READS_UPSTREAM,
    Declared,
    NewJob,
    commands,
    stack_file,
    stack_with,
)

PROJECT = Path(__file__).parents[3]
STACK = stack_file("flights")
SECOND = stack_file("sales-eu")
SAMPLE = (PROJECT / STACK).read_text(encoding="utf-8")
KEBAB_CASE = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
KEBAB_NAMES = st.from_regex(KEBAB_CASE, fullmatch=True).map(lambda name: f"made-up-{name}"[:30])
LONG_NAME = "-".join(["abcdefghi"] * 4) + "j"


# An app with a job for every script; the tests of the whole project run the real one.
APP = """
import json
import os
from pathlib import Path

names = [path.stem.replace("_", "-") for path in Path("glue_jobs").glob("*.py")]
jobs = {
    name.replace("-", ""): {
        "Type": "AWS::Glue::Job",
        "Properties": {
            "Name": name,
            "Command": {"Name": "glueetl", "ScriptLocation": f"s3://assets/{name}.py"},
        },
    }
    for name in names
}
folder = Path(os.environ["CDK_OUTDIR"])
folder.mkdir(exist_ok=True)
stack = {"type": "aws:cloudformation:stack", "properties": {"templateFile": "t.json"}}
(folder / "manifest.json").write_text(json.dumps({"artifacts": {"tidemark-dev-flights": stack}}))
(folder / "t.json").write_text(json.dumps({"Resources": jobs}))
with open("synthesized", "a") as log:
    log.write("once ")
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return what a project needs for the command, without a snapshot of its template."""
    for folder in ("infra", "glue_jobs", "tests/glue_jobs"):
        (tmp_path / folder).mkdir(parents=True)
    for name in (STACK, "infra/__init__.py", "cdk.json", "pyproject.toml"):
        shutil.copy(PROJECT / name, tmp_path / name)
    (tmp_path / "app.py").write_text(APP)
    for name in ("libs", "tidemark"):  # tell the linter which imports are our own
        (tmp_path / name).symlink_to(PROJECT / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TIDEMARK_HOME", raising=False)
    return tmp_path


def new_job(*words: str) -> Result:
    return CliRunner().invoke(main, ["new-job", *words])


def texts(project: Path) -> dict[str, str]:
    return {
        str(path.relative_to(project)): path.read_text(encoding="utf-8")
        for folder in ("infra", "glue_jobs", "tests")
        for path in (project / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def assert_refused(result: Result, *parts: str) -> None:
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    for part in parts:
        assert part in result.stderr


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
@pytest.mark.parametrize("name", ["a", LONG_NAME])
@pytest.mark.parametrize("after", [(), ("curate-flights",)])
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


SNAPSHOT = "tests/snapshots/tidemark-dev-flights/_stack.txt"


def write_snapshot(project: Path) -> None:
    (project / SNAPSHOT).parent.mkdir(parents=True)
    (project / SNAPSHOT).write_text("old\n")


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


def test_the_app_is_synthesized_once_for_manifest_and_snapshot(project):
    (project / "state-manifest.json").write_text(Manifest().render())
    write_snapshot(project)

    result = new_job("made-up")

    assert result.exit_code == 0, result.output
    assert (project / "synthesized").read_text() == "once "
    assert f"updated {SNAPSHOT}" in result.stdout


def test_a_job_whose_pipeline_is_not_in_the_app_is_refused(project):
    (project / "app.py").write_text(APP.replace("for name in names", "for name in ['other']"))
    before = texts(project)

    result = new_job("made-up")

    assert result.exit_code == 1
    assert "the app has no job made-up" in result.stderr
    assert "app.py" in result.stderr
    assert texts(project) == before


@pytest.mark.parametrize("kind", KINDS)
def test_the_next_steps_are_commands_that_exist(kind):
    job = NewJob("made-up", kind, "flights")

    steps = commands(job, Path("home/lake"), "s3://landing/made_up/")

    assert steps[0] == "pytest tests/glue_jobs/test_made_up.py"
    assert "tidemark run" in steps
    for step in steps:
        program, *words = step.split()
        if program == "tidemark":
            assert words[0] in main.commands
        else:
            assert program in ("pytest", "mkdir", "echo")
