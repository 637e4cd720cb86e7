"""Tells which folders of S3 hold each other: pure, on addresses."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import accumulate, product

from tidemark.checks.graph.model import GraphJob

SCHEME = re.compile(r"s3[an]?://")
PARTITION = re.compile(r"[^/=]+=[^/]*")


class Folders:
    """Jobs by the folders they use, to find those of one folder without looking at all."""

    def __init__(self) -> None:
        self._at: dict[str, dict[str, GraphJob]] = defaultdict(dict)
        self._inside: dict[str, dict[str, GraphJob]] = defaultdict(dict)

    def add(self, job: GraphJob, uris: Iterable[str]) -> None:
        """Note that a job uses folders."""
        for uri in uris:
            self._at[_folder(uri)][job.at] = job
            for parent in _parents(uri):
                self._inside[parent][job.at] = job

    def touching(self, uris: Iterable[str]) -> list[GraphJob]:
        """Return the jobs that use one of these folders, a part of it, or a folder around it."""
        touching: dict[str, GraphJob] = {}
        for uri in uris:
            touching |= self._inside.get(_folder(uri), {})
            for parent in _parents(uri):
                touching |= self._at.get(parent, {})
        return list(touching.values())


def overlap(uris: Iterable[str], others: Iterable[str]) -> list[tuple[str, str]]:
    """Return the pairs of folders that are the same, or one a part of the other."""
    return [
        (uri, other)
        for uri, other in product(uris, others)
        if _folder(uri).startswith(_folder(other)) or _folder(other).startswith(_folder(uri))
    ]


def relative(uri: str, of: str) -> str:
    """Return the part of an address below another folder; empty if it is not inside of it."""
    inner, outer = _folder(uri), _folder(of)
    return inner.removeprefix(outer) if inner.startswith(outer) else ""


def is_same(uri: str, other: str) -> bool:
    """Return whether two addresses are of one folder."""
    return _folder(uri) == _folder(other)


def is_partition(names: str) -> bool:
    """Return whether each of the folders ``day=1/hour=2`` is one of a partition; also of none."""
    return all(PARTITION.fullmatch(name) for name in names.strip("/").split("/") if name)


def _folder(uri: str) -> str:
    return f"{SCHEME.sub('', uri).rstrip('/')}/"


def _parents(uri: str) -> Iterator[str]:
    """Yield a folder and all that it is a part of."""
    return accumulate(f"{part}/" for part in _folder(uri).removesuffix("/").split("/"))
