"""The unchanged head of a request: the input of its signature."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes, urlsplit

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Head:
    """The head of a request.

    Attributes:
        method: such as GET.
        path: path of its URL, percent-encoded as received.
        query: query of its URL, the same.
        headers: with lower-case names, and values whose bytes are characters of Latin-1.
    """

    method: str
    path: str
    query: str
    headers: Mapping[str, str]

    @property
    def pairs(self) -> Pairs:
        """Names and values of the query, decoded; bytes are characters of Latin-1."""
        words = (word.partition("=") for word in self.query.split("&") if word)
        return tuple((_decoded(name), _decoded(value)) for name, _, value in words)


def head_of(method: str, uri: str, headers: Mapping[str, str]) -> Head:
    """Return the head of a request; its URI may be a full URL, as proxies receive it."""
    place = urlsplit(uri if not uri.startswith("/") else f"//h{uri}")
    return Head(method.upper(), place.path or "/", place.query, headers)


def _decoded(text: str) -> str:
    return unquote_to_bytes(text.replace("+", " ").encode("latin-1")).decode("latin-1")
