"""Keeps account of a resource that is translated: nothing of it is forgotten."""

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from tidemark.adopt.model import Difference, KeyPath, Reason, Resource
from tidemark.model.plain_secrets import shows_secret

MAX_LENGTH = 160  # characters of a value that a plan shows


class Reading:
    """A resource whose every leaf ends in the code, or in the list of differences.

    Attributes:
        of: its kind and name, as `job nightly_orders`.
        differences: those listed until now.
        expressed: paths that the code states.
    """

    def __init__(self, of: str, resource: Resource) -> None:
        self.of = of
        self.differences: list[Difference] = []
        self.expressed: set[KeyPath] = set()
        self._resource = resource
        self._left = dict(leaves(resource))
        self._moved: dict[KeyPath, KeyPath] = {}

    def move(self, source: KeyPath, target: KeyPath) -> None:
        """Let one path be read at another; an account for that counts for it."""
        self._moved[target] = source
        self._left[target] = self._left.pop(source)

    def get(self, *path: str) -> Any:
        """Return what stands at a path, or None; it stays to be accounted for."""
        path = self._moved.get(path, path)
        value: Any = self._resource
        for key in path:
            if isinstance(value, list):
                value = value[int(key)]
            else:
                value = value.get(key) if isinstance(value, Mapping) else None
        return value

    def take(self, *path: str) -> Any:
        """Return what stands at a path, or None; the code says it."""
        value = self.get(*path)
        if value is not None:
            self.expressed.add(path)
            if path in self._moved:
                self.expressed.add(self._moved[path])
            self._drop(path)
        return value

    def takes(self, *path: str, values: Collection[object]) -> bool:
        """Return whether one of some values stands at a path; then the code says it."""
        return self.get(*path) in values and self.take(*path) is not None

    def differ_for(self, reason: Reason, *path: str) -> None:
        """List what stands at a path with the reason that a table has for it."""
        self.differ(*path, why=reason[0], do=reason[1])

    def differ(self, *path: str, why: str, do: str) -> None:
        """List what stands at a path, or that nothing does."""
        source = self._moved.get(path, path)
        value = shown(path, self.get(*path))
        self.differences.append(Difference(self.of, source, value, why, do))
        self._drop(path)

    def left(self) -> list[KeyPath]:
        """Return the paths of the leaves that are not accounted for."""
        return list(self._left)

    def left_in(self, key: str) -> list[str]:
        """Return the names of such leaves that stand in a map."""
        return [path[1] for path in self._left if path[0] == key and len(path) == 2]

    def _drop(self, path: KeyPath) -> None:
        for leaf in [leaf for leaf in self._left if leaf[: len(path)] == path]:
            del self._left[leaf]


def leaves(value: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    """Yield everything that is set in a resource, with the path to it; lists of strings as one."""
    if isinstance(value, Mapping) and (value or not path):
        for key, part in value.items():
            yield from leaves(part, (*path, str(key)))
    elif isinstance(value, list) and value and all(isinstance(part, Mapping) for part in value):
        for number, part in enumerate(value):
            yield from leaves(part, (*path, str(number)))
    elif value is not None:
        yield path, value


def document_of(text: object) -> Any:
    """Return a document of JSON; None for other text, and for one that is nested too deeply."""
    try:
        return json.loads(str(text))
    except (ValueError, RecursionError):
        return None


def shown(path: KeyPath, value: Any) -> str | None:
    """Return a value in readable form; None if it is missing or looks like a secret."""
    if value is None:
        return None
    text, parts = str(value), [(path[-1].lstrip("-") if path else "", value)]
    parts += ((leaf[-1] if leaf else "", part) for leaf, part in leaves(value))
    if any(shows_secret(name, str(part)) for name, part in parts):
        return None
    return text if len(text) <= MAX_LENGTH else f"{text[: MAX_LENGTH - 3]}..."
