"""What audits of windows see of a table of Iceberg, and what a failed one leaves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.iceberg import run_with_iceberg

PROGRAMS = Path(__file__).parent / "programs"
PROGRAM = (PROGRAMS / "iceberg_audits.py").read_text(encoding="utf-8")


@pytest.mark.nightly
@pytest.mark.spark
def test_audits_see_the_new_state_and_readers_only_what_they_let_through(tmp_path):
    told = json.loads(run_with_iceberg(PROGRAM, tmp_path)[-1])

    message, kept, held, branches = told["append"]
    assert '1 rows are wrong, such as {"id":1}' in message
    assert (kept, held, branches) == ([[1, 1, 1], [1, 2, 2]], [[1, 1, 1]], 1)
    assert told["merged"] == [[[1, 2, 2], [2, 5, 2]], 1]
    message, kept, held, branches = told["merge"]
    assert "the audit 'n > 0' does not hold" in message
    assert (kept, held, branches) == ([[1, 2, 2], [2, -1, 3]], [[1, 2, 2], [2, 5, 2]], 2)
    assert "has written to what it checks" in told["writer"][0]
    assert told["writer"][2] == [[1, 2, 2], [2, 5, 2]]
    assert told["other writer"] == [[2, 3], [[1, 2, 2], [2, 8, 4], [3, 3, 3]], 1]
    assert told["appended"] == [4, []]
    assert told["superseded"] == "WatermarkSupersededError"


@pytest.mark.nightly
@pytest.mark.spark
def test_the_session_sees_what_was_published_however_long_it_took(tmp_path):
    program = PROGRAMS / "iceberg_stale.py"

    told = json.loads(run_with_iceberg(program.read_text(encoding="utf-8"), tmp_path)[-1])

    assert told == [2, ["main"]]
