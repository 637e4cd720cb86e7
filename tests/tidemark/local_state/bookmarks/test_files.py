"""Each rule by which a bookmark tells new files from old ones."""

from __future__ import annotations

import json

import pytest

from tidemark.local_state.bookmarks.files import FileVersion, Limits, SourceState, select_new_files

BAND = 100


def names(selection) -> list[str]:
    return [file.path for file in selection.files]


@pytest.mark.rule("Files of S3", source="BM")
def test_first_run_reads_everything_oldest_first():
    listing = [FileVersion("c", 30, 1), FileVersion("b", 10, 1), FileVersion("a", 30, 1)]

    selection = select_new_files(listing, None, opened_at_ms=50, limits=Limits(BAND))

    assert names(selection) == ["b", "a", "c"]


@pytest.mark.rule("Files of S3", source="BM")
def test_file_is_new_by_its_modification_time_and_not_by_its_name():
    state = SourceState(1000, low_ms=1000)
    listing = [FileVersion("z-later-name", 999, 1), FileVersion("a-earlier-name", 1001, 1)]

    selection = select_new_files(listing, state, opened_at_ms=2000, limits=Limits(BAND))

    assert names(selection) == ["a-earlier-name"]


@pytest.mark.rule("Files of S3", source="OLD", choice="the upper edge is frozen at opening")
def test_file_modified_after_the_source_was_opened_belongs_to_the_next_run():
    listing = [FileVersion("early", 1000, 1), FileVersion("late", 1001, 1)]

    first = select_new_files(listing, None, opened_at_ms=1000, limits=Limits(BAND))
    second = select_new_files(listing, first.next_state, opened_at_ms=1001, limits=Limits(BAND))

    assert names(first) == ["early"]
    assert first.next_state.high_ms == 1000
    assert names(second) == ["late"]


@pytest.mark.rule("Files of S3", source="OLD")
def test_file_with_the_marks_own_millisecond_that_appears_later_is_read():
    first = select_new_files([FileVersion("a", 1000, 1)], None, 1000, Limits(BAND))
    listing = [FileVersion("a", 1000, 1), FileVersion("b", 1000, 1)]

    second = select_new_files(listing, first.next_state, 1500, Limits(BAND))

    assert names(second) == ["b"]


@pytest.mark.rule("Files of S3", source="OLD, S3")
def test_file_that_appears_late_is_read_only_within_the_band():
    state = SourceState(1000, low_ms=900)
    listing = [FileVersion("at the edge", 900, 1), FileVersion("within", 901, 1)]

    selection = select_new_files(listing, state, opened_at_ms=2000, limits=Limits(BAND))

    assert names(selection) == ["within"]


@pytest.mark.rule("Files of S3", source="BM, TRB", choice="within the band too, by time and size")
@pytest.mark.parametrize(
    "rewritten",
    [FileVersion("a", 990, 2), FileVersion("a", 991, 1), FileVersion("a", 1100, 1)],
    ids=["other size within the band", "other time within the band", "later"],
)
def test_rewritten_file_is_read_again(rewritten):
    state = SourceState(1000, low_ms=900, recent=frozenset({FileVersion("a", 990, 1)}))

    selection = select_new_files([rewritten], state, opened_at_ms=1200, limits=Limits(BAND))

    assert selection.files == (rewritten,)


@pytest.mark.rule("Files of S3", source="INFER")
def test_same_time_and_size_under_another_path_is_another_file():
    state = SourceState(1000, low_ms=900, recent=frozenset({FileVersion("a", 990, 1)}))

    selection = select_new_files([FileVersion("b", 990, 1)], state, 1200, Limits(BAND))

    assert names(selection) == ["b"]


@pytest.mark.rule("Files of S3", source="SILENT", choice="the mark only rises")
def test_clock_set_back_never_lowers_the_mark_and_never_rereads():
    listing = [FileVersion("a", 1000, 1), FileVersion("b", 950, 1)]
    first = select_new_files(listing, None, opened_at_ms=1000, limits=Limits(BAND))

    second = select_new_files(listing, first.next_state, opened_at_ms=10, limits=Limits(BAND))
    third = select_new_files(listing, second.next_state, opened_at_ms=1001, limits=Limits(BAND))

    assert second.next_state.high_ms == 1000
    assert names(second) == names(third) == []


@pytest.mark.rule("Files of S3", source="OLD")
def test_nothing_new_reads_nothing_and_still_moves_the_mark():
    state = SourceState(1000, low_ms=900)

    selection = select_new_files([FileVersion("a", 5, 1)], state, 2000, Limits(BAND))

    assert selection.files == ()
    assert selection.next_state.high_ms == 2000


@pytest.mark.rule("Files of S3", source="SILENT", choice="what was read stays read")
def test_wider_band_than_last_time_does_not_read_files_again():
    listing = [FileVersion("a", 500, 1), FileVersion("b", 950, 1)]
    first = select_new_files(listing, None, opened_at_ms=1000, limits=Limits(10))

    second = select_new_files(listing, first.next_state, opened_at_ms=1100, limits=Limits(900))
    third = select_new_files(listing, second.next_state, opened_at_ms=1200, limits=Limits(900))

    assert names(second) == names(third) == []


