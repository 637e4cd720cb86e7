"""What a comparison says of runs and places."""

from __future__ import annotations

import json

import pytest

from tidemark.operate.versions.outcomes import Comparison, RunOutcome, TargetOutcome

GOOD = RunOutcome("a", "SUCCEEDED", None, 2, 2)
BAD = RunOutcome("a", "FAILED", "[DIVIDE_BY_ZERO] Division by zero (a.py, line 3)", 2, 0)
SAME = TargetOutcome("s3://b/t/", rows=(2, 2))


def compared(old, new, *targets):
    return Comparison("5.1", "6.0", old, new, targets, (1.0, 1.0))


@pytest.mark.parametrize(
    ("old", "new", "targets", "verdict"),
    [
        ([GOOD], [GOOD], [SAME], "equal"),
        ([GOOD], [BAD], [SAME], "fails"),
        ([BAD], [BAD], [], "fails"),
        ([BAD], [GOOD], [], "differs"),
        ([GOOD], [], [], "differs"),
        ([GOOD], [GOOD], [TargetOutcome("t", rows=(2, 3))], "differs"),
        ([GOOD], [GOOD], [TargetOutcome("t", rows=(2, None))], "differs"),
        ([GOOD], [GOOD], [TargetOutcome("t", (2, 2), columns=("n",))], "differs"),
        ([GOOD], [GOOD], [TargetOutcome("t", (2, 2), schema={"n": ("int", None)})], "differs"),
        ([GOOD], [GOOD], [TargetOutcome("t", (2, 2), only_new=("{}",))], "differs"),
        ([GOOD], [GOOD], [TargetOutcome("t", problem="no such format")], "differs"),
        ([GOOD], [GOOD], [TargetOutcome("t", (2, 2), by_time=("at",))], "equal"),
    ],
)
def test_the_verdict(old, new, targets, verdict):
    found = compared(old, new, *targets)

    assert found.verdict == verdict
    assert (found.differing == 0) == (verdict == "equal")
    assert json.loads(json.dumps(found.to_json()))["verdict"] == verdict


def test_warnings_and_rows_of_a_run_are_told_apart():
    new = RunOutcome("a", "SUCCEEDED", None, 3, 2, ("so many records are bad",))

    (job,) = compared([GOOD], [new]).jobs

    assert job.verdict == "differs"
    assert job.differences == ["rows read: 2 before, 3 after", "warns now: so many records are bad"]


def test_a_failure_names_its_cause():
    (job,) = compared([GOOD], [BAD]).jobs

    assert job.cause.place == "a.py:3"
    assert job.to_json()["cause"]["setting"] == "--conf spark.sql.ansi.enabled=false"


@pytest.mark.parametrize(
    ("less", "more"),
    [
        (TargetOutcome("t", (2, 2)), TargetOutcome("t", (2, 2), columns=("a",))),
        (
            TargetOutcome("t", (2, 2), columns=("a",)),
            TargetOutcome("t", (2, 2), columns=("a", "b")),
        ),
        (TargetOutcome("t", (2, 2), columns=("a", "b")), TargetOutcome("t", (2, None))),
    ],
)
def test_a_setting_that_brings_one_of_two_columns_back_leaves_less(less, more):
    assert compared([GOOD], [GOOD], less).differing < compared([GOOD], [GOOD], more).differing


def test_a_job_that_fails_differs_more_than_a_place():
    place = TargetOutcome("t", (2, 2), columns=("a",))

    assert compared([GOOD], [GOOD], place).differing < compared([GOOD], [BAD]).differing
