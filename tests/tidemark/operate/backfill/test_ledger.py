"""The ledger: what it says of a range, against a look at every point of it."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tries import tries
from tidemark.operate.backfill.ledger import Evidence, Folder, Interval, Loaded, RangeState, ledger
from tidemark.operate.backfill.ranges import Span

DONE, MISSING, RUNNING, STALE = (
    RangeState.DONE,
    RangeState.MISSING,
    RangeState.RUNNING,
    RangeState.STALE,
)
POINTS = st.integers(0, 12)
TIMES = st.integers(0, 6)
RANGES = st.tuples(POINTS, st.integers(1, 6)).map(lambda it: Span(it[0], it[0] + it[1]))
LOADED = st.builds(
    lambda range_, at_ms, from_begin, has_no_end: Loaded(
        None if from_begin else range_.low, None if has_no_end else range_.high, at_ms
    ),
    RANGES,
    st.none() | TIMES,
    st.booleans(),
    st.booleans(),
)
FOLDERS = st.builds(
    lambda range_, oldest, more, until: Folder(range_, oldest, oldest + more, until),
    RANGES,
    TIMES,
    TIMES,
    st.none() | TIMES,
)
EVIDENCE = st.builds(
    Evidence,
    st.lists(LOADED, max_size=3),
    st.lists(RANGES, max_size=1),
    st.lists(FOLDERS, max_size=4),
    st.booleans(),
    st.lists(RANGES, max_size=1),
)


def says(asked: Span, evidence: Evidence) -> list[tuple[int, int, RangeState]]:
    return [(it.range.low, it.range.high, it.state) for it in ledger(asked, evidence)]


def folder(day: int, oldest: int, newest: int, until: int | None = None) -> Folder:
    return Folder(Span(day, day + 1), oldest, newest, until)


def at_point(point: int, evidence: Evidence) -> Interval:
    """The ledger's rules once more, for one point and without edges."""
    state, is_empty = state_of_a_point(point, evidence)
    is_ahead = any(it.low <= point < it.high for it in evidence.ahead)
    is_to_run = state in (MISSING, STALE) and not is_empty
    return Interval(Span(point, point + 1), state, is_empty, is_ahead and is_to_run)


def state_of_a_point(point: int, evidence: Evidence) -> tuple[RangeState, bool]:
    folders = [it for it in evidence.folders if it.range.low <= point < it.range.high]
    is_empty = evidence.is_listed and not folders
    if any(it.low <= point < it.high for it in evidence.running):
        return RUNNING, is_empty
    loaded = [
        it
        for it in evidence.loaded
        if (it.low is None or it.low <= point) and (it.high is None or point < it.high)
    ]
    if not folders:
        return (DONE if loaded else MISSING), is_empty
    states = set()
    for it in folders:
        times = [one.at_ms for one in loaded]
        if None in times:
            states.add(DONE)
            continue
        known = [time for time in [*times, it.read_until_ms] if time is not None]
        if known and max(known) >= it.newest_ms:
            states.add(DONE)
        elif loaded or (known and max(known) >= it.oldest_ms):
            states.add(STALE)
        else:
            states.add(MISSING)
    return (states.pop() if len(states) == 1 else STALE), False


@given(RANGES, EVIDENCE)
def test_intervals_tile_the_range_and_say_of_each_point_what_is_known_of_it(asked, evidence):
    found = ledger(asked, evidence)

    assert [found[0].range.low, found[-1].range.high] == [asked.low, asked.high]
    assert all(left.range.high == right.range.low for left, right in pairwise(found))
    assert all(replace(left, range=right.range) != right for left, right in pairwise(found))
    for it in found:
        for point in range(it.range.low, it.range.high):
            assert replace(it, range=Span(point, point + 1)) == at_point(point, evidence)


@settings(max_examples=tries(40))
@given(RANGES, EVIDENCE, st.data())
def test_a_part_of_the_range_has_the_same_states(asked, evidence, data):
    low = data.draw(st.integers(asked.low, asked.high - 1))
    part = Span(low, data.draw(st.integers(low + 1, asked.high)))

    cut = [
        replace(it, range=both) for it in ledger(asked, evidence) if (both := it.range.common(part))
    ]

    assert ledger(part, evidence) == cut


@settings(max_examples=tries(40))
@given(RANGES, EVIDENCE)
def test_what_is_known_lies_within_the_extent(asked, evidence):
    extent = evidence.extent()

    for it in evidence.folders:
        assert extent is not None
        assert it.range.common(extent) == it.range


def test_a_range_without_an_end_alone_has_no_extent():
    assert Evidence([Loaded(3, None, 1)]).extent() is None


def test_filled_ranges_are_done_and_the_rest_is_missing():
    evidence = Evidence([Loaded(3, 5, 1), Loaded(5, 7, 2)], [Span(8, 9)])

    assert says(Span(1, 10), evidence) == [
        (1, 3, MISSING),
        (3, 7, DONE),
        (7, 8, MISSING),
        (8, 9, RUNNING),
        (9, 10, MISSING),
    ]


@pytest.mark.parametrize(
    ("one", "state"),
    [
        (folder(1, 10, 20, until=20), DONE),
        (folder(1, 10, 21, until=20), STALE),
        (folder(1, 21, 22, until=20), MISSING),
        (folder(1, 10, 20), MISSING),
    ],
    ids=["read", "changed after it was read", "came after the last run", "no run read it"],
)
def test_a_day_is_as_its_files_are_beside_the_bookmark(one, state):
    assert says(Span(1, 2), Evidence(folders=[one], is_listed=True)) == [(1, 2, state)]


def test_a_filled_day_is_done_until_its_files_change():
    later = [folder(1, 10, 40, until=20), folder(2, 10, 15, until=20), folder(3, 45, 50, until=20)]

    filled = Evidence([Loaded(1, 4, 40)], folders=later, is_listed=True)

    assert says(Span(1, 4), filled) == [(1, 3, DONE), (3, 4, STALE)]


def test_a_day_without_files_is_missing_and_empty_until_it_is_filled():
    evidence = Evidence([Loaded(3, 4, 1)], folders=[folder(1, 1, 1, until=5)], is_listed=True)

    assert ledger(Span(1, 5), evidence) == [
        Interval(Span(1, 2), DONE),
        Interval(Span(2, 3), MISSING, is_empty=True),
        Interval(Span(3, 4), DONE, is_empty=True),
        Interval(Span(4, 5), MISSING, is_empty=True),
    ]


def test_a_day_of_two_sources_is_done_when_both_are_read():
    both = [folder(1, 1, 5, until=5), folder(1, 6, 7, until=5), folder(2, 1, 5, until=5)]

    assert says(Span(1, 3), Evidence(folders=both)) == [(1, 2, STALE), (2, 3, DONE)]


def test_windows_up_to_the_watermark_are_done_whatever_came_later():
    evidence = Evidence([Loaded(None, 5)], folders=[folder(2, 1, 99)])

    assert says(Span(1, 7), evidence) == [(1, 5, DONE), (5, 7, MISSING)]
