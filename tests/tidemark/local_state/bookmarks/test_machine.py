"""Random lives of a bookmarked job, on a real home: what each run reads, against a naive model.

The model keeps, as plain sets of object versions, what had been read at every version of the
bookmark. So each version is read once by committed runs, again after a run that did not commit,
again after a reset, and exactly by what came after run N on a rewind to N.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.tries import tries
from tidemark.errors import BookmarkVersionMismatchError, EntityNotFoundError, UsageError
from tidemark.glue_job.process import bookmark_session
from tidemark.glue_job.process.bookmark_session import BookmarkSession, files_to_read, start_session
from tidemark.local_state.bookmarks.files import FileVersion, Limits
from tidemark.local_state.bookmarks.sources import S3Source
from tidemark.local_state.bookmarks.versions import latest_bookmark, reset_bookmark, rewind_bookmark
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import JobRun, Store

URI = "s3://landing/in/"
NAMES_IN_USE = ("a", "b", "day=1/c", "day=1/d", "day=2/e", "day=2/f")
ENABLE, PAUSE, DISABLE = "job-bookmark-enable", "job-bookmark-pause", "job-bookmark-disable"
NAMES = st.sampled_from(NAMES_IN_USE)
CONTEXTS = st.sampled_from([("one",), ("one",), ("one", "two"), ("two",)])
RUNS = st.integers(0, 99)
MEMORY = Path("/dev/shm")  # noqa: S108 (Linux; a thousand commits wait long for a disk)
NOTHING: frozenset[FileVersion] = frozenset()


class BookmarkedJob(RuleBasedStateMachine):
    """`read` is the position in force by context; `ends` the version and position of each run."""

    @initialize(band=st.sampled_from([1, 7, 40]))
    def start(self, band: int) -> None:
        self.band = band
        self.now = 1_000_000
        self.size = 0
        self.version = 0
        self.files: dict[str, FileVersion] = {}
        self.read: dict[str, frozenset[FileVersion]] = {}
        self.ends: dict[str, tuple[int, dict[str, frozenset[FileVersion]]]] = {}
        self.root = Path(tempfile.mkdtemp(dir=MEMORY if MEMORY.is_dir() else None))
        self.home = Home.open(self.root / "home")
        self.folder = self.home.lake / "landing" / "in"
        for day in ("day=1", "day=2"):
            (self.folder / day).mkdir(parents=True)
        self.patch = pytest.MonkeyPatch()
        self.patch.setenv("TIDEMARK_HOME", str(self.home.root))
        self.patch.setattr(bookmark_session, "_sessions", [])
        self.patch.setattr(bookmark_session, "now_ms", lambda: self.now)
        self.store = Store(self.home.database)
        self.files_arrive_or_are_rewritten_now(["a", "day=1/c"])

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            self.patch.undo()
            shutil.rmtree(self.root)

    # What happens to the objects

    def put(self, name: str, modified_ms: int) -> None:
        self.size += 1  # every version has a size of its own, even in the same millisecond
        path = self.folder / name
        path.write_bytes(b"x" * self.size)
        os.utime(path, ns=(modified_ms * 1_000_000, modified_ms * 1_000_000))
        self.files[name] = FileVersion(URI + name, modified_ms, self.size)

    @rule(ms=st.integers(1, 60))
    def time_passes(self, ms: int) -> None:
        self.now += ms

    @rule(names=st.lists(NAMES, min_size=1, max_size=3))
    def files_arrive_or_are_rewritten_now(self, names: list[str]) -> None:
        for name in names:
            self.put(name, self.now)

    @rule(name=NAMES, ms=st.integers(-39, 50))
    def file_comes_late_within_the_band_or_from_a_clock_that_is_ahead(
        self, name: str, ms: int
    ) -> None:
        self.put(name, self.now + max(ms, 1 - self.band))

    @rule(name=NAMES)
    def file_is_deleted(self, name: str) -> None:
        (self.folder / name).unlink(missing_ok=True)
        self.files.pop(name, None)

    # Runs

    def init(self, option: str = ENABLE, ends: tuple[str, str] = ("", "")) -> BookmarkSession:
        """Start a run as far as Job.init; until it commits it stands for what is in force now."""
        self.now += 1
        run_id = f"jr_{len(self.ends)}"
        self.ends[run_id] = (self.version, dict(self.read))
        self.store.put_job_run(JobRun(run_id, "job", None, None, 0, "FAILED", self.now, "", option))
        args = {"job_bookmark_option": option, "JOB_RUN_ID": run_id}
        window = {"job_bookmark_from": ends[0], "job_bookmark_to": ends[1]}
        return start_session("job", {**args, **window})

    def open_source(self, context: str, limits: Limits | None = None) -> list[FileVersion]:
        source = S3Source((URI,), context, "json", limits=limits or Limits(self.band))
        files = list(files_to_read(source).files)
        assert files == oldest_first(files)
        return files

    def visible(self) -> set[FileVersion]:
        return {file for file in self.files.values() if file.modified_ms <= self.now}

    def new(self, context: str) -> list[FileVersion]:
        return oldest_first(self.visible() - self.read.get(context, NOTHING))

    def commit(self, session: BookmarkSession, *chosen: tuple[str, Iterable[FileVersion]]) -> None:
        session.commit()
        for context, files in chosen:
            self.read[context] = self.read.get(context, NOTHING) | frozenset(files)
            assert len(session.states[context]["recent"]) <= len(NAMES_IN_USE)
        self.version += 1
        self.ends[session.run_id] = (self.version, dict(self.read))
        stored = latest_bookmark(self.store, "job")
        assert stored is not None
        assert (stored.version, stored.run_id) == (self.version, session.run_id)
        assert set(stored.states) == set(self.read)

    @rule(contexts=CONTEXTS, wider=st.sampled_from([0, 0, 5, 200]))
    def run_reads_all_that_is_new_and_commits(self, contexts: tuple[str, ...], wider: int) -> None:
        session = self.init()
        chosen = [(name, self.open_source(name, Limits(self.band + wider))) for name in contexts]
        for name, files in chosen:
            assert files == self.new(name)
        self.commit(session, *chosen)

    @rule(count=st.integers(1, 3))
    def run_bounded_by_files_reads_the_oldest(self, count: int) -> None:
        session = self.init()
        files = self.open_source("one", Limits(self.band, bounded_files=count))
        assert files == self.new("one")[:count]
        self.commit(session, ("one", files))

    @rule(size=st.integers(1, 60))
    def run_bounded_by_bytes_stops_once_it_has_them(self, size: int) -> None:
        session = self.init()
        files = self.open_source("one", Limits(self.band, bounded_size=size))
        new = self.new("one")
        assert files == new[: len(files)]
        assert sum(file.size for file in files[:-1]) < size
        assert len(files) == len(new) or sum(file.size for file in files) >= size
        self.commit(session, ("one", files))

    @rule(most=st.integers(0, 3))
    def run_leaves_what_the_band_cannot_hold(self, most: int) -> None:
        session = self.init()
        files = self.open_source("one", Limits(self.band, max_files_in_band=most))
        new = self.new("one")
        assert files == new[: len(files)]
        before_the_band = [file for file in new if file.modified_ms <= self.now - self.band]
        assert len(files) >= len(before_the_band)
        if files and files[-1].modified_ms > self.now - self.band:
            assert len(session.states["one"]["recent"]) <= most
        self.commit(session, ("one", files))

    @rule(name=NAMES)
    def file_arrives_between_opening_and_commit(self, name: str) -> None:
        session = self.init()
        files = self.open_source("one")
        assert files == self.new("one")
        self.put(name, self.now)
        self.commit(session, ("one", files))

    @rule(name=NAMES)
    def run_commits_twice(self, name: str) -> None:
        session = self.init()
        for _ in range(2):
            files = self.open_source("one")
            assert files == self.new("one")
            self.commit(session, ("one", files))
            self.put(name, self.now)

    @rule()
    def run_crashes_before_its_commit(self) -> None:
        self.init()
        assert self.open_source("one") == self.new("one")

    @rule()
    def run_is_overtaken_and_fails_at_its_commit(self) -> None:
        late, winner = self.init(), self.init()
        files = self.open_source("one")
        assert files == self.new("one")
        self.now += 1
        self.commit(winner, ("one", files))
        with pytest.raises(BookmarkVersionMismatchError):
            late.commit()

    @rule()
    def paused_run_reads_what_is_new_and_stores_nothing(self) -> None:
        session = self.init(PAUSE)
        assert self.open_source("one") == self.new("one")
        session.commit()

    @rule()
    def disabled_run_reads_everything_and_stores_nothing(self) -> None:
        session = self.init(DISABLE)
        assert self.open_source("one") == oldest_first(self.visible())
        session.commit()

    # What operators do

    def run_id(self, number: int) -> str:
        return list(self.ends)[number % len(self.ends)]

    @precondition(lambda self: self.ends)
    @rule(context=CONTEXTS, first=RUNS, last=RUNS)
    def window_reads_what_one_run_had_read_and_the_other_had_not(
        self, context: tuple[str, ...], first: int, last: int
    ) -> None:
        ends = (self.run_id(first), self.run_id(last))
        (low_version, low), (high_version, high) = (self.ends[run_id] for run_id in ends)
        if low_version > high_version:
            with pytest.raises(UsageError, match="is later than --job-bookmark-to"):
                self.init(PAUSE, ends)
            return
        session = self.init(PAUSE, ends)
        for name in context:
            between = high.get(name, NOTHING) - low.get(name, NOTHING)
            assert self.open_source(name) == oldest_first(self.visible() & between)
        session.commit()

    @precondition(lambda self: self.ends)
    @rule(number=RUNS)
    def operator_rewinds_to_a_run(self, number: int) -> None:
        run_id = self.run_id(number)
        self.change(lambda: rewind_bookmark(self.store, "job", run_id, self.now))
        if self.version:
            self.read = dict(self.ends[run_id][1])
        self.paused_run_reads_what_is_new_and_stores_nothing()

    @rule()
    def operator_resets_the_bookmark(self) -> None:
        self.change(lambda: reset_bookmark(self.store, "job", self.now))
        self.read = {}
        self.paused_run_reads_what_is_new_and_stores_nothing()

    def change(self, operation) -> None:
        self.now += 1
        if not self.version:
            with pytest.raises(EntityNotFoundError, match="job job has no bookmark"):
                operation()
            return
        self.version += 1
        assert operation().version == self.version


def oldest_first(files: Iterable[FileVersion]) -> list[FileVersion]:
    return sorted(files, key=lambda file: (file.modified_ms, file.path))


TestBookmarkedJob = BookmarkedJob.TestCase
TestBookmarkedJob.settings = settings(max_examples=tries(50), stateful_step_count=30, deadline=None)
