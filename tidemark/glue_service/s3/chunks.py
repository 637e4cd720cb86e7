"""Bodies that clients send in their own chunks, with or without a signature each.

Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html
Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming-trailers.html
"""

import hashlib
from collections.abc import Iterator, Mapping
from typing import IO

from tidemark.glue_service.access.signature_v4 import ChunkSignatures
from tidemark.glue_service.s3.xml import S3Error
from tidemark.model.messages import plural

BLOCK = 1 << 20  # bytes
MAX_LINE_LENGTH = 1 << 14
LINE_END = b"\r\n"
CHUNK_SIGNATURE = b"chunk-signature="
TRAILER_SIGNATURE = "x-amz-trailer-signature"


def chunks_of(
    stream: IO[bytes], trailers: dict[str, str], signatures: ChunkSignatures | None
) -> Iterator[bytes]:
    """Yield the data of chunks; put the trailers into ``trailers``."""
    size: int | None = None
    while size != 0:
        size, signed = _head(stream)
        digest = hashlib.sha256()
        for block in _data(stream, size):
            if signatures:
                digest.update(block)
            yield block
        if signatures and not signatures.is_chunk(digest.hexdigest(), signed):
            raise S3Error("SignatureDoesNotMatch", "the signature of a chunk does not match it")
    while line := _line(stream):
        name, _, value = line.decode("latin-1").partition(":")
        trailers[name.strip().lower()] = value.strip()
    given = trailers.pop(TRAILER_SIGNATURE, "")
    if signatures and trailers and not signatures.is_trailer(_lines(trailers), given):
        raise S3Error("SignatureDoesNotMatch", "the signature of the trailer does not match it")


def _head(stream: IO[bytes]) -> tuple[int, str]:
    """Return the size and the signature of the next chunk."""
    size, _, rest = _line(stream).partition(b";")
    try:
        found = int(size, 16)
    except ValueError:
        found = -1
    if found < 0:
        raise S3Error("IncompleteBody", f"the chunk head {size[:40]!r} is not a size")
    signed = rest.removeprefix(CHUNK_SIGNATURE) if rest.startswith(CHUNK_SIGNATURE) else b""
    return found, signed.decode("latin-1")


def _data(stream: IO[bytes], size: int) -> Iterator[bytes]:
    left = size
    while left:
        block = stream.read(min(left, BLOCK))
        if not block:
            raise S3Error("IncompleteBody", f"the body ends {plural(left, 'byte')} too early")
        left -= len(block)
        yield block
    if size and (end := stream.read(len(LINE_END))) != LINE_END:
        raise S3Error("IncompleteBody", f"a chunk ends with {end!r}; allowed: {LINE_END!r}")


def _lines(trailers: Mapping[str, str]) -> bytes:
    return "".join(f"{name}:{value}\n" for name, value in trailers.items()).encode("latin-1")


def _line(stream: IO[bytes]) -> bytes:
    return stream.readline(MAX_LINE_LENGTH).rstrip(LINE_END)