@pytest.mark.rule("Files of S3", source="SILENT", choice="what was read stays read")
def test_narrower_band_than_last_time_does_not_read_files_again():
    listing = [FileVersion("a", 500, 1), FileVersion("b", 950, 1)]
    first = select_new_files(listing, None, opened_at_ms=1000, limits=Limits(900))

    second = select_new_files(listing, first.next_state, opened_at_ms=1100, limits=Limits(10))

    assert names(second) == []


def test_band_of_zero_remembers_no_file():
    selection = select_new_files([FileVersion("a", 1000, 1)], None, 1000, limits=Limits(0))

    assert names(selection) == ["a"]
    assert selection.next_state == SourceState(1000, low_ms=1000)


def test_state_does_not_grow_with_the_files_ever_seen():
    listing = [FileVersion(f"{n}", n, 1) for n in range(10_000)]

    selection = select_new_files(listing, None, opened_at_ms=9_999, limits=Limits(BAND))

    assert len(selection.files) == 10_000
    assert len(selection.next_state.recent) == BAND


@pytest.mark.rule("Files of S3", source="INFER")
def test_deleted_file_leaves_the_state_after_the_band_has_passed_it():
    state = SourceState(1000, low_ms=900, recent=frozenset({FileVersion("a", 990, 1)}))

    soon = select_new_files([], state, opened_at_ms=1010, limits=Limits(BAND))
    later = select_new_files([], soon.next_state, opened_at_ms=1090, limits=Limits(BAND))

    assert soon.next_state.recent == state.recent
    assert later.next_state.recent == frozenset()


@pytest.mark.rule("Partitions", source="SILENT", choice="what was read stays read")
def test_file_that_another_predicate_does_not_list_stays_read():
    listing = [FileVersion("day=1/a", 990, 1), FileVersion("day=2/b", 990, 1)]
    first = select_new_files(listing, None, 1000, Limits(BAND))

    second = select_new_files(listing[1:], first.next_state, 1010, Limits(BAND))
    third = select_new_files(listing, second.next_state, 1020, Limits(BAND))

    assert names(second) == names(third) == []


@pytest.mark.rule("Files of S3", source="BND", choice="oldest first")
def test_bounded_files_reads_the_oldest_first_and_drains_over_runs():
    listing = [FileVersion(name, at, 1) for name, at in (("c", 30), ("a", 10), ("b", 20))]
    limits = Limits(BAND, bounded_files=2)

    first = select_new_files(listing, None, 1000, limits)
    second = select_new_files(listing, first.next_state, 1001, limits)
    third = select_new_files(listing, second.next_state, 1002, limits)

    assert [names(first), names(second), names(third)] == [["a", "b"], ["c"], []]
    assert (first.next_state.high_ms, second.next_state.high_ms) == (20, 1001)


@pytest.mark.rule("Files of S3", source="SILENT", choice="the next run reads the rest")
def test_bound_between_files_of_one_millisecond_loses_and_repeats_none():
    listing = [FileVersion(name, 10, 1) for name in "abc"]
    limits = Limits(max_band_ms=0, bounded_files=2)

    first = select_new_files(listing, None, 1000, limits)
    second = select_new_files(listing, first.next_state, 1001, limits)

    assert [names(first), names(second)] == [["a", "b"], ["c"]]


@pytest.mark.rule("Files of S3", source="BND", choice="the file that reaches it is read")
def test_bounded_size_stops_once_it_is_reached():
    listing = [FileVersion("a", 10, 5), FileVersion("b", 20, 5), FileVersion("c", 30, 5)]

    for size, expected in ((1, ["a"]), (5, ["a"]), (6, ["a", "b"]), (99, ["a", "b", "c"])):
        selection = select_new_files(listing, None, 1000, Limits(BAND, bounded_size=size))
        assert names(selection) == expected


@pytest.mark.rule("Files of S3", source="S3", choice="the newest ones are left")
def test_files_that_do_not_fit_into_the_band_are_left_to_the_next_run():
    listing = [FileVersion("old", 5, 1), FileVersion("a", 950, 1), FileVersion("b", 960, 1)]
    limits = Limits(BAND, max_files_in_band=1)

    first = select_new_files(listing, None, 1000, limits)
    second = select_new_files(listing, first.next_state, 1001, limits)
    later = select_new_files(listing, second.next_state, 1100, limits)

    assert [names(first), names(second), names(later)] == [["old", "a"], [], ["b"]]


def test_window_reads_what_came_after_the_first_state_up_to_the_second():
    listing = [FileVersion(name, at, 1) for name, at in (("a", 10), ("b", 1010), ("c", 1020))]
    first = select_new_files(listing[:1], None, 1000, Limits(BAND))
    second = select_new_files(listing[:2], first.next_state, 1015, Limits(BAND))

    window = select_new_files(
        listing, first.next_state, 2000, Limits(BAND), until=second.next_state
    )

    assert names(window) == ["b"]


def test_window_holds_a_file_at_the_lower_edge_of_its_upper_state():
    file = FileVersion("a", 900, 1)

    window = select_new_files([file], None, 2000, Limits(BAND), until=SourceState(1000, 900))

    assert window.files == (file,)


def test_state_survives_a_round_trip_through_json():
    recent = frozenset({FileVersion("s3://b/ä, 'x'", 990, 1), FileVersion("s3://b/a", 995, 0)})
    state = SourceState(1000, low_ms=900, recent=recent)

    assert SourceState.from_json(json.loads(json.dumps(state.to_json()))) == state
