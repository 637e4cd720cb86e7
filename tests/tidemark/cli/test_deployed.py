"""Commands with --deployed, on a port of another home in the place of AWS: the same requests."""

from __future__ import annotations

import json
import os
import signal

import pytest

from tests.tidemark.cli.deployed_stages import WAITS, assert_one_clear_line_after
from tests.tidemark.cli.processes import read_until, started
from tests.waiting import BOUND_S, wait_until
from tidemark.glue_service.deployments import deploy_on_port
from tidemark.glue_service.http import services
from tidemark.local_state.bookmarks.versions import commit_bookmark
from tidemark.local_state.dynamodb import create_tables, dynamodb_client
from tidemark.local_state.watermark_tables import watermark_table
from watermarks import Watermarks

pytestmark = pytest.mark.stress  # starts many processes


@pytest.mark.nightly
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
        watermarks.advance(job_id="report", run_id=first, to={"id": 7}, base=None)

    shown = json.loads(stage.ask("run", "show", first[:12], "--format", "json").stdout)
    text = stage.ask("run", "show", first[:12]).stdout
    explained = stage.ask("explain", "report").stdout

    (read,), (written,) = shown["checkpoint"]["read"], shown["checkpoint"]["written"]
    assert (shown["run_id"], shown["job"], shown["log"]) == (first, "load", ["out"])
    assert (read["dataset"], written["dataset"]) == ("s3://raw/", "s3://lake/")
    assert written["mode"] == "append"
    assert "s3://lake/" in text
    assert "watermark of report: id=7" in explained
    assert "bookmark of report" not in explained


def test_explain_places_the_objects_of_declared_sources_by_the_bookmark(stage):
    stage.deploy({"load": "", "report": ""})
    reads = {"reads": [{"uri": "s3://landing/in/"}]}
    enable = {"--job-bookmark-option": "job-bookmark-enable"}
    stage.edit(lambda it: it.setdefault("Metadata", {}).update({"Tidemark": reads}))
    stage.edit(lambda it: it["Properties"].setdefault("DefaultArguments", {}).update(enable))
    stage.port.engine.ask(lambda glue: deploy_on_port(glue, stage.app))
    folder = stage.port.home.lake / "landing" / "in"
    folder.mkdir(exist_ok=True)
    for name, at in (("old", 1), ("band", 50), ("new", 101), ("_hidden", 101)):
        (folder / name).write_text(name, encoding="utf-8")
        os.utime(folder / name, (at, at))
    state = {"kind": "s3", "high_ms": 100_000, "low_ms": 40_000, "recent": [["a", 1, 2]]}
    stage.port.engine.ask(
        lambda glue: commit_bookmark(glue.store, "load", "jr_1", {"ctx": state}, 0, 1)
    )

    found = json.loads(stage.ask("explain", "load", "--format", "json").stdout)
    text = stage.ask("explain", "load").stdout
    one = stage.ask("explain", "load", "--file", "s3a://landing/in/new").stdout
    without = stage.ask("explain", "report").stdout

    (source,) = found["sources"]
    assert [(it["file"], it["place"]) for it in source["listed"]] == [
        ("s3://landing/in/band", "in the band"),
        ("s3://landing/in/new", "newer"),
        ("s3://landing/in/old", "older"),
    ]
    assert "1970-01-01 00:01:40.000Z (1 file in the band)" in text
    assert "1 newer (3 bytes), 1 in the band (4 bytes), 1 older (3 bytes)" in text
    assert "AWS does not report which source reads which folder" in text
    assert "s3://landing/in/: 1 newer (3 bytes)" in one
    assert "report has no bookmark, or it was reset" in without
    assert "3 newer (10 bytes)" in without


def test_explain_refuses_what_an_account_does_not_tell(stage):
    stage.deploy({"load": ""})

    elsewhere = stage.ask("explain", "load", "--run", "jr_1")
    nothing = stage.ask("explain", "load")
    stage.edit(
        lambda it: it["Properties"].update(
            DefaultArguments={"--job-bookmark-option": "job-bookmark-enable"}
        )
    )
    stage.port.engine.ask(lambda glue: deploy_on_port(glue, stage.app))
    other = stage.ask("explain", "load", "--file", "s3://elsewhere/a")

    assert_one_clear_line_after(elsewhere, 2, "leave out --run", "run show jr_1 --deployed prod")
    assert_one_clear_line_after(nothing, 2, "neither a bookmark nor a watermark")
    assert_one_clear_line_after(other, 2, "no source of S3", "s3://elsewhere/a; declared are none")


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


@pytest.mark.nightly
def test_an_account_without_bookmarks_tells_all_else_and_moves_nothing_blindly(stage, monkeypatch):
    stage.deploy({"load": "", "report": ""})
    enable = {"DefaultArguments": {"--job-bookmark-option": "job-bookmark-enable"}}
    stage.edit(
        lambda it: it["Properties"].update(enable if it["Properties"].get("Name") == "load" else {})
    )
    stage.port.engine.ask(lambda glue: deploy_on_port(glue, stage.app))
    stage.have_run("load", "report")
    rest = tuple(name for name in services.OPERATIONS["glue"] if name != "GetJobBookmark")
    monkeypatch.setitem(services.OPERATIONS, "glue", rest)  # as emulators lack it
    why = "does not answer GetJobBookmark"

    status, explained = stage.ask("status"), stage.ask("explain", "load")
    shown, rewound = (
        stage.ask("bookmark", "show", "load"),
        stage.ask("rewind", "load", "--to", "beginning", "--dry-run"),
    )

    assert status.exit_code == explained.exit_code == 0, status.output + explained.output
    assert status.output.count(why) == 1
    rows = {line.split()[0]: line for line in status.output.splitlines() if line}
    assert "not known" in rows["load"]
    assert rows["report"].split()[-2:] == ["off", "-"]
    assert why in explained.output
    assert_one_clear_line_after(shown, 1, "bookmark of job load is not known", why)
    assert_one_clear_line_after(rewound, 1, "bookmark of job load is not known", why)
