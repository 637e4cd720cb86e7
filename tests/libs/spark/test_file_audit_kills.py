"""A run that is killed at any step of an audited window of files, and the run after it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.iceberg import run_with_iceberg

PROGRAM = Path(__file__).parent / "programs" / "file_audit_kills.py"
CALLS = ("_delete_earlier_attempts", "_audit", "check_audits", "_files_in", "_publish")
STEPS = [f"{side} {call}" for call in CALLS for side in ("before", "after")]
# An audit that does not hold ends the call: no step after it is reached.
PASSED = ("after _audit", "after check_audits", "before _publish", "after _publish")
REFUSED_STEPS = [step for step in STEPS if step not in PASSED]


def run(tmp_path, attempt, are_good, step=None):
    program = PROGRAM.read_text(encoding="utf-8")
    lines = run_with_iceberg(program, tmp_path, json.dumps([attempt, are_good, step]))
    return json.loads(lines[-1])


def published(tmp_path):
    return sorted(str(path.parent) for path in (tmp_path / "out").glob("window=*/*/part-*"))


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.parametrize(
    ("are_good", "step"),
    [(True, step) for step in STEPS] + [(False, step) for step in REFUSED_STEPS],
)
def test_nothing_unaudited_is_published_and_the_window_is_there_once(tmp_path, are_good, step):
    with pytest.raises(AssertionError, match="ended its process"):
        run(tmp_path, 1, are_good, step)

    assert bool(published(tmp_path)) == (step == "after _publish")
    if not are_good:
        assert run(tmp_path, 2, False) == "refused"
        assert published(tmp_path) == []
    rows, folders = run(tmp_path, 3, True)
    assert rows == [[1, 1], [2, 2]]
    assert folders == ["out/window=w-1/attempt=0000000003"]
