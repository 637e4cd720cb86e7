"""Whether a window is in a table of Iceberg, told from metadata after any history of the table."""

from __future__ import annotations

from copy import deepcopy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tries import tries
from watermarks.spark.window_notes import LANE, WINDOW, Note, is_written

LANE_NAME, WINDOW_ID = "0123456789abcdef", "0000000001-ab"


class Table:
    """A table by Iceberg's rules: its metadata, earlier ones, and the rows of each snapshot."""

    def __init__(self) -> None:
        self.metadata = {"current-snapshot-id": -1, "snapshots": []}
        self.earlier = []
        self.rows = {-1: []}
        self.note = None
        self.sequence = 0

    @property
    def current(self):
        return self.metadata["current-snapshot-id"]

    @property
    def ids(self):
        return [one["snapshot-id"] for one in self.metadata["snapshots"]]

    def change(self, **changes):
        self.earlier.insert(0, deepcopy(self.metadata))
        self.metadata = {**self.metadata, **changes}

    def commit(self, rows, parent=None, operation="append", is_main=True, **summary):
        self.sequence += 1
        parent = self.current if parent is None else parent
        snapshot = {
            "snapshot-id": 1000 - self.sequence * 7,  # ids have no order
            "sequence-number": self.sequence,
            "summary": {"operation": operation, **summary},
        }
        if parent != -1:
            snapshot["parent-snapshot-id"] = parent
        self.rows[snapshot["snapshot-id"]] = [*self.rows[parent], *rows]
        snapshots = [*self.metadata["snapshots"], snapshot]
        current = snapshot["snapshot-id"] if is_main else self.current
        self.change(**{"snapshots": snapshots, "current-snapshot-id": current})
        return snapshot["snapshot-id"]

    def write_window(self):
        """Write the window as an attempt does that finds it missing."""
        first = self.note.sequence if self.note else self.sequence + 1
        snapshot = self.commit([WINDOW_ID], **{LANE: LANE_NAME, WINDOW: WINDOW_ID})
        self.note = Note(1, WINDOW_ID, snapshot, first)

    def line(self):
        by_id = {one["snapshot-id"]: one for one in self.metadata["snapshots"]}
        at = self.current
        while at in by_id:
            yield at
            at = by_id[at].get("parent-snapshot-id", -1)

    def cherry_pick(self, number):
        picked = self.pick(number)
        line = [one for one in self.metadata["snapshots"] if one["snapshot-id"] in self.line()]
        sources = {one["summary"].get("source-snapshot-id") for one in line}
        if picked is None or picked in self.line() or str(picked) in sources:
            return  # Iceberg refuses it
        (snapshot,) = (o for o in self.metadata["snapshots"] if o["snapshot-id"] == picked)
        before = self.rows[snapshot.get("parent-snapshot-id", -1)]
        added = self.rows[picked][len(before) :]
        self.commit(added, **{"source-snapshot-id": str(picked)})

    def pick(self, number):
        return self.ids[number % len(self.ids)] if self.ids else None

    def expire(self, number):
        kept = [*list(self.line())[: 1 + number % 3]]
        snapshots = [one for one in self.metadata["snapshots"] if one["snapshot-id"] in kept]
        self.change(snapshots=snapshots)

    def stage(self, number):
        self.commit([f"staged {self.sequence}"], parent=self.pick(number), is_main=False)

    def do(self, step, number):
        steps = {
            "append": lambda: self.commit([f"other {self.sequence}"]),
            "compact": lambda: self.commit([], operation="replace"),
            "window": lambda: self.told() is False and self.write_window(),
            "expire": lambda: self.expire(number),
            "replace": lambda: self.change(**{"current-snapshot-id": -1}),
            "cherry-pick": lambda: self.cherry_pick(number),
            "set current": lambda: self.change(**{"current-snapshot-id": self.pick(number)}),
            "stage": lambda: self.stage(number),
        }
        if self.ids or step not in ("set current", "stage"):
            steps[step]()

    def told(self, kept=99):
        if self.note is None:
            return False
        return is_written(self.note, LANE_NAME, iter([self.metadata, *self.earlier[:kept]]))


STEPS = [
    "append",
    "compact",
    "window",
    "expire",
    "replace",
    "cherry-pick",
    "set current",
    "stage",
]
HISTORIES = st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 99)), max_size=25)


@settings(max_examples=tries(500), deadline=None)
@given(HISTORIES, st.integers(0, 12))
def test_a_window_is_written_exactly_if_its_rows_are_in_the_table(history, kept):
    table = Table()
    table.write_window()

    for step, number in history:
        table.do(step, number)

        is_there = WINDOW_ID in table.rows[table.current]
        assert table.told() is is_there
        assert table.told(kept) in {is_there, None}


def test_the_metadata_before_an_expiry_tell_that_a_window_was_rolled_back():
    table = Table()
    before = table.commit(["other"])
    table.write_window()
    table.change(**{"current-snapshot-id": before})
    table.commit(["another"])
    table.expire(0)

    assert table.told() is False
    assert table.told(kept=0) is None


def test_a_window_is_found_through_snapshots_that_have_expired():
    table = Table()
    table.write_window()
    table.commit(["other"])
    table.commit(["another"])
    table.commit(["one more"])
    table.expire(0)

    assert table.told() is True
    assert table.told(kept=0) is None


def test_a_snapshot_that_was_picked_from_an_unknown_one_leaves_it_open():
    table = Table()
    table.commit(["other"])
    table.write_window()
    table.change(**{"current-snapshot-id": table.ids[0]})
    table.commit(["copy"], **{"source-snapshot-id": "4711"})

    assert table.told() is None


@pytest.mark.parametrize("note", [Note(3, "a-b"), Note(3, "a-b", -7, 2)])
def test_a_note_is_read_as_it_was_written(note):
    assert Note.of(str(note)) == note


def test_a_window_that_was_noted_by_hand_is_written():
    assert is_written(Note(3, WINDOW_ID), LANE_NAME, []) is True


def test_a_table_without_a_snapshot_has_no_window():
    table = Table()
    table.write_window()
    table.change(**{"current-snapshot-id": -1})

    assert table.told() is False
