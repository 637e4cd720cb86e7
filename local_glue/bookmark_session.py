"""The job bookmark inside a job process: loaded at init, asked by sources, saved at commit."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from local_glue.bookmarks import DEFAULT_MAX_BAND_MS, FileVersion, SourceState, select_new_files
from local_glue.errors import EntityNotFoundError, GlueLocalError
from local_glue.home import Home
from local_glue.listing import list_files
from local_glue.store import Store

ENABLE, PAUSE = "job-bookmark-enable", "job-bookmark-pause"


@dataclass
class BookmarkSession:
    """State between ``Job.init`` and ``Job.commit``; `expected_version` 0 means no bookmark yet."""

    job_name: str
    run_id: str
    option: str
    expected_version: int = 0
    states: dict[str, Any] = field(default_factory=dict)
    opened: set[str] = field(default_factory=set)

    @property
    def is_reading(self) -> bool:
        """Whether sources get only what is new: enable and pause."""
        return self.option in (ENABLE, PAUSE)

    def choose_files(
        self, listing: list[FileVersion], transformation_ctx: str, opened_at_ms: int, band_ms: int
    ) -> list[str]:
        """Return the paths that a source of this context reads now, oldest first.

        Without a context, or with bookmarks disabled, everything listed is read.

        Raises:
            GlueLocalError: another source of this run already uses the context.
        """
        if not self.is_reading or not transformation_ctx:
            return [file.path for file in listing]
        if transformation_ctx in self.opened:
            raise GlueLocalError(
                f"two sources use the transformation_ctx {transformation_ctx!r}; each needs its "
                "own, or one bookmark hides files of the other"
            )
        self.opened.add(transformation_ctx)
        stored = self.states.get(transformation_ctx)
        state = SourceState.from_json(stored) if stored else None
        selection = select_new_files(listing, state, opened_at_ms, band_ms)
        self.states[transformation_ctx] = selection.next_state.to_json()
        return [file.path for file in selection.files]

    def commit(self) -> None:
        """Store the state of every context as the next version; only enable writes.

        Raises:
            BookmarkVersionMismatchError: another run of the job committed in between.
        """
        if self.option != ENABLE:
            return
        with Store(_home().database) as store:
            self.expected_version = store.commit_bookmark(
                self.job_name, self.run_id, self.states, self.expected_version, _now_ms()
            )


_sessions: list[BookmarkSession] = []  # the last one counts, as AWS keeps one per process


def start_session(job_name: str, args: Mapping[str, Any]) -> BookmarkSession:
    """Load the newest bookmark of a job and make it the one that sources of this process use.

    Args:
        job_name: the name given to ``Job.init``; the state follows it.
        args: what ``getResolvedOptions`` returned.
    """
    option = args.get("job_bookmark_option") or "job-bookmark-disable"
    session = BookmarkSession(job_name, args.get("JOB_RUN_ID") or "", option)
    if session.is_reading:
        with Store(_home().database) as store:
            bookmark = store.latest_bookmark(job_name)
        if bookmark:
            session.expected_version = bookmark.version
            session.states = dict(bookmark.states)
    _sessions[:] = [session]
    return session


def files_to_read(
    uris: list[str], transformation_ctx: str, recurse: bool, max_band_ms: int | None
) -> list[str]:
    """Return the files that a source reads now; before ``Job.init`` that is all of them."""
    opened_at_ms = _now_ms()  # frozen before listing: what comes later belongs to the next run
    listing = [file for uri in uris for file in list_files(_folder(uri), uri, recurse)]
    if not _sessions:
        return [file.path for file in listing]
    band_ms = DEFAULT_MAX_BAND_MS if max_band_ms is None else max_band_ms
    return _sessions[0].choose_files(listing, transformation_ctx, opened_at_ms, band_ms)


def _home() -> Home:
    root = os.environ.get("TIDEMARK_HOME")
    if not root:
        raise GlueLocalError(
            "job bookmarks need the state of a local run, and TIDEMARK_HOME is not set; start the "
            "script with `tidemark run`, or run it with --job-bookmark-option job-bookmark-disable"
        )
    return Home(Path(root))


def _folder(uri: str) -> Path:
    scheme, separator, path = uri.partition("://")
    if not separator:
        return Path(uri)
    if scheme == "file":
        return Path(path)
    home = _home()
    bucket = path.partition("/")[0]
    if not (home.lake / bucket).is_dir():
        raise EntityNotFoundError(
            f"there is no bucket {bucket!r} behind {uri}; the local lake {home.lake} has "
            f"{', '.join(sorted(p.name for p in home.lake.iterdir())) or 'none'}"
        )
    return home.local_path(uri)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
