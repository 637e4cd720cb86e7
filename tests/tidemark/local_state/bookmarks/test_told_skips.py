"""What a bookmark skips is told where it can be seen: a mark ahead, exclusions that are gone."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from time import sleep

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tries import tries
from tidemark.glue_job.process.bookmark_session import BookmarkSession
from tidemark.glue_job.process.script_warnings import note_at_end
from tidemark.local_state.bookmarks import listing, seen_files, skips
from tidemark.local_state.bookmarks.files import (
    DEFAULT_MAX_BAND_MS,
    FileVersion,
    Limits,
    SourceState,
)
from tidemark.local_state.bookmarks.reading import read_s3_source
from tidemark.local_state.bookmarks.skips import Earlier, Partitions, renamed_contexts
from tidemark.local_state.bookmarks.sources import Edges, S3Source
from tidemark.local_state.run_warnings import RUN_FOLDER_VARIABLE, RunWarning, read_warnings
from tidemark.model.assembly.definitions import ENABLE
from tidemark.model.clock import OFFSET_VARIABLE, now_ms

MINUTE_MS = 60_000
START_MS = 1_357_000_000_000
DAY = 24 * 60
TICK = 0.011  # the kernel stamps files by a clock of ticks, at most so long


class Folder:
    """A folder, and the runs of a source over it."""

    def __init__(self, root):
        self.root, self.state, self.now = Path(root), None, 0

    def put(self, name):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
        at = (START_MS + self.now * MINUTE_MS) * 1_000_000
        os.utime(path, ns=(at, at))

    def run(self, *exclusions, scheme="s3"):
        source = S3Source((f"{scheme}://b/",), "ctx", recurse=True, exclusions=exclusions)
        edges = Edges(self.state)
        now_ms = START_MS + self.now * MINUTE_MS
        where = lambda uri: self.root / uri.removeprefix("s3://b/")  # noqa: E731
        reading = read_s3_source(source, where, now_ms, edges)
        self.state = reading.next_state
        return sorted(f.path.removeprefix("s3://b/") for f in reading.files), reading.warnings


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)


def test_a_file_that_is_no_longer_excluded_is_named(folder):
    folder.put("a.json")
    folder.put("hold/b.json")
    folder.now += DAY
    assert folder.run("hold/**") == (["a.json"], ())
    folder.now += DAY

    files, warnings = folder.run()

    assert files == []
    assert warnings == ((RunWarning.LEFT_OUT_BEFORE, "s3://b/hold/b.json"),)
    folder.now += DAY
    assert folder.run() == ([], ())


@pytest.mark.parametrize("schemes", [("s3", "s3a", "s3n", "s3"), ("s3a", "s3", "s3", "s3n")])
def test_another_scheme_of_s3_is_the_same_place_and_the_same_bookmark(folder, schemes):
    folder.put("old.json")
    folder.put("not/a.json")
    folder.now += DAY
    folder.put("recent.json")
    first, *others = schemes
    excluded = f"{first}://b/not/**"
    assert folder.run(excluded, scheme=first) == (["old.json", "recent.json"], ())
    folder.state = {**folder.state, "paths": [f"{first}://b/"], "exclusions": [excluded]}
    folder.state["recent"] = [
        [path.replace("s3:", f"{first}:"), *rest] for path, *rest in folder.state["recent"]
    ]  # as older versions wrote it
    for scheme in others:
        folder.now += 1
        assert folder.run(f"{scheme}://b/not/**", scheme=scheme) == ([], ())
        assert [path for path, _, _ in folder.state["recent"]] == ["s3://b/recent.json"]


class Days:
    """A predicate over the folders ``day=N``: the days that are read."""

    columns = frozenset(["day"])

    def __init__(self, expression):
        self.days = expression.removeprefix("day in ").split()

    def select(self, partitions):
        return [one["day"] in self.days for one in partitions]


def partitions_of(expression, _=0):
    return Partitions(Days(expression) if expression else None)


def is_asked(source, name):
    """Tell, the long way round, whether a source lists a file ``day=N/x/file``."""
    day, folder, _ = name.split("/")
    paths = [path.removeprefix("s3://b/").strip("/") for path in source.paths]
    days = source.push_down_predicate.removeprefix("day in ").split()
    return (
        (paths == [""] or day in paths or f"*/{folder}" in paths)
        and f"**/{folder}/**" not in source.exclusions
        and (source.recurse or f"*/{folder}" in paths)
        and (not days or day.removeprefix("day=") in days)
    )


FILES = st.tuples(st.sampled_from("123"), st.sampled_from("xy"), st.booleans())
WHOLE = S3Source(("s3://b/",), "ctx", recurse=True)
LOOKS = st.one_of(
    st.just(WHOLE),
    st.sampled_from("123").map(lambda day: replace(WHOLE, paths=(f"s3://b/day={day}/",))),
    st.sampled_from("xy").map(lambda one: replace(WHOLE, paths=(f"s3://b/*/{one}",))),
    st.sampled_from("xy").map(lambda one: replace(WHOLE, exclusions=(f"**/{one}/**",))),
    st.sets(st.sampled_from("123"), min_size=1).map(
        lambda days: replace(WHOLE, push_down_predicate=f"day in {' '.join(sorted(days))}")
    ),
    st.just(replace(WHOLE, recurse=False)),
    st.just(replace(WHOLE, paths=("s3a://b/",))),
)
BOUNDS = st.sampled_from([None, None, 1, 2])


@settings(max_examples=tries(40), deadline=None)
@given(
    st.sampled_from([0, DEFAULT_MAX_BAND_MS]),
    st.lists(st.tuples(st.lists(FILES, max_size=3), LOOKS, BOUNDS), min_size=2, max_size=6),
)
def test_each_file_is_read_or_named_whatever_arrives_and_whatever_options_change(
    tmp_path_factory, band_ms, history
):
    root = tmp_path_factory.mktemp("lake")
    where = lambda uri: root / uri.removeprefix("s3://b").strip("/")  # noqa: E731
    state, landed, settled = None, set(), set()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(skips, "MAX_NAMED", 1_000)
        patch.setattr(listing, "EXAMPLES", 1_000)
        for number, (files, source, bound) in enumerate([*history, ([], WHOLE, None)]):
            landed |= {_land(root, number, *one) for one in files}
            sleep(TICK)
            asked = replace(source, limits=Limits(band_ms, bounded_files=bound))
            edges = Edges(state, None, 1)
            earlier = Earlier(partitions_of)
            chosen = partitions_of(source.push_down_predicate).predicate
            reading = read_s3_source(asked, where, now_ms(), edges, chosen, earlier)
            sleep(TICK)
            state = reading.next_state
            settled |= {one.path.removeprefix("s3://b/") for one in reading.files}
            told = " ".join(about for _, about in reading.warnings)
            settled |= {name for name in landed if f"s3://b/{name}" in told}
            gone = {name for name in landed if _counts_as_read(state, root, name)}
            assert {name for name in gone - settled if is_asked(asked, name)} == set()
    assert landed == settled


def _land(root, number, day, folder, is_late):
    path = root / f"day={day}" / folder / f"{number}{'-late' if is_late else ''}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x")
    if is_late:
        os.utime(path, ns=(1_357_000_000_000_000_000,) * 2)
    return str(path.relative_to(root))


def _counts_as_read(state, root, name):
    return SourceState.from_json(state).has_read(_version(root, name))


def _version(root, name):
    stat = (root / name).stat()
    return FileVersion(f"s3://b/{name}", stat.st_mtime_ns // 1_000_000, stat.st_size)


def test_a_test_that_moves_the_clock_gets_no_warning_of_the_machines_times(tmp_path, monkeypatch):
    moved_ms = -3 * 365 * DAY * MINUTE_MS
    monkeypatch.setenv(OFFSET_VARIABLE, str(moved_ms))
    monkeypatch.setattr(seen_files, "MAX_SEEN", 0)
    name = _land(tmp_path, 1, "1", "x", is_late=False)
    at = now_ms() * 1_000_000
    os.utime(tmp_path / name, ns=(at, at))
    first = run_of(tmp_path)

    assert len(first.files) == 1
    assert run_of(tmp_path, first.next_state).warnings == ()


def run_of(root, before=None, **changes):
    """Return the names that a run reads, and all that it warns of."""
    where = lambda uri: root / uri.removeprefix("s3://b").strip("/")  # noqa: E731
    source = replace(WHOLE, limits=Limits(0), **changes)
    sleep(TICK)
    made_at_ms = now_ms() if before else None
    reading = read_s3_source(source, where, now_ms(), Edges(before, None, made_at_ms))
    sleep(TICK)
    return reading


def test_a_file_that_came_while_the_last_run_was_at_work_is_named(tmp_path):
    first = run_of(tmp_path)
    late = _land(tmp_path, 1, "1", "x", is_late=True)

    second = run_of(tmp_path, first.next_state)

    assert second.warnings == ((RunWarning.OLD_FILES, f"s3://b/{late}"),)
    assert run_of(tmp_path, second.next_state).warnings == ()


def test_a_folder_that_was_moved_in_is_named_with_what_is_below_it(tmp_path):
    lake, other = tmp_path / "lake", tmp_path / "other"
    lake.mkdir()
    name = _land(other, 1, "1", "x", is_late=False)
    sleep(TICK)
    first = run_of(lake)
    (other / "day=1").rename(lake / "day=1")

    assert run_of(lake, first.next_state).warnings == ((RunWarning.OLD_FILES, f"s3://b/{name}"),)


def test_a_folder_whose_times_were_set_back_is_not_taken_for_a_moved_one(tmp_path):
    _land(tmp_path, 1, "1", "x", is_late=False)
    first = run_of(tmp_path)
    name = _land(tmp_path, 2, "1", "x", is_late=True)
    for folder in (tmp_path / "day=1/x", tmp_path / "day=1", tmp_path):  # as rsync -a does
        os.utime(folder, ns=(1_357_000_000_000_000_000,) * 2)

    warnings = run_of(tmp_path, first.next_state).warnings

    assert warnings == ((RunWarning.OLD_FILES, f"s3://b/{name}"),)


def test_a_file_from_the_future_is_named_with_its_time(tmp_path):
    name = _land(tmp_path, 1, "1", "x", is_late=False)
    os.utime(tmp_path / name, ns=(4_000_000_000_000_000_000,) * 2)

    reading = run_of(tmp_path)

    assert reading.files == ()
    about = f"s3://b/{name} (up to 2096-10-02 07:06:40+00:00)"
    assert reading.warnings == ((RunWarning.FUTURE_FILES, about),)


def test_a_state_of_an_older_version_knows_its_paths_and_exclusions_only(tmp_path):
    _land(tmp_path, 1, "1", "x", is_late=False)
    first = run_of(tmp_path)
    newer = ("opened_at_ms", "recurse", "seen")
    old = {k: v for k, v in first.next_state.items() if k not in newer}

    assert run_of(tmp_path, old).warnings == ()
    assert run_of(tmp_path, {**old, "paths": ["s3://b/other/"]}).warnings != ()


def test_a_mark_ahead_of_the_clock_is_told_with_both_times(folder):
    folder.put("a.json")
    folder.now += DAY
    assert folder.run()[0] == ["a.json"]
    folder.now -= DAY - 5
    folder.put("b.json")
    folder.now += 1

    files, warnings = folder.run()

    assert files == []
    ((warning, about),) = warnings
    assert warning is RunWarning.MARK_AHEAD
    assert (
        about == "ctx is at 2013-01-02 00:11:40+00:00, and the clock says 2013-01-01 00:32:40+00:00"
        "; skipped: s3://b/b.json"
    )


@pytest.mark.parametrize(("ahead", "later"), [(60, DAY), (DAY, 7 * DAY), (20, 18)])
def test_a_file_that_came_after_a_run_with_the_clock_ahead_is_told_once(folder, ahead, later):
    folder.put("a.json")
    folder.now += ahead
    assert folder.run() == (["a.json"], ())
    folder.now -= ahead - 1
    folder.put("b.json")
    folder.now += later
    folder.put("c.json")

    files, warnings = folder.run()

    assert files == ["c.json"]
    assert warnings == ((RunWarning.OLD_FILES, "s3://b/b.json"),)
    folder.now += DAY
    assert folder.run() == ([], ())


def test_files_that_came_while_files_of_the_future_count_as_read_are_named_once(folder):
    """The machine's clock was ahead: so are the times of the files that a run has read then."""
    folder.put("old.json")
    folder.now += DAY
    folder.put("ahead.json")
    folder.now += 1
    assert folder.run() == (["ahead.json", "old.json"], ())
    folder.now -= DAY
    folder.put("now.json")
    folder.now += 2 * DAY  # no run in between has seen the clock go back

    assert folder.run() == ([], ((RunWarning.OLD_FILES, "s3://b/now.json"),))
    assert folder.run() == ([], ())


