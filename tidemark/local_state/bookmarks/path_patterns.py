"""Patterns of a source: Glue's exclude patterns, and those in its paths, as Hadoop reads them.

In both ``*`` stays within a folder; in an exclude pattern ``**`` does not.

Source: https://docs.aws.amazon.com/glue/latest/dg/define-crawler.html (exclude patterns)
Source: https://hadoop.apache.org/docs/stable/api/org/apache/hadoop/fs/FileSystem.html (globStatus)
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from tidemark.errors import UsageError
from tidemark.local_state.bookmarks.hidden import is_hidden

_TOKEN = re.compile(r"\*\*|\\.|\[[!^]?[^\]]+\]|.", re.DOTALL)
_WILDCARDS = {"**": ".*", "*": "[^/]*", "?": "[^/]"}
_GLOB_BRACES = {"{": "(?:", ",": "|", "}": ")"}


class Exclusions:
    """The exclude patterns of one path of a source.

    A pattern is held against the file relative to the path, as a crawler does, and against its
    whole URI: AWS says neither, and both are in use.
    """

    def __init__(self, patterns: Sequence[str], path: str) -> None:
        self._root = path.rstrip("/")
        self._patterns = [re.compile(glob_expression(pattern)) for pattern in patterns]

    def matches(self, relative: str) -> bool:
        """Return whether a file, relative to the path, is excluded."""
        names = (relative, f"{self._root}/{relative}")
        return any(pattern.fullmatch(name) for pattern in self._patterns for name in names)


def glob_expression(pattern: str) -> str:
    """Return a glob as a regular expression: ``* ** ? [a-z] [!a] {a,b}`` and backslash."""
    expression, depth = "", 0
    for token in _TOKEN.findall(pattern):
        if token in _WILDCARDS:
            expression += _WILDCARDS[token]
        elif token in _GLOB_BRACES and (depth or token == "{"):  # noqa: S105 (no password)
            depth += {"{": 1, ",": 0, "}": -1}[token]
            expression += _GLOB_BRACES[token]
        else:
            expression += _one_character(token, pattern)
    if depth:
        raise _left_open(pattern, "{")
    return expression


def _one_character(token: str, pattern: str) -> str:
    if token == "[":  # noqa: S105 (no password)
        raise _left_open(pattern, token)
    if len(token) == 1:
        return re.escape(token)
    if token.startswith("\\"):
        return re.escape(token[1])
    members = token[1:-1]
    negation = "^" if members[0] in "!^" else ""
    escaped = re.escape(members[len(negation) :]).replace(r"\-", "-")
    return f"(?!/)[{negation}{escaped}]"


def _left_open(pattern: str, bracket: str) -> UsageError:
    return UsageError(
        f"the exclusion {pattern!r} opens {bracket!r} and never closes it; write \\{bracket} for "
        "the character itself"
    )


WILDCARD = re.compile(r"[\[\]{}*?\\]")
_BRACES = re.compile(r"\{([^{}]*)\}")  # the innermost ones


def matches_of(path: str, folder_of: Callable[[str], Path]) -> list[str]:
    """Return the URIs of this machine that a path names: itself, or the matches of its pattern."""
    if not WILDCARD.search(path):
        return [path]
    uris = {uri for way in _alternatives(path) for uri in _matches(way.rstrip("/"), folder_of)}
    return sorted(uris)


def hidden_matches_of(path: str, folder_of: Callable[[str], Path]) -> list[str]:
    """Return the URIs that a pattern would name if no name were hidden, and does not name.

    Where the pattern asks for more below a hidden folder, that folder is such a URI.
    """
    if not WILDCARD.search(path):
        return []
    return sorted(
        {uri for way in _alternatives(path) for uri in _hidden(way.rstrip("/"), folder_of)}
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
    *_, uris = _levels(path, folder_of)
    yield from (uri for uri in uris if folder_of(uri).exists())


def _levels(path: str, folder_of: Callable[[str], Path]) -> Iterator[list[str]]:
    scheme, _, rest = path.partition("://")
    bucket, _, key = rest.partition("/")
    uris = [f"{scheme}://{bucket}"]
    # First the bucket, which no part of the key names.
    yield uris
    for name in filter(None, key.split("/")):
        uris = [
            f"{uri}/{child}"
            for uri in uris
            for child in _named(name, folder_of(uri))
            if child == name or not is_hidden(child)
        ]
        yield uris


def _hidden(path: str, folder_of: Callable[[str], Path]) -> Iterator[str]:
    names = path.partition("://")[2].split("/")[1:]
    for name, uris in zip(filter(None, names), _levels(path, folder_of), strict=False):
        for uri in uris:
            each = _named(name, folder_of(uri))
            yield from (f"{uri}/{child}" for child in each if child != name and is_hidden(child))


def _named(pattern: str, folder: Path) -> list[str]:
    # A plain name is itself, whether or not a file has it.
    if not WILDCARD.search(pattern):
        return [pattern]
    expression = re.compile(glob_expression(pattern))
    names = [child.name for child in folder.iterdir()] if folder.is_dir() else []
    return [name for name in names if expression.fullmatch(name)]


@lru_cache
def _expressions(path: str) -> list[list[re.Pattern[str]]]:
    return [
        [re.compile(glob_expression(name)) for name in way.rstrip("/").split("/")]
        for way in _alternatives(path)
    ]


def _alternatives(path: str) -> list[str]:
    # Braces may hold slashes, so that a path is split at them before it is at folders.
    if not (braces := _BRACES.search(path)):
        if "{" in path or "}" in path:
            raise UsageError(f"the path {path!r} opens or closes a brace alone; write {{a,b}}")
        return [path]
    start, end = path[: braces.start()], path[braces.end() :]
    return [way for text in braces[1].split(",") for way in _alternatives(f"{start}{text}{end}")]
