"""Lists the files of a bucket folder, fast: a plain directory walk, never through Spark."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from tidemark.errors import TidemarkError
from tidemark.local_state.bookmarks.band import text_of
from tidemark.local_state.bookmarks.files import FileVersion, file_version
from tidemark.local_state.bookmarks.hidden import hidden_data, is_hidden

NANOSECONDS_PER_MS = 1_000_000
EXAMPLES = 3

ChooseFolders: TypeAlias = Callable[[list[str]], list[str]]
"""Given folders relative to the path of a source, returns those to enter."""


@dataclass(frozen=True)
class Unlisted:
    """Which files are left out because runs have seen them.

    Attributes:
        until_ms: those modified at or before; None leaves out none.
        hidden_until_ms: of those that are hidden for their name, those modified at or before.
        arrived_after_ms: count the left-out files that came into their folder after this moment.
        known: the files of folders as `Band.folders` has them; a folder that has them all, and no
            other file to list, is left out.
    """

    until_ms: int | None = None
    hidden_until_ms: int | None = None
    arrived_after_ms: int | None = None
    known: Mapping[str, str] = field(default_factory=dict)


EVERYTHING = Unlisted()


@dataclass(frozen=True)
class Filters:
    """The part of a folder that is listed.

    Attributes:
        recurse: enter every folder; else only ``key=value`` partition folders.
        is_excluded: given a file relative to the path of the source; None excludes nothing.
        choose_folders: chooses the folders of a level to enter; None enters all.
        unlisted: the files that are left out for their time.
        check_link: raises for the URI of a symbolic link that may not be followed; None allows all.
    """

    recurse: bool = False
    is_excluded: Callable[[str], bool] | None = None
    choose_folders: ChooseFolders | None = None
    unlisted: Unlisted = EVERYTHING
    check_link: Callable[[str], object] | None = None


@dataclass
class Listing:
    """The files of a source in no particular order.

    `late` are some of the files that were left out for their modification time although they
    arrived after `Unlisted.arrived_after_ms`, and `late_count` is how many there are: moved or
    copied with their old time, which S3 would not keep. `moved` are the folders that came with all
    their files.
    `hidden` are the new files with data that are left out for their name, or that of a folder.
    `unchanged` are the folders that are left out, as `Unlisted.known` has them.
    """

    files: list[FileVersion] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    late_count: int = 0
    moved: set[str] = field(default_factory=set)
    hidden: list[str] = field(default_factory=list)
    unchanged: set[str] = field(default_factory=set)


def list_files(folder: Path, uri: str, filters: Filters) -> Listing:
    """Return the data files under ``folder``, their paths given as URIs under ``uri``.

    Names that Spark and EMRFS hide are left out: ``_SUCCESS``, ``.part-0.crc``, ``day_$folder$``.
    """
    listing = Listing()
    if folder.is_file():
        if is_hidden(folder.name):
            listing.hidden.append(uri)
        else:
            stat = folder.stat()
            modified_ms = stat.st_mtime_ns // NANOSECONDS_PER_MS
            if filters.unlisted.until_ms is None or modified_ms > filters.unlisted.until_ms:
                listing.files.append(FileVersion(uri, modified_ms, stat.st_size))
            elif _is_late(stat, filters.unlisted):
                listing.late, listing.late_count = [uri], 1
        return listing
    if not folder.is_dir():
        return listing
    root, level = uri.rstrip("/"), [""]
    while level:
        below: list[str] = []
        for relative in level:
            below += _list_folder(listing, str(folder), root, relative, filters)
        level = filters.choose_folders(below) if filters.choose_folders and below else below
    return listing


def _list_folder(
    listing: Listing, root: str, root_uri: str, relative: str, filters: Filters
) -> list[str]:
    try:
        content = _content_of(root, root_uri, relative, filters)
        if _is_moved(listing, f"{root}/{relative}", relative, filters, content):
            listing.moved.add(relative)
    except FileNotFoundError:
        return []  # deleted since the folder above was read
    except OSError as error:
        raise TidemarkError(
            f"cannot list {root_uri}/{relative}: {error.strerror} ({root}/{relative}); make the "
            "folder readable and run again, the bookmark is unchanged"
        ) from error
    uri = f"{root_uri}/{relative}/" if relative else f"{root_uri}/"
    known = filters.unlisted.known.get(uri)
    if known and known == text_of(content.files):
        listing.unchanged.add(uri)
    else:
        listing.files += [file_version((uri + name, ms, size)) for name, ms, size in content.files]
    late = content.left_out if relative in listing.moved else content.late
    listing.late_count += len(late)
    listing.late += [uri + name for name in late[: EXAMPLES - len(listing.late)]]
    listing.hidden += hidden_files(content.hidden, root, root_uri, filters)
    return content.folders


@dataclass
class _Content:
    """The contents of a folder: sub-folders to enter, files by name, time and size, hidden names.

    `left_out` are the files that are too old to be read, and `late` those of them that are newer
    than the moment that is asked for; `is_changed` says whether anything in the folder is.
    """

    folders: list[str] = field(default_factory=list)
    files: list[tuple[str, int, int]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    is_changed: bool = False


def _content_of(root: str, root_uri: str, relative: str, filters: Filters) -> _Content:
    content = _Content()
    prefix = f"{relative}/" if relative else ""
    since_ms, until_ms = filters.unlisted.arrived_after_ms, filters.unlisted.until_ms
    with _opened(f"{root}/{relative}") as folder, os.scandir(folder) as entries:
        # There may be a million: no call in here that can be spared.
        for entry in _visible(entries, prefix, root_uri, filters, content):
            try:
                is_folder, stat = entry.is_dir(), entry.stat()
            except FileNotFoundError:
                continue  # it was deleted since the folder was read
            # This is _is_late.
            is_late = since_ms is not None and stat.st_ctime_ns // NANOSECONDS_PER_MS > since_ms
            content.is_changed = content.is_changed or is_late
            modified_ms = stat.st_mtime_ns // NANOSECONDS_PER_MS
            if is_folder:
                if filters.recurse or "=" in entry.name:
                    content.folders.append(prefix + entry.name)
            elif until_ms is None or modified_ms > until_ms:
                content.files.append((entry.name, modified_ms, stat.st_size))
            else:
                content.left_out.append(entry.name)
                content.late += [entry.name] if is_late else []
    return content


@contextmanager
def _opened(folder: str) -> Iterator[int]:
    """Open a folder: the system then finds each file in it without walking there."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _visible(
    entries: Iterable["os.DirEntry[str]"],
    prefix: str,
    root_uri: str,
    filters: Filters,
    content: _Content,
) -> Iterator["os.DirEntry[str]"]:
    """Yield the entries that readers see; keep the names of those that are hidden."""
    is_excluded = filters.is_excluded
    for entry in entries:
        if is_hidden(entry.name):
            content.hidden.append(f"{prefix}{entry.name}")
            continue
        if filters.check_link and entry.is_symlink():
            filters.check_link(f"{root_uri}/{prefix}{entry.name}")
        if is_excluded and not entry.is_dir() and is_excluded(prefix + entry.name):
            continue
        yield entry


