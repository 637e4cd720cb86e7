"""Jobs of all kinds, scaffolded into a copy of the project, pass its checks and can be deployed.

Four are in the sample's pipeline. One is in a second pipeline, which is added and run as
docs/second-pipeline.md says.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fixtures.synthesis import Assembly
from tests.projects import (
    PROJECT,
    add_second_pipeline,
    copy_project,
    guide,
    insert_before,
    of_the_sample,
    shell,
)
from tidemark.checks.state.manifest import MANIFEST

pytestmark = [pytest.mark.synth, pytest.mark.nightly]
# Graphs and apps of their own, whatever the app is; every other test of tests/infra is run. That
# two syntheses write the same is shown by the snapshot here: it was written from another one.
NOT_OF_THE_APP = tuple(
    f"tests/infra/test_{name}.py"
    for name in ("app", "flights_source", "libs_asset", "security_doc")
)
SECOND = "second-pipeline.md"
# What is in them is in the app with everything too, or has nothing to do with new jobs.
ELSEWHERE = (
    "tests/infra/test_nag.py::test_cdk_nag_finds_nothing_without_a_reason[prod]",
    "tests/infra/test_nag.py::test_cdk_nag_finds_nothing_without_a_reason[dev]",
    "tests/infra/test_lint.py::test_no_job_has_a_finding_if_flights_come_from_a_database",
)
OTHERS = (
    "tests/tidemark/cli/test_lint.py",
    "tests/tidemark/scaffold/test_new_job.py",
    "tests/docs",
    "tests/test_imports.py",
)
MYPY_CACHE = PROJECT / ".mypy_cache"  # knows the types of packages, if `make check` was run
STARTED_AFTER = {
    "guideorders": None,
    "guidepayments": None,
    "curate-guideorders": "guideorders",
    "publish-guideorders": "curate-guideorders",
    "ingest-guidesales": None,
}
# What each may read, and what it may write.
DATA = {
    "guideorders": ("{Landing}/guideorders", "{Raw}/guideorders"),
    "guidepayments": ("{Raw}/guidepayments", "{Raw}/guidepayments"),
    "curate-guideorders": ("{Raw}/guideorders", "{Curated}/curate_guideorders"),
    "publish-guideorders": ("{Curated}/curate_guideorders", "{Mart}/publish_guideorders"),
    "ingest-guidesales": ("{Landing}/ingest_guidesales", "{Raw}/ingest_guidesales"),
}
MODULES = [name.replace("-", "_") for name in DATA]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy in which the commands of docs/add-a-job.md have scaffolded every kind."""
    project = copy_project(tmp_path_factory.mktemp("new-job"))
    # Neither snapshot nor manifest until the last.
    shutil.move(project / "tests" / "snapshots", project / "hidden")
    shutil.move(project / MANIFEST, project / "manifest")
    for line in (*guide("scaffold").splitlines(), *guide("other kinds").splitlines()):
        shell(project, of_the_sample(line))
    add_second_pipeline(project)
    *lines, last = guide("scaffold", SECOND).splitlines()
    for line in lines:
        shell(project, line)
    shutil.move(project / "hidden", project / "tests" / "snapshots")
    shutil.move(project / "manifest", project / MANIFEST)
    printed = shell(project, last)
    assert f"updated {MANIFEST}" in printed
    assert "updated tests/snapshots/tidemark-dev-guidesales/_stack.txt" in printed
    assert "added the job to infra/guidesales_stack.py" in printed
    for line in guide("run", SECOND).splitlines():
        assert f"  {line}\n" in printed or line == "tidemark status"
    return project


@pytest.fixture(scope="module")
def assembly(project: Path) -> Assembly:
    """Return what `cdk deploy` sends."""
    shell(project, "python app.py")
    return Assembly(project / "cdk.out")


def test_what_was_scaffolded_passes_the_checks(project: Path) -> None:
    scripts = " ".join(f"glue_jobs/{name}.py" for name in MODULES)

    shell(project, "ruff check")
    shell(project, "ruff format --check")
    shell(project, f"mypy --cache-dir {MYPY_CACHE} {scripts}")


def test_tests_that_look_at_the_app_pass_with_what_was_scaffolded(
    project: Path, assembly: Assembly
) -> None:
    given = f"TIDEMARK_TEST_ASSEMBLY={assembly.folder}"
    options = "-q -p no:cacheprovider -m 'not spark and not stress'"
    ignored = " ".join(f"--ignore {path}" for path in NOT_OF_THE_APP)
    ignored += "".join(f" --deselect '{name}'" for name in ELSEWHERE)

    shell(
        project,
        f"{given} pytest {options} {ignored} tests/infra {' '.join(OTHERS)}",
    )