def test_a_mark_ahead_within_its_band_is_not_told_as_files_are_read(folder):
    folder.put("a.json")
    folder.now += 14
    assert folder.run() == (["a.json"], ())
    folder.now -= 10
    folder.put("b.json")

    assert folder.run() == (["b.json"], ())
    folder.now += 4
    folder.put("c.json")
    assert folder.run() == (["c.json"], ())


def test_a_file_ahead_of_the_clock_that_the_band_reads_is_not_called_unread(folder):
    folder.put("a.json")
    folder.now += DAY
    assert folder.run() == (["a.json"], ())
    folder.put("b.json")
    folder.now -= 14
    folder.put("c.json")

    assert folder.run() == (["b.json", "c.json"], ())


TIMES = st.integers(-3 * DAY, 3 * DAY)


@settings(max_examples=tries(60), deadline=None)
@given(
    st.lists(st.tuples(TIMES, st.lists(TIMES, max_size=3)), min_size=2, max_size=8),
    st.sampled_from([2, 100]),
)
def test_whatever_a_clock_does_each_file_is_read_named_or_still_new(
    tmp_path_factory, history, most
):
    """Runs and files have any times; a file that no run can read any more is named by one."""
    folder = Folder(tmp_path_factory.mktemp("lake"))
    settled, landed, floor_ms = set(), set(), -1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(seen_files, "MAX_SEEN", most)
        patch.setattr(skips, "MAX_NAMED", 1_000)
        for number, (now, times) in enumerate(history):
            for one, folder.now in enumerate(times):
                folder.put(f"{number}-{one}.json")
                landed.add(f"{number}-{one}.json")
            folder.now = now

            files, warnings = folder.run()

            assert not {name for name in files if f"/{name}" in str(warnings)}
            skipped = str([one for one in warnings if one[0] in SKIPS])
            told = {name for name in landed if f"/{name}" in skipped}
            settled |= {*files}
            assert not told & settled
            settled |= told
            unsettled = {name: _version(folder.root, name) for name in landed - settled}
            state = SourceState.from_json(folder.state)
            gone = [one for one in unsettled.values() if state.has_read(one)]
            assert not [one for one in gone if one.modified_ms > floor_ms]
            floor_ms = folder.state["seen"]["floor_ms"]
            assert most == 2 or floor_ms == -1


