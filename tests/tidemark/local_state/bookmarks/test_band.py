"""The band as text: nothing is lost in it, and what did not change is not looked at."""

import json
from dataclasses import replace

import pytest

from tests.tidemark.local_state.bookmarks.test_told_skips import MINUTE_MS, START_MS, Folder
from tidemark.local_state.bookmarks.band import Band
from tidemark.local_state.bookmarks.files import FileVersion, Limits
from tidemark.local_state.bookmarks.listing import Unlisted
from tidemark.local_state.bookmarks.reading import read_s3_source
from tidemark.local_state.bookmarks.sources import Edges, S3Source, list_source
from tidemark.local_state.bookmarks.versions import pack, plain, unpack

FILES = [
    FileVersion("s3://b/in/a.json", 1000, 7),
    FileVersion("s3://b/in/a\nb \udcff.json", 1002, 0),
    FileVersion("s3://b/in/day=1/a.json", -5, 1),
]


def test_a_band_has_the_files_it_was_made_of():
    made = Band.of(FILES)

    assert sorted(made) == sorted(FILES)
    assert len(made) == 3
    assert FILES[1] in made
    assert FileVersion("s3://b/in/a.json", 1000, 8) not in made
    assert Band.of([list(file) for file in made]) == made


def test_a_band_is_stored_and_read_again_and_shown_as_lists():
    states = {"one": {"kind": "s3", "recent": Band.of(FILES)}, "two": {"recent": []}}

    assert unpack(pack(states)) == states
    assert plain(states)["one"]["recent"] == [list(file) for file in Band.of(FILES)]
    json.dumps(plain(states))


def test_files_that_fall_out_of_the_band_go_and_others_of_their_folder_stay():
    assert sorted(Band.of(FILES).later_than(1000)) == [FILES[1]]
    assert Band.of(FILES).later_than(1002) == Band()
    assert Band.of(FILES).later_than(-6) == Band.of(FILES)


def where_of(root):
    return lambda uri: root / uri.removeprefix("s3://b").lstrip("/")


def test_only_a_folder_that_changed_is_listed_file_by_file(tmp_path):
    folder, where = Folder(tmp_path), where_of(tmp_path)
    for name in ("a.json", "x/b.json", "x/c.json"):
        folder.put(name)
    source = S3Source(("s3://b/",), recurse=True)
    known = Unlisted(known=Band.of(list_source(source, where).files).folders)
    same = list_source(source, where, unlisted=known)
    (tmp_path / "x/c.json").write_bytes(b"longer")

    other = list_source(source, where, unlisted=known)

    assert (same.files, same.unchanged) == ([], {"s3://b/", "s3://b/x/"})
    assert sorted(file.path for file in other.files) == ["s3://b/x/b.json", "s3://b/x/c.json"]
    assert other.unchanged == {"s3://b/"}


def test_a_folder_of_two_paths_is_unchanged_only_if_both_say_so(tmp_path):
    folder, where = Folder(tmp_path), where_of(tmp_path)
    for name in ("in/a.json", "in/b.json"):
        folder.put(name)
    known = Unlisted(known=Band.of(list_source(S3Source(("s3://b/in/",)), where).files).folders)
    whole = S3Source(("s3://b/", "s3://b/in/"), recurse=True)

    same = list_source(whole, where, unlisted=known)
    other = list_source(replace(whole, exclusions=("a.json",)), where, unlisted=known)

    assert (same.files, same.unchanged) == ([], {"s3://b/in/"})
    assert ([file.path for file in other.files], other.unchanged) == (["s3://b/in/b.json"], set())


def test_files_that_a_folder_keeps_are_remembered_as_long_as_the_band_lasts(tmp_path):
    folder = Folder(tmp_path)
    for minute, name in enumerate(("x/a.json", "x/b.json", "y/c.json")):
        folder.now = minute
        folder.put(name)
    folder.run()
    left = []
    for minute in (14, 15, 16, 17):
        folder.now = minute
        assert folder.run() == ([], ())
        left.append([file.path[-6:] for file in folder.state["recent"]])

    assert left == [["a.json", "b.json", "c.json"], ["b.json", "c.json"], ["c.json"], []]


@pytest.mark.parametrize("most", [None, 1])
def test_a_limit_on_the_band_counts_the_files_of_unchanged_folders(tmp_path, most):
    folder, where = Folder(tmp_path), where_of(tmp_path)
    source = S3Source(("s3://b/",), "ctx", recurse=True, limits=Limits(max_files_in_band=most))
    names = []
    for minute, name in enumerate(("x/a.json", "y/b.json", "y/c.json")):
        folder.now = minute
        folder.put(name)
        now_ms = START_MS + minute * MINUTE_MS
        reading = read_s3_source(source, where, now_ms, Edges(folder.state))
        folder.state = reading.next_state
        names.append([file.path for file in reading.files])

    assert names == [["s3://b/x/a.json"]] + (
        [[], []] if most else [["s3://b/y/b.json"], ["s3://b/y/c.json"]]
    )
