"""Why a file is read or not: the first rule that decides it, in words."""

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from tidemark.local_state.bookmarks.files import FileVersion, SourceState
from tidemark.local_state.bookmarks.hidden import is_hidden
from tidemark.local_state.bookmarks.path_patterns import Exclusions, root_of
from tidemark.local_state.bookmarks.sources import S3Source
from tidemark.model.clock import time_of


class Reason(Enum):
    """The rule that decides; the value is its name in JSON."""

    MODE = "mode"
    NEW = "new"
    OLDER = "older than the mark"
    LISTED = "already read"
    LATER = "later than the run"
    WINDOW = "after the window"
    BOUND = "bound"
    BAND = "band full"
    ELSEWHERE = "no path of the source"
    MISSING = "does not exist"
    HIDDEN = "hidden"
    NOT_RECURSED = "recurse"
    EXCLUDED = "exclusion"
    PREDICATE = "predicate"


@dataclass(frozen=True)
class FileVerdict:
    """What happens to one file; time and size are 0 for a missing file."""

    path: str
    modified_ms: int
    size: int
    reason: Reason
    text: str

    @property
    def is_read(self) -> bool:
        """Whether the run reads it."""
        return self.reason in (Reason.MODE, Reason.NEW)


@dataclass(frozen=True)
class Reach:
    """The knowledge of a run when it opened a source, and the state it left.

    Attributes:
        is_bookmarked: whether it reads through the bookmark.
        is_bounded: whether boundedFiles or boundedSize is set.
        option: the job-bookmark-option.
        opened_at_ms: the upper edge.
        before: the state it started from; None for everything new.
        until: the state that bounds it from above; None without.
        after: the state it made.
    """

    is_bookmarked: bool
    is_bounded: bool
    option: str
    opened_at_ms: int
    before: SourceState | None
    until: SourceState | None
    after: SourceState


def moment(epoch_ms: int) -> str:
    """Return a time to the millisecond, in UTC."""
    text = time_of(epoch_ms).isoformat(" ", timespec="milliseconds")
    return text.replace("+00:00", "Z")


def verdict_of(file: FileVersion, reach: Reach) -> FileVerdict:
    """Return what happens to a file that the source lists."""
    return FileVerdict(*file, *_decide(file, reach))


def _decide(file: FileVersion, reach: Reach) -> tuple[Reason, str]:
    modified = moment(file.modified_ms)
    if not reach.is_bookmarked:
        is_disabled = reach.option == "job-bookmark-disable"
        why = "bookmarks are disabled" if is_disabled else "the source has no transformation_ctx"
        return Reason.MODE, f"read in full: {why}"
    before = reach.before
    if before is not None and before.has_read(file):
        if file in before.recent:
            return Reason.LISTED, f"read by an earlier run unchanged, modified {modified}"
        low = moment(before.low_ms)
        return Reason.OLDER, f"modified {modified}; all up to {low} counts as read"
    # The mark may be later than the clock, which was set back: files up to the mark are looked at.
    if file.modified_ms > max(reach.opened_at_ms, before.high_ms if before else 0):
        opened = moment(reach.opened_at_ms)
        return Reason.LATER, f"modified {modified}, after the source is opened ({opened})"
    if reach.until is not None and not reach.until.has_read(file):
        return Reason.WINDOW, f"modified {modified}, not read up to --job-bookmark-to"
    if reach.after.has_read(file):
        return Reason.NEW, f"new: modified {modified}, {_beyond(file, before)}"
    if reach.is_bounded:
        return Reason.BOUND, "left to the next run: boundedFiles or boundedSize is reached"
    return Reason.BAND, "left to the next run: maxFilesInBand is reached"


def _beyond(file: FileVersion, before: SourceState | None) -> str:
    if before is None:
        return "and nothing was read before"
    if file.modified_ms <= before.high_ms:
        return "within the band before the mark, and not read by an earlier run"
    return f"after the mark {moment(before.high_ms)}"


def reason_not_listed(
    source: S3Source, uri: str, file: Path, *, has_predicate: bool
) -> FileVerdict:
    """Return why a source does not list a file."""
    reason, text = _unlisted_reason(source, uri, file, has_predicate)
    stat = file.stat() if file.is_file() else None
    modified_ms = stat.st_mtime_ns // 1_000_000 if stat else 0
    return FileVerdict(uri, modified_ms, stat.st_size if stat else 0, reason, text)


def _unlisted_reason(
    source: S3Source, uri: str, file: Path, has_predicate: bool
) -> tuple[Reason, str]:
    roots = [root for path in source.paths if (root := root_of(uri, path))]
    if not roots and uri not in source.paths:
        return Reason.ELSEWHERE, f"the source reads {', '.join(source.paths)}"
    if not file.is_file():
        return Reason.MISSING, f"there is no file {file}"
    root = max(roots, key=len)
    relative = uri.removeprefix(root.rstrip("/") + "/")
    names = relative.split("/")
    if hidden := next((name for name in names if is_hidden(name)), None):
        return Reason.HIDDEN, f"names such as {hidden!r} are hidden from readers"
    for pattern in source.exclusions:
        if Exclusions([pattern], root).matches(relative):
            return Reason.EXCLUDED, f"the exclusion {pattern!r} matches it"
    plain = [name for name in names[:-1] if "=" not in name]
    if plain and not source.recurse:
        return Reason.NOT_RECURSED, f"it lies in the folder {plain[0]!r} and recurse is not set"
    if has_predicate:
        return Reason.PREDICATE, f"the predicate {source.push_down_predicate!r} leaves it out"
    return Reason.MISSING, "it did not exist when the folder was listed"
