"""The experiments for a run, from what it changed."""

from __future__ import annotations

import pytest

from tidemark.local_state.operations import Operation
from tidemark.operate.prove.experiments import (
    KINDS,
    crashes,
    described,
    in_parts,
    is_state,
    planned,
)

OUT = "s3://lake/out/"
RUN = [
    Operation(1, "jr_1", "put", (f"{OUT}a",), "job.py", 7),
    Operation(2, "jr_1", "put", (f"{OUT}b",), "job.py", 7),
    Operation(3, "jr_1", "put", (f"{OUT}c",), "job.py", 7),
    Operation(4, "jr_1", "bookmark", ("",), "job.py", 8),
]


def test_there_is_a_crash_after_each_operation_with_the_edge_of_a_commit_first():
    assert [one.after for one in crashes(RUN)] == [3, 4, 1, 2]


def test_every_kind_is_planned_once_besides_the_crashes():
    plan = planned(RUN, (), 4, {})

    assert sorted(one.kind for one in plan if one.kind != "crash") == sorted(KINDS[1:])
    assert not [one for one in plan if one.not_tried]


@pytest.mark.parametrize(
    ("operations", "files", "not_tried"),
    [
        (RUN, 1, {"parts", "order", "meanwhile"}),
        (RUN, 0, {"parts", "order", "meanwhile", "twice", "replaced"}),
        (RUN[:3], 2, {"rewind"}),
    ],
)
def test_what_cannot_be_tried_says_why(operations, files, not_tried):
    plan = planned(operations, (), files, {"together": "MaxConcurrentRuns of job is 1"})

    found = {one.kind: one.not_tried for one in plan if one.not_tried}
    assert found.pop("together") == "MaxConcurrentRuns of job is 1"
    assert found.keys() == not_tried


@pytest.mark.parametrize(
    ("operation", "state"),
    [
        (RUN[0], False),
        (RUN[3], True),
        (Operation(5, "jr_1", "request", ("dynamodb UpdateItem marks",)), True),
        (Operation(5, "jr_1", "request", ("sns Publish topic",)), False),
        (Operation(5, "jr_1", "catalog", ("sales.orders",)), False),
    ],
)
def test_bookmarks_and_items_of_dynamodb_say_how_far_a_job_is(operation, state):
    assert is_state(operation) is state


def test_all_crashes_are_in_a_later_run_if_there_is_one_and_the_edges_in_the_first():
    plan = [one for one in planned(RUN, RUN[2:], 4, {}) if one.kind == "crash"]

    assert [(one.is_in_increment, one.after) for one in plan] == [
        (True, 3),
        (True, 4),
        (False, 3),
        (False, 4),
    ]


def test_crashes_are_not_tried_if_something_changed_without_a_word():
    (crash,) = [one for one in planned(RUN, RUN, 4, {"crash": "why"}) if one.kind == "crash"]

    assert crash.not_tried == "why"


def test_an_operation_is_described_by_its_target_and_line():
    assert described(RUN[0]) == f"writing {OUT}a (job.py line 7)"
    copied = Operation(1, "jr_1", "copy", (f"{OUT}_temporary/a", f"{OUT}a"))
    assert described(copied) == f"copying to {OUT}a"


@pytest.mark.parametrize(
    ("count", "parts"), [(1, [1]), (2, [1, 1]), (3, [1, 1, 1]), (7, [2, 2, 3]), (8, [2, 3, 3])]
)
def test_files_are_parted_in_their_order(count, parts):
    files = [f"f{number}" for number in range(count)]

    found = in_parts(files)

    assert [len(part) for part in found] == parts
    assert [file for part in found for file in part] == files
