"""The real jobs of the sample, run always and skipped where nothing is new: the same lake."""

from __future__ import annotations

import hashlib
import json
import shutil
from contextlib import ExitStack
from pathlib import Path

import duckdb
import pytest

from sample.land import land_delivery_locally
from sample.landing import plan_delivery
from tidemark.glue_service.commands import deploy, load_app
from tidemark.glue_service.one_run import SilentListener, run_workflow
from tidemark.glue_service.runs.jvms.supply import jvms_of
from tidemark.glue_service.workflows.nothing_new import ARGUMENT
from tidemark.local_state.home import Home

pytestmark = [pytest.mark.spark, pytest.mark.synth, pytest.mark.nightly]
INPUTS = {
    "ingest-weather": ("--source_path",),
    "curate-flights": ("--flights_path", "--weather_path"),
    "publish-delays": ("--source_path",),
}
STEPS = (None, None, None, "3", None, None)  # days that land before a run


@pytest.fixture
def skipping(assembly, tmp_path):
    """Return the app with jobs that are skipped, as `skip_if_nothing_new` makes them."""
    folder = shutil.copytree(assembly, tmp_path / "skipping")
    jobs = load_app(assembly).deployment.jobs
    for file in folder.glob("*.template.json"):
        template = json.loads(file.read_text(encoding="utf-8"))
        for resource in template["Resources"].values():
            properties = resource.get("Properties", {})
            name = properties.get("Name")
            if resource["Type"] == "AWS::Glue::Job" and name in INPUTS:
                of_job = jobs[name].default_arguments
                uris = ",".join(of_job[argument] for argument in INPUTS[name])
                properties["DefaultArguments"][ARGUMENT] = uris
        file.write_text(json.dumps(template), encoding="utf-8")
    return folder


def play(assembly: Path, home: Home) -> list[list[str]]:
    """Run the steps; return for each the jobs that were skipped."""
    skipped = []
    app = load_app(assembly)
    deployment = deploy(app, home)
    land_delivery_locally(plan_delivery("1..2", None, None), deployment, home)
    with ExitStack() as stack:
        jvms = stack.enter_context(jvms_of(home, say=lambda _: None))
        for number, days in enumerate(STEPS):
            is_new = not number or days is not None
            if days:
                land_delivery_locally(plan_delivery(days, None, None), deployment, home)
            before = digests(home)
            result = run_workflow(app, home, None, SilentListener(), jvms)
            assert [run.state for run in result.job_runs] == ["SUCCEEDED"] * 4
            assert is_new or digests(home) == before  # bit for bit, be they run or not
            skipped.append(sorted(run.job_name for run in result.job_runs if run.jvm is None))
    return skipped


def digests(home: Home) -> dict[str, str]:
    """Return the digest of every data file by its place."""
    files = (file for file in home.lake.glob("tidemark-*/**/*") if file.is_file())
    return {
        str(file.relative_to(home.lake)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
        if "weather_staging" not in file.parts
    }


def rows(home: Home) -> dict[str, list[tuple[object, ...]]]:
    """Return the rows of each dataset that jobs write, in their order; Spark's own varies."""
    found = {}
    for dataset in ("raw/flights", "raw/weather", "curated/flights", "mart/route_delays"):
        files = f"{home.lake}/tidemark-dev-storage-{dataset}/**/*.parquet"
        query = f"SELECT * FROM read_parquet('{files}', hive_partitioning = false) ORDER BY ALL"  # noqa: S608
        found[dataset] = duckdb.sql(query).fetchall()
    return found


def test_the_lake_is_the_same_and_jobs_without_new_data_were_not_started(
    assembly, skipping, tmp_path
):
    always, sometimes = Home.open(tmp_path / "always"), Home.open(tmp_path / "sometimes")

    assert play(assembly, always) == [[]] * len(STEPS)
    every = sorted(INPUTS)
    assert play(skipping, sometimes) == [[], every, every, [], every, every]

    expected = rows(always)
    assert [len(found) > 100 for found in expected.values()] == [True] * 4
    assert rows(sometimes) == expected
