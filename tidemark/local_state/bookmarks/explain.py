"""Tells which files a run of a job would read, or read, and why it takes or leaves each of them.

The sources of a job are known from its last run, which records every one it opens. Nothing is run,
and nothing is written.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from tidemark.errors import EntityNotFoundError
from tidemark.local_state.bookmarks import keys
from tidemark.local_state.bookmarks.files import (
    NOTHING_READ,
    SourceState,
    select_new_files,
    with_one_scheme,
)
from tidemark.local_state.bookmarks.sources import FolderOf, Predicate, S3Source, list_source
from tidemark.local_state.bookmarks.verdicts import (
    FileVerdict,
    Reach,
    reason_not_listed,
    verdict_of,
)
from tidemark.local_state.bookmarks.versions import (
    bookmark_of_run,
    bookmark_of_version,
    latest_bookmark,
    unpack,
)
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.definitions import DISABLE, ENABLE
from tidemark.model.clock import now_ms

PredicateOf: TypeAlias = Callable[[S3Source], Predicate | None]
"""Returns the push_down_predicate of a source, ready to be asked; None if it has none."""


@dataclass(frozen=True)
class OpenedSource:
    """A source as a run opened it, or as the next run is going to.

    Attributes:
        source: its options, as plain JSON values.
        option: the job-bookmark-option of the run.
        is_bookmarked: whether it reads through the bookmark.
        opened_at_ms: the upper edge, epoch milliseconds.
        before: the state of its context before, None for everything new.
        until: the state that is the upper edge of job-bookmark-to; None without.
        after: the state once read; None if that is to be worked out.
    """

    source: Mapping[str, Any]
    option: str
    is_bookmarked: bool
    opened_at_ms: int
    before: Mapping[str, Any] | None
    until: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None

    @property
    def is_of_files(self) -> bool:
        """Whether it reads files of S3, and not the rows of a table."""
        return bool(self.source["kind"] == "s3")

    @property
    def ctx(self) -> str:
        """Its transformation_ctx, empty without."""
        return str(self.source["transformation_ctx"])


@dataclass(frozen=True)
class Explanation:
    """The files or rows that one source reads.

    Attributes:
        opened: the source.
        files: a verdict on each file that it lists, oldest first; none for a table.
        rows: for a table, in words which rows are read; empty for files.
    """

    opened: OpenedSource
    files: tuple[FileVerdict, ...] = ()
    rows: str = ""

    @property
    def read(self) -> tuple[FileVerdict, ...]:
        """The files that are read."""
        return tuple(file for file in self.files if file.is_read)


def sources_of_next_run(store: Store, job_name: str, option: str | None) -> list[OpenedSource]:
    """Return the sources that the next run of a job opens, as far as its last run shows."""
    rows = store.query(
        "SELECT * FROM source_read WHERE job_name = ? AND run_id = (SELECT run_id FROM source_read "
        "WHERE job_name = ? ORDER BY rowid DESC LIMIT 1) ORDER BY rowid",
        (job_name, job_name),
    )
    if not rows:
        raise EntityNotFoundError(no_source_reason(store, job_name))
    bookmark = latest_bookmark(store, job_name)
    states = bookmark.states if bookmark else {}
    sources: dict[tuple[str, str], OpenedSource] = {}
    for row in rows:
        source = json.loads(row["source"])
        ctx = source["transformation_ctx"]
        mode = option or row["option"]
        opened = OpenedSource(
            source,
            mode,
            is_bookmarked=bool(ctx) and mode != DISABLE,
            opened_at_ms=now_ms(),
            before=states.get(ctx),
        )
        sources[ctx, row["source"]] = opened
    return list(sources.values())


def sources_of_run(store: Store, job_name: str, run_id: str) -> list[OpenedSource]:
    """Return the sources that an earlier run of a job opened."""
    rows = store.query(
        "SELECT * FROM source_read WHERE job_name = ? AND run_id = ? ORDER BY rowid",
        (job_name, run_id),
    )
    if not rows:
        raise EntityNotFoundError(
            f"run {run_id!r} of job {job_name} has opened no source; `tidemark bookmark show "
            f"{job_name}` lists its runs"
        )
    opened = []
    for row in rows:
        source = json.loads(row["source"])
        version = bookmark_of_version(store, job_name, row["version"])
        window = source.get("window")
        upper = bookmark_of_run(store, job_name, window[1]) if window else None
        upper_states = upper.states if upper else {}
        opened.append(
            OpenedSource(
                source,
                row["option"],
                is_bookmarked=row["next_state"] is not None,
                opened_at_ms=row["opened_at_ms"],
                before=version.states.get(row["transformation_ctx"]) if version else None,
                until=upper_states.get(row["transformation_ctx"], {}) if window else None,
                after=unpack(row["next_state"]) if row["next_state"] is not None else None,
            )
        )
    return opened


def explain_table(opened: OpenedSource) -> Explanation:
    """Return which rows of a table a JDBC source reads."""
    before = opened.before if opened.is_bookmarked else None
    return Explanation(opened, rows=keys.describe(opened.source, before, opened.after))


def explain_source(
    opened: OpenedSource, folder_of: FolderOf, predicate: Predicate | None
) -> Explanation:
    """Return a verdict on every file that an S3 source lists now."""
    source = S3Source.from_json(opened.source)
    listing = list_source(source, folder_of, predicate)
    reach = _reach(opened, source, listing.files)
    verdicts = [verdict_of(file, reach) for file in listing.files]
    return Explanation(opened, tuple(sorted(verdicts, key=lambda v: (v.modified_ms, v.path))))


def explain_file(
    opened: OpenedSource, uri: str, folder_of: FolderOf, predicate: Predicate | None
) -> FileVerdict:
    """Return the verdict on one file for an S3 source: existing, listed, or neither."""
    uri = with_one_scheme(uri)
    for verdict in explain_source(opened, folder_of, predicate).files:
        if verdict.path == uri:
            return verdict
    source = S3Source.from_json(opened.source)
    return reason_not_listed(source, uri, folder_of(uri), has_predicate=predicate is not None)


def _reach(opened: OpenedSource, source: S3Source, files: list[Any]) -> Reach:
    before = SourceState.from_json(opened.before) if opened.before else None
    until = None
    if opened.until is not None:
        until = SourceState.from_json(opened.until) if opened.until else NOTHING_READ
    if opened.after is not None:
        after = SourceState.from_json(opened.after)
    else:
        lower = before if opened.is_bookmarked else None
        after = select_new_files(files, lower, opened.opened_at_ms, source.limits, until).next_state
    return Reach(
        is_bookmarked=opened.is_bookmarked,
        is_bounded=source.limits.is_bounded,
        option=opened.option,
        opened_at_ms=opened.opened_at_ms,
        before=before,
        until=until,
        after=after,
    )


def no_bookmark_reason(store: Store, name: str) -> str:
    """Return why a job has no bookmark, and where it may keep its place instead."""
    last = store.latest_job_run(name)
    if last is None or last.bookmark_option == ENABLE or latest_bookmark(store, name) is not None:
        return f"job {name} has no bookmark: it never committed one"
    return (
        f"job {name} has no bookmark: job bookmarks are not enabled in its runs; if it keeps "
        f"watermarks, see `tidemark watermark show {name}`"
    )


def no_source_reason(store: Store, name: str) -> str:
    """Return why the input of a job's next run is not known."""
    text = f"no run of job {name} has opened a source here, so its input is not known: "
    if store.latest_job_run(name) is None:
        return f"{text}run it once (its first run reads everything)"
    return (
        f"{text}its runs read without awsglue; if it keeps watermarks, `tidemark watermark show "
        f"{name}` shows where the next one continues"
    )
