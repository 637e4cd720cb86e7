"""Bodies of uploads: decoded from the chunks of clients, hashed, checked, and written to a file.

Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html
Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming-trailers.html
"""

import base64
import hashlib
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from tidemark.glue_service.access.signature_v4 import ChunkSignatures
from tidemark.glue_service.s3.xml import S3Error
from tidemark.model.messages import plural

BLOCK = 1 << 20  # bytes
MAX_LINE_LENGTH = 1 << 14
LINE_END = b"\r\n"
CHUNK_SIZE = re.compile(rb"[0-9A-Fa-f]{1,16}")
CHUNK_SIGNATURE = b"chunk-signature="
CHUNKED = "aws-chunked"
MD5 = "content-md5"
HASHES = {
    MD5: hashlib.md5,
    "x-amz-checksum-sha1": hashlib.sha1,
    "x-amz-checksum-sha256": hashlib.sha256,
}


def _chunks(
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
    given = trailers.pop("x-amz-trailer-signature", "")
    if signatures and trailers and not signatures.is_trailer(_lines(trailers), given):
        raise S3Error("SignatureDoesNotMatch", "the signature of the trailer does not match it")


def _head(stream: IO[bytes]) -> tuple[int, str]:
    size, _, rest = _line(stream).partition(b";")
    if not CHUNK_SIZE.fullmatch(size):
        raise S3Error("IncompleteBody", f"the chunk head {size[:40]!r} is not a size")
    signed = rest.removeprefix(CHUNK_SIGNATURE) if rest.startswith(CHUNK_SIGNATURE) else b""
    return int(size, 16), signed.decode("latin-1")


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


@dataclass(frozen=True)
class Stored:
    """A written body: its size in bytes and its MD5 in hexadecimal digits."""

    size: int
    md5: str


def store_body(
    stream: IO[bytes],
    headers: Mapping[str, str],
    path: Path,
    signatures: ChunkSignatures | None = None,
) -> Stored:
    """Write the body of an upload into a file."""
    trailers: dict[str, str] = {}
    is_chunked = CHUNKED in headers.get("content-encoding", "") or headers.get(
        "x-amz-content-sha256", ""
    ).startswith("STREAMING-")
    blocks: Iterator[bytes] = iter(partial(stream.read, BLOCK), b"")
    if is_chunked:
        blocks = _chunks(stream, trailers, signatures)
    hashes = {name: kind(usedforsecurity=False) for name, kind in HASHES.items()}
    crc, size = 0, 0
    with path.open("xb") as file:
        for block in blocks:
            file.write(block)
            size += len(block)
            crc = zlib.crc32(block, crc)
            for digester in hashes.values():
                digester.update(block)
    if is_chunked:
        said = headers.get("x-amz-trailer", "")
        names = [name.strip().lower() for name in said.split(",") if name.strip()]
        if missing := [name for name in names if name not in trailers]:
            text = f"x-amz-trailer says {said!r}, but the body has no {', '.join(missing)}"
            raise S3Error("MalformedTrailerError", text)
    digests = {
        name: base64.b64encode(digester.digest()).decode() for name, digester in hashes.items()
    }
    digests["x-amz-checksum-crc32"] = base64.b64encode(crc.to_bytes(4)).decode()
    _check(digests, {**headers, **trailers}, size, headers.get("x-amz-decoded-content-length"))
    return Stored(size, hashes[MD5].hexdigest())


def _check(
    digests: Mapping[str, str], said: Mapping[str, str], size: int, length: str | None
) -> None:
    for name, digest in digests.items():
        if name in said and said[name] != digest:
            raise S3Error("BadDigest", f"{name} is {said[name]!r}, but the body has {digest!r}")
    if length is not None and length != str(size):
        raise S3Error(
            "IncompleteBody", f"the body has {plural(size, 'byte')}, and should have {length}"
        )
