"""A run that is killed at any step of a window into a table of Iceberg, and the run after it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.iceberg import run_with_iceberg

PROGRAM = (Path(__file__).parent / "programs" / "iceberg_kills.py").read_text(encoding="utf-8")
STEPS = (
    "before the branch",
    "after the branch",
    "after the write",
    "before the commit",
    "after the commit",
)


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.parametrize(
    ("how", "step"),
    [(how, step) for how in ("append", "merge") for step in STEPS]
    + [
        (f"audited {how}", step) for how in ("append", "merge") for step in (*STEPS, "in the audit")
    ],
)
def test_the_window_of_a_killed_run_is_there_once_after_the_next(step, how, tmp_path):
    with pytest.raises(AssertionError):
        run_with_iceberg(PROGRAM, tmp_path, json.dumps([how, 1, step]))

    lines = run_with_iceberg(PROGRAM, tmp_path, json.dumps([how, 2, None]))

    found = json.loads(lines[-1])
    assert found == {"rows": [[1, "a", 5], [2, "b", 6]], "refs": ["main"]}
