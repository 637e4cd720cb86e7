"""Decides which files of an S3 source are new to a job bookmark, and its next state.

A file is new by its last-modified time, never by its name. Because an object can become visible
after a later one, the files of the last `max_band_ms` before the mark are remembered one by one and
looked at again.

    ───────────────┬──────────── band ────────────┬──────────────────▶ last-modified time
     read, all of  low   read if in `recent`     high   new, up to the moment the source
     it                                                 was opened
Source: https://docs.aws.amazon.com/glue/latest/dg/monitor-continuations.html , and for maxBand
https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-connect-s3-home.html
"""

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

DEFAULT_MAX_BAND_MS = 900_000


@contextmanager
def paused_collector() -> Iterator[None]:
    """Collect no garbage: to look at all files of a band again and again costs a third."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class FileVersion(NamedTuple):
    """One version of one object: a rewritten file is another version."""

    path: str
    modified_ms: int
    size: int


# Of a hundred thousand files, the constructor costs more than to list them.
file_version: Callable[[Iterable[Any]], FileVersion] = partial(tuple.__new__, FileVersion)


def with_one_scheme(uri: str) -> str:
    """Return a URI, or a pattern of some, of S3 with the scheme s3: all schemes name one place.

    Example: with_one_scheme("s3a://b/in/") is "s3://b/in/".
    """
    scheme, separator, rest = uri.partition("://")
    return f"s3://{rest}" if separator and scheme in ("s3a", "s3n") else uri


@dataclass(frozen=True)
class SourceState:
    """The state of a bookmark per transformation_ctx.

    `high_ms` is the upper edge of the last look; `recent` are the versions read after
    `low_ms`, the start of the band before it. The size of the state does not depend on how many
    files were ever read.
    """

    high_ms: int
    low_ms: int
    recent: frozenset[FileVersion] = frozenset()

    def has_read(self, file: FileVersion) -> bool:
        """Return whether this version of a file counts as read."""
        return file.modified_ms <= self.low_ms or file in self.recent

    def to_json(self) -> dict[str, Any]:
        """Return the state as plain JSON values."""
        return {
            "high_ms": self.high_ms,
            "low_ms": self.low_ms,
            "recent": [list(file) for file in sorted(self.recent)],
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "SourceState":
        """Return the state that `to_json` wrote."""
        recent = document["recent"]
        if not all(path.startswith("s3:") for path, _, _ in recent):
            recent = [(with_one_scheme(path), *version) for path, *version in recent]
        recent = frozenset(map(file_version, recent))
        return cls(document["high_ms"], document["low_ms"], recent)


NOTHING_READ = SourceState(-1, -1)


@dataclass(frozen=True)
class Limits:
    """How much one run reads, and how much is remembered; None means no limit.

    Attributes:
        max_band_ms: how far back before the mark late-visible files are looked for.
        max_files_in_band: how many versions of the band are remembered; AWS documents no default.
        bounded_files: stop at this number of chosen files, oldest first.
        bounded_size: stop at this many bytes of chosen files; the last one may go beyond.
    """

    max_band_ms: int = DEFAULT_MAX_BAND_MS
    max_files_in_band: int | None = None
    bounded_files: int | None = None
    bounded_size: int | None = None

    @property
    def is_bounded(self) -> bool:
        """Whether one run may leave new files to the next."""
        return self.bounded_files is not None or self.bounded_size is not None


NO_LIMITS = Limits()


@dataclass(frozen=True)
class Selection:
    """The files one run reads, oldest first, and the state to store if it commits.

    `left` are the listed files that are new to that state, too.
    """

    files: tuple[FileVersion, ...]
    next_state: SourceState
    left: frozenset[FileVersion] = frozenset()


def select_new_files(
    listing: Iterable[FileVersion],
    state: SourceState | None,
    opened_at_ms: int,
    limits: Limits = NO_LIMITS,
    until: SourceState | None = None,
) -> Selection:
    """Choose the files modified after the bookmark and up to the moment the source was opened."""
    low_ms = state.low_ms if state else None
    recent = state.recent if state else frozenset()
    # A clock set back must not lower the mark: files already read would be read again.
    edge_ms = max(opened_at_ms, state.high_ms) if state else opened_at_ms
    listed = frozenset(listing)
    unread = listed - recent
    new = [
        file
        for file in unread
        if (low_ms is None or file.modified_ms > low_ms)
        and file.modified_ms <= edge_ms
        and (until is None or until.has_read(file))
    ]
    new.sort(key=lambda file: (file.modified_ms, file.path))
    chosen = _bounded(new, limits)
    high_ms, next_low_ms = edge_ms, edge_ms - limits.max_band_ms
    if rest := new[len(chosen) :]:
        high_ms = max([state.high_ms if state else -1, *(f.modified_ms for f in chosen[-1:])])
        # Below the rest, which stays new: files of one millisecond may be on both sides.
        next_low_ms = min(high_ms - limits.max_band_ms, rest[0].modified_ms - 1)
    if low_ms is not None:
        next_low_ms = max(next_low_ms, low_ms)
    remembered = _still_remembered(recent, listed, next_low_ms, edge_ms)
    chosen = _within_band(chosen, next_low_ms, len(remembered), limits.max_files_in_band)
    if within := {file for file in chosen if file.modified_ms > next_low_ms}:
        remembered |= within
    next_state = SourceState(high_ms, next_low_ms, remembered)
    left = frozenset(file for file in unread if not next_state.has_read(file))
    return Selection(tuple(chosen), next_state, left)


def _bounded(new: list[FileVersion], limits: Limits) -> list[FileVersion]:
    # Source: https://docs.aws.amazon.com/glue/latest/dg/bounded-execution.html
    # A bound is reached by the last file, and not kept clear of.
    if limits.bounded_files is not None:
        return new[: limits.bounded_files]
    if limits.bounded_size is None:
        return new
    total = 0
    for count, file in enumerate(new):
        if total >= limits.bounded_size:
            return new[:count]
        total += file.size
    return new


def _still_remembered(
    recent: frozenset[FileVersion], listed: frozenset[FileVersion], low_ms: int, edge_ms: int
) -> frozenset[FileVersion]:
    # Another push_down_predicate lists other folders; it must not make read files new.
    gone = {file for file in recent if file.modified_ms <= low_ms}
    if missing := recent - listed:
        # A file that was replaced since is another version, and new.
        paths = {file.path for file in listed if low_ms < file.modified_ms <= edge_ms}
        gone |= {file for file in missing if file.path in paths}
    return recent - gone if gone else recent


def _within_band(
    chosen: list[FileVersion], low_ms: int, remembered: int, max_files: int | None
) -> list[FileVersion]:
    if max_files is None:
        return chosen
    # What could not be remembered is left to the next run: the newest of too many in the band.
    before = [file for file in chosen if file.modified_ms <= low_ms]
    within = chosen[len(before) :]
    return before + within[: max(max_files - remembered, 0)]
