"""A wrong name of a script is answered with the near ones, and with the folder looked in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidemark.testing.libraries import near_scripts


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("etl/daily_totals.py", "etl/orders_to_parquet.py", ".venv/etl/nothing.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize("name", ["etl/nothing.py", "etl/daily_total.py", "daily_totals.py"])
def test_scripts_outside_of_glue_jobs_are_named(project, name):
    text = near_scripts(project, name)

    assert "etl/daily_totals.py" in text
    assert ".venv" not in text
    assert "none" not in text


def test_where_none_is_near_the_folder_is_named(project):
    assert near_scripts(project, "zzz.py") == f"scripts in {project / 'glue_jobs'}: none"
    (project / "glue_jobs").mkdir()
    (project / "glue_jobs/ingest.py").touch()
    assert "glue_jobs/ingest.py" in near_scripts(project, "zzz.py")
