"""Which rows a bookmark of keys skips, as far as counting tells: no database, no Spark."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.local_state.bookmarks.keys import ASC, DESC, JdbcSource
from tidemark.local_state.bookmarks.passed_rows import (
    MAX_CUTS,
    Cut,
    day_ahead,
    is_passed,
    keys_to_count,
    skip_to_report,
    stored_cuts,
    to_json,
)
from tidemark.local_state.run_warnings import RunWarning

LATE, BELOW = RunWarning.JDBC_LATE, RunWarning.JDBC_BELOW


class Bookmark:
    """A bookmark over rows with one integer key, and what its runs tell."""

    def __init__(self, order=ASC):
        self.sign, self.order = (1 if order == ASC else -1), order
        self.bound, self.state = None, {}

    def run(self, rows):
        """Read what is new of some keys; return what the run tells."""
        ordered = sorted(self.sign * row for row in rows)
        new = [row for row in ordered if self.bound is None or row > self.bound]
        value = lambda row: (("int", str(self.sign * row)),)  # noqa: E731
        low = None if self.bound is None else value(self.bound)
        last = value(new[-1]) if new else None
        stored = stored_cuts(self.state)
        keys = keys_to_count(stored, low, last, value(new[0])[0] if new else None, self.order)
        cuts = [Cut(cut, self._count(ordered, cut)) for cut in keys]
        told = low and skip_to_report(stored, cuts, low, is_there=self.bound in ordered)
        self.state = json.loads(json.dumps({"passed": to_json(cuts)}))
        self.bound = new[-1] if new else self.bound
        return told

    def _count(self, ordered, cut):
        return sum(row <= self.sign * int(cut[0][1]) for row in ordered)


ORDERS = pytest.mark.parametrize("order", [ASC, DESC])


@ORDERS
@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ([10, 20], [5, 15, 20], (LATE, 2)),
        ([10, 20], [5, 20], (LATE, 1)),
        ([10, 20], [10, 15, 20], (LATE, 1)),
        ([10, 20], [10, 20, 30], None),
        ([10, 20, 30], [5, 15], (BELOW, 2)),
        ([10, 20, 30], [10, 15], (BELOW, 2)),
        ([10, 20, 30], [12, 15], (BELOW, 2)),
        (range(1, 1001), range(1, 801), (BELOW, 800)),
        (range(1, 1001), range(1, 1000), (BELOW, 999)),
        ([1, 2, 9], [1, 2], (BELOW, 2)),
        ([10, 20, 30], [20, 30], None),
        ([10, 20, 30], [30], None),
        ([10, 20], [], None),
        ([7], [3], (BELOW, 1)),
    ],
    ids=[
        "around",
        "before",
        "between",
        "new",
        "loaded again",
        "same first",
        "within",
        "dense",
        "newest gone",
        "loaded again with one row less",
        "oldest gone",
        "old ones gone",
        "emptied",
        "another one",
    ],
)
def test_rows_that_came_below_the_bookmark_are_told_once(order, before, after, told):
    sign = 1 if order == ASC else -1
    bookmark = Bookmark(order)
    assert bookmark.run([sign * row for row in before]) is None

    assert bookmark.run([sign * row for row in after]) == told
    assert bookmark.run([sign * row for row in after]) is None


def test_a_bookmark_keeps_few_cuts_and_always_the_first_and_the_last():
    cuts = [Cut((("int", str(key)),), key) for key in range(MAX_CUTS + 1)]

    kept = stored_cuts({"passed": to_json(cuts)})

    assert len(kept) <= MAX_CUTS
    assert (kept[0], kept[-1]) == (cuts[0], cuts[-1])


CHANGES = st.one_of(
    st.tuples(st.just("add"), st.integers(1, 4)),
    st.tuples(st.just("late"), st.integers(0, 400)),
    st.tuples(st.just("delete"), st.integers(0, 30)),
    st.tuples(st.just("newest gone"), st.none()),
    st.tuples(st.just("reload"), st.sets(st.integers(0, 400), max_size=30)),
    st.tuples(st.just("nothing"), st.none()),
)


@given(st.sets(st.integers(100, 300), min_size=1, max_size=30), st.lists(CHANGES, max_size=30))
def test_a_history_tells_what_counts_can_tell_and_nothing_of_deletes(rows, history):
    bookmark = Bookmark()
    bookmark.run(rows)
    for change, what in history:
        rows, before, was = set(rows), len([r for r in rows if r <= bookmark.bound]), set(rows)
        low = bookmark.bound
        _apply(rows, change, what)
        below = {row for row in rows if row <= low}

        told = bookmark.run(rows)

        if len(below) > before:
            assert told is not None
        if below and low in was - below:
            assert told is not None
        if below <= was and (low in below or not below or len(below) == before):
            assert told is None
        assert bookmark.run(rows) is None
        assert len(bookmark.state["passed"]) <= MAX_CUTS


def _apply(rows, change, what):
    if change == "add":
        rows |= {max(rows, default=400) + 400 + step for step in range(what)}
    elif change == "late":
        rows.add(what)
    elif change == "delete":
        rows -= {row for row in rows if row % 31 == what}
    elif change == "newest gone" and rows:
        rows.remove(max(rows))
    elif change == "reload":
        rows.clear()
        rows |= what


@pytest.mark.parametrize(
    ("kind", "first", "last", "wanted"),
    [
        ("int", "0", "8", ["-1", "0", "1", "2", "3", "4", "5", "6"]),
        ("int", "-9223372036854775808", "-9223372036854775807", ["-9223372036854775808"]),
        ("decimal", "0.50", "1.3", ["0.49", "0.59", "0.69"]),
        ("date", "0001-01-01", "0001-01-02", ["0001-01-01"]),
        ("date", "2024-01-02", "2024-01-10", ["2024-01-01", "2024-01-02", "2024-01-03"]),
        (
            "timestamp",
            "2024-01-01T00:00:00Z",
            "2024-01-01T00:00:00Z",
            ["2023-12-31T23:59:59.999999Z"],
        ),
        ("string", "a", "z", []),
    ],
)
def test_the_first_cuts_of_every_kind_lie_before_the_last_key(kind, first, last, wanted):
    keys = keys_to_count([], None, ((kind, last),), (kind, first), ASC)

    assert keys[-1] == ((kind, last),)
    assert [value[0][1] for value in keys[:-1]][: len(wanted)] == wanted
    assert (len(keys) == 1) == (not wanted)


def test_several_keys_are_passed_up_to_the_whole_tuple_and_cuts_have_the_first_one():
    source = JdbcSource("t", keys=("a", "b"))
    whole = is_passed(source, (("int", "1"), ("int", "2")))
    first = is_passed(source, (("int", "1"),))

    assert [[(c.key, c.operator, c.value[1]) for c in one] for one in whole] == [
        [("a", "<", "1")],
        [("a", "=", "1"), ("b", "<=", "2")],
    ]
    assert [[(c.key, c.operator, c.value[1]) for c in one] for one in first] == [[("a", "<=", "1")]]


NOW_MS = 1_795_608_000_000  # 2026-11-25T12:00Z


@pytest.mark.parametrize(
    ("value", "is_ahead"),
    [
        (("date", "2026-11-26"), False),
        (("date", "2026-11-27"), True),
        (("date", "9999-12-31"), True),
        (("timestamp", "2026-11-26T11:00:00Z"), False),
        (("timestamp", "2026-11-26T12:00:01Z"), True),
        (("timestamp", "9999-12-31T23:59:59.999999Z"), True),
        (("int", "99991231"), False),
        (("string", "9999-12-31"), False),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_key_that_is_a_time_ahead_of_the_clock_is_told(value, is_ahead):
    assert day_ahead((value,), ASC, NOW_MS) == (value[1] if is_ahead else "")
    assert day_ahead((value,), DESC, NOW_MS) == day_ahead(None, ASC, NOW_MS) == ""


def test_a_bookmark_of_an_older_version_tells_of_rows_below_a_bound_that_is_gone_only():
    low = (("int", "5"),)

    assert skip_to_report([], [Cut(low, 3)], low, is_there=True) is None
    assert skip_to_report([], [Cut(low, 0)], low, is_there=False) is None
    assert skip_to_report([], [Cut(low, 3)], low, is_there=False) == (BELOW, 3)
