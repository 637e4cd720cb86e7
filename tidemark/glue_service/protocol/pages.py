"""Answers in pages: ``NextToken`` marks the start of the next one."""

import base64
import binascii
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, TypeVar

from tidemark.glue_service.protocol.service_errors import ServiceError

T = TypeVar("T")
Request = Mapping[str, Any]
Answer = dict[str, Any]
PAGE = 100  # members of an answer, unless the request says how many
FROM, BEHIND = "from", "behind"
INDEX = re.compile("[0-9]{1,18}")


def page(
    items: Sequence[T],
    token: str | None,
    size: int,
    code: str = "InvalidInputException",
    key: Callable[[T], str] | None = None,
) -> tuple[list[T], str | None]:
    """Return one page of items, and the token of the next one; None if it is the last."""
    begin = _first_index(items, token, key) if token else 0
    if begin is None:
        raise ServiceError(code, f"NextToken {token!r} did not come from an answer; leave it out")
    end = begin + size
    if end >= len(items):
        return list(items[begin:]), None
    place = f"{FROM} {end}" if key is None else f"{BEHIND} {key(items[end - 1])}"
    return list(items[begin:end]), base64.urlsafe_b64encode(place.encode()).decode()


def glue_page(
    items: Sequence[T],
    request: Request,
    key: Callable[[T], str] = attrgetter("name"),
    most: int = PAGE,
) -> tuple[list[T], str | None]:
    """Return the page that a request to Glue asks for; see `page`."""
    return page(items, request.get("NextToken"), request.get("MaxResults", most), key=key)


def _first_index(items: Sequence[T], token: str, key: Callable[[T], str] | None) -> int | None:
    try:
        word, _, rest = base64.urlsafe_b64decode(token.encode()).decode().partition(" ")
    except (binascii.Error, ValueError):
        return None
    if word == FROM and INDEX.fullmatch(rest):
        return int(rest)
    if word != BEHIND or key is None:
        return None
    keys = list(map(key, items))
    return keys.index(rest) + 1 if rest in keys else bisect_right(keys, rest)
