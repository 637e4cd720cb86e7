"""Decides which folders are tables and which are partitions, as a crawler of Glue does; pure.

Source: https://docs.aws.amazon.com/glue/latest/dg/crawler-s3-folder-table-partition.html
"""

import hashlib
import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from tidemark.errors import UsageError
from tidemark.model.hive_types import common_type

SIMILAR = 0.7  # the share of columns that the schemas of one table have in common
MAX_NAME_LENGTH = 128
Folders = tuple[str, ...]


@dataclass(frozen=True)
class FileSchema:
    """Format and columns of a file.

    Attributes:
        format: its classification.
        columns: names and Hive types, in order; the type is empty if all values are null.
        parameters: parameters of its table, without the classification.
        serde_parameters: parameters of its SerDe.
    """

    format: str
    columns: tuple[tuple[str, str], ...]
    parameters: tuple[tuple[str, str], ...] = ()
    serde_parameters: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class DataFolder:
    """A folder with files in it.

    Attributes:
        folders: its names below the crawled path.
        kind: format and columns of its files.
    """

    folders: Folders
    kind: FileSchema


@dataclass(frozen=True)
class CrawledTable:
    """A table.

    Attributes:
        folders: its root, below the crawled path.
        leaves: its partitions; the table itself if it has none.
    """

    folders: Folders
    leaves: tuple[DataFolder, ...]

    @property
    def partition_keys(self) -> list[str]:
        """The names of the partition keys: from the folders, or partition_0 and so on."""
        depth = len(self.folders)
        return [
            name.partition("=")[0].lower() if "=" in name else f"partition_{number}"
            for number, name in enumerate(self.leaves[0].folders[depth:])
        ]

    def values(self, leaf: DataFolder) -> tuple[str, ...]:
        """Return the values of the partition keys, from the name of a folder."""
        parts = leaf.folders[len(self.folders) :]
        return tuple(unquote(name.partition("=")[2]) if "=" in name else name for name in parts)

    @property
    def columns(self) -> list[tuple[str, str]]:
        """The columns of all partitions, each with a type that holds its values."""
        types: dict[str, str] = {}
        for leaf in self.leaves:
            for name, kind in leaf.kind.columns:
                types[name] = common_type(types.get(name, kind), kind)
        return list(types.items())


def crawled_tables(leaves: Sequence[DataFolder], root: Folders = ()) -> Iterator[CrawledTable]:
    """Yield the tables below a folder: one if all schemas are similar, else those of each part."""
    first, depth = leaves[0], len(root)
    keys = _keys(first.folders[depth:])
    is_one_table = all(
        _keys(leaf.folders[depth:]) == keys and are_similar(leaf.kind, first.kind)
        for leaf in leaves
    )
    if is_one_table:
        yield CrawledTable(root, tuple(leaves))
        return
    if any(leaf.folders == root for leaf in leaves):
        place = "/".join(root) or "the path"
        raise UsageError(
            f"{place} has files next to folders with files, but a table is one or the other: crawl "
            "the folders one by one, or move the files into a separate folder"
        )
    for name in dict.fromkeys(leaf.folders[depth] for leaf in leaves):
        below = [leaf for leaf in leaves if leaf.folders[depth] == name]
        yield from crawled_tables(below, (*root, name))


def _keys(folders: Folders) -> list[str]:
    return [name.partition("=")[0].lower() if "=" in name else "" for name in folders]


def are_similar(one: FileSchema, other: FileSchema) -> bool:
    """Return whether files belong to one table: same format, and most columns in common."""
    names, others = {name for name, _ in one.columns}, {name for name, _ in other.columns}
    most = max(len(names), len(others), 1)
    return one.format == other.format and len(names & others) / most >= SIMILAR


def table_name(prefix: str, folder: str, location: str, taken: Container[str]) -> str:
    """Return the name of a table, prefix and folder, in the form that a crawler uses.

    Source: https://docs.aws.amazon.com/glue/latest/dg/add-crawler.html
    """
    name = re.sub(r"[^a-z0-9_]", "_", f"{prefix}{folder}".lower())[:MAX_NAME_LENGTH]
    if name not in taken:
        return name
    suffix = hashlib.md5(location.encode(), usedforsecurity=False).hexdigest()
    return f"{name[: MAX_NAME_LENGTH - len(suffix) - 1]}_{suffix}"
