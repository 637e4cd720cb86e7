"""What is read next from snapshots of tables of Iceberg, and which table a cursor belongs to."""

from __future__ import annotations

import pytest

from tidemark.operate.snapshot_plan import plan_of
from tidemark.operate.snapshot_reads import SnapshotCursor, reads_of
from watermarks.windows.snapshot_cursors import Snapshot


def metadata(*operations, uuid="u-1", **others):
    """Return the metadata of a table with the snapshots 1, 2, … of these operations."""
    snapshots = [
        {
            "snapshot-id": number,
            "sequence-number": number,
            "parent-snapshot-id": number - 1 or None,
            "timestamp-ms": 1000 * number,
            "summary": {"operation": operation, "added-records": "5", "deleted-records": "2"},
        }
        for number, operation in enumerate(operations, 1)
    ]
    return {
        "table-uuid": uuid,
        "format-version": 2,
        "snapshots": snapshots,
        "current-snapshot-id": len(operations) or -1,
        **others,
    }


def at(number, uuid="u-1"):
    return Snapshot(number, number, uuid)


def test_what_came_since_is_told_with_its_rows():
    plan = plan_of("s.t", metadata("append", "append", "replace", "append"), at(1), None)

    assert [(one.id, one.operation, one.added, one.deleted) for one in plan.commits] == [
        (2, "append", 5, 2),
        (3, "replace", 5, 2),
        (4, "append", 5, 2),
    ]
    assert [one.changes_rows for one in plan.commits] == [True, False, True]
    assert (plan.refused, plan.refused_appends) == (None, None)


@pytest.mark.parametrize("operations", [(), ("append", "overwrite")], ids=["empty", "rewritten"])
def test_a_first_window_has_every_row_however_it_came(operations):
    plan = plan_of("s.t", metadata(*operations), None, None)

    assert len(plan.commits) == len(operations)
    assert plan.refused_appends is None


def test_nothing_new_is_nothing():
    assert plan_of("s.t", metadata("append"), at(1), None).commits == ()


def test_the_end_of_an_open_window_is_judged_too():
    plan = plan_of("s.t", metadata("append"), at(1), at(2))

    assert "the snapshot 2 of s.t, the last one read, has expired" in str(plan.refused)


def test_rows_that_delete_files_take_away_count_as_deleted():
    table = metadata("overwrite")
    table["snapshots"][0]["summary"] = {"operation": "delete", "added-position-deletes": "7"}

    (commit,) = plan_of("s.t", table, None, None).commits

    assert (commit.added, commit.deleted) == (0, 7)


TABLES = {"s.a": metadata("append", uuid="u-a"), "s.b": metadata("append", uuid="u-b")}


def found(*cursors, names=tuple(TABLES), tables=TABLES):
    return [(it.table, it.unknown) for it in reads_of(cursors, names, tables.get)]


def test_a_cursor_belongs_to_the_table_of_its_uuid():
    cursors = [
        SnapshotCursor("a", "snapshot", at(1, "u-a")),
        SnapshotCursor("b", "snapshot", None, at(1, "u-b")),
    ]

    assert found(*cursors) == [("s.a", ""), ("s.b", "")]


def test_a_table_that_was_made_again_is_the_one_that_no_other_cursor_has():
    cursors = [
        SnapshotCursor("a", "snapshot", at(1, "u-a")),
        SnapshotCursor("b", "snapshot", at(1, "u-old")),
    ]

    first, second = reads_of(cursors, list(TABLES), TABLES.get)

    assert (first.table, first.plan.refused) == ("s.a", None)
    assert (second.table, type(second.plan.refused).__name__) == ("s.b", "TableReplacedError")


@pytest.mark.parametrize(
    ("names", "table", "told"),
    [
        ((), "", "which table has the UUID u-old is not known: no committed run has noted it"),
        (("s.a", "s.b"), "", "is not known: runs have noted s.a, s.b"),
        (("s.gone",), "s.gone", "the Data Catalog has no table of Iceberg s.gone"),
    ],
    ids=["none", "several", "dropped"],
)
def test_what_is_not_known_is_said(names, table, told):
    ((name, unknown),) = found(SnapshotCursor("", "snapshot", at(1, "u-old")), names=names)

    assert name == table
    assert told in unknown
