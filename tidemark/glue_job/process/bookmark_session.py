"""The job bookmark inside a job process: loaded at init, used by sources, saved at commit."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tidemark.errors import TidemarkError, UsageError
from tidemark.glue_job.edge.announce import note_listed
from tidemark.glue_job.process.commit_record import record_commit
from tidemark.local_state.bookmarks import versions
from tidemark.local_state.bookmarks.datasets_read import dataset_of_path, files_read, packed
from tidemark.local_state.bookmarks.files import FileVersion
from tidemark.local_state.bookmarks.reading import Reading, read_s3_source
from tidemark.local_state.bookmarks.skips import Earlier, renamed_contexts
from tidemark.local_state.bookmarks.sources import Edges, Predicate, S3Source
from tidemark.local_state.home import RUN_ID_VARIABLE
from tidemark.local_state.job_run import is_local_run, job_home
from tidemark.local_state.run_notes import note_files
from tidemark.local_state.run_warnings import RunWarning, note
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.definitions import BOOKMARK_OPTIONS, DISABLE, ENABLE, PAUSE
from tidemark.model.checkpoints.checkpoint import BookmarkMove, DatasetRead
from tidemark.model.clock import now_ms


@dataclass
class BookmarkSession:
    """State between ``Job.init`` and ``Job.commit``.

    Attributes:
        job_name: the name given to ``Job.init``.
        run_id: the job run.
        option: the job-bookmark-option.
        version: the loaded version; 0 means no bookmark yet.
        loaded_at_ms: when that version was stored.
        began_with: the version at the start of the run, before its own commits.
        states: state by transformation_ctx; a source replaces its own when it opens.
        until: upper edge by transformation_ctx, from job-bookmark-to; None means no upper edge.
        opened: the contexts that sources of this run have used since init or the last commit.
        window: the runs of job-bookmark-from and -to; None without.
        has_bookmarked_source: whether any source read through the bookmark.
        has_committed: whether the script called commit.
        loaded: the states at the start of the run.
        used: the contexts that sources of this run have used.
        readings: the last source of files of each context, and what it read, the oldest first.
    """

    job_name: str
    run_id: str
    option: str
    version: int = 0
    loaded_at_ms: int | None = None
    began_with: int = 0
    states: dict[str, Any] = field(default_factory=dict)
    until: Mapping[str, Any] | None = None
    opened: set[str] = field(default_factory=set)
    window: tuple[str, str] | None = None
    has_bookmarked_source: bool = False
    has_committed: bool = False
    loaded: Mapping[str, Any] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    readings: dict[str, tuple[S3Source, Sequence[FileVersion]]] = field(default_factory=dict)

    @property
    def is_reading(self) -> bool:
        """Whether sources read only new data: enable and pause."""
        return self.option in (ENABLE, PAUSE)

    def load(self, bookmark: versions.Bookmark | None) -> None:
        """Take the states of a version of the bookmark; None means that nothing was read."""
        self.version = self.began_with = bookmark.version if bookmark else 0
        self.loaded_at_ms = bookmark.committed_at_ms if bookmark else None
        self.loaded = bookmark.states if bookmark else {}
        self.states = dict(self.loaded)

    def open_source(self, transformation_ctx: str, name: str) -> bool:
        """Return whether a source of this context reads through the bookmark, or else in full."""
        if not self.is_reading:
            return False
        if not transformation_ctx:
            note(RunWarning.CTX_MISSING, name)
            return False
        if transformation_ctx in self.opened:
            raise TidemarkError(
                f"two sources use the transformation_ctx {transformation_ctx!r}; give each its "
                "own, or one bookmark hides files of the other"
            )
        self.opened.add(transformation_ctx)
        self.used.add(transformation_ctx)
        self.has_bookmarked_source = True
        return True

    def renamed(self) -> list[tuple[str, str]]:
        """Return the old and new contexts of sources that this run reads under a new context."""
        return renamed_contexts(self.loaded, {ctx: self.states.get(ctx) for ctx in self.used})

    def edges(self, ctx: str) -> Edges:
        """Return the states between which a source of this context reads."""
        high = None if self.until is None else self.until.get(ctx, {})
        return Edges(self.states.get(ctx), high, self.loaded_at_ms)

    def record(
        self,
        source: Mapping[str, Any],
        opened_at_ms: int,
        next_state: Any,
        extent: tuple[int, int],
        datasets: Iterable[DatasetRead],
    ) -> None:
        """Keep the next state for commit, and store what is read, to explain it later.

        Outside a local run, where the bookmark must be disabled, nothing is stored.
        """
        if self.window:
            source = {**source, "window": self.window}
        stored = None
        if next_state is not None:
            self.states[str(source["transformation_ctx"])] = next_state
            stored = versions.pack(next_state)
        if not self.is_reading and not is_local_run():
            return
        with Store(job_home().database) as store, store.transaction():
            store.query(
                "INSERT INTO source_read VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    self.run_id,
                    self.job_name,
                    str(source["transformation_ctx"]),
                    opened_at_ms,
                    self.option,
                    self.version,
                    json.dumps(source),
                    *extent,
                    stored,
                    packed(datasets),
                ),
            )

    def commit(self) -> None:
        """Store the state of every context as the next version; only enable writes.

        Stores the checkpoint of the run too, even if there is no bookmark to write.
        """
        self.opened.clear()
        self.has_committed = True
        is_enabled = self.option == ENABLE
        if not is_enabled and not is_local_run():
            return
        at_ms = now_ms()
        with Store(job_home().database) as store, store.transaction():
            version = self.version
            if is_enabled:
                version = versions.commit_bookmark(
                    store, self.job_name, self.run_id, self.states, self.version, at_ms
                )
            record_commit(store, self.job_name, self.run_id, self._move(version), at_ms)
        if is_enabled:
            self.version, self.loaded_at_ms = version, at_ms

    @property
    def move(self) -> BookmarkMove | None:
        """The change to the bookmark by the run so far; None without a bookmark."""
        return self._move(self.version)

    def _move(self, version: int) -> BookmarkMove | None:
        return BookmarkMove(self.option, self.began_with, version) if self.is_reading else None


# The run and the name of each source that was opened before its Job.init.
_early: list[tuple[str, str]] = []
_sessions: list[BookmarkSession] = []  # the last one counts, as AWS keeps one per process


def start_session(job_name: str, args: Mapping[str, Any]) -> BookmarkSession:
    """Load the newest bookmark of a job and make it the session of this process."""
    option = args.get("job_bookmark_option") or DISABLE
    if option not in BOOKMARK_OPTIONS:
        raise UsageError(
            f"job_bookmark_option is {option!r}; allowed are {', '.join(BOOKMARK_OPTIONS)}: "
            "pass what getResolvedOptions returned to Job.init"
        )
    run_id = args.get("JOB_RUN_ID") or os.environ.get(RUN_ID_VARIABLE, "")
    session = BookmarkSession(job_name, run_id, option)
    if session.is_reading:
        window = (args.get("job_bookmark_from"), args.get("job_bookmark_to"))
        with Store(job_home().database) as store:
            if option == PAUSE and any(window):
                _load_window(session, store, *window)
            else:
                session.load(versions.latest_bookmark(store, job_name))
    _sessions[:] = [session]
    if session.is_reading:
        for early_run, name in _early:
            if early_run == os.environ.get(RUN_ID_VARIABLE, ""):
                note(RunWarning.INIT_LATE, name)
    _early.clear()
    return session


def _load_window(
    session: BookmarkSession, store: Store, first: str | None, last: str | None
) -> None:
    """Take the states after run ``from`` as the lower edge, those after run ``to`` as the upper."""
    # Source: https://docs.aws.amazon.com/glue/latest/dg/monitor-continuations.html
    if not first or not last:
        missing = "--job-bookmark-to" if first else "--job-bookmark-from"
        raise UsageError(f"{missing} is missing; a window of runs needs both ends")
    low = versions.bookmark_of_run(store, session.job_name, first)
    high = versions.bookmark_of_run(store, session.job_name, last)
    if (low.version if low else 0) > (high.version if high else 0):
        raise UsageError(
            f"--job-bookmark-from {first} is later than --job-bookmark-to {last}: the window "
            "is after the first and up to the second, so give the earlier run first"
        )
    session.load(low)
    session.window = (first, last)
    session.until = high.states if high else {}


def current_session() -> BookmarkSession | None:
    """Return the session of the last ``Job.init`` of this process, or None."""
    return _sessions[0] if _sessions else None


def note_no_bookmark(source: str) -> None:
    """Warn of a source that bookmarks do not cover, in a job with bookmarks.

    Source: https://docs.aws.amazon.com/glue/latest/dg/monitor-continuations.html
    """
    if (session := current_session()) is not None and session.is_reading:
        note(RunWarning.NO_BOOKMARK, source)


def session_of_source(transformation_ctx: str, name: str) -> BookmarkSession | None:
    """Return the session for a source that opens; without one `start_session` warns later."""
    session = current_session()
    if session is None and transformation_ctx:
        _early.append((os.environ.get(RUN_ID_VARIABLE, ""), name))
    return session


def files_to_read(
    source: S3Source, predicate: Predicate | None = None, earlier: Earlier | None = None
) -> Reading:
    """Return the files that a source reads now; all of them before ``Job.init``."""
    opened_at_ms = now_ms()  # frozen before listing: later files belong to the next run
    ctx = source.transformation_ctx
    session = session_of_source(ctx, source.name)
    is_bookmarked = session is not None and session.open_source(ctx, source.name)
    edges = session.edges(ctx) if session and is_bookmarked else None
    reading = read_s3_source(source, folder_of, opened_at_ms, edges, predicate, earlier)
    for path in source.paths:
        note_listed(dataset_of_path(path), is_deep=True)
    for warning, about in reading.warnings:
        note(warning, about)
    note_files([file.path for file in reading.files], is_bookmarked=reading.next_state is not None)
    if session is not None:
        low = edges.low if edges else None
        session.readings[ctx] = source, reading.files
        datasets = files_read(source, reading.files, low, reading.next_state)
        session.record(source.to_json(), opened_at_ms, reading.next_state, reading.extent, datasets)
    return reading


@contextmanager
def taken_back_on_error(transformation_ctx: str) -> Iterator[None]:
    """Restore the state of a context if the block that opens its source fails.

    A script may catch the error and commit anyway.
    """
    session = current_session()
    before = session.states.get(transformation_ctx) if session else None
    was_open = session is not None and transformation_ctx in session.opened
    try:
        yield
    except BaseException:
        if session is not None and not was_open:
            session.opened.discard(transformation_ctx)
            session.states.pop(transformation_ctx, None)
            if before is not None:
                session.states[transformation_ctx] = before
        raise


def folder_of(uri: str) -> Path:
    """Return the folder or file of an ``s3://``, ``file://`` or plain path in this process."""
    scheme, separator, path = uri.partition("://")
    if not separator:
        return Path(uri)
    if scheme == "file":
        return Path(path)
    return job_home().existing_path(uri)


def places_of(uris: Iterable[str]) -> list[str]:
    """Return the places on this machine of many listed files; each folder is looked at once."""
    folders: dict[str, str] = {}
    places = []
    for uri in uris:
        folder, _, name = uri.rpartition("/")
        if folder not in folders:
            folders[folder] = str(folder_of(uri).parent)
        places.append(f"{folders[folder]}/{name}")
    return places
