"""The job of docs/nothing-new.md is declared, and its script ends where nothing is new."""

from __future__ import annotations

import re
import shutil

import pytest

import tidemark.constructs as tc
from tests.projects import PROJECT
from tests.tidemark.constructs.wrong.world import World
from tests.tidemark.glue_service.conftest import Port
from tidemark.glue_service.http.serving import serving
from tidemark.local_state.bookmarks.versions import commit_bookmark
from tidemark.local_state.dynamodb import dynamodb_client
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import Store
from watermarks import create_table_request

pytestmark = pytest.mark.stress  # starts many processes

TEXT = (PROJECT / "docs" / "nothing-new.md").read_text(encoding="utf-8")
DECLARATION, SCRIPT = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.synth
@pytest.mark.nightly  # the keyword itself is tested with the constructs
def test_the_job_of_the_page_is_skipped_by_the_data_that_it_reads(cdk, tmp_path):
    world = World(tmp_path)
    (tmp_path / "glue_jobs").mkdir()
    (tmp_path / "glue_jobs" / "curate_flights.py").write_text("pass\n")
    raw, curated = world.data("raw/", delivered=False), world.data("curated/", delivered=False)
    names = {
        "pipeline": world.orders,
        "BookmarkOption": tc.BookmarkOption,
        "ingest_flights": world.job("ingest-flights", writes=[raw]),
        "airports": world.data("airports/"),
        "curated_flights": curated,
    }

    exec(compile(DECLARATION, "nothing-new.md", "exec"), names)  # noqa: S102 (our own page)

    by_name = {job["Name"]: job for job in world.resources("AWS::Glue::Job")}
    arguments = by_name["curate-flights"]["DefaultArguments"]
    assert arguments["--skip_if_nothing_new"] == "s3://lake/airports/,s3://lake/raw/"
    assert "--nothing_new_table" in arguments


@pytest.mark.nightly
def test_the_script_of_the_page_ends_its_run_in_the_first_lines(tmp_path):
    """As a job of Spark whose process starts no JVM."""
    arguments = {
        "--extra-py-files": "s3://raw/libs.zip",
        "--job-bookmark-option": "job-bookmark-enable",
        "--skip_if_nothing_new": "s3://raw/flights/",
        "--nothing_new_table": "marks",
        "--source_path": "s3://raw/flights/",
        "--target_path": "s3://mart/flights/",
    }
    home = Home.open(tmp_path / "home")
    with serving(home) as (url, engine):
        port = Port(home, url, engine)
        (home.lake / "raw" / "flights").mkdir(parents=True)
        (home.lake / "raw" / "flights" / "a.csv").write_text("1\n", encoding="utf-8")
        shutil.make_archive(str(home.lake / "raw" / "libs"), "zip", PROJECT / "libs", "watermarks")
        endpoint = engine.ask(lambda glue: glue.machine.dynamodb_endpoint)
        with dynamodb_client(endpoint, "us-east-1") as dynamodb:
            dynamodb.create_table(**create_table_request("marks"))
        location = port.script("curate", f"{SCRIPT}\nprint('it reads')\n")
        command = {"Name": "glueetl", "ScriptLocation": location}
        port.glue.create_job(
            Name="curate", Role="r", Command=command, DefaultArguments=arguments, GlueVersion="5.1"
        )

        printed = []
        for _ in range(2):
            run = port.ended("curate", port.start("curate"))
            assert run["JobRunState"] == "SUCCEEDED", run["ErrorMessage"]
            log = home.runs / run["Id"] / "stdout.log"
            printed.append(log.read_text(encoding="utf-8").splitlines())
            with Store(home.database) as store:
                commit_bookmark(store, "curate", run["Id"], {}, len(printed) - 1, 1)

    first, second = printed
    assert first == ["the run continues: the findings of the last run are not known", "it reads"]
    assert second == ["nothing new: s3://raw/flights/ unchanged since the last commit"]
