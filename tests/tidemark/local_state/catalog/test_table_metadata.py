"""Going back to an earlier snapshot of a table of Iceberg, in its metadata."""

from __future__ import annotations

import pytest

from tidemark.errors import DamagedDatabaseError, UsageError
from tidemark.local_state.catalog.table_metadata import (
    at_snapshot,
    next_place,
    read_metadata,
    snapshot_before,
)
from tidemark.local_state.home import Home


def metadata(*snapshots, current=None):
    """Return the metadata of a table: of each snapshot its id, its parent and its operation."""
    found = [
        {
            "snapshot-id": number,
            "summary": {"operation": operation},
            **({"parent-snapshot-id": parent} if parent else {}),
        }
        for number, parent, operation in snapshots
    ]
    last = snapshots[-1][0] if snapshots else -1
    return {
        "snapshots": found,
        "current-snapshot-id": current or last,
        "refs": {"main": {"type": "branch", "snapshot-id": last}, "audit": {"snapshot-id": 1}},
        "snapshot-log": [{"snapshot-id": 1, "timestamp-ms": 1}],
        "last-updated-ms": 7,
    }


THREE = metadata((1, None, "append"), (2, 1, "append"), (3, 2, "overwrite"))


@pytest.mark.parametrize(
    ("table", "undone", "found"),
    [
        (THREE, ["3"], "2"),
        (THREE, ["2", "3"], "1"),
        (THREE, ["1", "2", "3"], ""),
        (metadata((1, None, "append"), (2, 1, "append"), (3, 2, "replace")), ["2"], "1"),
        (metadata((1, None, "append"), (2, 1, "replace"), (3, 2, "append")), ["3"], "2"),
        (THREE, ["3", "9"], "2"),  # 9 was written to a branch, and overtaken
        (THREE, ["9"], "3"),
        (metadata(), ["1"], ""),
    ],
)
def test_a_table_goes_back_to_before_the_undone_snapshots(table, undone, found):
    assert snapshot_before(table, undone) == found


@pytest.mark.parametrize(
    ("table", "undone", "told"),
    [
        (THREE, ["2"], "snapshot 3 is of another run or writer"),
        (THREE, ["1", "3"], "snapshot 2 is of another run or writer"),
        (metadata((3, 2, "append")), ["2", "3"], "snapshot 2 and those before it have expired"),
        (metadata((3, 2, "append")), ["3"], "snapshot 2, the target of the rollback, has expired"),
    ],
)
def test_a_table_that_others_have_changed_or_that_has_forgotten_stays(table, undone, told):
    with pytest.raises(UsageError, match=told):
        snapshot_before(table, undone)


@pytest.mark.parametrize("undone", ["2", "3"])
def test_a_snapshot_that_picks_an_undone_one_goes_too(undone):
    # 3 has picked 2, and 4 has picked 3: each after the table went back to 1.
    table = metadata(*((number, int(number > 1), "append") for number in (1, 2, 3, 4)))
    for number in (3, 4):
        table["snapshots"][number - 1]["summary"]["source-snapshot-id"] = str(number - 1)

    assert snapshot_before(table, [undone]) == "1"


def test_metadata_at_a_snapshot_keep_all_but_what_is_current():
    found = at_snapshot(THREE, "1", 9, "s3://b/t/2.json")

    assert found["current-snapshot-id"] == 1
    assert found["refs"] == {
        "audit": {"snapshot-id": 1},
        "main": {"type": "branch", "snapshot-id": 1},
    }
    assert found["snapshot-log"][-1] == {"snapshot-id": 1, "timestamp-ms": 9}
    assert (found["snapshots"], found["last-updated-ms"]) == (THREE["snapshots"], 9)
    assert found["metadata-log"] == [{"metadata-file": "s3://b/t/2.json", "timestamp-ms": 7}]


def test_a_table_may_go_back_to_before_its_first_snapshot():
    found = at_snapshot(THREE, "", 9, "s3://b/t/2.json")

    assert (found["current-snapshot-id"], found["snapshot-log"]) == (-1, [])
    assert found["refs"] == {"audit": {"snapshot-id": 1}}


@pytest.mark.parametrize(
    ("place", "following"),
    [
        ("s3://b/t/metadata/00009-x.metadata.json", "s3://b/t/metadata/00010-m.metadata.json"),
        ("s3://b/t/metadata/v3.metadata.json", "s3://b/t/metadata/00000-m.metadata.json"),
    ],
)
def test_new_metadata_have_the_next_number(place, following):
    assert next_place(place, "m") == following


LOSSES = {
    "gone": None,
    "empty": b"",
    "cut": b'{"format-version": 2, "snap',
    "no JSON": b"\xff\xfe",
    "of another kind": b"[]",
    "nested too deeply": b"[" * 100_000,
    "badly compressed": b"\x1f\x8b\x08" + bytes(7) + b"\xff\xff\xff",
    "of another file": b"{}",
}


@pytest.mark.parametrize("content", LOSSES.values(), ids=LOSSES.keys())
def test_metadata_that_are_lost_are_refused_by_name(tmp_path, content):
    home = Home.open(tmp_path / "home")
    file = home.lake / "lake" / "orders" / "metadata" / "v1.metadata.json"
    file.parent.mkdir(parents=True)
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(DamagedDatabaseError) as refused:
        read_metadata(home, "s3://lake/orders/metadata/v1.metadata.json")

    assert str(file) in str(refused.value)
    assert "tidemark home restore" in str(refused.value)
