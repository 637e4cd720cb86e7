"""The commands of docs/add-a-job.md do what the text says, one after the other.

Those of the other kinds are run by tests/tidemark/scaffold/test_new_job_project.py.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.projects import copy_project, guide, of_the_sample, shell

pytestmark = [pytest.mark.spark, pytest.mark.synth, pytest.mark.nightly]
JOB = "guideorders"
RAW = f".tidemark/lake/tidemark-dev-storage-raw/{JOB}"


def run(project: Path, name: str) -> list[str]:
    return [shell(project, of_the_sample(line)) for line in guide(name).splitlines()]


def replace(path: Path, name: str, text: str) -> None:
    """Put a text in place of the assignment to a name."""
    old = path.read_text(encoding="utf-8")
    new, count = re.subn(rf"^{name} = {{.*?}}\n", text, old, flags=re.DOTALL | re.MULTILINE)
    assert count == 1
    path.write_text(new, encoding="utf-8")


def test_a_job_takes_the_commands_of_the_guide(tmp_path):
    project = copy_project(tmp_path)

    (scaffolded,) = run(project, "scaffold")
    for path in (f"glue_jobs/{JOB}.py", f"tests/glue_jobs/test_{JOB}.py"):
        assert f"wrote {path}" in scaffolded
        assert (project / path).is_file()
    assert f"updated tests/snapshots/tidemark-dev-flights/{JOB}.txt" in scaffolded
    assert "tests/snapshots/tidemark-dev-flights/_stack.txt" not in scaffolded
    for line in guide("first run").splitlines():
        assert f"  {of_the_sample(line)}\n" in scaffolded  # the command prints what the guide says

    *_, first, explained = run(project, "first run")
    assert re.search(rf"{JOB}  SUCCEEDED .* 1 row read, 1 written", first)
    assert re.search(r"ingest-weather  SUCCEEDED .* 0 rows read, 0 written", first)
    assert "would read 0 of 1 file" in explained
    assert len(list((project / RAW).glob("source_file=*/*.parquet"))) == 1

    _, explained, second = run(project, "second run")
    assert "would read 1 of 2 files" in explained
    assert re.search(rf"{JOB}  SUCCEEDED .* 1 row read, 1 written", second)

    replace(project / f"glue_jobs/{JOB}.py", "COLUMNS", guide("glue_jobs/orders.py"))
    replace(
        project / f"tests/glue_jobs/test_{JOB}.py", "ROW", guide("tests/glue_jobs/test_orders.py")
    )
    (tested,) = run(project, "change")
    assert " passed" in tested
