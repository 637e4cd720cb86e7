"""A team's first hour: the wheel in a virtual environment, a project of its own, runs that grow.

Run by `make test-install`. Packages come from the lock file of this repository, hashes checked.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest
from uv import find_uv_bin

from tidemark.local_state.sparks.uv_settings import pip_settings, uv_settings

PROJECT = Path(__file__).parents[2]
MYPY = f"{sys.executable} -m mypy --python-executable $(which python)"
ROW = '{{"id": {}, "status": "open", "updated_at": "2013-01-0{}T10:00:00Z"}}\n'
pytestmark = pytest.mark.install


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from a copy of what Git knows."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=PROJECT, capture_output=True, text=True, check=True)
    for name in names.stdout.splitlines():
        if (PROJECT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(PROJECT / name, source / name)
    (source / "node_modules").symlink_to(PROJECT / "node_modules")  # the engine goes into the wheel
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"]
    subprocess.run([*build, "--wheel-dir", folder, source], check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


class User:
    """Somebody with a virtual environment and a folder, who types commands."""

    def __init__(self, folder: Path, environment: Path) -> None:
        self.folder = folder
        left_out = ("PYTHON", "TIDEMARK", "CDK_", "PYTEST", "VIRTUAL_ENV")
        self.variables = {
            name: value for name, value in os.environ.items() if not name.startswith(left_out)
        }
        self.variables["PATH"] = f"{environment / 'bin'}{os.pathsep}{self.variables['PATH']}"

    def types(self, line: str, code: int = 0) -> str:
        """Run a line; return what it printed."""
        run = subprocess.run(
            ["sh", "-c", line],
            cwd=self.folder,
            env=self.variables,
            capture_output=True,
            text=True,
        )
        said = run.stdout + run.stderr
        assert run.returncode == code, f"{line}: {run.returncode}\n{said}"
        return said


@pytest.fixture(scope="session")
def user(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> User:
    """Install the wheel, with what `[cdk,local,test]` brings, outside of this repository."""
    folder = tmp_path_factory.mktemp("user")
    environment = folder / "venv"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    user = User(folder, environment)
    user.variables |= uv_settings(pip_settings())  # what the set-up has fetched is in its cache
    uv = f"{find_uv_bin()} pip install -q --no-deps --python {environment}"
    user.types(f"{uv} --require-hashes -r {PROJECT}/requirements/setup.txt")
    pinned = f"--require-hashes -r {PROJECT}/requirements/runtime.txt"
    user.types(f"{uv} --no-build-isolation {pinned}")
    user.types(f"pip install -q --no-deps --no-compile {wheel}")
    pins = (f"{name}=={version(name)}" for name in ("pytest", "pluggy", "iniconfig", "packaging"))
    user.types(f"{uv} {' '.join(pins)}")
    return user


@pytest.fixture(scope="session")
def shop(user: User) -> User:
    """Write a project; its Node tools are those of this repository, of the same versions."""
    said = user.types("tidemark init shop")
    assert "files into shop/" in said
    project = user.folder / "shop"
    (project / "node_modules").symlink_to(PROJECT / "node_modules")
    user.folder = project
    return user


def test_the_wheel_has_every_package_and_file_that_runs(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
    tracked = subprocess.run(
        ["git", "ls-files", "tidemark", "libs/watermarks"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()

    assert {name.removeprefix("libs/") for name in tracked} <= inside
    tops = {name.partition("/")[0] for name in inside if ".dist-info/" not in name}
    assert {name for name in tops if not name.endswith("-stubs")} == {"tidemark", "watermarks"}
    assert {"awsglue-stubs/context.pyi", "awsgluedq-stubs/transforms.pyi"} <= inside
    assert "tidemark/local_state/engine/bin/dynoxide" in inside


def test_a_script_with_watermarks_runs_without_node_and_without_a_project(user: User) -> None:
    repository = user.folder / "repository"
    (repository / "etl").mkdir(parents=True)
    (repository / "etl" / "totals.py").write_text(
        "from watermarks import Watermarks\n"
        "for window in Watermarks('glue-watermarks').windows('totals', run_id='1', "
        "cursor='id', high=7):\n    print('up to', window.high)\n"
    )

    user.types(f"cd {repository} && tidemark table")
    said = user.types(f"cd {repository} && tidemark submit etl/totals.py")

    assert "up to 7" in said
    assert "SUCCEEDED" in user.types(f"cd {repository} && tidemark runs totals")


def test_a_type_checker_sees_awsglue_and_no_program_does(user: User) -> None:
    (user.folder / "typed.py").write_text(
        "from awsglue.context import GlueContext\nfrom awsglue.transforms import *\n"
        "from pyspark.context import SparkContext\n\n"
        "context: int = GlueContext(SparkContext.getOrCreate())\nreveal_type(ApplyMapping)\n"
    )

    said = user.types(f"{MYPY} --strict typed.py", code=1)

    assert 'has type "GlueContext", variable has type "int"' in said
    assert "awsglue.transforms.apply_mapping.ApplyMapping" in said
    assert "No module named 'awsglue'" in user.types("python -c 'import awsglue'", code=1)


@pytest.mark.nightly
def test_the_code_of_a_new_project_has_types(shop: User) -> None:
    for kind in ("publish", "merge --key id", "merge --key id --iceberg"):
        name = kind.replace(" ", "").replace("--", "-")
        shop.types(f"tidemark new-job {name} --kind {kind} --after ingest-orders")

    assert "Success: no issues found in" in shop.types(MYPY)


@pytest.mark.nightly
def test_the_job_of_a_new_project_is_proved(shop: User) -> None:
    assert "1 passed" in shop.types("pytest -q -m prove")


def test_a_new_project_passes_its_own_tests_and_checks(shop: User) -> None:
    tested = shop.types("pytest -q -m 'not prove'")  # that of `prove` takes half a minute

    assert " failed" not in tested, tested
    assert re.search(r"\b\d+ passed, 1 deselected", tested)
    assert re.search(r"glue jobs: \d+ runs in process, 0 runs isolated", tested)
    assert "0 errors, 0 warnings" in shop.types("tidemark lint")


def test_each_run_reads_what_is_new(shop: User) -> None:
    landing = shop.folder / ".tidemark/lake/shop-dev-lakelanding/orders"
    landing.mkdir(parents=True)
    (landing / "1.json").write_text(ROW.format(1, 1) + ROW.format(2, 1))

    first = shop.types("tidemark run")
    (landing / "2.json").write_text(ROW.format(3, 2))
    second = shop.types("tidemark run")

    assert "2 rows read, 2 written" in first
    assert "1 row read, 1 written" in second


@pytest.mark.nightly
def test_jobs_that_are_added_run_after_what_they_read_with_the_library_that_they_need(
    shop: User,
) -> None:
    said = shop.types("tidemark new-job orders-by-day --kind publish --after ingest-orders")
    assert "added the job to infra/shop_stack.py" in said
    shop.types("tidemark new-job ingest-payments --kind watermark-jdbc")

    lines = shop.types("tidemark run").splitlines()

    (orders,), (days,), (payments,) = (
        [line for line in lines if f"{name}  SUCCEEDED" in line]
        for name in ("ingest-orders", "orders-by-day", "ingest-payments")
    )
    assert "0 rows read, 0 written" in orders
    assert "rows read" in days
    assert "2 rows read, 2 written" in payments


def test_a_report_of_the_project_is_written(shop: User) -> None:
    assert "report.html" in shop.types("tidemark report")
    page = (shop.folder / ".tidemark" / "report.html").read_text(encoding="utf-8")
    assert "ingest-orders" in page


@pytest.mark.nightly
def test_the_sample_can_be_written_too_synthesizes_and_passes_its_tests(shop: User) -> None:
    shop.types("cd .. && tidemark init planes --example flights")

    shop.types("cd ../planes && python app.py")

    planes = shop.folder.parent / "planes"
    assert (planes / "cdk.out" / "planes-dev-storage.template.json").is_file()
    assert "0 errors, 0 warnings" in shop.types("cd ../planes && tidemark lint --app cdk.out")
    assert re.search(r"\d+ passed", shop.types("cd ../planes && pytest -q"))


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("tidemark init Shop", "project name 'Shop'"),
        ("tidemark init class", "a word or a module of Python"),
        ("tidemark init infra", "is not an empty folder"),
        ("cd tests && tidemark run", "run tidemark in the folder of the project"),
        ("cd tests && tidemark new-job a", "cdk.json"),
    ],
)
def test_what_cannot_be_is_one_line_and_nothing_is_written(
    shop: User, line: str, part: str
) -> None:
    before = sorted(shop.folder.rglob("*.py"))

    said = shop.types(line, code=2)

    assert part in said
    assert said.splitlines()[-1].startswith("error: ")
    assert sorted(shop.folder.rglob("*.py")) == before
