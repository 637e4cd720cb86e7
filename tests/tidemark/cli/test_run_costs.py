"""What `tidemark run` does for a run: it reads an app once, and sleeps while a job works."""

from __future__ import annotations

import queue
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.commands import WriteAssembly
from tests.tidemark.cli.test_cli import tidemark
from tests.tidemark.cli.test_run_serves import shells
from tests.tidemark.glue_service.conftest import Port
from tests.waiting import wait_until
from tidemark.glue_service import engine
from tidemark.glue_service.engine import step
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.http.serving import Options, serving
from tidemark.glue_service.workflows import whole_run
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import JobRun
from tidemark.model.assembly import cloud_assembly, template
from tidemark.model.assembly.definitions import Deployment


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count which files of an assembly are read, and how often its definitions are made."""
    counts: Counter[str] = Counter()
    read_json, make_deployment = cloud_assembly._read_json, template._deployment

    def counted_read(path: Path) -> dict[str, Any]:
        counts[path.name] += 1
        return read_json(path)

    def counted_deployment(*args: Any) -> Deployment:
        counts["deployment"] += 1
        return make_deployment(*args)

    monkeypatch.setattr(cloud_assembly, "_read_json", counted_read)
    monkeypatch.setattr(template, "_deployment", counted_deployment)
    return counts


def test_a_run_reads_its_app_once(
    home: Path, write_assembly: WriteAssembly, reads: Counter[str]
) -> None:
    app = shells(write_assembly({"first": "", "second": ""}, {"second": ["first"]}))

    result = tidemark("run", "--isolated", "--app", str(app))

    assert result.exit_code == 0, result.output
    assert "second  SUCCEEDED" in result.output
    files = ("manifest.json", "assets.json", "template.json")
    assert reads == {**dict.fromkeys(files, 1), "deployment": 1}


def test_the_status_of_an_app_reads_it_once(
    home: Path, write_assembly: WriteAssembly, reads: Counter[str]
) -> None:
    result = tidemark("status", "--app", str(write_assembly({"first": ""})))

    assert result.exit_code == 0, result.output
    assert "first" in result.output
    assert set(reads.values()) == {1}


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count how often the engines of a test look what is due."""
    counts: Counter[str] = Counter()

    def counted(glue: GlueState) -> None:
        counts["steps"] += 1
        step(glue)

    monkeypatch.setattr(engine, "step", counted)
    return counts


def test_the_engine_of_a_run_sleeps_while_its_job_works(
    home: Path, write_assembly: WriteAssembly, steps: Counter[str]
) -> None:
    app = shells(write_assembly({"first": "import time\ntime.sleep(3)"}))
    began = time.monotonic()

    result = tidemark("run", "--isolated", "--app", str(app))

    assert result.exit_code == 0, result.output
    took = time.monotonic() - began
    assert took >= 3
    assert steps["steps"] < 20 * took  # by events it is 8; a look each 10 ms is 86


def test_an_end_is_seen_at_once_and_not_by_the_next_look(
    home: Path,
    write_assembly: WriteAssembly,
    steps: Counter[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (engine, whole_run):
        monkeypatch.setattr(module, "LOOK_S", 1000.0)
    app = shells(write_assembly({"first": "", "second": ""}, {"second": ["first"]}))
    began = time.monotonic()

    result = tidemark("run", "--isolated", "--app", str(app))

    assert "second  SUCCEEDED" in result.output
    assert time.monotonic() - began < 500


def test_an_engine_without_runs_and_schedules_sleeps(tmp_path: Path, steps: Counter[str]) -> None:
    with serving(Home.open(tmp_path / "home")) as (_, served):
        served.ask(lambda _: None)
        # The first one, and those behind the request and behind what the server asks at its start.
        wait_until(lambda: steps["steps"] >= 2)
        time.sleep(0.5)
        before = steps["steps"]
        time.sleep(1)
        assert steps["steps"] == before
        served.ask(lambda _: None)
        wait_until(lambda: steps["steps"] > before)


def test_a_run_that_is_stopped_has_ended_with_its_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "LOOK_S", 1000.0)
    home = Home.open(tmp_path / "home")
    ended: queue.SimpleQueue[JobRun] = queue.SimpleQueue()
    with serving(home, Options(observe=ended.put)) as (url, served):
        port = Port(home, url, served)
        port.job("long", "import time\nopen('began', 'w').close()\ntime.sleep(60)")
        run_id = port.start("long")
        wait_until(lambda: (home.runs / run_id / "began").exists())
        port.glue.batch_stop_job_run(JobName="long", JobRunIds=[run_id])
        assert ended.get(timeout=500).state == "STOPPED"
