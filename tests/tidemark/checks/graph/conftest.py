"""A project of one script, for tests that synthesize."""

import pytest


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    (root / "libs").mkdir()
    (root / "job.py").write_text("print('hello')\n")
    return root
