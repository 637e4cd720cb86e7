"""The job scripts, loaded from their files as Glue loads them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SCRIPTS = Path(__file__).parents[2] / "glue_jobs"


@pytest.fixture(scope="module")
def job(request: pytest.FixtureRequest) -> ModuleType:
    """Return the script that the test module is named after; ``main`` does not run."""
    name = request.path.stem.removeprefix("test_")
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script
