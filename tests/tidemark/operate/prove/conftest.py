"""A project with four files to read, and the verdicts that `tidemark prove` gives there."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.tidemark.operate.prove.jobs import Case
from tidemark.cli.main import main
from tidemark.glue_service.commands import region
from tidemark.glue_service.runs.jvms.supply import POOL_VARIABLE, jvms_of
from tidemark.local_state.dynamodb import create_tables, dynamodb_client, dynamodb_endpoint
from tidemark.local_state.home import Home
from tidemark.local_state.watermark_tables import watermark_table
from tidemark.operate.prove.judged import worst
from tidemark.operate.prove.kinds.every import KINDS

LIBS = Path(__file__).parents[4] / "libs"


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the file of a pool of warm JVMs for all cases."""
    home = Home.open(tmp_path_factory.mktemp("pool") / "home")
    with jvms_of(home) as jvms:
        yield str(jvms.pool_file)


@pytest.fixture
def project(tmp_path: Path, pool: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TIDEMARK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv(POOL_VARIABLE, pool)
    monkeypatch.chdir(tmp_path)
    home = Home.open(tmp_path / "home")
    folder = home.lake / "lake" / "in"
    folder.mkdir(parents=True)
    for day in range(1, 5):
        rows = [
            {
                "id": 10 * day + number,
                "day": f"2026-11-2{day}",
                "customer": f"c{number}",
                "amount": 10.0 * day + number,
            }
            for number in range(3)
        ]
        file = folder / f"day{day}.json"
        file.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
        os.utime(file, (1_790_000_000 + 86_400 * day,) * 2)
    with (
        dynamodb_endpoint(home) as endpoint,
        dynamodb_client(endpoint, region()) as client,
    ):
        create_tables(client, [watermark_table("glue-watermarks")])
    with zipfile.ZipFile(home.lake / "lake" / "libs.zip", "w") as archive:
        for file in LIBS.rglob("*.py"):
            archive.write(file, file.relative_to(LIBS))
    return tmp_path


@pytest.fixture
def verdicts(project: Path) -> Callable[..., dict[str, str]]:
    """Return what proves a case, and returns the worst verdict of each kind of experiment."""
    slow = ("executors", "versions")  # they have JVMs of their own
    fast = [kind for kind in KINDS if kind not in slow]
    return lambda case, only=fast: _verdicts(project, case, only)


def _verdicts(project: Path, case: Case, only: Sequence[str]) -> dict[str, str]:
    """Return the worst verdict of each kind of experiment."""
    script = project / "job.py"
    script.write_text(case.script, encoding="utf-8")
    words = ["prove", "--format", "json", "--kind", ",".join(only)]
    words += ["--ignore", ",".join(case.ignore)] if case.ignore else []
    words += [str(script)]
    words += ["--JOB_NAME", case.name, *case.arguments]
    result = CliRunner().invoke(main, [*words, "--extra-py-files", "s3://lake/libs.zip"])
    assert result.exit_code in (0, 1, 4), result.output  # 4: not all could be tried
    found: dict[str, list[str]] = {}
    document = json.loads(result.stdout)
    for one in document["experiments"]:
        found.setdefault(one["kind"], []).append(one["verdict"])
    assert found.pop("together", ["not tried"]) == ["not tried"]
    is_bad = document["verdict"] in ("lost", "doubled", "changed", "fails")
    assert (result.exit_code == 1) == is_bad
    return {kind: worst(of_kind) for kind, of_kind in found.items()}  # type: ignore[arg-type]
