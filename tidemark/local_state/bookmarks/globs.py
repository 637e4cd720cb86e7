"""Glue's exclude patterns: Unix globs where ``*`` stays within a folder and ``**`` does not.

Source: https://docs.aws.amazon.com/glue/latest/dg/define-crawler.html (exclude patterns)
"""

import re
from collections.abc import Sequence

from tidemark.errors import UsageError

_TOKEN = re.compile(r"\*\*|\\.|\[[!^]?[^\]]+\]|.", re.DOTALL)
_WILDCARDS = {"**": ".*", "*": "[^/]*", "?": "[^/]"}
_BRACES = {"{": "(?:", ",": "|", "}": ")"}


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
        elif token in _BRACES and (depth or token == "{"):  # noqa: S105 (no password)
            depth += {"{": 1, ",": 0, "}": -1}[token]
            expression += _BRACES[token]
        else:
            expression += _one_character(token, pattern)
    if depth:
        raise _left_open(pattern, "{")
    return expression


def _one_character(token: str, pattern: str) -> str:
    """Return the expression of a bracket, of an escaped character or of a plain one."""
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
