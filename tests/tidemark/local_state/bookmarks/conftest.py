"""Whole runs of a bookmarked job in this process: a real home, real files, a clock of ours."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import pytest

from tidemark.glue_job.process import bookmark_session
from tidemark.glue_job.process.bookmark_session import BookmarkSession, files_to_read, start_session
from tidemark.local_state.bookmarks.files import NO_LIMITS, Limits
from tidemark.local_state.bookmarks.sources import S3Source
from tidemark.local_state.bookmarks.versions import Bookmark, latest_bookmark
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import JobRun, Store

URI = "s3://landing/weather/"
MINUTE_MS = 60_000


@dataclass
class Clock:
    """What the bookmark takes for the wall clock."""

    now_ms: int = 1_357_000_000_000


@dataclass
class Script:
    """A job run in the making; `end` gives its record the final state."""

    home: Home
    clock: Clock
    record: JobRun
    session: BookmarkSession

    def read(self, ctx: str = "weather", uri: str = URI, limits: Limits = NO_LIMITS) -> list[str]:
        """Open a source; return the names of the files it reads."""
        reading = files_to_read(S3Source((uri,), ctx, "json", recurse=True, limits=limits))
        return [file.path.removeprefix(URI) for file in reading.files]

    def end(self, state: str) -> None:
        """End the process of the run."""
        self.clock.now_ms += MINUTE_MS
        ended = replace(self.record, state=state, completed_at_ms=self.clock.now_ms)
        with Store(self.home.database) as store:
            store.put_job_run(ended)


@dataclass
class Glue:
    """The job ``ingest`` over one folder, and its runs."""

    home: Home
    clock: Clock
    made: list[str] = field(default_factory=list)

    def land(self, *names: str, minutes_ago: int = 0) -> None:
        """Put objects that were last modified some minutes ago."""
        for name in names:
            path = self.home.lake / "landing" / "weather" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(name * (1 + len(self.made)), encoding="utf-8")
            self.made.append(name)
            at_ns = (self.clock.now_ms - minutes_ago * MINUTE_MS) * 1_000_000
            os.utime(path, ns=(at_ns, at_ns))

    def start(
        self,
        run_id: str,
        option: str = "job-bookmark-enable",
        job: str = "ingest",
        window: tuple[str, str] | None = None,
    ) -> Script:
        """Start a run as far as Job.init, a minute after whatever was before."""
        self.clock.now_ms += MINUTE_MS
        record = JobRun(
            run_id=run_id,
            job_name=job,
            workflow_run_id=None,
            trigger_name=None,
            attempt=0,
            state="RUNNING",
            started_at_ms=self.clock.now_ms,
            log_path="",
            bookmark_option=option,
        )
        with Store(self.home.database) as store:
            store.put_job_run(record)
        low, high = window or (None, None)
        args = {"job_bookmark_option": option, "JOB_RUN_ID": run_id}
        ends = {"job_bookmark_from": low, "job_bookmark_to": high}
        return Script(self.home, self.clock, record, start_session(job, {**args, **ends}))

    def run(
        self,
        run_id: str,
        *,
        ctxs: Sequence[str] = ("weather",),
        commits: bool = True,
        state: str = "SUCCEEDED",
        limits: Limits = NO_LIMITS,
        **start: object,
    ) -> list[str]:
        """Run the script to its end; return the names of the files it read."""
        script = self.start(run_id, **start)
        names = [name for ctx in ctxs for name in script.read(ctx, limits=limits)]
        if commits:
            script.session.commit()
        script.end(state)
        return names

    def bookmark(self, job: str = "ingest") -> Bookmark | None:
        """Return the newest version of the bookmark."""
        with Store(self.home.database) as store:
            return latest_bookmark(store, job)

    def change(self, operation: Callable[..., Bookmark], *values: str) -> Bookmark:
        """Apply reset_bookmark or rewind_bookmark to the job, as an operator does."""
        self.clock.now_ms += MINUTE_MS
        with Store(self.home.database) as store:
            return operation(store, "ingest", *values, self.clock.now_ms)


@pytest.fixture
def home(tmp_path, monkeypatch) -> Home:
    home = Home.open(tmp_path / "home")
    monkeypatch.setenv("TIDEMARK_HOME", str(home.root))
    monkeypatch.setattr(bookmark_session, "_sessions", [])
    return home


@pytest.fixture
def glue(home, monkeypatch) -> Glue:
    clock = Clock()
    monkeypatch.setattr(bookmark_session, "now_ms", lambda: clock.now_ms)
    (home.lake / "landing").mkdir()
    return Glue(home, clock)
