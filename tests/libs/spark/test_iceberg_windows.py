"""Windows into tables of Iceberg, and over their snapshots, by Iceberg itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.iceberg import run_with_iceberg
from tidemark.operate.snapshot_plan import plan_of
from watermarks.windows.snapshot_cursors import Snapshot

pytestmark = pytest.mark.spark

PROGRAM = Path(__file__).parent / "programs" / "iceberg_windows.py"
ORDERS = 1  # each costs a dozen commits


@pytest.fixture(scope="module")
def facts(tmp_path_factory):
    """Return what the first part of the program has seen: appends."""
    first, following, _ = PROGRAM.read_text(encoding="utf-8").partition("# Schema and partitions")
    assert following
    return seen(f"{first}print(json.dumps(facts))", tmp_path_factory.mktemp("appends"))


@pytest.fixture(scope="module")
def all_facts(tmp_path_factory):
    """Return what the whole program has seen."""
    return seen(PROGRAM.read_text(encoding="utf-8"), tmp_path_factory.mktemp("iceberg"))


def seen(program: str, folder: Path) -> dict[str, Any]:
    return json.loads(run_with_iceberg(program, folder, json.dumps(ORDERS))[-1])


def test_a_window_is_appended_once_by_whichever_attempt(facts):
    assert (facts["first append"], facts["again by the next run"]) == (True, False)
    assert facts["another part"] is True
    assert facts["a later window"] is True


def test_windows_of_another_job_and_of_a_backfill_count_by_themselves(facts):
    assert facts["of another job"] is True
    assert facts["of a backfill"] is True
    assert facts["appended"] == 5 * 3


def test_two_appends_of_one_run_need_parts(facts):
    assert "WatermarksError" in facts["again by this run"]
    assert "part=" in facts["again by this run"]


def test_the_snapshot_names_its_window(facts):
    assert facts["summary"] == {
        "tidemark.window": "backfill-may-t-1",
        "tidemark.lane": facts["lane"],
        "tidemark.attempt": "1",
        "tidemark.run": "jr_1",
    }


@pytest.mark.parametrize(
    "case",
    [
        "after a rollback",
        "after a rollback and expiry",
        "after a replacement",
        "after another replacement",
    ],
)
def test_a_window_that_is_not_in_the_table_any_more_is_appended_again(facts, case):
    assert facts[case] is True


def test_a_window_is_merged_and_appended_once_each(facts):
    assert (facts["append after a merge"], facts["append after a merge, again"]) == (True, False)
    assert facts["both"] == 2


def test_deleted_rows_are_not_kept_without_their_column(facts):
    assert "the table has no column 'is_deleted'" in facts["no column for deleted rows"]


def test_a_window_whose_snapshot_has_expired_is_not_appended_again(facts):
    assert facts["after expiry"] is False
    assert facts["back"] == 1 + 3


def test_what_was_rolled_back_is_appended_again_after_its_snapshot_has_expired(facts):
    assert facts["after a rollback, another append and expiry"] is True
    assert facts["after other appends and expiry"] is False
    assert facts["gone"] == 3


def test_a_window_that_was_committed_and_rolled_back_stops_the_next_one(facts):
    refused = facts["after the last window was rolled back"]

    assert refused.startswith("SnapshotRolledBackError: window 0000000004-ab")
    assert "rewind the watermark" in refused
    assert facts["without the window that was rolled back"] is True


def test_where_nothing_tells_of_a_window_both_ways_out_are_named_and_work(facts):
    assert facts["not known"].startswith("SnapshotExpiredError: attempt 5 at window 0000000005-ab")
    assert facts["accepted as written"] is False
    assert facts["written by name"] is True


def test_a_column_that_the_table_got_later_is_null_in_a_frame_without_it(facts):
    assert facts["columns"] == [[None, 1, "a", [1, None]]] * 3
    assert facts["without the dropped one"] is True


@pytest.mark.parametrize(
    ("case", "remedy"),
    [
        ("renamed", "'name' is called 'title' there now"),
        ("added in a struct", "ADD COLUMN `p`.`y`"),
        ("not given", "the frame has no column 'title'"),
        ("twice", "the columns ID, Id"),
        ("dropped", "frame.drop('name')"),
    ],
)
def test_a_frame_whose_columns_do_not_fit_is_refused_by_their_names(facts, case, remedy):
    assert facts[f"a column {case}"].startswith("WatermarkValueError: ")
    assert remedy in facts[f"a column {case}"]


def test_a_run_whose_branch_a_later_attempt_has_removed_is_superseded(facts):
    assert facts["superseded by one that writes"].startswith("WatermarkSupersededError: attempt 6")


@pytest.mark.parametrize(
    "case", ["branch_audit", "read branch_audit", "snapshots", "read snapshots"]
)
def test_what_is_no_table_of_its_own_has_no_windows(facts, case):
    assert facts[case].startswith("WatermarkValueError")
    assert facts[case].endswith("name s.back")
    assert facts["named as a branch"] is True


@pytest.mark.parametrize("case", ["spark.wap.id", "spark.wap.branch"])
def test_a_window_is_not_staged(facts, case):
    assert f"unset {case}" in facts[case]
    assert facts["not staged"] is True


@pytest.mark.nightly
def test_a_merge_into_a_table_without_the_cursor_names_it(all_facts):
    assert "the table has no column 'at'" in all_facts["a cursor that the table lacks"]


@pytest.mark.nightly
@pytest.mark.parametrize("case", ["superseded append", "overtaken merge", "superseded merge"])
def test_a_superseded_run_changes_nothing(all_facts, case):
    assert all_facts[case].startswith("WatermarkSupersededError")
    assert "nothing was changed" in all_facts[case]
    assert "UNSET TBLPROPERTIES ('tidemark.windows." in all_facts[case]
    assert all_facts["after the note was unset"] is True


@pytest.mark.nightly
def test_a_superseded_merge_brings_no_row_back_that_a_later_window_has_deleted(all_facts):
    assert all_facts["after a later window"] == [[2, "other", 2], [3, "mine", 5], [4, "x", 10]]


@pytest.mark.nightly
def test_a_window_is_merged_beside_another_writer(all_facts):
    assert all_facts["beside another writer"] == [[1, "new", 5], [2, "other", 2], [3, "mine", 5]]


@pytest.mark.nightly
def test_a_column_that_is_dropped_while_a_window_is_written_is_not_lost(all_facts):
    assert "they would be lost: name" in all_facts["a column dropped meanwhile"]


@pytest.mark.nightly
@pytest.mark.parametrize("case", ["branches left", "branches after an error"])
def test_no_branch_is_left(all_facts, case):
    assert all_facts[case] == ["main"]


def test_an_attempt_that_finds_its_window_removes_the_branches_of_earlier_ones(facts):
    assert facts["again after that"] is False
    assert facts["branches of earlier attempts"] == ["main"]


@pytest.mark.nightly
def test_windows_are_merged_while_schema_and_partitions_evolve(all_facts):
    assert all_facts["evolved"] == [[1, "A", 20, 2], [3, "c", 20, 6]]


@pytest.mark.nightly
def test_a_merge_leaves_columns_that_the_frame_lacks_as_they_are(all_facts):
    assert all_facts["merged without a later column"] == [
        [1, "A", 20, 2, 7, None],
        [3, "C", 30, 6, None, None],
    ]
    assert all_facts["a history without a later column"] == [
        [1, 10, 20, "kept"],
        [1, 20, None, None],
        [2, 10, None, None],
    ]


@pytest.mark.nightly
def test_an_error_of_the_merge_is_raised_as_it_is(all_facts):
    assert "UNRESOLVED_COLUMN" in all_facts["a column that is wrong"]


@pytest.mark.nightly
def test_changes_in_any_order_end_in_the_last_state(all_facts):
    assert all_facts["kept"] == [[[1, "c", 40, False], [3, "q", 5, False]]] * ORDERS


@pytest.mark.nightly
def test_changes_in_any_order_end_in_the_same_history(all_facts):
    versions = [
        [1, "a", 10, 20],
        [1, "b", 20, 30],
        [1, "c", 40, None],
        [2, "y", 15, 18],
        [3, "q", 5, None],
    ]
    assert all_facts["history"] == [versions] * ORDERS


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("case", "found"),
    [
        ("empty table", []),
        ("first read", [[1, "a"], [2, "b"]]),
        ("nothing new", []),
        ("read, not committed", [[3, "c"], [4, "d"]]),
        ("one snapshot", [[3, "c"]]),
        ("the other", [[4, "d"]]),
        ("after a compaction", [[5, "e"]]),
        ("after an evolution", [[6, "f", 1]]),
        ("written to a branch", []),
    ],
)
def test_a_window_over_snapshots_reads_what_was_appended_after_the_last_one(all_facts, case, found):
    assert all_facts[case] == found


@pytest.mark.nightly
def test_changed_and_deleted_rows_are_read_as_changes(all_facts):
    assert all_facts["changes"] == [
        [1, "a", None, "DELETE"],
        [2, "B", None, "INSERT"],
        [2, "b", None, "DELETE"],
    ]
    assert all_facts["changes by key"] == [[1, "a", None, "DELETE"], [2, "B", None, "INSERT"]]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("case", "error", "remedy"),
    [
        ("appends of changes", "SnapshotRewrittenError", 'read="changes"'),
        ("rolled back", "SnapshotRolledBackError", "rewind the watermark"),
        ("expired", "SnapshotExpiredError", "history.expire.max-snapshot-age-ms"),
        ("rolled back after others expired", "SnapshotRolledBackError", "rewind the watermark"),
        ("expired after a tag", "SnapshotExpiredError", "history.expire.max-snapshot-age-ms"),
        ("replaced", "TableReplacedError", "rewind the watermark to the beginning"),
        ("replaced in place", "TableReplacedError", "CREATE OR REPLACE TABLE"),
        ("replaced by nothing", "TableReplacedError", "CREATE OR REPLACE TABLE"),
        ("version 1", "WatermarkValueError", "'format-version' = '2'"),
        ("a column as that of changes", "WatermarkValueError", "rename it"),
        ("no cursor of snapshots", "WatermarkValueError", "newest_snapshot"),
    ],
)
def test_snapshots_that_do_not_continue_are_refused_by_name(all_facts, case, error, remedy):
    assert all_facts[case].startswith(f"{error}: ")
    assert remedy in all_facts[case]


@pytest.mark.nightly
def test_a_table_is_read_on_after_its_format_version_1(all_facts):
    assert all_facts["after version 1"] == [[1], [2]]
    assert all_facts["later than version 1"] == [[3]]


@pytest.mark.nightly
def test_changes_of_maps_are_told_by_their_entries(all_facts):
    assert all_facts["changes of maps"] == [
        [2, {"b": 3}, None, "INSERT"],
        [3, None, None, "DELETE"],
    ]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("case", "error", "remedy"),
    [
        ("a column that the table lacks", "WatermarkValueError", "frame.drop('op')"),
        ("appended with a column that the table lacks", "WatermarkValueError", "frame.drop('op')"),
        ("appended to a table of any schema", "WatermarkValueError", "frame.drop('op')"),
        ("a field that is missing", "WatermarkValueError", "no column 'p.z'"),
    ],
)
def test_columns_that_the_table_lacks_are_never_lost(all_facts, case, error, remedy):
    assert all_facts[case].startswith(f"{error}: ")
    assert remedy in all_facts[case]


@pytest.mark.nightly
def test_a_window_over_everything_is_merged_and_supersedes_none(all_facts):
    assert all_facts["whole"] == [[1, "a", 5], [2, "b", 5], [3, "c", 9]]
    assert all_facts["whole leaves the notes"] is True


REFUSED = (
    "rolled back",
    "expired",
    "rolled back after others expired",
    "expired after a tag",
    "replaced",
    "replaced in place",
    "replaced by nothing",
    "version 1",
)


def plan(facts, case):
    """Return what `tidemark explain` makes of the metadata that the library met."""
    metadata, low = facts["metadata"][case]
    name = "s.old" if case == "version 1" else "lake.s.src"
    return plan_of(name, metadata, Snapshot.of(low) if low else None, None)


@pytest.mark.nightly
@pytest.mark.parametrize("case", REFUSED)
def test_metadata_alone_tells_what_the_library_refuses(all_facts, case):
    refused = plan(all_facts, case).refused

    assert f"{type(refused).__name__}: {refused}" == all_facts[case]


@pytest.mark.nightly
def test_metadata_alone_tells_what_only_a_read_of_appends_refuses(all_facts):
    found = plan(all_facts, "appends of changes")

    assert found.refused is None
    assert f"SnapshotRewrittenError: {found.refused_appends}" == all_facts["appends of changes"]
    assert [
        [one.operation, str(one.added or None), str(one.deleted or None)] for one in found.commits
    ] == [
        [operation, str(added), str(deleted)]
        for operation, added, deleted in all_facts["unread rows"]
    ]
