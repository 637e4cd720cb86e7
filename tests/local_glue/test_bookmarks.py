"""Each rule by which a bookmark tells new files from old ones."""

from __future__ import annotations

import json

import pytest

from local_glue.bookmarks import FileVersion, SourceState, select_new_files

BAND = 100


def names(selection) -> list[str]:
    return [file.path for file in selection.files]


def test_first_run_reads_everything_oldest_first():
    listing = [FileVersion("c", 30, 1), FileVersion("b", 10, 1), FileVersion("a", 30, 1)]

    selection = select_new_files(listing, None, opened_at_ms=50, max_band_ms=BAND)

    assert names(selection) == ["b", "a", "c"]


def test_file_is_new_by_its_modification_time_and_not_by_its_name():
    state = SourceState(1000, low_ms=1000)
    listing = [FileVersion("z-later-name", 999, 1), FileVersion("a-earlier-name", 1001, 1)]

    selection = select_new_files(listing, state, opened_at_ms=2000, max_band_ms=BAND)

    assert names(selection) == ["a-earlier-name"]


def test_file_modified_after_the_source_was_opened_belongs_to_the_next_run():
    listing = [FileVersion("early", 1000, 1), FileVersion("late", 1001, 1)]

    first = select_new_files(listing, None, opened_at_ms=1000, max_band_ms=BAND)
    second = select_new_files(listing, first.next_state, opened_at_ms=1001, max_band_ms=BAND)

    assert names(first) == ["early"]
    assert first.next_state.high_ms == 1000
    assert names(second) == ["late"]


def test_file_of_the_marks_own_millisecond_that_shows_up_later_is_read():
    first = select_new_files([FileVersion("a", 1000, 1)], None, 1000, BAND)
    listing = [FileVersion("a", 1000, 1), FileVersion("b", 1000, 1)]

    second = select_new_files(listing, first.next_state, 1500, BAND)

    assert names(second) == ["b"]


def test_file_that_shows_up_late_within_the_band_is_read_and_outside_it_is_not():
    state = SourceState(1000, low_ms=900)
    listing = [FileVersion("at the edge", 900, 1), FileVersion("within", 901, 1)]

    selection = select_new_files(listing, state, opened_at_ms=2000, max_band_ms=BAND)

    assert names(selection) == ["within"]


@pytest.mark.parametrize(
    "rewritten",
    [FileVersion("a", 990, 2), FileVersion("a", 991, 1), FileVersion("a", 1100, 1)],
    ids=["other size within the band", "other time within the band", "later"],
)
def test_rewritten_file_is_read_again(rewritten):
    state = SourceState(1000, low_ms=900, recent=frozenset({FileVersion("a", 990, 1)}))

    selection = select_new_files([rewritten], state, opened_at_ms=1200, max_band_ms=BAND)

    assert selection.files == (rewritten,)


def test_same_time_and_size_under_another_path_is_another_file():
    state = SourceState(1000, low_ms=900, recent=frozenset({FileVersion("a", 990, 1)}))

    selection = select_new_files([FileVersion("b", 990, 1)], state, 1200, BAND)

    assert names(selection) == ["b"]


def test_clock_set_back_never_lowers_the_mark_and_never_rereads():
    listing = [FileVersion("a", 1000, 1), FileVersion("b", 950, 1)]
    first = select_new_files(listing, None, opened_at_ms=1000, max_band_ms=BAND)

    second = select_new_files(listing, first.next_state, opened_at_ms=10, max_band_ms=BAND)
    third = select_new_files(listing, second.next_state, opened_at_ms=1001, max_band_ms=BAND)

    assert second.next_state.high_ms == 1000
    assert names(second) == names(third) == []


def test_nothing_new_reads_nothing_and_still_moves_the_mark():
    state = SourceState(1000, low_ms=900)

    selection = select_new_files([FileVersion("a", 5, 1)], state, 2000, BAND)

    assert selection.files == ()
    assert selection.next_state.high_ms == 2000


def test_wider_band_than_last_time_does_not_read_files_again():
    listing = [FileVersion("a", 500, 1), FileVersion("b", 950, 1)]
    first = select_new_files(listing, None, opened_at_ms=1000, max_band_ms=10)

    second = select_new_files(listing, first.next_state, opened_at_ms=1100, max_band_ms=900)
    third = select_new_files(listing, second.next_state, opened_at_ms=1200, max_band_ms=900)

    assert names(second) == names(third) == []


def test_narrower_band_than_last_time_does_not_read_files_again():
    listing = [FileVersion("a", 500, 1), FileVersion("b", 950, 1)]
    first = select_new_files(listing, None, opened_at_ms=1000, max_band_ms=900)

    second = select_new_files(listing, first.next_state, opened_at_ms=1100, max_band_ms=10)

    assert names(second) == []


def test_band_of_zero_remembers_no_file():
    selection = select_new_files([FileVersion("a", 1000, 1)], None, 1000, max_band_ms=0)

    assert names(selection) == ["a"]
    assert selection.next_state == SourceState(1000, low_ms=1000)


def test_state_does_not_grow_with_the_files_ever_seen():
    listing = [FileVersion(f"{n}", n, 1) for n in range(10_000)]

    selection = select_new_files(listing, None, opened_at_ms=9_999, max_band_ms=BAND)

    assert len(selection.files) == 10_000
    assert len(selection.next_state.recent) == BAND


def test_deleted_file_leaves_the_state():
    state = SourceState(1000, low_ms=900, recent=frozenset({FileVersion("a", 990, 1)}))

    selection = select_new_files([], state, opened_at_ms=1010, max_band_ms=BAND)

    assert selection.next_state.recent == frozenset()


def test_state_survives_a_round_trip_through_json():
    recent = frozenset({FileVersion("s3://b/ä, 'x'", 990, 1), FileVersion("s3://b/a", 995, 0)})
    state = SourceState(1000, low_ms=900, recent=recent)

    assert SourceState.from_json(json.loads(json.dumps(state.to_json()))) == state
