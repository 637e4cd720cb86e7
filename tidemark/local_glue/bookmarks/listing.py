"""Lists the files of a bucket folder, fast: a plain directory walk, never through Spark."""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from tidemark.errors import TidemarkError
from tidemark.local_glue.bookmarks.files import FileVersion

NANOSECONDS_PER_MS = 1_000_000
EXAMPLES = 3

ChooseFolders: TypeAlias = Callable[[list[str]], list[str]]
"""Given folders relative to the path of a source, returns those to enter."""


@dataclass(frozen=True)
class Filters:
    """What of a folder is listed.

    Attributes:
        recurse: enter every folder; else only ``key=value`` partition folders.
        is_excluded: given a file relative to the path of the source; None excludes nothing.
        choose_folders: which of the folders of one level are entered; None enters all.
        newer_than_ms: leave out files modified at or before; None lists all.
        arrived_after_ms: count the left-out files that came into their folder after this moment.
        check_link: raises for the URI of a symbolic link that may not be followed; None allows all.
    """

    recurse: bool = False
    is_excluded: Callable[[str], bool] | None = None
    choose_folders: ChooseFolders | None = None
    newer_than_ms: int | None = None
    arrived_after_ms: int | None = None
    check_link: Callable[[str], object] | None = None


@dataclass
class Listing:
    """The files of a source in no particular order.

    `late` are some of the files that were left out for their modification time although they
    arrived after `arrived_after_ms`, and `late_count` is how many there are: moved or copied with
    their old time, which S3 would not keep. `moved` are the folders that came with all their files.
    """

    files: list[FileVersion] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    late_count: int = 0
    moved: set[str] = field(default_factory=set)


def list_files(folder: Path, uri: str, filters: Filters) -> Listing:
    """Return the data files under ``folder``, their paths given as URIs under ``uri``.

    Names that Spark and EMRFS hide are left out: ``_SUCCESS``, ``.part-0.crc``, ``day_$folder$``.

    Returns:
        Nothing if the folder does not exist.

    Raises:
        TidemarkError: a folder cannot be read.
    """
    listing = Listing()
    if folder.is_file():
        _add(listing, uri, folder.stat(), filters)
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
    """Add the files of one folder; return its sub-folders that may be entered."""
    folders: list[str] = []
    files: list[tuple[str, os.stat_result]] = []
    is_changed = False
    prefix = f"{relative}/" if relative else ""
    try:
        with os.scandir(f"{root}/{relative}") as entries:
            for entry in _visible(entries, f"{root_uri}/{prefix}", filters):
                name = entry.name
                if entry.is_dir():
                    with contextlib.suppress(FileNotFoundError):
                        is_changed = is_changed or _has_arrived(entry.stat(), filters)
                    if filters.recurse or "=" in name:
                        folders.append(f"{prefix}{name}")
                    continue
                if filters.is_excluded and filters.is_excluded(f"{prefix}{name}"):
                    continue
                with contextlib.suppress(FileNotFoundError):  # deleted since the folder was read
                    files.append((f"{root_uri}/{prefix}{name}", entry.stat()))
        is_changed = is_changed or any(_has_arrived(stat, filters) for _, stat in files)
        if _is_moved(listing, f"{root}/{relative}", relative, filters, is_changed=is_changed):
            listing.moved.add(relative)
    except FileNotFoundError:
        return []  # likewise
    except OSError as error:
        raise TidemarkError(
            f"cannot list {root_uri}/{relative}: {error.strerror} ({root}/{relative}); make the "
            "folder readable and run again, the bookmark is unchanged"
        ) from error
    for uri, stat in files:
        _add(listing, uri, stat, filters, is_moved=relative in listing.moved)
    return folders


def _is_moved(
    listing: Listing, folder: str, relative: str, filters: Filters, *, is_changed: bool
) -> bool:
    """Return whether a folder came as it is after the moment, alone or in another one.

    Only its own place is new then, and nothing in it.
    """
    since_ms = filters.arrived_after_ms
    if since_ms is None:
        return False
    if relative and relative.rpartition("/")[0] in listing.moved:
        return True
    stat = os.stat(folder)
    is_older = stat.st_mtime_ns // NANOSECONDS_PER_MS <= since_ms
    return is_older and not is_changed and _has_arrived(stat, filters)


def _has_arrived(stat: os.stat_result, filters: Filters) -> bool:
    """Return whether a file or folder came into its folder after the moment; False without one.

    By its change time, which nothing can set back.
    """
    since_ms = filters.arrived_after_ms
    return since_ms is not None and stat.st_ctime_ns // NANOSECONDS_PER_MS > since_ms


def _visible(
    entries: Iterable["os.DirEntry[str]"], uri: str, filters: Filters
) -> Iterator["os.DirEntry[str]"]:
    """Yield the entries of a folder that Spark shows, each link checked."""
    for entry in entries:
        if is_hidden(entry.name):
            continue
        if filters.check_link and entry.is_symlink():
            filters.check_link(f"{uri}{entry.name}")
        yield entry


def _add(
    listing: Listing, uri: str, stat: os.stat_result, filters: Filters, *, is_moved: bool = False
) -> None:
    modified_ms = stat.st_mtime_ns // NANOSECONDS_PER_MS
    if filters.newer_than_ms is None or modified_ms > filters.newer_than_ms:
        listing.files.append(FileVersion(uri, modified_ms, stat.st_size))
    elif is_moved or _has_arrived(stat, filters):
        listing.late_count += 1
        if len(listing.late) < EXAMPLES:
            listing.late.append(uri)


def is_hidden(name: str) -> bool:
    """Decide as HadoopFSUtils of Spark and EMRFS: a partition column may begin with "_"."""
    if name.startswith("_"):
        return "=" not in name
    # EMR and Hadoop put the empty object NAME_$folder$ beside each folder they make:
    # https://repost.aws/knowledge-center/emr-s3-empty-files
    return name.startswith(".") or name.endswith(("._COPYING_", "_$folder$"))
