"""The line at fault, and what to change."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import pytest

from tidemark.local_state.operations import Operation
from tidemark.operate.prove.causes import Cause, Fault
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.judged import Verdict
from tidemark.operate.prove.kinds import every
from tidemark.operate.prove.kinds.every import KINDS


def put(number: int, line: int) -> Operation:
    place = f"s3://lake/out/part-{number}.json"
    return Operation(number, "jr_1", "put", (place,), "job.py", line, is_of_jvm=True)


def commit(number: int, line: int) -> Operation:
    return Operation(number, "jr_1", "bookmark", ("",), "job.py", line)


WRITE_FIRST = [put(1, 10), put(2, 10), commit(3, 11)]
COMMIT_FIRST = [commit(1, 9), put(2, 10), put(3, 10)]


def cause_of(
    experiment: Experiment,
    verdict: Verdict,
    operations: Sequence[Operation],
    target: str = "",
    *,
    marks: Collection[str] = (),
    **facts: bool,
) -> Cause:
    return every.cause_of(Fault(experiment, verdict, operations, target, **facts), marks)


def crash(after: int) -> Experiment:
    return Experiment("crash", "crash", after)


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


def test_a_purge_before_the_write_is_at_fault_for_what_later_runs_lose():
    purged = Operation(1, "jr_1", "delete", ("s3://lake/out/0",), "job.py", 18)
    parts = Experiment("parts", "parts")

    cause = cause_of(parts, "lost", [purged, put(2, 19), commit(3, 20)], "s3://lake/out/")

    assert (cause.line, "deletes what earlier runs" in cause.text) == (18, True)


def test_another_version_is_the_cause_of_what_fails_there():
    versions = Experiment("versions", "versions")

    cause = cause_of(versions, "fails", WRITE_FIRST)

    assert "compare-versions" in cause.remedy


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


def failed(number: int, operations: list[Operation]) -> Experiment:
    return Experiment("error", "error", number, operations[number - 1])


def test_a_run_that_failed_by_its_write_has_left_what_a_crash_leaves():
    cause = cause_of(failed(1, WRITE_FIRST), "doubled", WRITE_FIRST, has_ended=True)

    assert cause == cause_of(crash(2), "doubled", WRITE_FIRST)


def test_a_run_that_notes_its_rows_although_it_failed_commits_in_finally():
    for has_ended in (False, True):
        cause = cause_of(
            failed(1, WRITE_FIRST), "lost", WRITE_FIRST, has_ended=has_ended, has_noted=True
        )

        assert "commits although a write has failed" in cause.text


OUT = "s3://lake/out/"
MARK = Operation(1, "jr_1", "put", ("s3://state/done.json",), "job.py", 8)
MARKS = {"s3://state/done.json", "s3://lake/in/1.json"}


def test_a_failed_run_that_did_not_commit_is_not_said_to_commit():
    operations = [MARK, put(2, 10), commit(3, 11)]

    found = cause_of(failed(2, operations), "lost", operations, OUT, has_ended=True, marks=MARKS)

    assert found.line == 8
    assert "before job.py line 10 writes them" in found.text


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


def test_the_line_that_wrote_the_target_is_at_fault_not_the_last_one():
    archive = Operation(3, "jr_1", "copy", ("s3://lake/in/1", "s3://archive/1"), "job.py", 12)

    cause = cause_of(Experiment("twice", "twice"), "doubled", [put(1, 10), archive], OUT)

    assert cause.line == 10


def test_a_later_run_that_writes_nothing_is_said_to_skip():
    parts = Experiment("parts", "parts")

    assert (
        "the later run writes nothing at job.py line 10"
        in cause_of(parts, "lost", WRITE_FIRST, OUT, has_written=False).text
    )


def test_a_run_that_failed_after_its_commit_has_lost_what_it_had_noted():
    cause = cause_of(failed(2, COMMIT_FIRST), "lost", COMMIT_FIRST, has_ended=True)

    assert cause == cause_of(crash(1), "lost", COMMIT_FIRST)


def test_a_failed_run_that_notes_nothing_is_not_said_to_commit():
    cause = cause_of(failed(1, WRITE_FIRST[:2]), "lost", [*WRITE_FIRST[:2]], has_ended=True)

    assert "for all of it, and leaves out the rest" in cause.text


def test_who_overwrites_partitions_already_is_not_told_to_do_so():
    staged = Operation(1, "jr_1", "put", ("s3://lake/out/.spark-staging-1/day=1/a",), "job.py", 10)
    parts = Experiment("parts", "parts")

    whole, of_partitions = (
        cause_of(parts, "lost", operations) for operations in (WRITE_FIRST, [staged, *WRITE_FIRST])
    )

    assert "partitionOverwriteMode dynamic" in whole.remedy
    assert "replaces each partition" in of_partitions.text
    assert "partitionOverwriteMode" not in of_partitions.remedy


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


def test_what_is_done_by_half_is_to_be_done_again():
    half = Experiment("error", "error", 2, WRITE_FIRST[1], "half done")

    cause = cause_of(half, "lost", WRITE_FIRST)

    assert (cause.line, "UnprocessedItems" in cause.remedy) == (10, True)


def test_a_late_row_below_a_watermark_is_not_called_doubled():
    cause = cause_of(Experiment("order", "order"), "lost", WRITE_FIRST)

    assert "late" in cause.text
    assert "lookback" in cause.remedy


def test_what_joins_two_increments_is_not_said_to_replace_its_target():
    parts, appends = Experiment("parts", "parts"), [put(1, 10), put(2, 10), commit(3, 11)]
    old = Operation(1, "jr_1", "delete", ("s3://lake/out/a",), "job.py", 10)
    replaces = [old, *(replace(one, number=one.number + 1) for one in appends)]

    of_join = cause_of(parts, "lost", appends, OUT)
    of_overwrite = cause_of(parts, "lost", replaces, OUT)

    assert "other runs have read the rows that belong to them" in of_join.text
    assert "replaces the target" in of_overwrite.text


def test_a_stage_that_the_run_writes_again_is_no_note_of_what_is_done():
    stage = Operation(1, "jr_1", "put", ("s3://lake/stage/a",), "job.py", 8)
    old = Operation(2, "jr_1", "delete", ("s3://lake/out/0",), "job.py", 9)
    operations = [stage, old, put(3, 10)]

    cause = cause_of(crash(2), "lost", operations, OUT, marks=())

    assert (cause.line, "deletes what earlier runs have written" in cause.text) == (9, True)


IN = "s3://lake/in/2026.json"


def of_script(number: int, kind: str, place: str, line: int, request: str = "") -> Operation:
    places = (request, place) if request else (place,)
    return Operation(number, "jr_1", kind, places, "job.py", line)


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

    assert named.remedy == "commit after the last write (move job.py line 8 there)"
    assert other.remedy.startswith(f"{named.remedy}; and write the object under a key")


def test_what_a_script_takes_for_done_is_to_be_noted_elsewhere():
    run = [of_script(number, "put", f"{OUT}{number}.json", 10) for number in (1, 2)]

    cause = cause_of(crash(1), "lost", run, OUT)

    assert "look for what is done where it is noted last" in cause.remedy


@pytest.mark.parametrize("kind", ["meanwhile", "reading"])
def test_the_line_that_deletes_a_file_unread_is_at_fault(kind):
    run = [put(1, 10), of_script(2, "delete", IN, 12)]
    fault = Fault(Experiment(kind, kind), "lost", run, OUT, sources=[IN])

    cause = every.cause_of(fault, {IN})

    assert (cause.line, "list the input once" in cause.remedy) == (12, True)
    assert every.cause_of(replace(fault, verdict="doubled"), {IN}).line == 10


@pytest.mark.parametrize("verdict", ["lost", "doubled"])
def test_deletes_that_are_done_by_half_are_at_fault(verdict):
    run = [put(1, 10), of_script(2, "delete", f"{OUT}a.json", 12)]

    cause = cause_of(Experiment("error", "error", 2, run[1], "half done"), verdict, run, OUT)

    assert (cause.line, "Errors" in cause.remedy) == (12, True)


def test_the_form_of_a_name_does_not_tell_who_wrote_an_object():
    by_script = of_script(1, "put", f"{OUT}part-00001.json", 10)

    cause = cause_of(crash(1), "doubled", [by_script], OUT)

    assert "write the object under a key that a repeat uses again" in cause.remedy


def test_the_object_that_names_the_folder_that_counts_has_no_rows():
    run = [
        of_script(1, "put", f"{OUT}v-1/a.json", 8),
        of_script(2, "put", f"{OUT}current.json", 9),
    ]
    fault = Fault(Experiment("twice", "twice"), "doubled", run, OUT)

    assert every.cause_of(fault, (), {f"{OUT}current.json"}).line == 8


def test_an_older_item_that_arrives_late_is_to_be_kept_out_by_a_condition():
    run = [of_script(1, "items", "dynamodb:customers", 8, "dynamodb PutItem customers")]

    cause = cause_of(Experiment("order", "order"), "changed", run, "dynamodb:customers")

    assert "an item under a condition on that column" in cause.remedy


def test_notes_of_many_files_by_one_line_are_one_cause():
    causes = []
    for number in (1, 2):
        note = of_script(1, "put", f"s3://lake/done/file-{number}.json", 8)
        run = [note, of_script(2, "put", f"{OUT}{number}.json", 10)]
        causes.append(cause_of(crash(1), "lost", run, OUT, marks={note.places[-1]}))

    assert causes[0] == causes[1]
    assert "s3://lake/done/file-*.json" in causes[0].text
