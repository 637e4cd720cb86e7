"""A job that has read everything is proved from the beginning; the home stays as it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.tidemark.operate.prove.catalogue import CATALOGUE
from tidemark.cli.main import main

CASES = {case.name: case for case in CATALOGUE}
WINDOW = next(case.name for case in CATALOGUE if "write_window(" in case.script)


def tidemark(*words: str) -> Result:
    result = CliRunner().invoke(main, words)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    return result


def data_in(project: Path) -> dict[str, bytes]:
    folder = project / "home" / "lake" / "lake"
    return {str(file): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.spark
@pytest.mark.nightly
@pytest.mark.parametrize("name", ["append", WINDOW])
def test_a_job_that_has_read_everything_begins_anew(project: Path, name: str) -> None:
    case = CASES[name]
    (project / "job.py").write_text(case.script, encoding="utf-8")
    library = ("--extra-py-files", "s3://lake/libs.zip")
    job = ("job.py", "--JOB_NAME", "daily", *case.arguments, *library)
    for _ in range(2):
        result = tidemark("submit", *job)
        assert result.exit_code == 0, result.output
    before = data_in(project)

    found = json.loads(tidemark("prove", "--kind", "again", "--format", "json", *job).stdout)

    assert found["is_anew"]
    (again,) = found["experiments"]
    assert again["verdict"] == case.verdicts["again"]
    assert [target["expected"] for target in again["targets"]] == [12]
    assert data_in(project) == before
    last = tidemark("submit", *job)
    assert "0 rows read" in last.output


@pytest.mark.spark
@pytest.mark.nightly
def test_files_that_an_earlier_run_has_read_do_not_come_in_another_order(project: Path) -> None:
    case = CASES[WINDOW]
    (project / "job.py").write_text(case.script, encoding="utf-8")
    folder = project / "home" / "lake" / "lake" / "in"
    later = {name: (folder / name).read_bytes() for name in ("day3.json", "day4.json")}
    for name in later:
        (folder / name).unlink()
    library = ("--extra-py-files", "s3://lake/libs.zip")
    job = ("job.py", "--JOB_NAME", "daily", *case.arguments, *library)
    assert tidemark("submit", *job).exit_code == 0
    for name, content in later.items():
        (folder / name).write_bytes(content)

    found = json.loads(tidemark("prove", "--kind", "order", "--format", "json", *job).stdout)

    assert {one["verdict"] for one in found["experiments"]} == {case.verdicts["order"]}
