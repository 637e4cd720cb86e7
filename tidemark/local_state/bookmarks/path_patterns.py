"""Patterns in the paths of a source, as Hadoop reads them: each match is a separate path.

Source: https://hadoop.apache.org/docs/stable/api/org/apache/hadoop/fs/FileSystem.html (globStatus)
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

from tidemark.errors import UsageError
from tidemark.local_state.bookmarks.globs import glob_expression
from tidemark.local_state.bookmarks.hidden import is_hidden

WILDCARD = re.compile(r"[\[\]{}*?\\]")
_BRACES = re.compile(r"\{([^{}]*)\}")  # the innermost ones


def matches_of(path: str, folder_of: Callable[[str], Path]) -> list[str]:
    """Return the URIs of this machine that a path names: itself, or the matches of its pattern."""
    if not WILDCARD.search(path):
        return [path]
    found = {uri for one in _alternatives(path) for uri in _matches(one.rstrip("/"), folder_of)}
    return sorted(found)


def hidden_matches_of(path: str, folder_of: Callable[[str], Path]) -> list[str]:
    """Return the URIs that a pattern would name if no name were hidden, and does not name.

    Where the pattern asks for more below a hidden folder, that folder is such a URI.
    """
    if not WILDCARD.search(path):
        return []
    return sorted(
        {uri for one in _alternatives(path) for uri in _hidden(one.rstrip("/"), folder_of)}
    )


def root_of(uri: str, path: str) -> str | None:
    """Return the part of a file's URI that a path names; None if the file is not below it."""
    if not WILDCARD.search(path):
        root = path.rstrip("/")
        return root if uri.startswith(f"{root}/") else None
    parts = uri.split("/")
    for names in _expressions(path):
        if len(parts) > len(names) and all(
            name.fullmatch(part) for name, part in zip(names, parts, strict=False)
        ):
            return "/".join(parts[: len(names)])
    return None


def _matches(path: str, folder_of: Callable[[str], Path]) -> Iterator[str]:
    *_, found = _levels(path, folder_of)
    yield from (uri for uri in found if folder_of(uri).exists())


def _levels(path: str, folder_of: Callable[[str], Path]) -> Iterator[list[str]]:
    """Yield the matches of a path's first names: of none (the bucket), of one, of two, of all."""
    scheme, _, rest = path.partition("://")
    bucket, _, key = rest.partition("/")
    found = [f"{scheme}://{bucket}"]
    yield found
    for name in filter(None, key.split("/")):
        found = [
            f"{uri}/{one}"
            for uri in found
            for one in _named(name, folder_of(uri))
            if one == name or not is_hidden(one)
        ]
        yield found


def _hidden(path: str, folder_of: Callable[[str], Path]) -> Iterator[str]:
    names = path.partition("://")[2].split("/")[1:]
    for name, uris in zip(filter(None, names), _levels(path, folder_of), strict=False):
        for uri in uris:
            each = _named(name, folder_of(uri))
            yield from (f"{uri}/{one}" for one in each if one != name and is_hidden(one))


def _named(pattern: str, folder: Path) -> list[str]:
    """Return the names in a folder that a part of a path matches; a plain one is itself."""
    if not WILDCARD.search(pattern):
        return [pattern]
    expression = re.compile(glob_expression(pattern))
    names = [one.name for one in folder.iterdir()] if folder.is_dir() else []
    return [name for name in names if expression.fullmatch(name)]


@lru_cache
def _expressions(path: str) -> list[list[re.Pattern[str]]]:
    """Return for each alternative of a path the expression of each of its parts."""
    return [
        [re.compile(glob_expression(name)) for name in one.rstrip("/").split("/")]
        for one in _alternatives(path)
    ]


def _alternatives(path: str) -> list[str]:
    """Return a path once for each choice of its braces, which may hold slashes."""
    if not (braces := _BRACES.search(path)):
        if "{" in path or "}" in path:
            raise UsageError(f"the path {path!r} opens or closes a brace alone; write {{a,b}}")
        return [path]
    start, end = path[: braces.start()], path[braces.end() :]
    return [one for text in braces[1].split(",") for one in _alternatives(f"{start}{text}{end}")]
