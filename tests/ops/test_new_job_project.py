"""Jobs of all kinds, scaffolded into a copy of the project, pass its checks and can be deployed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from local_glue.state.manifest import MANIFEST
from tests.infra.conftest import Assembly
from tests.projects import PROJECT, copy_project, guide, shell

pytestmark = pytest.mark.synth
SNAPSHOT = "test_the_template_is_the_one_that_was_reviewed[flights].json"
MYPY_CACHE = PROJECT / ".mypy_cache"  # knows the types of packages, if `make check` was run
STARTED_AFTER = {
    "guideorders": None,
    "guidepayments": None,
    "curate-guideorders": "guideorders",
    "publish-guideorders": "curate-guideorders",
}
# What each may read, and what it may write.
DATA = {
    "guideorders": ("{Landing}/guideorders", "{Raw}/guideorders"),
    "guidepayments": ("{Raw}/guidepayments", "{Raw}/guidepayments"),
    "curate-guideorders": ("{Raw}/guideorders", "{Curated}/curate_guideorders"),
    "publish-guideorders": ("{Curated}/curate_guideorders", "{Mart}/publish_guideorders"),
}
MODULES = [name.replace("-", "_") for name in DATA]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy in which the commands of docs/add-a-job.md have scaffolded every kind."""
    project = copy_project(tmp_path_factory.mktemp("new-job"))
    # Neither snapshot nor manifest until the last.
    shutil.move(project / "tests" / "infra", project / "hidden")
    shutil.move(project / MANIFEST, project / "manifest")
    *lines, last = [*guide("scaffold").splitlines(), *guide("other kinds").splitlines()]
    for line in lines:
        shell(project, line)
    shutil.move(project / "hidden", project / "tests" / "infra")
    shutil.move(project / "manifest", project / MANIFEST)
    printed = shell(project, last)
    assert f"updated {MANIFEST}" in printed
    assert SNAPSHOT in printed
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


def test_tests_that_look_at_every_job_of_the_app_pass_with_those_that_were_scaffolded(
    project: Path,
) -> None:
    tests = " ".join(
        [
            *("tests/infra/test_lint.py", "tests/infra/test_operations.py"),
            *("tests/infra/test_state_manifest.py", "tests/ops/test_lint.py"),
            "tests/local_glue/state/test_script_sources.py",
        ]
    )

    assert " passed" in shell(project, f"pytest -q -p no:cacheprovider {tests}")


def test_the_manifest_holds_every_job_that_was_scaffolded(project: Path) -> None:
    manifest = json.loads((project / MANIFEST).read_text(encoding="utf-8"))

    assert manifest["jobs"].keys() >= DATA.keys()


def test_the_snapshot_holds_every_job_that_was_scaffolded(project: Path) -> None:
    folder = project / "tests" / "infra" / "__snapshots__" / "test_snapshot"
    snapshot = json.loads((folder / SNAPSHOT).read_text(encoding="utf-8"))

    names = {resource["Properties"].get("Name") for resource in snapshot["Resources"].values()}
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
    assert trigger["StartOnCreation"] is True


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
