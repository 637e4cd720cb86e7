"""Random graphs, runs, kills and rewinds: what the plan says is what happens."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.tidemark.operate.rewind.model import SOURCE, Job, World
from tidemark.errors import UsageError
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import Store
from tidemark.operate.rewind.cut import RewindTo
from tidemark.operate.rewind.planner import plan_rewind

NUMBER = itertools.count(1)
KINDS = [
    *(("files", mode) for mode in ("append", "merge", "overwrite_partitions")),
    *(("keys", mode) for mode in ("append", "merge", "window")),
    ("whole", "overwrite"),
    *(("committed", mode) for mode in ("overwrite", "merge")),
]
STATELESS = ("whole", "committed")
VERDICTS: dict[str, int] = {}
REPLACED = ("overwrite", "overwrite_partitions")


def fits(job: Job, jobs: list[Job], sources: list[str]) -> bool:
    """Return whether a job is right while nothing is rewound: the kinds that people combine."""
    for name in job.inputs:
        if name in sources:
            if job.how == "committed":
                return False
            continue
        before = next(one for one in jobs if one.name == name)
        if job.how == "committed" and (before.mode != "window" or len(before.inputs) > 1):
            return False
        if job.how == "files" and before.mode == "merge":
            return False  # a table has no files
        if job.mode == "append" and before.mode in REPLACED:
            return False  # its files are new again and again
        if job.how == "keys" and (len(before.inputs) > 1 or before.mode in REPLACED):
            return False  # rows come out of order
    return True


@st.composite
def graphs(draw):
    number = next(NUMBER)  # a name of its own for each example: the table is shared
    sources = [f"{SOURCE}{n}" for n in range(draw(st.integers(1, 2)))]
    jobs: list[Job] = []
    for n in range(draw(st.integers(1, 8))):
        places = [*sources, *(job.name for job in jobs)]
        inputs = draw(st.lists(st.sampled_from(places), min_size=1, max_size=2, unique=True))
        kinds = [kind for kind in KINDS if fits(Job("", tuple(inputs), *kind), jobs, sources)]
        how, mode = draw(st.sampled_from(kinds))
        is_first = how == "keys" and set(inputs) <= set(sources)
        begins = draw(st.sampled_from([0, 0, 3])) if is_first else 0
        jobs.append(Job(f"x{number}-job{n}", tuple(inputs), how, mode, begins))
    return sources, jobs


def with_those_behind(name: str, jobs: list[Job]) -> set[str]:
    """Return a job and all that read what it writes, also through others."""
    found = {name}
    for job in jobs:  # writers come before readers
        found |= {job.name} if found & set(job.inputs) else set()
    return found


def can_be_filled(job: Job, jobs: list[Job]) -> bool:
    """Return whether a backfill of a job leaves those behind it right: none reads by keys.

    Also not through others: rows that come late are behind its position.
    """
    behind = with_those_behind(job.name, jobs) - {job.name}
    is_read_by_keys = any(one.how == "keys" for one in jobs if one.name in behind)
    adds_what_was_left_out = job.mode not in ("append", "window") or job.begins > 0
    return keeps_state(job) and adds_what_was_left_out and not is_read_by_keys


def is_read_by_windows(name: str, jobs: list[Job]) -> bool:
    """Return whether jobs read what a job writes, and all of them its committed windows."""
    hows = [job.how for job in jobs if name in job.inputs]
    return bool(hows) and set(hows) == {"committed"}


def keeps_state(job: Job) -> bool:
    return job.how not in STATELESS


@st.composite
def stories(draw):
    sources, jobs = draw(graphs())
    names = [job.name for job in jobs]
    safe_to_die = {
        job.name: job.mode not in ("append", "window") or is_read_by_windows(job.name, jobs)
        for job in jobs
    }
    step = st.one_of(
        st.tuples(st.just("land"), st.sampled_from(sources), st.integers(1, 4)),
        st.tuples(
            st.just("run"), st.sampled_from(names), st.sampled_from(["", "", "", "before", "after"])
        ),
        st.tuples(st.just("all"), st.just(""), st.just("")),
        *(
            st.tuples(st.just("fill"), st.just(job.name), st.integers(0, 8))
            for job in jobs
            if can_be_filled(job, jobs)
        ),
    )

    def steps():
        found = draw(st.lists(step, max_size=6))
        return [
            (what, which, "before" if how == "after" and not safe_to_die[which] else how)
            if what == "run"
            else (what, which, how)
            for what, which, how in found
        ]

    with_state = [job.name for job in jobs if keeps_state(job)]
    root = draw(st.sampled_from(with_state)) if with_state else ""
    second = steps()
    of_root = [job for job in jobs if job.name == root]
    if draw(st.booleans()) and any(can_be_filled(job, jobs) for job in of_root):
        second.append(("fill", root, 0))
    return sources, jobs, root, steps(), second, draw(st.booleans()), draw(st.booleans())


def story_that_is_not_corrected():
    """Return a rare one: a job reads by keys what is merged again behind its position."""
    name = f"x{next(NUMBER)}-job"
    writer = Job(f"{name}0", (f"{SOURCE}0",), "files", "merge")
    reader = Job(f"{name}1", (writer.name,), "keys", "merge")
    steps = [("all", "", "")]
    return [f"{SOURCE}0"], [writer, reader], writer.name, steps, steps, False, False


def story_of_committed_windows(reader: str):
    """Return one of a writer of windows that dies after a write; who reads, and how, behind it."""
    name = f"x{next(NUMBER)}-job"
    writer = Job(f"{name}0", (f"{SOURCE}0",), "keys", "window")
    readers = [Job(f"{name}1", (writer.name,), "committed", reader)]
    readers.append(Job(f"{name}2", (readers[0].name,), "whole", "overwrite"))
    steps = [("all", "", ""), ("land", f"{SOURCE}0", 2), ("run", writer.name, "after")]
    return [f"{SOURCE}0"], [writer, *readers], writer.name, steps, steps, False, False


def play(world: World, steps, bad: str = "") -> None:
    for what, which, how in steps:
        if what == "land":
            world.land(which, how)
        for name in [job.name for job in world.jobs] if what == "all" else []:
            world.run(name, is_bad=name == bad)
        if what == "fill":
            world.fill(which, how, how + 4, is_bad=which == bad)
        if what == "run":
            world.run(which, is_bad=which == bad, dies=how)


def to_run(one) -> RewindTo:
    return RewindTo(one.run_id, one.run_id)


def check(dynamodb, story) -> None:
    sources, jobs, root, first, second, with_downstream, clears = story
    if not root:
        return
    folder = Path(tempfile.mkdtemp(prefix="tidemark-"))
    home = Home.open(folder / "home")
    try:
        with Store(home.database) as store:
            world = World(home, store, dynamodb, jobs)
            play(world, [("land", sources[0], 2), *first])
            commits = [one for one in world.checkpoints if one.job_name == root]
            to = RewindTo("beginning")
            if commits:
                last = commits[-1]
                is_moment = len(first) % 2
                to = RewindTo("then", at_ms=last.committed_at_ms + 1) if is_moment else to_run(last)
            play(world, [*second, ("land", sources[-1], 1), ("run", root, "")], bad=root)
            rewind_and_check(world, root, to, with_downstream=with_downstream, clears=clears)
    finally:
        shutil.rmtree(folder)


def rewind_and_check(world: World, root: str, to: RewindTo, **options) -> None:
    facts = world.facts()
    if not facts.tracks_of(root):
        return
    plan = plan_rewind(facts, [root], to, accepts_changes=True, **options)
    before = world.state()
    positions = {job.name: world.position(job) for job in world.jobs}
    try:
        record = world.carry_out(facts, plan)
    except UsageError:
        assert options["clears"]
        assert world.state() == before
        return
    after = world.state()
    world.undo(record.rewind_id)
    assert world.state() == before
    world.undo(record.rewind_id + 1)
    assert world.state() == after
    check_again(world, root, plan, positions)


def check_again(world: World, root: str, plan, positions) -> None:
    planned = {one.job: one for one in plan.jobs}
    unknown = never_ran(world, plan) | filled_and_left(world, root, plan)
    for job in world.jobs:
        new = world.new_since(job, positions[job.name])
        read = world.run(job.name)
        for one in planned[job.name].reads_again if job.name in planned else ():
            if not one.why:
                files, rows = (
                    n - m for n, m in zip(read[one.source], new[one.source], strict=True)
                )
                assert (one.files or 0, one.rows) == (files, rows)
    for job in world.jobs:
        if job.name not in unknown:
            check_target(world, job.name, planned.get(job.name))


def never_ran(world: World, plan) -> set[str]:
    """Return the jobs that never ran, or read what such a job writes: the plan says so."""
    unknown: set[str] = set()
    ran = {one.job_name for one in world.checkpoints}
    for job in world.jobs:
        if job.name not in ran:
            is_planned = any(one.job == job.name for one in plan.jobs)
            assert not is_planned or any(job.name in text for text in plan.unknown)
        if job.name not in ran or unknown & set(job.inputs):
            unknown.add(job.name)
    return unknown


def filled_and_left(world: World, root: str, plan) -> set[str]:
    """Return the job of a plan that says of it alone that a backfill stays, and those behind it."""
    if plan.jobs or not any(text.startswith(f"{root}: run ") for text in plan.unknown):
        return set()
    return with_those_behind(root, world.jobs)


def check_target(world: World, name: str, plan) -> None:
    verdict = plan.effects[0].verdict if plan and plan.effects else "right"
    is_by_windows = world.job(name).mode == "window" and is_read_by_windows(name, world.jobs)
    actual = world.committed_rows(name) if is_by_windows else world.rows(name)
    wanted = world.expected(name)
    if verdict == "right":
        assert actual == wanted, plan
    if verdict == "doubles" and any(one.rows for one in plan.reads_again):
        assert actual != wanted, plan
    if plan:
        VERDICTS[verdict] = VERDICTS.get(verdict, 0) + 1


@pytest.mark.parametrize("examples", [12, pytest.param(1500, marks=pytest.mark.nightly)])
def test_after_a_rewind_every_mart_is_right_or_the_plan_has_said_that_it_is_not(dynamodb, examples):
    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(story=stories())
    @example(story=story_that_is_not_corrected())
    @example(story=story_of_committed_windows("overwrite"))
    @example(story=story_of_committed_windows("merge"))
    def property_holds(story):
        check(dynamodb, story)

    VERDICTS.clear()
    property_holds()

    assert set(VERDICTS) == {"right", "doubles", "stale", "unknown"}
