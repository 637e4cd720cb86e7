"""The programs of docs/glue-on-one-port.md, run by themselves against a port."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pages import Page
from tests.signing import variables_of
from tests.tidemark.glue_service.conftest import Port
from tidemark.glue_service.http.serving import serving
from tidemark.local_state.home import Home

pytestmark = pytest.mark.stress  # starts many processes

PROGRAMS = Page("docs/glue-on-one-port.md").blocks
HELLO = "import sys; print('hello', sys.argv[sys.argv.index('--name') + 1])"


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    home = Home.open(tmp_path_factory.mktemp("doc") / "home")
    (home.lake / "scripts").mkdir()
    with serving(home) as (url, engine):
        yield Port(home, url, engine)


@pytest.fixture
def run_program(port):
    home = port.home

    def run(name: str, **scripts: str) -> list[str]:
        for script, text in scripts.items():
            (home.lake / "scripts" / f"{script}.py").write_text(text, encoding="utf-8")
        environment = {
            **{key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ},
            **variables_of(home, port.url),
        }
        done = subprocess.run(
            [sys.executable, "-c", PROGRAMS[name]],
            env=environment,
            cwd=Path(home.root),
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return run


def test_a_run_is_started_watched_and_its_log_read(run_program):
    assert run_program("a run", hello=HELLO) == ["SUCCEEDED", "hello you"]


@pytest.mark.nightly
def test_values_pass_by_run_properties(run_program):
    printed = run_program("workflow", producer=PROGRAMS["producer"], consumer="")

    assert printed == ["COMPLETED 2 s3://landing/2026-01-02/"]


def test_events_start_a_workflow_in_batches(run_program, port):
    port.job("load")

    (event_ids,) = run_program("events")

    assert event_ids.count(", ") == 1
