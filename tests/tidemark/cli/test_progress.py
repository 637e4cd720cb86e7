"""What the observer of a run prints on a terminal, while other jobs still run."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest

from tidemark.cli.progress import JobProgress
from tidemark.cli.terminal import Terminal
from tidemark.local_state.store.database import JobRun
from tidemark.local_state.store.stored_warnings import StoredWarning

RUN = JobRun("jr_1", "one", None, None, 0, "RUNNING", 7, "/runs/jr_1/stderr.log", "on")
OTHER = replace(RUN, run_id="jr_2", job_name="other")
CAUSE = "ValueError: no [column] of this name " + "x" * 100


@pytest.fixture
def terminal() -> Terminal:
    return Terminal(file=io.StringIO(), force_terminal=True, width=80, color_system=None)


def printed(terminal: Terminal) -> list[str]:
    """Return the lines that were ended, without what was drawn over."""
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.file.getvalue())
    return [line.rpartition("\r")[2] for line in text.split("\n")]


def test_failure_is_one_line_that_is_not_folded_and_one_with_the_log(terminal) -> None:
    with JobProgress(terminal) as progress:
        for run in (RUN, OTHER):
            progress.observe(run)
        progress.observe(replace(RUN, state="FAILED", completed_at_ms=1_007, error_message=CAUSE))
        progress.observe(replace(OTHER, state="STOPPED", completed_at_ms=1_007))

    lines = printed(terminal)
    assert f"✗ one FAILED: {CAUSE}" in lines
    assert "  after 1.0 s, log: /runs/jr_1/stderr.log" in lines
    assert "✗ other  STOPPED in 1.0 s" in lines
    assert sum(CAUSE in line for line in lines) == 1


def test_a_run_that_read_nothing_says_so(terminal) -> None:
    ended = replace(RUN, state="SUCCEEDED", completed_at_ms=1_007, rows_read=0, rows_written=0)
    with JobProgress(terminal) as progress:
        progress.observe(ended)
        progress.observe(replace(ended, rows_written=1))

    lines = printed(terminal)
    assert "✓ one  SUCCEEDED in 1.0 s, 0 rows read, 0 written: nothing new" in lines
    assert "✓ one  SUCCEEDED in 1.0 s, 0 rows read, 1 written" in lines


def test_warning_is_one_line_and_of_another_command_has_the_time_of_its_run(terminal) -> None:
    with JobProgress(terminal) as progress:
        progress.observe(RUN)
        progress.observe(OTHER)
        progress.observe(replace(RUN, state="SUCCEEDED", completed_at_ms=1_007))
        progress.warn([StoredWarning("jr_1", "one", 7, "late [file]" + "x" * 100)])
        progress.warn([StoredWarning("jr_0", "one", 7, "earlier")])

    lines = printed(terminal)
    assert "✓ one  SUCCEEDED in 1.0 s, - rows read, - written" in lines
    assert f"warning one: late [file]{'x' * 100}" in lines
    assert "warning one, run of 1970-01-01 00:00Z: earlier" in lines
