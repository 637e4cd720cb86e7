"""The sample app on Glue 5.1 and on 6.0: after the same increment both leave the same."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from sample.land import land_locally
from sample.landing import flight_objects, parse_days, weather_objects
from sample.story import SAMPLE_JOBS, WORKFLOW
from tidemark.cli.main import main
from tidemark.glue_service.commands import deploy, load_app
from tidemark.glue_service.one_run import SilentListener, run_workflow
from tidemark.local_state.home import Home

pytestmark = [pytest.mark.spark, pytest.mark.synth, pytest.mark.nightly]


@pytest.fixture
def loaded(assembly, tmp_path, monkeypatch, jvms) -> Home:
    """Return a home in which one day was loaded and another one has landed."""
    monkeypatch.setenv("TIDEMARK_HOME", str(tmp_path / "home"))
    home, app = Home.open(tmp_path / "home"), load_app(assembly)
    deployment = deploy(app, home)
    first, second = parse_days("1"), parse_days("2")
    land_locally({**flight_objects(first), **weather_objects(first)}, deployment, home)
    result = run_workflow(app, home, WORKFLOW, SilentListener(), jvms)
    assert result.is_success
    land_locally({**flight_objects(second), **weather_objects(second)}, deployment, home)
    return home


def test_targets_watermarks_bookmarks_and_tables_of_the_sample_are_equal(loaded, assembly):
    words = ["compare-versions", "--format", "json", "--app", str(assembly), "--workflow", WORKFLOW]

    done = CliRunner().invoke(main, words)

    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert {job["job"] for job in found["jobs"]} >= set(SAMPLE_JOBS)
    targets = {target["target"]: target for target in found["targets"]}
    assert {target["verdict"] for target in targets.values()} == {"equal"}
    assert len(targets) >= 4
    states = {(state["kind"], state["name"]): state for state in found["states"]}
    assert {state["verdict"] for state in states.values()} == {"equal"}
    for job in ("ingest-weather", "curate-flights", "publish-delays"):
        assert states["bookmark", job]["summary"][0].startswith("version 2; ")
    (old, new) = states["watermark", "glue-watermarks: ingest-flights"]["summary"]
    assert old == new
    assert old.startswith("updated_at = 2013-01-0")
