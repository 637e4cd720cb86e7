"""Carrying a rewind out: a crash before any step leaves it to be finished or taken back."""

from __future__ import annotations

import itertools
import os
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.tidemark.operate.rewind.model import Job, World
from tidemark.errors import TidemarkError, UsageError
from tidemark.local_state.home import Home
from tidemark.local_state.rewinds.records import (
    check_none_is_open,
    open_rewind,
    refuse_half_rewound,
    refuse_unfinished,
    rewinds,
)
from tidemark.local_state.store.database import Store
from tidemark.operate.rewind.cut import RewindTo
from tidemark.operate.rewind.home_rewinds import check_same_disk
from tidemark.operate.rewind.planner import plan_rewind

NUMBER = itertools.count(1)
STEPS = ["record", "mark", "files", "file", "watermarks", "bookmarks", "unmark"]


@pytest.fixture
def world(tmp_path, dynamodb):
    """Return a world of three jobs that have run twice: files, then windows, then a merge."""
    name = f"c{next(NUMBER)}"
    home = Home.open(tmp_path / "home")
    with Store(home.database) as store:
        jobs = [
            Job(f"{name}-copy", ("source",), "files", "append"),
            Job(f"{name}-ingest", (f"{name}-copy",), "keys", "window"),
            Job(f"{name}-merge", (f"{name}-ingest",), "files", "merge"),
        ]
        world = World(home, store, dynamodb, jobs)
        for _ in range(2):
            world.land("source", 3)
            for job in jobs:
                world.run(job.name)
        yield world


def planned(world):
    facts = world.facts()
    return facts, plan_rewind(
        facts,
        [world.jobs[0].name],
        RewindTo("jr_000001", "jr_000001"),
        with_downstream=True,
        clears=True,
    )


def interrupted(world, step):
    """Carry a rewind out up to a step."""

    def stop(name):
        if name.partition(" ")[0] == step:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        world.carry_out(*planned(world), before=stop)
    return open_rewind(world.store)


def test_everything_moves_in_one_step_and_comes_back_bit_for_bit(world):
    before = world.state()

    found, plan = planned(world)
    record = world.carry_out(found, plan)

    assert plan.is_right
    facts = world.facts()
    runs = {track.job: track.latest.run_id for track in facts.tracks}
    assert list(runs.values()) == ["jr_000001", "jr_000003", "jr_000002"]
    assert len(world.files(world.jobs[0].name)) == 1
    assert world.state() != before
    assert (record.state, record.actor, record.why) == ("done", "ada", "a bad day")

    world.undo(None)

    assert world.state() == before


@pytest.mark.parametrize("step", STEPS[1:-1])
def test_what_was_interrupted_is_finished(world, step):
    record = interrupted(world, step)

    world.work().finish(record, world.tick())

    assert open_rewind(world.store) is None
    after = world.state()
    world.undo(None)
    redone = world.carry_out(*planned(world))
    assert (world.state(), redone.state) == (after, "done")


@pytest.mark.parametrize("step", STEPS[1:-1])
def test_what_was_interrupted_is_taken_back(world, step):
    before = world.state()
    interrupted(world, step)

    world.undo(None)

    assert world.state() == before
    assert [one.state for one in rewinds(world.store)] == ["given up"]
    refuse_half_rewound(world.home)


@pytest.mark.parametrize("step", STEPS[1:-1])
def test_a_killed_process_leaves_what_can_be_finished_or_taken_back(world, step):
    before = world.state()
    child = os.fork()
    if child == 0:
        with Store(world.home.database) as world.store:
            world.carry_out(
                *planned(world),
                before=lambda name: os._exit(9) if name.partition(" ")[0] == step else None,
            )
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    with pytest.raises(TidemarkError) if step != "mark" else nullcontext():
        refuse_half_rewound(world.home)

    world.undo(None)

    assert world.state() == before
    refuse_half_rewound(world.home)
    assert world.carry_out(*planned(world)).state == "done"


@pytest.mark.parametrize("step", ["watermarks", "file", "given"])
def test_taking_back_may_be_interrupted_too(world, step):
    before = world.state()
    record = interrupted(world, "bookmarks")

    def stop(name):
        if name.startswith(step):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        world.work(stop).take_back(record)
    world.work().take_back(record)

    assert world.state() == before


def test_nothing_is_written_before_the_record_and_all_is_done_before_the_mark_goes(world):
    before = world.state()
    assert interrupted(world, "record") is None
    assert world.state() == before

    assert interrupted(world, "unmark") is None

    refuse_half_rewound(world.home)
    assert [one.state for one in rewinds(world.store)] == ["done"]


def test_no_job_runs_and_nothing_else_is_rewound_while_one_is_half_done(world):
    interrupted(world, "watermarks")

    with pytest.raises(TidemarkError, match=r"rewind 1 was interrupted.*resume.*undo 1"):
        refuse_half_rewound(world.home)
    with pytest.raises(UsageError, match="rewind 1 was interrupted"):
        check_none_is_open(world.store)


