"""States of jobs as tracks: a deployed bookmark of Glue's one entry, and moves of a watermark."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tidemark.operate.rewind.model import past_run
from tidemark.operate.rewind.facts import Move, Track
from tidemark.operate.rewind.tracks import bookmark_track


def run(number, state="SUCCEEDED"):
    return past_run(f"jr_{number}", "load", number * 100, state, number * 100 + 50)


RUNS = [run(4), run(3, "FAILED"), run(2), run(1)]


def brief(track):
    return [(move.kind, move.run_id) for move in track.moves]


def test_the_runs_that_succeeded_are_its_commits():
    track = bookmark_track("load", {"Version": 3, "Run": 3, "RunId": "jr_4"}, RUNS)

    assert brief(track) == [("commit", "jr_4"), ("commit", "jr_2"), ("commit", "jr_1")]
    assert track.latest.version == 3
    assert track.moves[-1].version == 1


@pytest.mark.parametrize("option", ["job-bookmark-disable", "job-bookmark-pause"])
def test_a_backfill_that_succeeded_is_no_commit(option):
    filled = replace(run(5), arguments={"--job-bookmark-option": option})
    track = bookmark_track("load", {"Version": 3, "Run": 3, "RunId": "jr_4"}, [filled, *RUNS])

    assert brief(track) == [("commit", "jr_4"), ("commit", "jr_2"), ("commit", "jr_1")]


def test_another_run_in_force_is_a_rewind_to_it():
    track = bookmark_track("load", {"Version": 4, "Run": 2, "RunId": "jr_2"}, RUNS)

    assert brief(track)[0] == ("rewind", "jr_2")
    assert [move.run_id for move in track.in_force()] == ["jr_2", "jr_1"]


@pytest.mark.parametrize("runs", [RUNS, []])
def test_no_run_in_force_is_the_beginning(runs):
    track = bookmark_track("load", {"Version": 5, "Run": 0}, runs)

    assert brief(track)[0] == ("reset", "")
    assert track.in_force() == []


def test_runs_that_glue_keeps_no_more_are_a_horizon():
    track = bookmark_track("load", {"Version": 90, "Run": 90, "RunId": "jr_4"}, RUNS)

    assert track.moves[-1].version > 1


def test_a_job_without_a_bookmark_has_no_track():
    assert bookmark_track("load", None, RUNS) is None


def test_an_acceptance_of_columns_leaves_the_commits_before_it_in_force():
    moves = [
        Move(6, "accept", "jr_1", 6),
        Move(5, "rewind", "jr_1", 5),
        Move(4, "commit", "jr_2", 4),
        Move(3, "accept", "jr_1", 3),
        Move(2, "commit", "jr_1", 2),
        Move(1, "accept", "", 1),
    ]

    assert [move.version for move in Track("load", "marks", moves).in_force()] == [2]
    assert [move.version for move in Track("load", "marks", moves[2:]).in_force()] == [4, 2]
