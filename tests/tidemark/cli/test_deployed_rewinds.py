"""Jobs of a deployed stage are rewound, and that is undone."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest

from tests.tidemark.cli.deployed_stages import assert_one_clear_line_after, bookmark_of
from tests.tidemark.cli.test_cli import assert_one_clear_line
from tidemark.local_state.rewinds.steps import WatermarkStep
from tidemark.operate.rewind.stage_records import StageRecord

pytestmark = pytest.mark.stress  # starts many processes


def test_jobs_of_a_stage_are_rewound_and_that_is_undone(rewindable):
    stage, watermarks = rewindable
    to = ("rewind", "load", "report", "--to", "jr_l1")

    planned = json.loads(stage.ask(*to, "--dry-run", "--format", "json").stdout)
    refused = stage.ask(*to, "--yes", "--why", "x", "--clear")
    reset = stage.ask("rewind", "report", "--to", "beginning", "--yes", "--why", "a bad day")
    done = stage.ask("rewind", "load", "--to", "jr_l1", "--yes", "--why", "a bad day")

    (load, *_) = planned["jobs"]
    assert (load["job"], load["states"][0]["after"]) == ("load", {"id": "0"})
    assert_one_clear_line(refused, 1, "--clear deletes files of this machine's lake")
    assert reset.exit_code == done.exit_code == 0, reset.output + done.output
    assert watermarks.latest("load").watermarks == {"id": 0}
    assert bookmark_of(stage, "report") == ("", {})
    listed = json.loads(stage.ask("rewind", "--list", "--format", "json").stdout)
    assert [(one["number"], one["state"], one["why"]) for one in listed] == [
        (2, "done", "a bad day"),
        (1, "done", "a bad day"),
    ]

    undone = [stage.ask("rewind", "--undo", number, "--yes") for number in ("2", "1")]

    assert [one.exit_code for one in undone] == [0, 0], undone[0].output + undone[1].output
    assert watermarks.latest("load").watermarks == {"id": 2}
    assert bookmark_of(stage, "report") == ("jr_r3", {"ctx": {"n": 2}})


def test_a_rewind_of_a_stage_that_was_interrupted_is_finished_or_taken_back(rewindable):
    stage, watermarks = rewindable
    step = WatermarkStep("rewinds-of-prod", "load", "", 3, "jr_l3", "jr_l1")
    runs = (("report", "jr_r3", "jr_r1"),)
    record = StageRecord(1, "begun", 1, "ada", "a bad day", "jr_l1", runs, (step,))
    client = watermarks.dynamodb_client
    just_now = replace(record, holder="another", held_ms=time.time_ns() // 1_000_000)
    client.put_item(TableName="rewinds-of-prod", Item=just_now.to_item())
    for words in (["--resume"], ["--undo", "1", "--yes"]):
        other = stage.ask("rewind", *words)
        assert_one_clear_line_after(other, 2, "rewind 1, of ada, was worked on ")
    assert bookmark_of(stage, "report") == ("jr_r3", {"ctx": {"n": 2}})
    client.put_item(TableName="rewinds-of-prod", Item=record.to_item())

    refused = stage.ask("rewind", "load", "--to", "jr_l1", "--yes", "--why", "x")
    finished = stage.ask("rewind", "--resume")

    assert_one_clear_line_after(refused, 2, "rewind 1 was interrupted and is half done")
    assert finished.exit_code == 0, finished.output
    assert watermarks.latest("load").watermarks == {"id": 0}
    assert bookmark_of(stage, "report") == ("jr_r1", {"ctx": {"n": 0}})
    assert stage.ask("rewind", "--undo", "--yes").exit_code == 0
    assert watermarks.latest("load").watermarks == {"id": 2}

    half = replace(record, number=2, watermarks=(replace(step, expected=5),))
    client.put_item(TableName="rewinds-of-prod", Item=half.to_item())
    stage.port.glue.reset_job_bookmark(JobName="report", RunId="jr_r1")
    assert stage.ask("rewind", "--undo", "2", "--yes").exit_code == 0
    assert bookmark_of(stage, "report") == ("jr_r3", {"ctx": {"n": 2}})
    assert watermarks.latest("load").watermarks == {"id": 2}
