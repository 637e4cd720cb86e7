"""What a bookmark skips is told where it can be seen: a mark ahead, exclusions that are gone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidemark.local_glue.bookmarks.sources import Edges, S3Source, read_s3_source
from tidemark.local_glue.runs.found_warnings import note_at_end
from tidemark.local_glue.runs.run_warnings import RUN_FOLDER_VARIABLE, RunWarning, read_warnings

MINUTE_MS = 60_000
START_MS = 1_357_000_000_000
DAY = 24 * 60


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

    def run(self, *exclusions):
        source = S3Source(("s3://b/",), "ctx", recurse=True, exclusions=exclusions)
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
    assert warnings == ((RunWarning.EXCLUSIONS_CHANGED, "s3://b/hold/b.json"),)
    folder.now += DAY
    assert folder.run() == ([], ())


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sets(st.sampled_from("abc")), st.sets(st.sampled_from("abc")), st.integers(1, 30)
        ),
        min_size=1,
        max_size=8,
    )
)
def test_every_file_that_matches_is_read_or_named(tmp_path_factory, history):
    folder = Folder(tmp_path_factory.mktemp("lake"))
    never = set()
    for number, (landed, excluded, minutes) in enumerate(history):
        never |= {f"{name}/{number}" for name in landed}
        for name in landed:
            folder.put(f"{name}/{number}")
        folder.now += minutes
        files, warnings = folder.run(*sorted(f"{name}/**" for name in excluded))
        told = " ".join(about for _, about in warnings)
        never -= set(files)
        unread = {file for file in never if file[0] not in excluded}
        named = {file for file in unread if f"s3://b/{file}" in told}
        assert unread == named or "more" in told
        never -= unread


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
        about == "ctx is at 2013-01-02 00:26:40+00:00, and the clock says 2013-01-01 00:32:40+00:00"
    )


def test_a_clock_that_is_set_back_a_little_is_not_told(folder):
    folder.now = 10
    folder.run()
    folder.now -= 4

    assert folder.run() == ([], ())


def test_a_commit_before_the_first_source_is_told_at_the_end(tmp_path, monkeypatch):
    class Session:
        has_bookmarked_source = has_committed = True
        opened = frozenset({"src"})

    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.delenv("TIDEMARK_HOME", raising=False)
    script = tmp_path / "job.py"
    script.write_text("pass")

    note_at_end(script, "job-bookmark-enable", Session())

    (text,) = read_warnings(tmp_path)
    assert "Job.commit came before the source src was opened" in text
