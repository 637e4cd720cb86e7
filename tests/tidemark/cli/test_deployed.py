"""Commands with --deployed, on a port of another home in the place of AWS: the same requests."""

from __future__ import annotations

import json
import signal

import pytest

from tests.tidemark.cli.deployed_stages import WAITS
from tests.tidemark.cli.processes import read_until, started
from tests.waiting import BOUND_S, wait_until
from tidemark.glue_service.deployments import deploy_on_port
from tidemark.local_state.dynamodb import create_tables, dynamodb_client
from tidemark.local_state.watermark_tables import watermark_table
from watermarks import Watermarks

pytestmark = pytest.mark.stress  # starts many processes


def test_a_workflow_runs_where_the_stage_is_deployed_and_nothing_runs_here(stage, home):
    stage.deploy({"load": "print('there')", "report": ""}, {"report": ["load"]})

    result = stage.ask("run")

    assert result.exit_code == 0, result.output
    assert "✓ load  SUCCEEDED in " in result.output
    assert "✓ report  SUCCEEDED in " in result.output
    assert f"AWS_ENDPOINT_URL: {stage.port.url} answers for stage prod" in result.stderr
    assert stage.port.states("report") == ["SUCCEEDED"]
    assert not list(home.glob("runs/*"))


def test_a_run_is_shown_with_what_it_recorded_in_its_table(stage, monkeypatch):
    stage.deploy({"load": "print('out')", "report": ""})
    arguments = {"--watermark_table": "runs-of-prod"}
    stage.edit(lambda it: it["Properties"].setdefault("DefaultArguments", {}).update(arguments))
    stage.port.engine.ask(lambda glue: deploy_on_port(glue, stage.app))
    (first,) = stage.have_run("load")
    with dynamodb_client(stage.port.url, "us-east-1") as client:
        create_tables(client, [watermark_table("runs-of-prod")])
        watermarks = Watermarks("runs-of-prod", client)
        watermarks.checkpoint("load", first, read=["s3://raw/"], written={"s3://lake/": "append"})

    shown = json.loads(stage.ask("run", "show", first[:12], "--format", "json").stdout)
    text = stage.ask("run", "show", first[:12]).stdout

    (read,), (written,) = shown["checkpoint"]["read"], shown["checkpoint"]["written"]
    assert (shown["run_id"], shown["job"], shown["log"]) == (first, "load", ["out"])
    assert (read["dataset"], written["dataset"]) == ("s3://raw/", "s3://lake/")
    assert written["mode"] == "append"
    assert "s3://lake/" in text


def test_ctrl_c_of_a_run_stops_it_and_of_logs_does_not(stage, tmp_path):
    gate = tmp_path / "gate"
    stage.deploy(
        {"load": f"print('begun')\n{WAITS.format(str(gate))}", "report": ""}, {"report": ["load"]}
    )
    options = ("--deployed", "prod", "--app", str(stage.app))
    with started("run", *options) as run:
        read_until(run, b"started")
        with started("logs", "load", "--follow", *options) as logs:
            read_until(logs, b"begun")
            logs.send_signal(signal.SIGINT)
            _, said = logs.communicate(timeout=BOUND_S)
        assert stage.port.states("load") == ["RUNNING"]
        run.send_signal(signal.SIGINT)
        _, stopped = run.communicate(timeout=BOUND_S)
    wait_until(lambda: stage.port.states("load") == ["STOPPED"])

    assert (logs.returncode, run.returncode) == (130, 130)
    assert "stopped following" in said.decode()
    assert "is being stopped" in stopped.decode()
    assert stage.port.states("report") == []
    assert stage.ask("stop").output.rstrip().endswith("nothing to stop")
