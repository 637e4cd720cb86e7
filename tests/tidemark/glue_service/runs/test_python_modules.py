"""Modules that a job names are accepted where a local run would import just those."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path
from zipfile import ZipFile

import pytest

from tidemark.errors import TidemarkError
from tidemark.glue_service.runs.python_modules import missing_modules, module_folders
from tidemark.local_state.home import Home
from tidemark.model.assembly.definitions import JobDefinition

PYTHON = Path(sys.executable)
INSTALLED = {"pandas": "2.2.0", "torch": "2.1.0+cpu", "scikit-learn": "1.4"}


@pytest.mark.parametrize(
    "names",
    [
        "",
        "pandas",
        "pandas==2.2.0, torch==2.1",
        "pandas==2.2",
        "pandas==2.*",
        "pandas[excel]==2.2.0",
        "torch==2.1.0+cpu",
        "s3://bucket/libs/pandas-2.2.0-py3-none-any.whl",
    ],
)
def test_installed_modules_are_accepted(names):
    assert missing_modules(names, INSTALLED.get) == []


@pytest.mark.parametrize(
    ("names", "problems"),
    [
        ("pandas==2.2.1", ["pandas==2.2.1 (is 2.2.0)"]),
        ("pandas==2.20", ["pandas==2.20 (is 2.2.0)"]),
        ("pandas==2.20.*", ["pandas==2.20.* (is 2.2.0)"]),
        ("torch==2.1.0+cu118", ["torch==2.1.0+cu118 (is 2.1.0+cpu)"]),
        ("nowhere==1, pandas", ["nowhere==1 (not installed)"]),
        ("s3://b/pandas-2.3.0-py3-none-any.whl", None),
        ("pandas>=2", ["pandas>=2 (write name==version)"]),
        ("s3://b/requirements.txt", ["s3://b/requirements.txt (write name==version)"]),
        ("git+https://example.com/x.git", ["git+https://example.com/x.git (write name==version)"]),
    ],
)
def test_what_a_run_would_not_find_as_named_is_told(names, problems):
    found = missing_modules(names, INSTALLED.get)

    assert found == (problems or [f"{names} (is 2.2.0)"])


def wheel(lake: Path, name: str, text: str) -> str:
    """Put a wheel with one module into the lake and return its URI."""
    info = f"{name}-1.0.dist-info"
    file = lake / "libs" / f"{name}-1.0-py3-none-any.whl"
    file.parent.mkdir(parents=True, exist_ok=True)
    with ZipFile(file, "w") as zipped:
        zipped.writestr(f"{name}.py", text)
        zipped.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        zipped.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        zipped.writestr(f"{info}/RECORD", "")
    return f"s3://libs/{file.name}"


JOB = JobDefinition("ingest", "s3://b/x.py", "5.1")


@pytest.mark.nightly
@pytest.mark.rule("Arguments", source="PYL", choice="once per set, into a folder of the home")
def test_missing_python_modules_are_installed_once_per_set(tmp_path):
    home = Home.open(tmp_path / "home")
    uri = wheel(home.lake, "tidemark_tiny", "VALUE = 1")
    arguments = {
        "--additional-python-modules": f"{uri},pytest=={version('pytest')}",
        "--python-modules-installer-option": "--no-deps --no-index",
    }

    with pytest.raises(TidemarkError, match="what pip cannot install: ERROR: No matching"):
        module_folders(home, JOB, arguments, PYTHON)
    arguments["--additional-python-modules"] = uri
    (folder,) = module_folders(home, JOB, arguments, PYTHON)
    made = (folder / "tidemark_tiny.py").stat().st_mtime_ns
    assert module_folders(home, JOB, arguments, PYTHON) == [folder]
    wheel(home.lake, "tidemark_tiny", "VALUE = 2")
    (other,) = module_folders(home, JOB, arguments, PYTHON)

    assert (folder / "tidemark_tiny.py").stat().st_mtime_ns == made
    assert (folder / "tidemark_tiny.py").read_text() == "VALUE = 1"
    assert (other / "tidemark_tiny.py").read_text() == "VALUE = 2"
    assert sorted(path.name for path in folder.parent.iterdir()) == sorted(
        [folder.name, other.name]
    )


def test_what_is_installed_as_it_is_named_needs_no_folder(tmp_path):
    home = Home.open(tmp_path / "home")
    arguments = {"--additional-python-modules": f"pytest=={version('pytest')}"}

    assert module_folders(home, JOB, arguments, PYTHON) == []
    with pytest.raises(TidemarkError, match="no such file at"):
        module_folders(
            home, JOB, {"--additional-python-modules": "s3://libs/none-1-py3-none-any.whl"}, PYTHON
        )
