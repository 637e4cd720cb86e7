"""Runs that die at any step, while other people move the snapshots of the table: no row is lost.

Each story ends with every row of the job exactly once in the table, or with a refusal by name.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.iceberg import run_with_iceberg

PROGRAM = (Path(__file__).parent / "programs" / "iceberg_histories.py").read_text(encoding="utf-8")
REFUSALS = {"SnapshotExpiredError", "SnapshotRolledBackError"}


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.parametrize("first", range(0, 60, 10))
def test_every_row_is_there_once_after_any_history_of_the_table(first, tmp_path):
    lines = run_with_iceberg(PROGRAM, tmp_path, json.dumps([*range(first, first + 10)]))

    stories = dict(map(json.loads, lines))
    assert len(stories) == 10
    wrong = {seed: story for seed, story in stories.items() if story.get("wrong")}
    assert wrong == {}
    assert {story["refused"] for story in stories.values() if "refused" in story} <= REFUSALS