def test_the_manifest_holds_every_job_that_was_scaffolded(project: Path) -> None:
    manifest = json.loads((project / MANIFEST).read_text(encoding="utf-8"))

    assert manifest["jobs"].keys() >= DATA.keys()


def test_the_snapshot_holds_every_job_that_was_scaffolded(project: Path) -> None:
    folder = project / "tests" / "snapshots"
    names = {path.stem for path in folder.rglob("*.txt")}
    assert names >= DATA.keys()


@pytest.mark.parametrize("name", DATA)
def test_a_scaffolded_job_has_its_trigger(assembly: Assembly, name: str) -> None:
    names = {
        id_.split("/")[1]: job["Properties"]["Name"]
        for id_, job in assembly.resources("AWS::Glue::Job").items()
    }

    (trigger,) = (
        trigger["Properties"]
        for trigger in assembly.resources("AWS::Glue::Trigger").values()
        if name in [names[action["JobName"]["Ref"]] for action in trigger["Properties"]["Actions"]]
    )

    conditions = trigger.get("Predicate", {}).get("Conditions", [])
    watched = [(names[condition["JobName"]["Ref"]], condition["State"]) for condition in conditions]
    after = STARTED_AFTER[name]
    assert watched == ([(after, "SUCCEEDED")] if after else [])
    assert (trigger["Type"], trigger.get("StartOnCreation")) == (
        ("CONDITIONAL", True) if after else ("ON_DEMAND", None)
    )


@pytest.mark.parametrize("name", DATA)
def test_a_scaffolded_job_may_touch_its_own_data_only(assembly: Assembly, name: str) -> None:
    may: dict[str, set[str]] = {}
    for statement in assembly.statements(name):
        for action in statement["Action"]:
            may.setdefault(action, set()).update(statement["Resource"])

    data = {arn.removesuffix("/*") for arn in may["s3:GetObject"] if arn.startswith("{")}
    assert data == set(DATA[name])
    assert may["s3:PutObject"] == may["s3:DeleteObject"] == {f"{DATA[name][1]}/*"}
    assert ("dynamodb:UpdateItem" in may) is (name == "guidepayments")


@pytest.mark.spark
def test_the_scaffolded_tests_pass(project: Path) -> None:
    tests = " ".join(f"tests/glue_jobs/test_{name}.py" for name in MODULES)

    tested = shell(project, f"pytest -q {tests}")

    assert " passed" in tested
    assert "skipped" not in tested


def test_the_checks_of_the_page_on_a_second_pipeline_pass(
    project: Path, assembly: Assembly
) -> None:
    for line in guide("check", SECOND).splitlines():
        shell(project, f"TIDEMARK_TEST_ASSEMBLY={assembly.folder} {line}")


def test_every_pipeline_is_named_to_destroy_and_no_other_stack(
    project: Path, assembly: Assembly
) -> None:
    line = f"CDK_APP={assembly.folder} tidemark destroy --dry-run dev"

    named = shell(project, line).split()

    assert {"tidemark-dev-flights", "tidemark-dev-guidesales"} <= set(named)
    assert "tidemark-dev-storage" not in named


@pytest.mark.spark
def test_the_second_pipeline_runs_by_its_name(project: Path, assembly: Assembly) -> None:
    command = [sys.executable, "-m", "tidemark", "run", "--app", str(assembly.folder)]
    refused = subprocess.run(command, cwd=project, capture_output=True, text=True)
    assert refused.returncode == 2
    assert re.search("error: the app has . workflows.* flights, guidesales", refused.stderr)

    *_, ran, status, explained = [
        shell(project, line) for line in guide("run", SECOND).splitlines()
    ]

    assert re.search(r"ingest-guidesales  SUCCEEDED .* 1 row read, 1 written", ran)
    assert "curate-flights" not in ran
    assert "ingest-guidesales" in status
    assert "curate-flights" in status
    assert "would read 0 of 1 file" in explained


def test_a_set_of_pipelines_needs_no_stack_file(project: Path) -> None:
    app = project / "app.py"
    text = app.read_text(encoding="utf-8")
    block = guide("pipeline set", SECOND)
    app.write_text(
        insert_before(text, "    if stage.github_repository:\n", block), encoding="utf-8"
    )
    try:
        shell(project, "CDK_OUTDIR=cdk.out.of-a-set python app.py")
    finally:
        app.write_text(text, encoding="utf-8")

    assembly = project / "cdk.out.of-a-set"
    assert (assembly / "tidemark-dev-guidereturns.template.json").is_file()


@pytest.mark.parametrize("page", ["README.md", "docs/add-a-job.md"])
def test_the_page_on_a_second_pipeline_is_linked(page: str) -> None:
    assert f"{SECOND})" in (PROJECT / page).read_text(encoding="utf-8")
