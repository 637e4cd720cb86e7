"""Modules that a job names are accepted where a local run would import just those."""

from __future__ import annotations

from importlib.metadata import version

import pytest

from tidemark.assembly.definitions import JobDefinition
from tidemark.errors import UnsupportedError
from tidemark.local_glue.runs.arguments import merge_arguments
from tidemark.local_glue.runs.python_modules import missing_modules

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


@pytest.mark.rule("Arguments", source="PYL", choice="they are installed by hand")
def test_python_modules_are_accepted_if_they_are_installed_as_pinned():
    job = JobDefinition("ingest", "s3://b/x.py", "5.1")
    installed = f"pytest=={version('pytest')}"
    arguments = {
        "--additional-python-modules": installed,
        "--python-modules-installer-option": "-U",
    }

    assert merge_arguments(job, arguments) == arguments
    with pytest.raises(UnsupportedError, match=r"pytest==0.1 \(is .*\); install it with `.*python"):
        merge_arguments(job, {"--additional-python-modules": "pytest==0.1"})
