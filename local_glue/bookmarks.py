"""Decides which files of an S3 source are new to a job bookmark, and what the bookmark becomes.

A file is new by its last-modified time, never by its name. Because an object can become visible
after a later one, the files of the last `max_band_ms` before the mark are remembered one by one and
looked at again.
Source: https://docs.aws.amazon.com/glue/latest/dg/monitor-continuations.html , and for maxBand
https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-connect-s3-home.html
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

DEFAULT_MAX_BAND_MS = 900_000


@dataclass(frozen=True, order=True)
class FileVersion:
    """One version of one object: a rewritten file is another version."""

    path: str
    modified_ms: int
    size: int


@dataclass(frozen=True)
class SourceState:
    """What a bookmark keeps per transformation_ctx.

    `high_ms` is the upper edge of everything read; `recent` are the versions read after `low_ms`,
    the beginning of the band before it. The size of the state does not depend on how many files
    were ever read.
    """

    high_ms: int
    low_ms: int
    recent: frozenset[FileVersion] = frozenset()

    def to_json(self) -> dict[str, Any]:
        """Return the state as plain JSON values."""
        recent = [[f.path, f.modified_ms, f.size] for f in sorted(self.recent)]
        return {"high_ms": self.high_ms, "low_ms": self.low_ms, "recent": recent}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "SourceState":
        """Return the state that `to_json` wrote."""
        recent = frozenset(FileVersion(*item) for item in document["recent"])
        return cls(document["high_ms"], document["low_ms"], recent)


@dataclass(frozen=True)
class Selection:
    """The files one run reads, oldest first, and the state to store if it commits."""

    files: tuple[FileVersion, ...]
    next_state: SourceState


def select_new_files(
    listing: Iterable[FileVersion],
    state: SourceState | None,
    opened_at_ms: int,
    max_band_ms: int = DEFAULT_MAX_BAND_MS,
) -> Selection:
    """Choose the files modified after the bookmark and up to the moment the source was opened.

    Args:
        listing: every file under the source's paths, taken at or after ``opened_at_ms``.
        state: the committed state of this transformation_ctx; None reads everything.
        opened_at_ms: the frozen upper edge, epoch milliseconds. Later files belong to the next run.
        max_band_ms: how far back before the mark late-visible files are looked for.
    """
    known = state.recent if state else frozenset()
    # Not below the stored band: what was read before it is not remembered one by one.
    low_ms = max(state.high_ms - max_band_ms, state.low_ms) if state else None
    # A clock set back must not lower the mark: files already read would be read again.
    high_ms = max(opened_at_ms, state.high_ms) if state else opened_at_ms
    next_low_ms = high_ms - max_band_ms
    chosen: list[FileVersion] = []
    recent: list[FileVersion] = []
    for file in listing:
        if file.modified_ms > high_ms:
            continue
        if file.modified_ms > next_low_ms:
            recent.append(file)
        if (low_ms is None or file.modified_ms > low_ms) and file not in known:
            chosen.append(file)
    chosen.sort(key=lambda file: (file.modified_ms, file.path))
    return Selection(tuple(chosen), SourceState(high_ms, next_low_ms, frozenset(recent)))
