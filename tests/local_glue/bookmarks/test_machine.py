"""Random lives of a bookmarked source: every object version is read once by committed runs."""

from __future__ import annotations

import json

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from local_glue.bookmarks.files import FileVersion, Limits, SourceState, select_new_files

BANDS = st.sampled_from([1, 7, 40])
NAMES_IN_USE = "abcdef"
NAMES = st.sampled_from(NAMES_IN_USE)


class BookmarkedSource(RuleBasedStateMachine):
    """The naive model keeps every version that a committed run ever read."""

    @initialize(band=BANDS)
    def start(self, band):
        self.band = band
        self.now = 1_000
        self.size = 0
        self.folder: dict[str, FileVersion] = {}
        self.stored: str | None = None
        self.read: set[FileVersion] = set()

    def put(self, name: str, modified_ms: int) -> None:
        self.size += 1  # every version has a size of its own, even in the same millisecond
        self.folder[name] = FileVersion(name, modified_ms, self.size)

    def open_source(self, wider=0):
        state = SourceState.from_json(json.loads(self.stored)) if self.stored else None
        band = self.band + wider
        selection = select_new_files(self.folder.values(), state, self.now, Limits(band))

        visible = {file for file in self.folder.values() if file.modified_ms <= self.now}
        assert len(set(selection.files)) == len(selection.files)
        assert set(selection.files) == visible - self.read
        times = [file.modified_ms for file in selection.files]
        assert times == sorted(times)
        return selection

    @rule(ms=st.integers(1, 60))
    def time_passes(self, ms):
        self.now += ms

    @rule(name=NAMES)
    def file_arrives_or_is_rewritten_now(self, name):
        self.put(name, self.now)

    @rule(name=NAMES, age=st.integers(1, 39))
    def file_of_an_earlier_time_becomes_visible(self, name, age):
        self.put(name, self.now - min(age, self.band - 1))

    @rule(name=NAMES, ahead=st.integers(1, 50))
    def file_arrives_from_a_clock_that_is_ahead(self, name, ahead):
        self.put(name, self.now + ahead)

    @rule(name=NAMES)
    def file_is_deleted(self, name):
        self.folder.pop(name, None)

    @rule(wider=st.sampled_from([0, 0, 5, 200]))
    def run_commits(self, wider):
        selection = self.open_source(wider)
        self.stored = json.dumps(selection.next_state.to_json())
        self.read |= set(selection.files)

    @rule(name=NAMES)
    def run_commits_while_a_file_arrives(self, name):
        selection = self.open_source()
        self.put(name, self.now)
        self.stored = json.dumps(selection.next_state.to_json())
        self.read |= set(selection.files)

    @rule()
    def run_crashes_before_its_commit_or_is_paused(self):
        self.open_source()

    @invariant()
    def state_holds_no_more_than_the_folder(self):
        if self.stored:
            assert len(json.loads(self.stored)["recent"]) <= len(NAMES_IN_USE)


TestBookmarkedSource = BookmarkedSource.TestCase
TestBookmarkedSource.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
