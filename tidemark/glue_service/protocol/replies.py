"""The reply to a request."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import BinaryIO


@dataclass(frozen=True)
class Reply:
    """A status, headers with a content type, and a body: bytes, or the rest of an open file."""

    status: int
    headers: Mapping[str, str]
    body: bytes | BinaryIO = b""
    length: int | None = field(default=None)

    @property
    def content_length(self) -> int:
        """The bytes of the body; for a file, `length`."""
        if self.length is not None:
            return self.length
        return len(self.body) if isinstance(self.body, bytes) else 0


def reply(status: int, content_type: str, body: bytes) -> Reply:
    """Return a reply with one content type."""
    return Reply(status, {"Content-Type": content_type}, body)
