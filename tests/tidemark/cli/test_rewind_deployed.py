"""Rewinds of a stage beside others and beside runs, and after whatever interrupted one."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import click
import pytest

from tests.tidemark.cli.deployed_stages import assert_one_clear_line_after, bookmark_of
from tidemark.local_state.bookmarks.versions import commit_bookmark, latest_bookmark
from tidemark.local_state.rewinds.records import WatermarkStep
from tidemark.local_state.store.database import JobRun
from tidemark.model.clock import now_ms
from tidemark.operate.rewind.stage_records import Claim, StageRecord, key_of

pytestmark = pytest.mark.stress  # starts many processes

TABLE = "rewinds-of-prod"
TO_FIRST = ("rewind", "report", "--to", "jr_r1", "--reason", "x")
LOAD = WatermarkStep(TABLE, "load", "", 3, "jr_l3", "jr_l1")
BOTH = StageRecord(1, "begun", 1, "ada", "x", "jr_l1", (("report", "jr_r3", "jr_r1"),), (LOAD,))


class World:
    """A stage, and what others do to it."""

    def __init__(self, rewindable: Any) -> None:
        self.stage, self.watermarks = rewindable

    def put(self, record: StageRecord) -> None:
        self.watermarks.dynamodb_client.put_item(TableName=TABLE, Item=record.to_item())

    def begin(self) -> None:
        self.put(replace(BOTH, holder="another", held_ms=now_ms()))

    def undo(self) -> None:
        done = replace(BOTH, runs=(), watermarks=())
        self.put(replace(done, state="undoing", holder="another", held_ms=now_ms()))

    def load(self) -> None:
        base = self.watermarks.latest("load")
        self.watermarks.advance(job_id="load", run_id="jr_l4", to={"id": 9}, base=base)

    def start(self) -> None:
        run = JobRun("jr_r4", "report", None, None, 0, "RUNNING", 9000, "", "job-bookmark-enable")
        self.stage.port.engine.ask(lambda glue: glue.store.put_job_run(run))

    def report(self) -> None:
        run = JobRun("jr_r4", "report", None, None, 0, "SUCCEEDED", 9000, "", "")
        ended = replace(run, completed_at_ms=9500)

        def commit(glue: Any) -> None:
            latest = latest_bookmark(glue.store, "report")
            glue.store.put_job_run(ended)
            commit_bookmark(
                glue.store, "report", "jr_r4", {"ctx": {"n": 3}}, latest.version if latest else 0, 1
            )

        self.stage.port.engine.ask(commit)

    def rewind(self, *words: str) -> Any:
        return self.stage.ask("rewind", *words)

    @property
    def state(self) -> tuple[str, Any]:
        return bookmark_of(self.stage, "report")[0], self.watermarks.latest("load").watermarks["id"]

    def forget(self, *numbers: int) -> None:
        for number in numbers:
            self.watermarks.dynamodb_client.delete_item(TableName=TABLE, Key=key_of(number))


@pytest.fixture
def world(rewindable: Any) -> World:
    return World(rewindable)


def test_what_happens_while_it_asks_is_seen_and_nothing_is_changed(world, monkeypatch):
    def meanwhile(happens: Callable[[], None], *words: str) -> Any:
        monkeypatch.setattr(click, "confirm", lambda *_, **__: happens())
        return world.stage.ask(*words)

    begun = meanwhile(world.begin, *TO_FIRST)
    world.forget(1)
    loaded = meanwhile(world.load, "rewind", "load", "--to", "jr_l1", "--reason", "x")
    running = meanwhile(world.start, *TO_FIRST)

    assert_one_clear_line_after(begun, 2, "rewind 1, of ada, was worked on ")
    assert_one_clear_line_after(loaded, 2, "load has moved since it was planned", "nothing was")
    assert_one_clear_line_after(running, 2, "runs in progress: report jr_r4")
    assert world.state == ("jr_r3", 9)
    assert world.rewind("list").stdout.startswith("nothing was rewound in stage prod")


def test_an_undo_that_was_interrupted_is_finished_before_anything_else(world):
    world.put(replace(BOTH, state="undoing", watermarks=()))
    world.stage.port.glue.reset_job_bookmark(JobName="report", RunId="jr_r1")

    for words in ([*TO_FIRST[1:], "--yes"], ["resume"]):
        refused = world.rewind(*words)
        assert_one_clear_line_after(refused, 2, "taking back rewind 1 was interrupted", "undo 1")
    undone = world.rewind("undo", "1", "--yes")

    assert undone.exit_code == 0, undone.output
    assert world.state == ("jr_r3", 2)


def test_one_that_was_interrupted_before_other_runs_is_given_up_and_those_stay(world):
    """To finish it would take back what they have committed, and something must end it."""
    world.put(BOTH)
    world.stage.port.glue.reset_job_bookmark(JobName="report", RunId="jr_r1")
    world.load()

    refused = world.rewind("resume")
    undone = world.rewind("undo", "--yes")

    assert_one_clear_line_after(
        refused,
        2,
        "load has committed since",
        "`tidemark rewind undo 1 --deployed prod` takes back",
    )
    assert "rewind 1 is undone; load moved on since it was interrupted" in undone.output
    assert world.state == ("jr_r3", 9)


def test_of_several_rewinds_the_last_one_is_undone_first_and_none_beside_one_at_work(world):
    first = world.rewind("report", "--to", "jr_r2", "--reason", "x", "--yes")
    world.report()
    second = world.rewind("report", "--to", "jr_r2", "--reason", "x", "--yes")

    early = world.rewind("undo", "1", "--yes")
    world.put(replace(BOTH, number=3, runs=(), holder="another", held_ms=now_ms()))
    beside = world.rewind("undo", "2", "--yes")
    world.forget(3)
    undone = world.rewind("undo", "2", "--yes")

    assert first.exit_code == second.exit_code == 0, first.output + second.output
    assert_one_clear_line_after(early, 2, "rewind 2 has moved report since rewind 1")
    assert_one_clear_line_after(beside, 2, "rewind 3, of ada, was worked on ")
    assert undone.exit_code == 0, undone.output
    assert world.state == ("jr_r4", 2)


@pytest.mark.parametrize("begins", ["undo", "start"])
def test_what_begins_in_the_same_instant_is_seen_and_nothing_is_changed(world, monkeypatch, begins):
    put_new = Claim.put_new

    def put_beside(claim: Claim) -> None:
        put_new(claim)
        getattr(world, begins)()

    world.put(replace(BOTH, state="done", runs=(), watermarks=()))
    monkeypatch.setattr(Claim, "put_new", put_beside)

    refused = world.rewind(*TO_FIRST[1:], "--yes")

    said = {"undo": "rewind 1, of ada, was worked on ", "start": "runs in progress: report jr_r4"}
    assert_one_clear_line_after(refused, 2, said[begins])
    assert world.state == ("jr_r3", 2)
    listed = json.loads(world.rewind("list", "--format", "json").stdout)
    assert [one["state"] for one in listed] == [
        "undone",
        "undoing" if begins == "undo" else "done",
    ]


def test_clear_is_refused_for_a_stage(rewindable):
    stage, _ = rewindable
    to = ("rewind", "load", "report", "--to", "jr_l1", "--yes", "--reason", "x")

    refused = stage.ask(*to, "--clear")

    assert_one_clear_line_after(refused, 1, "--clear deletes files of this machine's lake")


@pytest.mark.nightly
def test_a_rewind_of_a_stage_that_was_interrupted_is_finished_or_taken_back(rewindable):
    stage, watermarks = rewindable
    step = WatermarkStep("rewinds-of-prod", "load", "", 3, "jr_l3", "jr_l1")
    runs = (("report", "jr_r3", "jr_r1"),)
    record = StageRecord(1, "begun", 1, "ada", "a bad day", "jr_l1", runs, (step,))
    client = watermarks.dynamodb_client
    just_now = replace(record, holder="another", held_ms=now_ms())
    client.put_item(TableName="rewinds-of-prod", Item=just_now.to_item())
    for words in (["resume"], ["undo", "1", "--yes"]):
        other = stage.ask("rewind", *words)
        assert_one_clear_line_after(other, 2, "rewind 1, of ada, was worked on ")
    assert bookmark_of(stage, "report") == ("jr_r3", {"ctx": {"n": 2}})
    client.put_item(TableName="rewinds-of-prod", Item=record.to_item())

    refused = stage.ask("rewind", "load", "--to", "jr_l1", "--yes", "--reason", "x")
    finished = stage.ask("rewind", "resume")

    assert_one_clear_line_after(refused, 2, "rewind 1 was interrupted and is half done")
    assert finished.exit_code == 0, finished.output
    assert watermarks.latest("load").watermarks == {"id": 0}
    assert bookmark_of(stage, "report") == ("jr_r1", {"ctx": {"n": 0}})
    assert stage.ask("rewind", "undo", "--yes").exit_code == 0
    assert watermarks.latest("load").watermarks == {"id": 2}

    half = replace(record, number=2, watermarks=(replace(step, expected=5),))
    client.put_item(TableName="rewinds-of-prod", Item=half.to_item())
    stage.port.glue.reset_job_bookmark(JobName="report", RunId="jr_r1")
    assert stage.ask("rewind", "undo", "2", "--yes").exit_code == 0
    assert bookmark_of(stage, "report") == ("jr_r3", {"ctx": {"n": 2}})
    assert watermarks.latest("load").watermarks == {"id": 2}