SKIPS = (RunWarning.OLD_FILES, RunWarning.MARK_AHEAD)


def test_files_that_exclusions_left_out_are_told_by_one_warning(folder):
    folder.put("a.json")
    folder.now += 60
    folder.put("b.json")
    folder.now += DAY
    assert folder.run("b*") == (["a.json"], ())
    folder.now += DAY

    assert folder.run() == ([], ((RunWarning.LEFT_OUT_BEFORE, "s3://b/b.json"),))


def test_a_clock_that_is_set_back_a_little_is_not_told(folder):
    folder.now = 10
    folder.run()
    folder.now -= 4

    assert folder.run() == ([], ())


def test_a_commit_before_the_first_source_is_told_at_the_end(tmp_path, monkeypatch):
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.delenv("TIDEMARK_HOME", raising=False)
    script = tmp_path / "job.py"
    script.write_text("pass")
    session = BookmarkSession("ingest", "jr_1", ENABLE, opened={"src"})
    session.has_bookmarked_source = session.has_committed = True

    note_at_end(script, ENABLE, session)

    (text,) = read_warnings(tmp_path)
    assert "Job.commit came before the source src was opened" in text


FILES_OF = {"kind": "s3", "paths": ["s3://b/in/"]}
ROWS_OF = {"kind": "jdbc", "table": "orders"}


