"""Plain Glue scripts, run one after the other: what each run reads, and the bookmark after it."""

from __future__ import annotations

import pytest

from tests.scenarios.story import differences

pytestmark = [pytest.mark.spark, pytest.mark.nightly]

READ = {
    "first run": {"orders": [1, 2], "countries": [1], "events": [1, 2]},
    "second run": {"orders": [1, 3, 10], "countries": [1], "events": [3]},
    "run without commit": {"orders": [4]},
    "paused run": {"orders": [4], "countries": [1], "events": []},
    "third run": {"orders": [4], "countries": [1], "events": []},
    "window of runs": {"orders": [1, 3, 4, 10], "countries": [1], "events": [3]},
    "renamed ctx": {"orders": [1, 2, 3, 4, 10]},
    "run after the rewind": {"orders": [1, 3, 4, 10], "countries": [1], "events": [3]},
    "run after the reset": {"orders": [1, 2, 3, 4, 10], "countries": [1], "events": [1, 2]},
    "run that fails after its commit": {"orders": [5]},
}
# By step: version, run number, attempt number, and the steps of the run and of the one before it.
BOOKMARKS = {
    "first run": (1, 1, 0, "first run", None),
    "second run": (2, 2, 0, "second run", "first run"),
    "run without commit": (2, 2, 0, "second run", "first run"),
    "paused run": (2, 2, 0, "second run", "first run"),
    "third run": (3, 3, 0, "third run", "second run"),
    "window of runs": (3, 3, 0, "third run", "second run"),
    "renamed ctx": (4, 4, 0, "renamed ctx", "third run"),
    "rewind": (5, 1, 0, "first run", "renamed ctx"),
    "run after the rewind": (6, 5, 0, "run after the rewind", "first run"),
    "reset": (7, 0, 0, None, "run after the rewind"),
    "run after the reset": (8, 6, 0, "run after the reset", None),
    "run that fails after its commit": (
        9,
        7,
        0,
        "run that fails after its commit",
        "run after the reset",
    ),
}


@pytest.mark.parametrize("step", READ)
def test_run_reads_what_the_bookmark_leaves(local, step):
    assert local[step]["read"] == READ[step]


@pytest.mark.parametrize("step", BOOKMARKS)
def test_bookmark_after_each_step_has_the_counters_of_the_guide(local, step):
    names = ("Version", "Run", "Attempt", "RunId", "PreviousRunId")

    assert local[step]["bookmark"] == dict(zip(names, BOOKMARKS[step], strict=True))


def test_only_the_run_that_raises_fails(local):
    failed = [step for step, seen in local.items() if seen.get("state", "SUCCEEDED") != "SUCCEEDED"]

    assert failed == ["run that fails after its commit"]


@pytest.mark.aws
def test_real_glue_shows_the_same(aws, local, pytestconfig, capsys):
    found = differences(local, aws)

    with capsys.disabled():
        for line in ("", f"{len(found)} differences between local and real Glue:", *found):
            pytestconfig.get_terminal_writer().line(line)
    assert found == []
