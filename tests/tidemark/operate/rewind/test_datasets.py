"""The plan of a rewind whose rewritten table of Iceberg is read from snapshot to snapshot."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tidemark.operate.rewind.model import past_run
from tidemark.cli.views.rewind import plan_lines
from tidemark.model.checkpoints.checkpoint import (
    Checkpoint,
    DatasetRead,
    DatasetWritten,
    WatermarkMove,
)
from tidemark.operate.backfill.plan import blind_readers
from tidemark.operate.rewind.cut import RewindTo
from tidemark.operate.rewind.effects import how_read
from tidemark.operate.rewind.facts import Move, RewindFacts, Track
from tidemark.operate.rewind.planner import plan_rewind

TABLE = "glue-watermarks"
UUID = "ff544e97-b881-4351-817f-f8d91962ee04"
LOG, CLEAN = "table:db.log", "table:db.clean"


def moved(job, run, at, value, read, written, mode):
    name = "snapshot" if "/" in value else "at"
    return Checkpoint(
        job,
        run,
        at,
        watermarks=(WatermarkMove(TABLE, after={name: value}),),
        read=(DatasetRead(read, rows=3),),
        written=(DatasetWritten(written, mode, rows=3, snapshots=(run,)),),
    )


def facts(upstream="append", downstream="append"):
    """Return two jobs, load and clean, that have run twice."""
    checkpoints, tracks = [], []
    for job, read, written, mode in (
        ("load", "s3://l/in/", LOG, upstream),
        ("clean", LOG, CLEAN, downstream),
    ):
        ends = [(f"jr_{job[0]}{n}", 100 * n + 10 * (job == "clean")) for n in (1, 2)]
        for n, (run, at) in enumerate(ends, 1):
            value = str(n) if job == "load" else f"{n:012d}/{n}77/{UUID}"
            checkpoints.append(moved(job, run, at, value, read, written, mode))
        moves = [Move(n, "commit", run, at) for n, (run, at) in enumerate(ends, 1)]
        tracks.append(Track(job, TABLE, moves[::-1]))
    runs = [past_run(one.run_id, one.job_name, one.committed_at_ms - 5) for one in checkpoints]
    return RewindFacts(["load", "clean"], (), tracks, checkpoints, runs, now_ms=1000)


def effect_on_clean(plan):
    (job,) = [one for one in plan.jobs if one.job == "clean"]
    return job.sees, job.effects[0].verdict


@pytest.mark.parametrize(
    ("upstream", "downstream", "verdict"),
    [
        ("append", "append", "doubles"),
        ("append", "merge", "right"),
        ("merge", "merge", "right"),
        ("merge", "append", "doubles"),
    ],
)
def test_a_reader_of_snapshots_sees_what_is_written_again(upstream, downstream, verdict):
    plan = plan_rewind(facts(upstream, downstream), ["load"], RewindTo("jr_l1", "jr_l1"))

    sees, found = effect_on_clean(plan)
    assert sees.startswith("sees the rows that are written again as new snapshots")
    assert found == verdict


def test_a_reader_of_a_table_that_goes_back_fails_unless_it_goes_back_too():
    to = RewindTo("jr_l1", "jr_l1")

    alone = plan_rewind(facts(), ["load"], to, clears=True)
    both = plan_rewind(facts(), ["load"], to, clears=True, with_downstream=True)

    sees, verdict = effect_on_clean(alone)
    assert "SnapshotRolledBackError" in sees
    assert verdict == "stale"
    assert "--with-downstream takes it back too" in alone.advice[0]
    assert both.is_right


def test_a_merge_does_not_read_its_own_table_again():
    found = facts("merge")
    merging = [
        replace(one, read=(*one.read, DatasetRead(LOG, rows=9))) if one.job_name == "load" else one
        for one in found.checkpoints
    ]

    plan = plan_rewind(replace(found, checkpoints=merging), ["load"], RewindTo("jr_l1", "jr_l1"))

    assert [one.dataset for one in plan.jobs[0].reads_again] == ["s3://l/in/"]


def test_a_table_that_is_merged_into_does_not_go_back():
    plan = plan_rewind(facts("merge", "merge"), ["load"], RewindTo("jr_l1", "jr_l1"), clears=True)

    assert effect_on_clean(plan)[1] == "right"


def test_a_plan_says_which_tables_go_back():
    plan = plan_rewind(facts(), ["load"], RewindTo("jr_l1", "jr_l1"), clears=True)

    lines = list(plan_lines(plan, []))

    assert "  takes table:db.log back to an earlier snapshot until it is undone" in lines
    assert not any("deletes" in line for line in lines)


def test_a_reader_of_snapshots_is_not_said_to_be_blind_for_a_backfill():
    flows = blind_readers("load", ["load", "clean"], facts().checkpoints)

    assert [(flow.reader, how_read(flow.read)) for flow in flows] == [("clean", "snapshots")]
