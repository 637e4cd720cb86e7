"""Which sides of a comparison hold the same bytes: their rows need be read only once."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

Side: TypeAlias = Mapping[str, Any]
"""A `folder`, the `files` of one format in it, and whether these are `all` of its files."""


def distinct(sides: Sequence[Side]) -> tuple[list[Side], list[int]]:
    """Return the sides with different content, and for each side the place of its like there."""
    digests: dict[tuple[int, int], str] = {}
    places: dict[object, int] = {}
    found, which = list[Side](), []
    for side in sides:
        content = _content(side, digests)
        if content not in places:
            places[content] = len(found)
            found.append(side)
        which.append(places[content])
    return found, which


def _content(side: Side, digests: dict[tuple[int, int], str]) -> tuple[object, ...]:
    """Return the bytes of the files, each with its folder, which may hold values of partitions."""
    below = []
    for file in map(Path, side["files"]):
        status = file.stat()
        of_links = (status.st_dev, status.st_ino)  # homes share most of their files
        if of_links not in digests:
            with file.open("rb") as opened:
                digests[of_links] = hashlib.file_digest(opened, "sha256").hexdigest()
        below.append((file.parent.relative_to(side["folder"]).as_posix(), digests[of_links]))
    return (side["all"], *sorted(below))
