"""Jobs of a deployed stage are rewound, and that is undone."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from tests.tidemark.cli.deployed_stages import assert_one_clear_line_after, bookmark_of
from tidemark.local_state.rewinds.steps import WatermarkStep
from tidemark.operate.rewind.stage_records import StageRecord

pytestmark = pytest.mark.stress  # starts many processes


def test_clear_is_refused_for_a_stage(rewindable):
    stage, _ = rewindable
    to = ("rewind", "load", "report", "--to", "jr_l1", "--yes", "--why", "x")

    refused = stage.ask(*to, "--clear")

    assert_one_clear_line_after(refused, 1, "--clear deletes files of this machine's lake")


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