@pytest.mark.parametrize(
    ("before", "used", "renamed"),
    [
        ({"old": FILES_OF}, {"new": FILES_OF}, [("old", "new")]),
        ({"old": ROWS_OF}, {"new": ROWS_OF}, [("old", "new")]),
        ({"old": {**FILES_OF, "paths": ["s3a://b/in/"]}}, {"new": FILES_OF}, [("old", "new")]),
        ({"old": FILES_OF}, {"new": {**FILES_OF, "paths": ["s3://b/other/"]}}, []),
        ({"old": FILES_OF}, {"new": FILES_OF, "old": FILES_OF}, []),
        ({"old": FILES_OF, "new": FILES_OF}, {"new": FILES_OF}, []),
        ({"old": {"kind": "relationalize", "next_id": 3}}, {"new": FILES_OF}, []),
        ({}, {"new": FILES_OF}, []),
        ({"old": FILES_OF}, {"new": None}, []),
    ],
    ids=["files", "rows", "scheme", "other", "both", "known", "step", "first", "in full"],
)
def test_a_context_was_renamed_if_a_new_one_reads_what_an_unused_one_has_read(
    before, used, renamed
):
    assert renamed_contexts(before, used) == renamed


@pytest.mark.rule("Warnings", source="BM", choice="it is read in full again, with a warning")
def test_a_source_under_another_context_is_reported_once(glue, tmp_path, monkeypatch):
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path))
    script = tmp_path / "job.py"
    script.write_text("pass")

    def run(run_id, ctx):
        began = glue.start(run_id)
        names = began.read(ctx)
        began.session.commit()
        note_at_end(script, ENABLE, began.session)
        began.end("SUCCEEDED")
        return names

    glue.land("a.json")
    assert run("jr_1", "weather") == ["a.json"]
    assert run("jr_2", "weather") == []
    assert read_warnings(tmp_path) == []

    assert run("jr_3", "other") == ["a.json"]
    assert run("jr_4", "other") == []

    (text,) = read_warnings(tmp_path)
    assert text.startswith("the transformation_ctx weather is now other: ")


@pytest.mark.parametrize("path", ["s3://b/", "s3://b/*", "s3://b/{_,.,in}*/*"])
def test_hidden_data_is_one_warning_with_an_example_of_each_kind(folder, path):
    for name in ("in/a.json", "_old/b.json", "_old/c.json", ".new/1/2/d", "_old/_SUCCESS"):
        folder.put(name)
    where = lambda uri: folder.root / uri.removeprefix("s3://b").lstrip("/")  # noqa: E731
    source = S3Source((path,), "ctx", recurse=True)

    reading = read_s3_source(source, where, START_MS + MINUTE_MS)

    assert [file.path for file in reading.files] == ["s3://b/in/a.json"]
    [(warning, about)] = reading.warnings
    assert warning is RunWarning.HIDDEN_FILES
    assert about == "s3://b/.new/1/2/d, s3://b/_old/b.json (and 1 more below _old/)"
