"""The line at fault, and what to change."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

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
    failed,
    of_script,
    put,
)
from tidemark.local_state.operations import AwsRead, Operation
from tidemark.model.advice import advice_of, catalogue
from tidemark.operate.prove import causes
from tidemark.operate.prove.causes import Fault
from tidemark.operate.prove.changes import is_of, places_within
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.kinds import every
from tidemark.operate.prove.kinds.every import KINDS


def test_a_purge_before_the_write_is_at_fault_for_what_later_runs_lose():
    purged = Operation(1, "jr_1", "delete", ("s3://lake/out/0",), "job.py", 18)
    parts = Experiment("parts", "parts")

    cause = cause_of(parts, "lost", [purged, put(2, 19), commit(3, 20)], "s3://lake/out/")

    assert (cause.line, "deletes what earlier runs" in cause.text) == (18, True)


def test_another_version_is_the_cause_of_what_fails_there():
    versions = Experiment("versions", "versions")

    cause = cause_of(versions, "fails", WRITE_FIRST)

    assert "compare-versions" in cause.remedy


def test_a_run_that_notes_its_rows_although_it_failed_commits_in_finally():
    for has_ended in (False, True):
        cause = cause_of(
            failed(1, WRITE_FIRST), "lost", WRITE_FIRST, has_ended=has_ended, noted=commit(3, 11)
        )

        assert (cause.line, "although job.py line 10 has failed" in cause.text) == (11, True)


def test_a_failed_run_that_did_not_commit_is_not_said_to_commit():
    operations = [MARK, put(2, 10), commit(3, 11)]

    found = cause_of(failed(2, operations), "lost", operations, OUT, has_ended=True, marks=MARKS)

    assert found.line == 8
    assert "before job.py line 10 writes them" in found.text


def test_a_note_without_an_answer_that_ends_the_run_was_made_too_early():
    operations = [MARK, put(2, 10)]
    unanswered = replace(failed(1, operations), how="unanswered")

    cause = cause_of(unanswered, "lost", operations, OUT, has_ended=True, marks=MARKS)

    assert (cause.line, "before job.py line 10 writes them" in cause.text) == (8, True)


def test_a_read_that_fails_in_one_thread_leaves_what_another_one_has_written():
    request = AwsRead(1, "jr_1", f"s3 GetObject {IN}", 0, ("job.py line 9",))
    refused = Experiment("error", "error", 0, None, "refused", request=request)

    cause = cause_of(refused, "doubled", WRITE_FIRST, OUT, has_ended=True)

    assert (cause.line, "had not yet noted" in cause.text) == (10, True)


def test_a_read_whose_failure_is_taken_for_nothing_is_at_fault():
    request = AwsRead(1, "jr_1", "ssm GetParameter /last", 0, ("job.py line 5", "io.py line 2"))
    refused = Experiment("error", "error", 0, None, "refused", request=request)

    cause = cause_of(refused, "doubled", WRITE_FIRST, OUT)

    assert (cause.script, cause.line) == ("io.py", 2)
    assert "although io.py line 2 has failed" in cause.text


def test_the_line_that_wrote_the_target_is_at_fault_not_the_last_one():
    archive = Operation(3, "jr_1", "copy", ("s3://lake/in/1", "s3://archive/1"), "job.py", 12)

    cause = cause_of(Experiment("twice", "twice"), "doubled", [put(1, 10), archive], OUT)

    assert cause.line == 10


@pytest.mark.parametrize("has_note", [True, False])
def test_a_later_run_that_writes_nothing_is_said_to_skip(has_note):
    run = WRITE_FIRST if has_note else WRITE_FIRST[:2]

    cause = cause_of(Experiment("parts", "parts"), "lost", run, OUT, has_written=False)

    assert "the later run writes nothing at job.py line 10" in cause.text
    assert ("or job.py line 11 has noted them as read" in cause.text) is has_note


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


def test_what_is_changed_or_read_by_half_is_to_be_done_again_at_its_own_line():
    items = replace(WRITE_FIRST[1], kind="items", line=12)
    read = AwsRead(1, "jr_1", "dynamodb BatchGetItem names", 0, ("job.py line 8",))
    of_items = Experiment("error", "error", 2, items, "half done")
    of_read = Experiment("error", "error", 0, None, "half done", request=read)

    changed = cause_of(of_items, "changed", WRITE_FIRST)
    lost = cause_of(of_read, "lost", WRITE_FIRST)

    assert (changed.line, "UnprocessedItems" in changed.remedy) == (12, True)
    assert (lost.script, lost.line, "UnprocessedKeys" in lost.remedy) == ("job.py", 8, True)


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


def test_each_cause_of_the_catalogue_is_named_by_the_proof_and_has_a_remedy():
    known, code = catalogue()["prove"]["causes"], ""
    for file in Path(causes.__file__).parent.rglob("*.py"):
        code += file.read_text(encoding="utf-8")

    assert {name for name in known if f'"{name}"' not in code} == set()
    assert {cause["remedy"] for cause in known.values()} <= advice_of("prove").keys()


def test_a_transaction_changes_each_of_its_tables_and_no_other():
    tables = ("dynamodb:files", "dynamodb:orders")
    request = "dynamodb TransactWriteItems files, orders"
    transaction = Operation(1, "jr_1", "items", (request, *tables), "job.py", 25)

    assert [places_within(transaction, table) for table in tables] == [[table] for table in tables]
    assert not is_of(transaction, "dynamodb:order")
