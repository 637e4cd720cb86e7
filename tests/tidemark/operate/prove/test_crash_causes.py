"""The line at fault if a run dies, or fails after it has written, and what to change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tidemark.operate.prove.faults import (
    COMMIT_FIRST,
    IN,
    MARK,
    MARKS,
    OUT,
    WRITE_FIRST,
    cause_of,
    commit,
    crash,
    failed,
    of_script,
    put,
)
from tidemark.local_state.operations import Operation
from tidemark.operate.prove.causes import Fault
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.kinds import every


def test_a_write_that_no_commit_has_noted_is_at_fault():
    cause = cause_of(crash(2), "doubled", WRITE_FIRST)

    assert (cause.script, cause.line) == ("job.py", 10)
    assert "line 11 had not yet noted" in cause.text
    assert "write_window" in cause.remedy


def test_the_batch_of_a_stream_is_noted_by_its_checkpoint():
    done = Operation(2, "jr_1", "copy", ("s3://lake/x", "s3://lake/check/commits/0"), "job.py", 12)

    cause = cause_of(crash(1), "doubled", [put(1, 10), done, commit(3, 13)], "s3://lake/out/")

    assert "line 12 had not yet noted" in cause.text


def test_an_item_that_is_added_to_has_a_remedy_of_its_own():
    added = Operation(1, "jr_1", "items", ("dynamodb:counts",), "job.py", 8)

    cause = cause_of(crash(1), "changed", [added, commit(2, 9)], "dynamodb:counts")

    assert "condition on what it has counted" in cause.remedy
    assert "under a key that a repeat uses again" in cause.remedy


@pytest.mark.parametrize(
    ("place", "named"),
    [
        ("s3://lake/out/part-00000-1.parquet", "merge_window with a key"),
        ("s3://lake/out/day=1/part-00000-1.parquet", "of the partitions that the run makes"),
        ("s3://lake/out/run-17-part-r-00000", "merge_window with a key"),
        ("s3://lake/out/2026-11-28-17.json", "a key that a repeat uses again"),
        ("s3://lake/out/total.json", "write final values"),
    ],
)
@pytest.mark.parametrize("verdict", ["doubled", "changed"])
def test_the_remedy_is_one_for_what_was_written(place, named, verdict):
    is_of_jvm = "part-" in place
    written = replace(put(1, 10), places=(place,), is_of_jvm=is_of_jvm)

    remedy = cause_of(crash(1), verdict, [written], OUT).remedy

    assert named in remedy
    assert ("mode('overwrite')" in remedy) == ("day=1" in place)


def test_a_commit_before_the_write_is_at_fault():
    cause = cause_of(crash(1), "lost", COMMIT_FIRST)

    assert cause.line == 9
    assert "before job.py line 10 writes" in cause.text
    assert cause.remedy.startswith("commit after the last write (move job.py line 9 there)")
    assert "write_window" in cause.remedy  # else a crash between the two doubles


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


def test_what_committers_delete_below_hidden_folders_is_not_at_fault():
    gone = Operation(1, "jr_1", "delete", ("s3://lake/out/_temporary/0/a",), "job.py", 10)

    cause = cause_of(crash(2), "lost", [gone, put(2, 10), put(3, 10), commit(4, 11)])

    assert cause.line == 10
    assert "for all of it, and leaves out the rest" in cause.text


def test_the_line_that_wrote_the_target_is_at_fault_and_not_one_that_copies_to_an_archive():
    copied = Operation(2, "jr_1", "put", ("s3://ops/archive/a",), "job.py", 12)

    cause = cause_of(crash(2), "doubled", [put(1, 10), copied], "s3://lake/out/")

    assert cause.line == 10


def test_an_object_that_is_a_mark_of_the_job_is_written_too_early():
    mark = Operation(1, "jr_1", "put", ("s3://ops/mark.json",), "job.py", 9)

    cause = cause_of(crash(1), "lost", [mark, put(2, 10)], "s3://lake/out/")

    assert (cause.script, cause.line) == ("job.py", 9)
    assert "changes or deletes s3://ops/mark.json, which tells a run what to read" in cause.text


def test_a_run_that_failed_by_its_write_has_left_what_a_crash_leaves():
    cause = cause_of(failed(1, WRITE_FIRST), "doubled", WRITE_FIRST, has_ended=True)

    assert cause == cause_of(crash(2), "doubled", WRITE_FIRST)


def test_an_object_that_runs_read_is_a_mark_and_no_commit_is():
    mark = replace(MARK, number=3)
    archived = Operation(3, "jr_1", "delete", ("s3://lake/in/1.json",), "job.py", 9)
    for note, line in ((mark, 8), (archived, 9)):
        operations = [put(1, 10), put(2, 10), note, commit(4, 11)]

        written = cause_of(crash(2), "doubled", operations, OUT, marks=MARKS)
        failing = failed(3, operations)
        by_error = cause_of(failing, "doubled", operations, OUT, has_ended=True, marks=MARKS)

        assert f"line 10 has written rows that job.py line {line} had not yet noted" in written.text
        assert by_error == written


@pytest.mark.parametrize(
    "request_",
    [
        "ssm PutParameter /done",
        "secretsmanager PutSecretValue a",
        "glue UpdateTable sales",
        "s3 PutObjectTagging lake",
    ],
)
def test_a_request_that_keeps_a_mark_is_one(request_):
    noted = Operation(1, "jr_1", "request", (request_,), "job.py", 8)

    cause = cause_of(crash(1), "lost", [noted, put(2, 10), commit(3, 11)], OUT)

    assert cause.line == 8


def test_a_run_that_failed_after_its_commit_has_lost_what_it_had_noted():
    cause = cause_of(failed(2, COMMIT_FIRST), "lost", COMMIT_FIRST, has_ended=True)

    assert cause == cause_of(crash(1), "lost", COMMIT_FIRST)


def test_a_stage_that_the_run_writes_again_is_no_note_of_what_is_done():
    stage = Operation(1, "jr_1", "put", ("s3://lake/stage/a",), "job.py", 8)
    old = Operation(2, "jr_1", "delete", ("s3://lake/out/0",), "job.py", 9)
    operations = [stage, old, put(3, 10)]

    cause = cause_of(crash(2), "lost", operations, OUT, marks=())

    assert (cause.line, "deletes what earlier runs have written" in cause.text) == (9, True)


@pytest.mark.parametrize(
    ("place", "puts", "deletes"),
    [
        ("s3://lake/lock", ("put", ""), ("delete", "")),
        ("dynamodb:locks", ("items", "dynamodb PutItem locks"), ("items", "dynamodb DeleteItem l")),
    ],
)
def test_a_lock_that_a_dead_run_leaves_is_not_said_to_be_moved(place, puts, deletes):
    run = [
        of_script(1, puts[0], place, 8, puts[1]),
        put(2, 10),
        of_script(3, deletes[0], place, 12, deletes[1]),
    ]

    stops, goes_on = (
        cause_of(crash(1), "lost", run, OUT, marks={place}, has_written=has_written)
        for has_written in (False, True)
    )

    assert (stops.line, "and the next run stops there" in stops.text) == (8, True)
    assert "take over a lock" in stops.remedy
    assert "move job.py line 8 there" in goes_on.remedy


def test_a_compaction_that_dies_before_it_deletes_leaves_both():
    run = [
        of_script(1, "put", f"{OUT}all.json", 8),
        of_script(2, "delete", f"{OUT}a.json", 9),
        of_script(3, "delete", f"{OUT}b.json", 9),
    ]

    for after in (1, 2):
        cause = cause_of(crash(after), "doubled", run, OUT)

        assert (cause.line, "that job.py line 9 deletes after that" in cause.text) == (8, True)
        assert "new folder" in cause.remedy


def test_an_object_named_after_its_input_is_not_said_to_need_another_name():
    note = of_script(1, "items", "dynamodb:done", 8, "dynamodb PutItem done")
    run = [note, of_script(2, "put", f"{OUT}2026.json", 10)]
    fault = Fault(crash(1), "lost", run, OUT, sources=[IN])

    named = every.cause_of(fault, {"dynamodb:done"})
    other = every.cause_of(replace(fault, sources=["s3://lake/in/b.json"]), {"dynamodb:done"})

    assert named.remedy == "commit after the last write (move job.py line 8 there) (TM529)"
    assert other.remedy.startswith(f"{named.remedy}; and write the object under a key")


def test_what_a_script_takes_for_done_is_to_be_noted_elsewhere():
    run = [of_script(number, "put", f"{OUT}{number}.json", 10) for number in (1, 2)]

    cause = cause_of(crash(1), "lost", run, OUT)

    assert "look for what is done where it is noted last" in cause.remedy


def test_the_form_of_a_name_does_not_tell_who_wrote_an_object():
    by_script = of_script(1, "put", f"{OUT}part-00001.json", 10)

    cause = cause_of(crash(1), "doubled", [by_script], OUT)

    assert "write the object under a key that a repeat uses again" in cause.remedy


def test_notes_of_many_files_by_one_line_are_one_cause():
    causes = []
    for number in (1, 2):
        note = of_script(1, "put", f"s3://lake/done/file-{number}.json", 8)
        run = [note, of_script(2, "put", f"{OUT}{number}.json", 10)]
        causes.append(cause_of(crash(1), "lost", run, OUT, marks={note.places[-1]}))

    assert causes[0] == causes[1]
    assert "s3://lake/done/file-*.json" in causes[0].text


def test_a_mark_that_a_dead_run_leaves_is_named_where_nothing_was_written():
    running = replace(MARK, line=10)

    cause = cause_of(crash(1), "doubled", [running, put(2, 11)], OUT, marks=MARKS)

    assert (cause.script, cause.line) == ("job.py", 10)
    assert "leaves a mark that later runs follow" in cause.text


def test_how_a_later_job_fails_is_the_cause_of_what_it_does_not_write():
    fault = Fault(crash(1), "lost", WRITE_FIRST, OUT, failure="b: ValueError (b.py, line 3)")

    cause = every.cause_of(fault)

    assert (cause.script, cause.line) == ("job.py", 10)
    assert cause.text.endswith("makes a later job fail: b: ValueError (b.py, line 3)")


@pytest.mark.parametrize("marks", [set(), {"s3://lake/locks/orders"}])
def test_a_run_that_waits_for_the_lock_of_a_dead_one_is_told_where_that_is(marks):
    lock = "s3://lake/locks/orders"
    run = [
        of_script(1, "put", lock, 8),
        of_script(2, "put", f"{OUT}1", 18),
        of_script(3, "delete", lock, 19),
    ]
    failure = "job: the run had not ended after 90 s"

    of_lock = cause_of(crash(2), "lost", run, OUT, marks=marks, failure=failure)
    unknown = cause_of(crash(2), "fails", run[:2], OUT, failure=failure)

    assert (of_lock.line, "TM514" in of_lock.remedy) == (8, True)
    assert (unknown.line, "does not end" in unknown.text) == (None, True)
