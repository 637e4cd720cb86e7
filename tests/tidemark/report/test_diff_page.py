"""The page and the lines of a difference: what rows hold is shown, and commands nothing."""

from __future__ import annotations

from tidemark.cli.views.diff import lines_of
from tidemark.operate.diff.outcomes import Diff, TargetDiff
from tidemark.operate.versions.outcomes import RunOutcome, StateOutcome
from tidemark.report.page import diff_page

EVIL = "<script>alert('x')</script>"
CHANGED = {"column": EVIL, "key": {"id": EVIL}, "values": [EVIL, None]}
TARGET = TargetDiff(
    rows=(2, 1),
    key=("id",),
    only=(1, 0),
    changed=1,
    columns={EVIL: 1},
    twice=(1, 0),
    twice_example={"id": "7"},
    examples={"old": [{EVIL: EVIL}], "changed": [CHANGED]},
    target="s3://lake/out/",
    bytes=(2000, 1000),
    schema={"n": ("int", None)},
)
DIFF = Diff(
    "old",
    EVIL,
    [TARGET, TargetDiff(target="s3://lake/gone/", problem=EVIL)],
    [StateOutcome("bookmark", "load", ("version 1", None), {"version": ("1", None)})],
    ((), [RunOutcome("load", "FAILED", EVIL, None, None)]),
    [EVIL],
)


def test_the_page_escapes_what_rows_and_errors_hold():
    page = diff_page(DIFF)

    assert EVIL not in page
    assert page.count("&lt;script&gt;") > 8
    assert "<em>NULL</em>" in page


def test_the_lines_tell_counts_examples_and_what_was_not_compared():
    assert list(lines_of(DIFF)) == [
        f"✗ load: FAILED with {EVIL}: {EVIL}",
        "≠ s3://lake/out/: 2 rows -> 1 row, 2,000 -> 1,000 bytes, compared by id",
        "    n: int -> not there",
        "    several rows have one key: 1 and 0 keys, such as id=7; "
        "their rows are compared as a whole",
        "    only in old: 1 row",
        f"      - {EVIL}={EVIL}",
        "    other values: 1 row",
        f"      {EVIL}: 1",
        f"        id={EVIL}: {EVIL} -> NULL",
        f"? s3://lake/gone/: not compared: {EVIL}",
        "≠ bookmark load: version 1 -> not there",
        "    version: 1 -> not there",
        f"- {EVIL}",
        f"≠ old and {EVIL}: 1 target of 2 differ, 1 not compared",
    ]


def test_equal_targets_and_failed_jobs_are_not_equal():
    equal = TargetDiff(rows=(1, 1), target="s3://lake/out/")

    assert Diff("a", "b", [equal]).verdict == "equal"
    assert Diff("a", "b", [TargetDiff(rows=(0, None), target="t")]).verdict == "differs"
    assert Diff("a", "b", [equal], runs=DIFF.runs).verdict == "differs"


def test_what_was_not_compared_is_not_equal():
    equal, gone = TargetDiff(rows=(1, 1), target="a"), TargetDiff(target="b", problem="gone")

    assert Diff("a", "b", []).verdict == "not compared"
    assert Diff("a", "b", [equal, gone]).verdict == "not compared"
    assert Diff("a", "b", [gone, TargetDiff(rows=(0, None))]).verdict == "differs"