def _is_moved(
    listing: Listing, folder: str, relative: str, filters: Filters, content: _Content
) -> bool:
    """Return whether a folder arrived unchanged after the moment, alone or in another one."""
    since_ms = filters.unlisted.arrived_after_ms
    if since_ms is None:
        return False
    if relative and relative.rpartition("/")[0] in listing.moved:
        return True
    # Then only its own place is new, and nothing in it.
    place = Path(folder)
    is_older = place.stat().st_mtime_ns // NANOSECONDS_PER_MS <= since_ms
    return is_older and not content.is_changed and _is_late(place.stat(), filters.unlisted)


def _is_late(stat: os.stat_result, unlisted: Unlisted) -> bool:
    """Return whether a file or folder arrived after the moment."""
    # The time of the last change of its name or content: unlike mtime, no program sets it back.
    since_ms = unlisted.arrived_after_ms
    return since_ms is not None and stat.st_ctime_ns // NANOSECONDS_PER_MS > since_ms


def hidden_files(names: Iterable[str], root: str, root_uri: str, filters: Filters) -> Iterator[str]:
    """Yield the URIs of files with data that are hidden, and that a run would read otherwise."""
    for name in names:
        for relative, stat in hidden_data(f"{root}/{name}", name):
            is_new = stat.st_mtime_ns // NANOSECONDS_PER_MS > (
                filters.unlisted.hidden_until_ms or 0
            )
            if is_new and not (filters.is_excluded and filters.is_excluded(relative)):
                yield f"{root_uri}/{relative}"
