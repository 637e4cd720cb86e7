"""An account in the place of AWS, and stages in it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import boto3
import pytest

from tests.fixtures.commands import WriteAssembly
from tests.signing import variables_of
from tests.tidemark.cli.deployed_stages import ServedHome, Stage, forget_runs, have_run
from tests.tidemark.glue_service.conftest import Port
from tidemark.glue_service.deployments import deploy_on_port
from tidemark.glue_service.http.serving import serving
from tidemark.local_state.bookmarks.versions import delete_bookmark
from tidemark.local_state.dynamodb import create_tables
from tidemark.local_state.home import Home
from tidemark.local_state.watermark_tables import watermark_table
from watermarks import WatermarkAdmin


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Port]:
    """A port of another home than that of the commands, which stands for an account."""
    home = Home.open(tmp_path_factory.mktemp("account") / "home")
    with serving(home) as (url, engine):
        yield Port(home, url, engine)


@pytest.fixture
def stage(
    home: Path, account: Port, monkeypatch: pytest.MonkeyPatch, write_assembly: WriteAssembly
) -> Stage:
    """What deploys a stage into the account, in which nothing has run, and what asks it."""
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name, value in variables_of(account.home, account.url).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)  # which keeps the key that it was made with
    account.engine.ask(forget_runs)
    shutil.rmtree(account.home.lake / "assets", ignore_errors=True)  # of a name once published
    return Stage(account, write_assembly)


@pytest.fixture(params=["stage", "home"])
def target(
    request: pytest.FixtureRequest, home: Path, write_assembly: WriteAssembly
) -> Iterator[Stage]:
    """A stage in the account, or the home of the commands while a port serves it."""
    if request.param == "stage":
        yield request.getfixturevalue("stage")
        return
    with serving(Home.open(home)) as (url, engine):
        yield ServedHome(Port(Home.open(home), url, engine), write_assembly)


@pytest.fixture
def rewindable(stage):
    """A stage of a job with a watermark and one with a bookmark behind it, each run three times."""
    with made_rewindable(stage) as watermarks:
        yield stage, watermarks


@pytest.fixture
def rewindable_target(target):
    """The same of a stage, and of a home."""
    with made_rewindable(target) as watermarks:
        yield target, watermarks


@contextmanager
def made_rewindable(stage: Stage) -> Iterator[WatermarkAdmin]:
    names = [f"jr_{job}{n}" for job in "lr" for n in (1, 2, 3)]
    stage.port.engine.ask(lambda glue: [delete_bookmark(glue.store, j) for j in ("load", "report")])
    stage.deploy({"load": "", "report": ""}, {"report": ["load"]})
    arguments = {"--watermark_table": "rewinds-of-prod"}
    stage.edit(lambda it: it["Properties"].setdefault("DefaultArguments", {}).update(arguments))
    stage.port.engine.ask(lambda glue: deploy_on_port(glue, stage.app))
    have_run(stage, "report", *names[3:])
    client = stage.port.client("dynamodb")
    if "rewinds-of-prod" in client.list_tables()["TableNames"]:
        client.delete_table(TableName="rewinds-of-prod")
    create_tables(client, [watermark_table("rewinds-of-prod")])
    watermarks = WatermarkAdmin("rewinds-of-prod", client)
    for number, run_id in enumerate(names[:3]):
        base = watermarks.latest("load")
        watermarks.advance(job_id="load", run_id=run_id, to={"id": number}, base=base)
        watermarks.checkpoint("load", run_id, written={"s3://lake/": "overwrite"})
    yield watermarks
