"""The small project that the tests of `new-job` change."""

from pathlib import Path

import pytest

from tests.fixtures.new_job import write_project


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project without a snapshot of its template, as the working folder."""
    write_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TIDEMARK_HOME", raising=False)
    return tmp_path
