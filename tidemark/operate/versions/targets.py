"""What runs have written: the places of a lake that changed."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidemark.local_state.bookmarks.hidden import is_marker

PARTITION = re.compile(r"[^/=]+=[^/]*")
HIDDEN = ("_", ".")  # Spark reads no file whose name begins so
SCRIPTS = "aws-glue-assets-local"
COMPRESSED = (".gz", ".bz2", ".snappy", ".zst", ".lz4", ".deflate")
FORMATS = {
    ".parquet": "parquet",
    ".orc": "orc",
    ".json": "json",
    ".jsonl": "json",
    ".csv": "lines",
    ".tsv": "lines",
    ".txt": "lines",
    ".avro": "avro",
}
Files = Mapping[str, tuple[int, int]]
"""Size and time of each file of a lake, by its path in it."""


@dataclass(frozen=True)
class ComparedTarget:
    """A folder that runs have written files of one format to.

    Attributes:
        folder: its path in the lake, such as ``mart/orders``.
        format: parquet, orc, json, lines or avro; bytes for any other.
        is_hidden: whether the names of the files begin with `_` or a dot.
    """

    folder: str
    format: str
    is_hidden: bool = False

    @property
    def uri(self) -> str:
        """The URI of the folder, with a pattern of hidden files."""
        return f"s3://{self.folder}/{'[_.]*' if self.is_hidden else ''}"

    def within(self, lake: Path, files: Files) -> dict[str, Any]:
        """Return its folder in a lake, its files, and whether these are all files in the folder."""
        below = sorted(path for path in files if path.startswith(f"{self.folder}/"))
        own = [path for path in below if target_of(path) == self]
        return {
            "folder": str(lake / self.folder),
            "files": [str(lake / path) for path in own],
            "all": len(own) == len(below) and not self.is_hidden,
        }


def files_of(lake: Path, *, with_hidden: bool = False) -> dict[str, tuple[int, int]]:
    """Return the files of a lake that readers see, or all but what Spark's committers make."""
    leaves_out = is_marker if with_hidden else lambda name: name.startswith(HIDDEN)
    files: dict[str, tuple[int, int]] = {}
    for root, folders, names in os.walk(lake):
        folders[:] = [name for name in folders if not leaves_out(name) or PARTITION.fullmatch(name)]
        for name in names:
            if not leaves_out(name):
                file = Path(root, name)
                status = file.stat()
                files[file.relative_to(lake).as_posix()] = (status.st_size, status.st_mtime_ns)
    return files


def changed_targets(before: Files, *after: Files) -> list[ComparedTarget]:
    """Return the targets that one lake of several changed: wrote, replaced or deleted a file of.

    The checkpoints of streams are none: they hold times and random ids.
    """
    targets = set()
    for files in after:
        skipped = tuple(f"{folder}/" for folder in (SCRIPTS, *_checkpoints(files)))
        changed = {path for path, facts in files.items() if before.get(path) != facts}
        for path in (*changed, *(before.keys() - files.keys())):
            if not path.startswith(skipped):
                targets.add(target_of(path))
    return sorted(targets, key=lambda target: (target.folder, target.is_hidden, target.format))


def target_of(path: str) -> ComparedTarget:
    """Return the target that a file of a lake belongs to."""
    *parts, name = path.split("/")
    while len(parts) > 1 and PARTITION.fullmatch(parts[-1]):
        parts.pop()
    return ComparedTarget("/".join(parts), _format(name), name.startswith(HIDDEN))


def _checkpoints(files: Files) -> set[str]:
    checkpoints = {path.rpartition("/offsets/")[0] for path in files if "/offsets/" in path}
    return {folder for folder in checkpoints if f"{folder}/metadata" in files}


def _format(name: str) -> str:
    while name.endswith(COMPRESSED):
        name = name.rpartition(".")[0]
    return FORMATS.get(f".{name.rpartition('.')[2]}", "bytes")
