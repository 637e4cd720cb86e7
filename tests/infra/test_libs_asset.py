"""What ships to the jobs: packages meant to, complete, and nothing else."""

import subprocess
import sys
import zipfile

import pytest

pytestmark = pytest.mark.synth

SHIPPED = {"watermarks"}


@pytest.fixture(scope="module")
def libs(synth):
    """Return the folder that the deployment zips."""
    assembly = synth(stage="dev")
    (path,) = (
        asset["source"]["path"]
        for asset in assembly.assets("tidemark-dev-flights").values()
        if asset["source"]["packaging"] == "zip"
    )
    return assembly.folder / path


def test_only_the_packages_meant_to_ship_are_in_the_zip(libs):
    assert {path.name for path in libs.iterdir()} == SHIPPED


def test_every_folder_of_the_zip_is_a_package(libs):
    folders = [path for path in libs.rglob("*") if path.is_dir()]

    assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []


def test_the_zip_holds_source_and_no_leftovers(libs):
    names = {path.name for path in libs.rglob("*") if path.is_file()}

    assert {name for name in names if not name.endswith((".py", ".typed"))} == set()
    assert not list(libs.rglob("__pycache__"))


def test_a_job_can_import_the_packages_from_the_zip(libs, tmp_path):
    archive = tmp_path / "libs.zip"
    with zipfile.ZipFile(archive, "w") as zipped:
        for path in sorted(libs.rglob("*")):
            if path.is_file():  # like the CDK, which writes no entries for folders
                zipped.write(path, path.relative_to(libs))
    program = (
        "import importlib, sys; sys.path.insert(0, sys.argv[1]); "
        "print(*(importlib.import_module(name).__file__ for name in sys.argv[2:]))"
    )

    done = subprocess.run(
        [sys.executable, "-I", "-c", program, str(archive), *SHIPPED],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.split() == [f"{archive}/{name}/__init__.py" for name in SHIPPED]
