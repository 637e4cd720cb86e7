"""A backfill on AWS says where the deployed script is not the one on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tidemark.glue_service.conftest import Port
from tidemark.cli.target import is_other_script, warn_of_other_code
from tidemark.glue_service.http.serving import serving
from tidemark.local_state.access_key import access_key
from tidemark.local_state.home import Home
from tidemark.model.assembly.cloud_assembly import Assembly, FileAsset
from tidemark.operate.clients import of_port

OLD, NEW = f"{'a' * 64}.py", f"{'b' * 64}.py"


@pytest.mark.parametrize(
    ("location", "is_other"),
    [
        (f"s3://cdk-assets/{OLD}", True),
        (f"s3://cdk-assets/prefix/{NEW}", False),
        ("s3://scripts/load.py", False),  # no asset: its name tells nothing
        ("", False),
    ],
)
def test_only_another_asset_is_another_script(location: str, is_other: bool) -> None:
    assert is_other_script(location, {NEW}) is is_other


def test_the_job_and_both_places_are_named(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    app = Assembly((), (FileAsset(Path("load.py"), False, "assets", NEW),))
    with serving(Home.open(home)) as (url, engine):
        client = Port(Home.open(home), url, engine).glue
        for name, key in (("old", OLD), ("same", NEW)):
            command = {"Name": "glueetl", "ScriptLocation": f"s3://assets/{key}"}
            client.create_job(Name=name, Role="r", Command=command)
        with of_port(url, "stage prod", "us-east-1", access_key(Home.open(home)).arguments) as glue:
            warn_of_other_code(glue, app, ["same", "not-there"])
            nothing = capsys.readouterr().err
            warn_of_other_code(glue, app, ["old"])

    warning = capsys.readouterr().err
    assert nothing == ""
    assert warning.startswith("warning: stage prod runs its deployed script of old")
    assert OLD in warning
    assert "cdk deploy" in warning
