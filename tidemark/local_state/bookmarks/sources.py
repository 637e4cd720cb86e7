"""A source as a script asks for it, and the files that its paths and filters let through."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Protocol, TypeAlias
from urllib.parse import unquote

from tidemark.errors import UsageError
from tidemark.local_state.bookmarks.files import NO_LIMITS, Limits, with_one_scheme
from tidemark.local_state.bookmarks.listing import (
    EVERYTHING,
    ChooseFolders,
    Filters,
    Listing,
    Unlisted,
    hidden_files,
    list_files,
)
from tidemark.local_state.bookmarks.path_patterns import Exclusions, hidden_matches_of, matches_of

FolderOf: TypeAlias = Callable[[str], Path]
"""Returns the folder or file of this machine for a URI."""


class Predicate(Protocol):
    """A push_down_predicate that can be asked about partitions."""

    columns: frozenset[str]
    """The names of the partition columns it speaks of, in lower case."""

    def select(self, partitions: list[dict[str, str]]) -> list[bool]:
        """Return for each partition, its values by lower-case name, whether it is read."""


@dataclass(frozen=True)
class S3Source:
    """A script's request to read from S3.

    Attributes:
        paths: the URIs, in order; they may be patterns.
        transformation_ctx: its name in the bookmark; empty reads without one.
        format: json, csv, parquet and so on.
        recurse: enter every folder, not only partition folders.
        exclusions: glob patterns of files that are not read.
        push_down_predicate: a condition on partition columns; empty reads all partitions.
        limits: of the band and of the run.
        table: ``database.table`` of the Data Catalog, empty without.
        located: those of the paths that are one partition of the table each, in any folder.
    """

    paths: tuple[str, ...]
    transformation_ctx: str = ""
    format: str = ""
    recurse: bool = False
    exclusions: tuple[str, ...] = ()
    push_down_predicate: str = ""
    limits: Limits = NO_LIMITS
    table: str = ""
    located: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Give every place one name: another scheme would make read files new."""
        for name in ("paths", "exclusions", "located"):
            object.__setattr__(self, name, tuple(map(with_one_scheme, getattr(self, name))))

    @property
    def own_paths(self) -> list[str]:
        """The paths without those of partitions, which come and go."""
        return [path for path in self.paths if path not in self.located]

    @property
    def name(self) -> str:
        """What people know the source by."""
        return self.transformation_ctx or self.table or ", ".join(self.paths)

    def to_json(self) -> dict[str, Any]:
        """Return the source as plain JSON values."""
        return {"kind": "s3", **asdict(self)}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "S3Source":
        """Return the source that `to_json` wrote."""
        values = {"located": (), **document}
        values = {member.name: values[member.name] for member in fields(cls)}
        lists = {name: tuple(values[name]) for name in ("paths", "exclusions", "located")}
        return cls(**{**values, **lists, "limits": Limits(**values["limits"])})


@dataclass(frozen=True)
class Edges:
    """Between which states of its context a source reads through the bookmark, as JSON values.

    Attributes:
        low: up to here files count as read; None reads everything.
        high: the upper edge of reading, empty for nothing; None sets none.
        low_made_at_ms: when `low` was made, epoch milliseconds; None if nothing was.
    """

    low: Mapping[str, Any] | None = None
    high: Mapping[str, Any] | None = None
    low_made_at_ms: int | None = None


def list_source(
    source: S3Source,
    folder_of: FolderOf,
    predicate: Predicate | None = None,
    unlisted: Unlisted = EVERYTHING,
) -> Listing:
    """Return the files of a source that pass its filters, except those to leave out."""
    whole = Listing()
    seen: set[str] = set()
    paths = [match for path in source.paths for match in matches_of(path, folder_of)]
    for path in paths:
        path_predicate = None if path in source.located else predicate
        excluded = Exclusions(source.exclusions, path)
        filters = Filters(
            recurse=source.recurse,
            is_excluded=excluded.matches if source.exclusions else None,
            choose_folders=_folder_chooser(path_predicate, seen),
            unlisted=unlisted,
            check_link=folder_of,
        )
        listing = list_files(folder_of(path), path, filters)
        partitioned = listing.files
        if path_predicate is not None:
            columns = path_predicate.columns
            partitioned = [f for f in listing.files if columns <= _columns_of(f.path, path)]
        listed = {file.path for file in whole.files} if len(paths) > 1 else set()
        whole.files += [file for file in partitioned if file.path not in listed]
        whole.late += listing.late
        whole.late_count += listing.late_count
        whole.hidden += listing.hidden
        whole.unchanged |= listing.unchanged
    if len(paths) > 1:  # they may have one folder in common, and not the same files of it
        whole.unchanged -= {f"{file.path.rpartition('/')[0]}/" for file in whole.files}
    for path in source.paths:
        whole.hidden += _hidden_by_pattern(path, source, folder_of, unlisted)
    if predicate and source.push_down_predicate and seen and not predicate.columns <= seen:
        raise not_partitioned(predicate.columns, seen)
    return whole


def _hidden_by_pattern(
    path: str, source: S3Source, folder_of: FolderOf, unlisted: Unlisted
) -> Iterator[str]:
    for uri in hidden_matches_of(path, folder_of):
        folder, _, name = uri.rpartition("/")
        excluded = Exclusions(source.exclusions, folder).matches
        filters = Filters(is_excluded=excluded, unlisted=unlisted)
        yield from hidden_files([name], str(folder_of(folder)), folder, filters)


def not_partitioned(columns: Iterable[str], partition_columns: Iterable[str]) -> UsageError:
    """Return the error for a predicate that names a column that is not a partition column."""
    return UsageError(
        f"push_down_predicate names {', '.join(sorted(columns))}; the partition columns are "
        f"{', '.join(sorted(partition_columns)) or 'none'}: filter other columns after the read"
    )


def partition_values(relative: str) -> dict[str, str]:
    """Return the values of the partition folders in a path, by lower-case name."""
    parts = (part.partition("=") for part in relative.split("/"))
    return {name.lower(): unquote(value) for name, equals, value in parts if equals}


def _folder_chooser(predicate: Predicate | None, seen: set[str]) -> ChooseFolders | None:
    """Return a chooser of folders by a predicate; adds partition columns to `seen`."""
    # A predicate is evaluated in a folder once all its columns are known there.
    if predicate is None:
        return None

    def choose(folders: list[str]) -> list[str]:
        judged = []
        for folder in folders:
            values, above = partition_values(folder), partition_values(folder.rpartition("/")[0])
            seen.update(values)
            if predicate.columns <= set(values) and not predicate.columns <= set(above):
                judged.append(folder)
        answers = predicate.select([partition_values(folder) for folder in judged])
        refused = {folder for folder, is_read in zip(judged, answers, strict=True) if not is_read}
        return [folder for folder in folders if folder not in refused]

    return choose


def _columns_of(uri: str, path: str) -> set[str]:
    relative = uri.removeprefix(path.rstrip("/") + "/").rpartition("/")[0]
    return set(partition_values(relative))
