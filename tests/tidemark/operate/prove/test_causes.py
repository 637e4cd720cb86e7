"""The line at fault, and what to change."""

from __future__ import annotations

import pytest

from tidemark.local_state.operations import Operation
from tidemark.operate.prove.causes import cause_of
from tidemark.operate.prove.experiments import KINDS, Experiment


def put(number: int, line: int) -> Operation:
    return Operation(number, "jr_1", "put", (f"s3://lake/out/{number}",), "job.py", line)


def commit(number: int, line: int) -> Operation:
    return Operation(number, "jr_1", "bookmark", ("",), "job.py", line)


WRITE_FIRST = [put(1, 10), put(2, 10), commit(3, 11)]
COMMIT_FIRST = [commit(1, 9), put(2, 10), put(3, 10)]


def crash(after: int) -> Experiment:
    return Experiment("crash", "crash", after)


def test_a_write_that_no_commit_has_noted_is_at_fault():
    cause = cause_of(crash(2), "doubled", WRITE_FIRST)

    assert (cause.script, cause.line) == ("job.py", 10)
    assert "line 11 had not yet noted" in cause.text
    assert "write_window" in cause.remedy


def test_a_commit_before_the_write_is_at_fault():
    cause = cause_of(crash(1), "lost", COMMIT_FIRST)

    assert cause.line == 9
    assert "before job.py line 10 writes" in cause.text
    assert cause.remedy.startswith("commit after the last write")


def test_a_crash_after_everything_has_the_cause_of_a_run_with_nothing_new():
    cause = cause_of(crash(3), "lost", WRITE_FIRST)

    assert cause == cause_of(Experiment("again", "again"), "lost", WRITE_FIRST)


def test_a_target_that_is_rewritten_in_place_is_at_fault():
    gone = Operation(1, "jr_1", "delete", ("s3://lake/out/0",), "job.py", 10)

    cause = cause_of(crash(1), "lost", [gone, put(2, 10), commit(3, 11)])

    assert cause.line == 10
    assert "deletes what earlier runs have written" in cause.text
    assert "merge_window" in cause.remedy


def test_a_job_that_notes_nothing_is_told_so():
    cause = cause_of(crash(1), "doubled", [put(1, 10)])

    assert "nothing notes that they are done" in cause.text
    assert "MaxRetries to 0" in cause.remedy


@pytest.mark.parametrize("kind", ["again", "parts"])
def test_a_run_that_commits_nothing_is_named_as_such(kind):
    nothing, all_noted = (
        cause_of(Experiment(kind, kind), "doubled", operations).text
        for operations in (WRITE_FIRST[:2], WRITE_FIRST)
    )

    assert nothing == f"the run commits neither a bookmark nor a watermark: {all_noted}"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("verdict", ["lost", "doubled", "changed"])
def test_every_kind_and_verdict_has_a_cause_and_a_remedy(kind, verdict):
    for operations in (WRITE_FIRST, COMMIT_FIRST, [commit(1, 9)]):
        cause = cause_of(Experiment(kind, kind, 1), verdict, operations)

        assert cause.text
        assert cause.remedy
        assert "{place}" not in cause.text


def test_a_late_row_below_a_watermark_is_not_called_doubled():
    cause = cause_of(Experiment("order", "order"), "lost", WRITE_FIRST)

    assert "late" in cause.text
    assert "lookback" in cause.remedy
