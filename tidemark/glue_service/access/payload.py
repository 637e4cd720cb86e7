"""The body of a request, checked against its signature."""

import hashlib
import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any, cast

from tidemark.glue_service.access.signature_v4 import ChunkSignatures

PAYLOAD = "tidemark.payload"  # key in the environment of a request
AT_ONCE = 1 << 20  # bytes of a body that is checked before it is used


@dataclass(frozen=True)
class Payload:
    """The check for a body.

    Attributes:
        check: takes its SHA-256 in hexadecimal digits, and raises `RefusedError`; None: no check.
        chunks: checks the parts of a body in chunks.
    """

    check: Callable[[str], None] | None = None
    chunks: ChunkSignatures | None = None


UNCHECKED = Payload()


def checked(stream: IO[bytes], length: int, payload: Payload) -> IO[bytes]:
    """Return the body of a request; reading its end raises `RefusedError` if the hash differs."""
    if payload.check is None:
        return stream
    if length > AT_ONCE:
        return cast(IO[bytes], _Checked(stream, length, payload.check))
    body = stream.read()
    payload.check(hashlib.sha256(body).hexdigest())
    return io.BytesIO(body)


class _Checked(io.RawIOBase):
    """Hashes the bytes that are read, and checks the hash at the last byte."""

    def __init__(self, stream: IO[bytes], length: int, check: Callable[[str], None]) -> None:
        super().__init__()
        self._stream, self._left, self._check = stream, length, check
        self._hash = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        return self._seen(self._stream.read(size))

    def readline(self, size: Any = -1) -> bytes:
        return self._seen(self._stream.readline(size))

    def _seen(self, block: bytes) -> bytes:
        self._hash.update(block)
        self._left -= len(block)
        if not self._left:
            self._check(self._hash.hexdigest())
        return block
