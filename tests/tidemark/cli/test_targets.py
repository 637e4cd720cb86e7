"""Each verb does the same on a deployed stage and on a home: the same assertions on both."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.sampled import sampled
from tests.tidemark.cli.deployed_stages import (
    WAITS,
    Stage,
    assert_one_clear_line_after,
    bookmark_of,
    have_run,
)
from tests.tidemark.cli.test_backfill import RANGE
from tests.waiting import wait_until
from tidemark.glue_service.deployments import deploy_on_port
from tidemark.local_state.bookmarks.versions import delete_bookmark
from tidemark.local_state.dynamodb import create_tables
from tidemark.local_state.watermark_tables import watermark_table
from watermarks import RefusedSchema, TargetSchema, Watermarks
from watermarks.windows.held import hold_schema, note_refused

pytestmark = pytest.mark.stress  # starts many processes

TABLE = "runs-of-targets"
# At every change each verb is tried on one target, and most on a stage; at night on both.
STAGE, HOME = (
    pytest.mark.parametrize("target", sampled(["stage", "home"], kept), indirect=True)
    for kept in ("stage", "home")
)
PRINTS = "import sys\nprint('out')\nsys.stderr.write('err\\n')"


def answer(target: Stage, *words: str) -> Any:
    result = target.ask(*words, "--format", "json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def keep_watermarks(target: Stage) -> Watermarks:
    """Give the jobs of a target a table of watermarks; return them."""
    arguments = {"--watermark_table": TABLE}
    target.edit(lambda it: it["Properties"].setdefault("DefaultArguments", {}).update(arguments))
    target.port.engine.ask(lambda glue: deploy_on_port(glue, target.app))
    client = target.port.client("dynamodb")
    create_tables(client, [watermark_table(TABLE)])
    return Watermarks(TABLE, client)


@HOME
def test_status_tells_of_every_job_its_last_run_its_watermark_and_what_is_fresh(target):
    mart = {"writes": [{"uri": "s3://landing/mart/", "published": True}]}
    target.deploy({"load": PRINTS, "report": ""}, {"report": ["load"]})
    target.edit(lambda it: it.setdefault("Metadata", {}).update({"Tidemark": mart}))
    watermarks = keep_watermarks(target)
    (run_id,) = target.have_run("load")
    watermarks.advance(job_id="load", run_id=run_id, to={"id": 7}, base=None)

    load, report = answer(target, "status")
    table = target.ask("status").stdout

    assert [it["job"] for it in (load, report)] == ["load", "report"]
    assert [it["is_deployed"] for it in (load, report)] == [True, True]
    assert (load["last_run"]["run_id"], load["last_run"]["state"]) == (run_id, "SUCCEEDED")
    assert report["last_run"] is None
    assert load["bookmark"] == {"is_enabled": False, "version": None}
    assert (load["watermark"], report["watermark"]) == ("id=7", None)
    assert load["freshness"][0]["held_back_by"] == "report"  # writes it too, and never ran
    assert "never" in table
    assert "published dataset" in table


@STAGE
def test_runs_and_logs_are_those_of_the_target(target):
    target.deploy({"load": PRINTS, "report": ""})
    (run_id,) = target.have_run("load")

    (run,) = answer(target, "runs")
    logs = target.ask("logs", "load", "--run", run_id[:10])
    out = target.ask("logs", "load", "--stdout", "--follow")
    err = target.ask("logs", "load", "--stderr")

    assert (run["run_id"], run["job"]) == (run_id, "load")
    assert run["ended_at"] > run["started_at"]
    assert (logs.stdout, logs.stderr.splitlines()[-1]) == ("out\n", "err")
    assert (out.stdout, out.stderr.splitlines()[-1]) == ("out\n", f"{run_id} SUCCEEDED")
    assert (out.exit_code, err.stdout, err.stderr.splitlines()[-1]) == (0, "", "err")


@pytest.mark.nightly
def test_a_run_is_shown_with_its_log_and_what_it_cost(target):
    target.deploy({"load": "print('out')", "report": ""})
    first, second = target.have_run("load", "report")

    shown = answer(target, "run", "show", first[:12])
    without = target.ask("run", "show", second).stdout

    assert (shown["run_id"], shown["job"], shown["log"]) == (first, "load", ["out"])
    assert shown["usd"] >= 0
    assert "The log is empty" in without


@pytest.mark.nightly
def test_a_report_is_of_the_runs_of_the_target(target, tmp_path):
    target.deploy({"load": "print(1)", "report": ""}, {"report": ["load"]})
    (run_id,) = target.have_run("load")
    file = tmp_path / "page.html"

    result = target.ask("report", "--stdout", str(file))

    assert result.exit_code == 0, result.output
    assert run_id[:12] in file.read_text(encoding="utf-8")


@STAGE
def test_a_bookmark_is_shown_rewound_and_reset(target):
    target.port.engine.ask(lambda glue: delete_bookmark(glue.store, "load"))
    target.deploy({"load": ""})
    have_run(target, "load", "jr_1", "jr_2", "jr_3")

    shown = answer(target, "bookmark", "show", "load")["JobBookmarkEntry"]
    earlier = answer(target, "bookmark", "show", "load", "--run", "3")["JobBookmarkEntry"]
    table = target.ask("bookmark", "show", "load").stdout
    rewound = target.ask("bookmark", "rewind", "load", "--to", "2", "--yes")
    chosen = target.ask("bookmark", "rewind", "load", "--yes")
    held = bookmark_of(target, "load")[0]
    reset = target.ask("bookmark", "reset", "load", "--yes")

    assert (shown["RunId"], earlier["RunId"]) == ("jr_3", "jr_1")
    assert "Runs to rewind to" in table
    assert "is at the end of run jr_2 (version 4)" in rewound.output
    assert_one_clear_line_after(chosen, 2, "choose one of these runs: --to ID")
    assert held == "jr_2"
    assert "is at the beginning (version 5)" in reset.output


@STAGE
def test_watermarks_are_shown_and_rewound_in_the_table_of_their_job(target):
    target.deploy({"load": "", "report": ""})
    watermarks = keep_watermarks(target)
    for number in (1, 2):
        base = watermarks.latest("report")
        watermarks.advance(job_id="report", run_id=f"jr_{number}", to={"id": number}, base=base)

    shown = answer(target, "watermark", "show", "report")
    to_first = ("watermark", "rewind", "report", "--to", "jr_1", "--reason", "why", "--yes")
    rewound = target.ask(*to_first)
    (newest, *_) = answer(target, "watermark", "history", "report")
    elsewhere = target.ask("watermark", "show", "report", "--table", "other")

    assert shown["watermarks"] == {"id": 2}
    assert rewound.exit_code == 0, rewound.output
    assert watermarks.latest("report").watermarks == {"id": 1}
    assert (newest["kind"], newest["reason"]) == ("rewind", "why")
    assert_one_clear_line_after(elsewhere, 2, "there is no table 'other' in ", "--table")


@STAGE
def test_columns_that_a_contract_keeps_are_shown_and_refused_ones_accepted(target):
    target.deploy({"load": "", "report": ""})
    watermarks = keep_watermarks(target)
    with watermarks.window("report", run_id="jr_1", cursor="id", high=1) as window:
        hold_schema(window, "s3://lake/out/", TargetSchema({"id": "int"}))
    window = watermarks.open_window("report", run_id="jr_2", cursor="id", high=2)
    note_refused(window, RefusedSchema("s3://lake/out/", {"id": "int", "tip": "int"}))

    (shown,) = answer(target, "schema", "show", "report")["kept"]
    accepted = answer(target, "schema", "accept", "report", "--reason", "tips", "--actor", "ana")
    (history,) = answer(target, "schema", "history", "report")["kept"]
    nothing = target.ask("schema", "show", "load")

    assert shown["refused"]["run_id"] == "jr_2"
    assert (accepted["version"], accepted["is_accepted"]) == (shown["version"] + 1, True)
    assert watermarks.latest("report").schemas["s3://lake/out/"].columns["tip"] == "int"
    assert [row["kind"] for row in history["versions"]][:1] == ["accept"]
    assert_one_clear_line_after(nothing, 2, "load")


@HOME
def test_jobs_are_rewound_and_that_is_undone(rewindable_target):
    target, watermarks = rewindable_target
    why = ("--yes", "--reason", "a bad day")

    planned = answer(target, "rewind", "load", "report", "--to", "jr_l1", "--dry-run")
    nothing = target.ask("rewind", "list").stdout
    reset = target.ask("rewind", "report", "--to", "beginning", *why)
    done = target.ask("rewind", "load", "--to", "jr_l1", *why)

    (load, *_) = planned["jobs"]
    assert (load["job"], load["states"][0]["after"]) == ("load", {"id": "0"})
    assert nothing.startswith("nothing was rewound in ")
    assert reset.exit_code == done.exit_code == 0, reset.output + done.output
    assert watermarks.latest("load").watermarks == {"id": 0}
    assert bookmark_of(target, "report") == ("", {})
    listed = answer(target, "rewind", "list")
    assert [(one["number"], one["state"], one["why"]) for one in listed] == [
        (2, "done", "a bad day"),
        (1, "done", "a bad day"),
    ]
    assert [one["steps"]["watermarks"] == [] for one in listed] == [False, True]

    undone = [target.ask("rewind", "undo", number, "--yes") for number in ("2", "1")]

    assert [one.exit_code for one in undone] == [0, 0], undone[0].output + undone[1].output
    assert watermarks.latest("load").watermarks == {"id": 2}
    assert bookmark_of(target, "report") == ("jr_r3", {"ctx": {"n": 2}})


@HOME
def test_undo_after_nothing_was_rewound_undoes_no_other_rewind(rewindable_target):
    target, _ = rewindable_target
    to = ("rewind", "report", "--to", "jr_r2", "--reason", "x", "--yes")
    done, again = target.ask(*to), target.ask(*to)

    refused = target.ask("rewind", "undo", "--yes")
    of_nothing = target.ask("rewind", "undo", "2", "--yes")
    held = bookmark_of(target, "report")[0]
    undone = target.ask("rewind", "undo", "1", "--yes")

    assert (done.exit_code, again.exit_code) == (0, 0), done.output + again.output
    assert "Nothing to rewind" in again.stdout
    assert_one_clear_line_after(refused, 2, "the last rewind had nothing to rewind", "undo 1")
    assert_one_clear_line_after(of_nothing, 2, "rewind 2")
    assert held == "jr_r2"
    assert "nothing to do" in target.ask("rewind", "list").stdout
    assert undone.exit_code == 0, undone.output
    assert bookmark_of(target, "report")[0] == "jr_r3"


@pytest.mark.nightly
def test_a_range_is_filled_and_is_no_gap(target):
    days = ("--from", "2013-01-01", "--to", "2013-01-04")
    target.deploy({"load": "import sys\nprint('told', *sys.argv)", "report": ""})

    refused = target.ask("backfill", "load", *days, "--yes")
    target.edit(lambda it: it["Properties"].setdefault("DefaultArguments", {}).update(RANGE))
    target.port.engine.ask(lambda glue: deploy_on_port(glue, target.app))
    planned = target.ask("backfill", "load", *days, "--dry-run")
    filled = target.ask("backfill", "load", *days, "--parts", "2", "--yes")

    assert_one_clear_line_after(refused, 2, "load takes no range")
    assert planned.exit_code == 0, planned.output
    assert filled.exit_code == 0, filled.output
    assert target.port.states("load") == ["SUCCEEDED", "SUCCEEDED"]
    assert [it["state"] for it in answer(target, "gaps", "load")["intervals"]] == ["done"]


@HOME
def test_events_of_runs_are_sent(target, tmp_path):
    target.deploy({"load": "print(1)"})
    target.have_run("load")

    sent = target.ask("lineage", str(tmp_path / "events"), "--job", "load")

    assert sent.stdout == f"sent events of 1 run to {tmp_path / 'events'}\n", sent.output
    events = [json.loads(it) for it in (tmp_path / "events").read_text("utf-8").splitlines()]
    assert [it["eventType"] for it in events] == ["START", "COMPLETE"]


@STAGE
def test_one_job_runs_alone_with_the_arguments_of_its_trigger(target):
    target.deploy({"load": "", "report": "import sys\nprint(sys.argv[-1])"}, {"report": ["load"]})
    target.edit(
        lambda it: [
            action.update({"Arguments": {"--day": "1"}})
            for action in it["Properties"].get("Actions", [])
        ]
    )
    target.port.engine.ask(lambda glue: deploy_on_port(glue, target.app))

    result = target.ask("run", "--only", "report")

    assert result.exit_code == 0, result.output
    assert target.ask("logs", "report").stdout == "1\n"
    assert target.port.states("load") == []


@STAGE
def test_runs_of_a_job_and_of_a_workflow_are_stopped(target, tmp_path):
    gate = tmp_path / "gate"
    target.deploy({"load": WAITS.format(str(gate))})
    by_hand = target.port.start("load")

    assert target.ask("stop", "load").exit_code == 0
    assert target.port.ended("load", by_hand)["JobRunState"] == "STOPPED"
    of_workflow = target.port.glue.start_workflow_run(Name="flow")["RunId"]
    result = target.ask("stop")

    assert f"flow {of_workflow} is being stopped" in result.stdout
    wait_until(lambda: target.port.states("load") == ["STOPPED", "STOPPED"])


@STAGE
def test_a_trigger_fires_and_triggers_are_listed(target):
    target.deploy({"load": "", "report": ""}, {"report": ["load"]})
    triggers = json.loads(target.ask("trigger", "--format", "json").stdout)
    (start,) = [it["name"] for it in triggers if it["type"] == "ON_DEMAND"]

    result = target.ask("trigger", start)

    assert f"trigger {start} has fired: load" in result.stdout
    wait_until(lambda: target.port.states("report") == ["SUCCEEDED"])
    assert [it["starts"] for it in triggers if it["type"] == "CONDITIONAL"] == [["report"]]


@STAGE
def test_a_failure_is_told_with_what_it_held_back_and_resumed(target):
    target.deploy({"load": "raise ValueError('no rows')", "report": ""}, {"report": ["load"]})

    failed = target.ask("run")
    (target.port.home.lake / "assets" / "load.py").write_text("print('mended')", encoding="utf-8")
    resumed = target.ask("resume", "--format", "json")
    again = target.ask("resume")

    assert failed.exit_code == 1
    assert "load FAILED: ValueError: no rows" in failed.stdout
    assert "tidemark logs load --run " in failed.stdout
    assert "report was not started: it waits for load SUCCEEDED (is FAILED)" in failed.stdout
    assert resumed.exit_code == 0, resumed.output
    assert "resuming flow at load" in resumed.stderr
    assert json.loads(resumed.stdout)["is_success"]
    assert target.port.states("load") == ["SUCCEEDED", "FAILED"]
    assert target.port.states("report") == ["SUCCEEDED"]
    assert_one_clear_line_after(again, 2, "there is nothing to resume")
