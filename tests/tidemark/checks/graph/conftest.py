"""A project of one script, for tests that synthesize."""

import pytest

from tests.fixtures.pipelines import small_library


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    small_library(root)
    (root / "job.py").write_text("print('hello')\n")
    return root