def test_a_run_that_commits_after_the_plan_refuses_it_and_nothing_changes(world):
    facts, plan = planned(world)
    world.land("source", 1)
    world.run(world.jobs[0].name)
    before = world.state()

    with pytest.raises(UsageError, match="plan it again"):
        world.carry_out(facts, plan)

    assert world.state() == before
    assert rewinds(world.store) == []


def test_a_watermark_that_moves_after_the_plan_takes_the_rewind_back(world):
    facts, plan = planned(world)
    name = world.jobs[1].name
    world.admin.advance(job_id=name, run_id="jr_9", to={"id": 99}, base=world.admin.latest(name))
    before = world.state()

    with pytest.raises(UsageError, match=r"everything is as it was"):
        world.carry_out(facts, plan)

    assert world.state() == before
    assert [one.state for one in rewinds(world.store)] == ["given up"]


def test_a_rewind_is_not_undone_over_what_has_run_since(world):
    record = world.carry_out(*planned(world))
    world.run(world.jobs[0].name)
    before = world.state()

    with pytest.raises(UsageError, match=r"a run of c\d+-copy has committed since rewind 1"):
        world.undo(record.rewind_id)

    assert world.state() == before


def test_an_undo_replaces_no_file_that_came_in_the_meantime(world):
    record = world.carry_out(*planned(world))
    cleared, place = (
        world.home.root / part for part in record.document["steps"]["files"][-1][::-1]
    )
    kept = cleared.read_bytes()
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("another", encoding="utf-8")
    before = world.state()

    with pytest.raises(UsageError, match="would replace it"):
        world.undo(None)

    assert (place.read_text(encoding="utf-8"), cleared.read_bytes()) == ("another", kept)
    assert world.state() == before
    assert open_rewind(world.store) is None


def test_open_windows_come_back_with_the_undo(world):
    name = world.jobs[1].name
    world.admin.open_window(job_id=name, run_id="jr_dead", cursor="id", high=77)
    before = world.state()
    facts, plan = planned(world)
    assert [state.open_windows for state in plan.states] == [0, 1, 0]

    world.carry_out(facts, plan)
    assert world.admin.open_windows(name) == []
    world.undo(None)

    assert world.state() == before
    assert [window.high for window in world.admin.open_windows(name)] == [77]


@pytest.mark.parametrize(
    ("number", "said"),
    [(7, "there is no rewind 7; there are 2, 1"), (1, "rewind 1 is undone already")],
)
def test_an_undo_of_what_is_not_there_is_refused(world, number, said):
    world.carry_out(*planned(world))
    world.undo(1)

    with pytest.raises(UsageError, match=said):
        world.undo(number)


def test_an_undo_without_any_rewind_says_so(world):
    with pytest.raises(UsageError, match="nothing was rewound here"):
        world.undo(None)


def test_rewinds_are_undone_one_after_the_other_and_in_no_other_order(world):
    states = [world.state()]
    world.carry_out(*planned(world))
    states.append(world.state())
    facts = world.facts()
    beginning = plan_rewind(
        facts, [world.jobs[0].name], RewindTo("beginning"), with_downstream=True, clears=True
    )
    world.carry_out(facts, beginning)
    states.append(world.state())

    def undone(number):
        world.undo(number)
        return world.state()

    with pytest.raises(UsageError, match="undo 2` first"):
        undone(1)
    assert world.state() == states[2]
    assert undone(None) == states[1]
    assert undone(3) == states[2]  # the undoing is undone: everything is rewound again
    with pytest.raises(UsageError, match="rewind 4 has moved"):
        undone(1)
    assert undone(4) == states[1]
    assert undone(None) == states[0]
    with pytest.raises(UsageError, match="not undone already"):
        undone(None)


def test_two_commands_do_not_carry_out_and_take_back_at_once(world):
    before, told = world.state(), []

    def others(name):
        if name != "bookmarks":
            return
        record = open_rewind(world.store)
        for command in (
            lambda: world.work().finish(record, world.tick()),
            lambda: world.undo(None),
            lambda: refuse_unfinished(world.home, world.store),
            lambda: refuse_half_rewound(world.home),
        ):
            with pytest.raises(UsageError, match=f"process {os.getpid()} carries out") as error:
                command()
            told.append(str(error.value))

    world.carry_out(*planned(world), before=others)

    assert len(told) == 4
    assert [one.state for one in rewinds(world.store)] == ["done"]
    world.undo(None)
    assert world.state() == before


def test_a_rewind_that_another_command_has_ended_meanwhile_is_left_alone(world):
    record = interrupted(world, "bookmarks")
    world.work().finish(record, world.tick())
    after = world.state()

    for command in (
        lambda: world.work().finish(record, world.tick()),
        lambda: world.work().take_back(record),
    ):
        with pytest.raises(UsageError, match="is done by now"):
            command()

    assert world.state() == after
    assert [one.state for one in rewinds(world.store)] == ["done"]


def test_what_is_on_another_disk_is_refused_before_anything_is_moved(world):
    elsewhere = Path("/proc/version")
    if not elsewhere.exists():
        pytest.skip("this system has no other disk to try it on")

    check_same_disk(world.home, [world.home.database])
    with pytest.raises(UsageError, match="/proc/version is on another disk"):
        check_same_disk(world.home, [elsewhere])
