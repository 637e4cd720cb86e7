"""Answers in pages: ``NextToken`` says where the next one begins."""

import base64
import binascii
from collections.abc import Sequence
from typing import TypeVar

from tidemark.local_glue.port.protocol.service_errors import ServiceError

T = TypeVar("T")


def page(
    items: Sequence[T],
    token: str | None,
    size: int,
    code: str = "InvalidInputException",
) -> tuple[list[T], str | None]:
    """Return one page of items, and the token of the next one; None if it is the last.

    Args:
        items: all of them, in an order that stays.
        token: what the answer before this one gave; None for the first page.
        size: how many items a page may have.
        code: of the error.

    Raises:
        ServiceError: the token is none of this machine.
    """
    begin = _offset(token, code) if token else 0
    end = begin + size
    return list(items[begin:end]), _token(end) if end < len(items) else None


def _token(offset: int) -> str:
    return base64.urlsafe_b64encode(f"from {offset}".encode()).decode()


def _offset(token: str, code: str) -> int:
    try:
        word, _, number = base64.urlsafe_b64decode(token.encode()).decode().partition(" ")
        if word == "from" and number.isascii() and number.isdigit():
            return int(number)
    except (binascii.Error, ValueError):
        pass
    raise ServiceError(code, f"NextToken {token!r} is not one that an answer gave; leave it out")
