"""The verdict on rows that differ."""

from __future__ import annotations

import pytest

from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.findings import Finding, Proof
from tidemark.operate.prove.judged import TargetRows, worst


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        ({}, "equal"),
        ({"lost": 1}, "lost"),
        ({"doubled": 1}, "doubled"),
        ({"lost": 1, "doubled": 1}, "lost"),
        ({"added": 1}, "changed"),
        # Without a key nobody knows whether a row is lost or has other values.
        ({"lost": 1, "added": 1}, "changed"),
        ({"lost": 1, "added": 1, "same_key": 1, "key": ("id",)}, "changed"),
        ({"lost": 2, "added": 1, "same_key": 1, "key": ("id",)}, "lost"),
        ({"added": 1, "second_key": 1, "key": ("id",)}, "doubled"),
        ({"problem": "not a Parquet file", "lost": 1}, "not tried"),
    ],
)
def test_a_verdict_follows_from_the_rows(rows, verdict):
    assert TargetRows("s3://lake/out/", **rows).verdict == verdict


def test_the_worst_verdict_counts():
    assert worst(["equal", "doubled", "lost", "not tried"]) == "lost"
    assert worst(["equal", "accepted"]) == "accepted"
    assert worst([]) == "equal"


@pytest.mark.parametrize(
    ("crash", "again", "code"),
    [
        ("equal", "equal", 0),
        ("equal", "not tried", 0),
        ("not tried", "equal", 3),
        ("not tried", "not tried", 3),
        ("not tried", "doubled", 1),
        ("lost", "not tried", 1),
        (None, "equal", 0),
    ],
)
def test_without_any_crash_that_was_asked_for_nothing_is_proved(crash, again, code):
    found = [Finding(Experiment("again", "again"), again)]
    found += [Finding(Experiment("crash", "crash"), crash)] if crash else []

    assert Proof((), found).exit_code == code


@pytest.mark.parametrize(
    ("lost", "added", "retyped"),
    [
        ('{"id":1,"amount":42.0}', '{"id":1,"amount":42}', ["amount"]),
        ('{"id":1,"amount":42.5}', '{"id":1,"amount":42}', []),
        ('{"id":1,"amount":"42"}', '{"id":1,"amount":42}', []),
    ],
)
def test_a_value_that_is_the_same_as_another_type_is_told(lost, added, retyped):
    rows = TargetRows("s3://lake/out/", examples={"lost": [lost], "added": [added]})

    assert rows.retyped == retyped
