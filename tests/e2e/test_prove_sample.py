"""The sample's four jobs lose and double no row, whatever goes wrong with them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from sample.land import land_delivery_locally
from sample.landing import plan_delivery
from tidemark.cli.main import main
from tidemark.glue_service.commands import deploy, load_app
from tidemark.local_state.home import Home

pytestmark = [pytest.mark.spark, pytest.mark.synth, pytest.mark.nightly]
KINDS = "crash,again,parts,order,meanwhile,twice,replaced,drift,rewind,executors"


def test_the_sample_is_proved(assembly: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TIDEMARK_HOME", str(tmp_path / "home"))
    home = Home.open(tmp_path / "home")
    deployment = deploy(load_app(assembly), home)
    land_delivery_locally(plan_delivery("1..3", None, None), deployment, home)

    words = ["prove", "--app", str(assembly), "--kind", KINDS, "--format", "json"]
    result = CliRunner().invoke(main, words)

    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)["experiments"]
    crashes = Counter(one["verdict"] for one in found if one["kind"] == "crash")
    assert crashes.keys() == {"equal", "accepted"}  # raw weather says why it is appended
    # Raw weather has a contract that rescues; the other data has none.
    drift = {one["verdict"] for one in found if one["kind"] == "drift"}
    assert drift == {"equal", "told", "not tried"}
    others = {one["kind"]: one["verdict"] for one in found if one["kind"] not in ("crash", "drift")}
    assert others == dict.fromkeys(
        (kind for kind in KINDS.split(",")[1:] if kind != "drift"), "equal"
    )
