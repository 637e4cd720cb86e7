"""Bodies of uploads: decoded from chunks, hashed, checked, and written to a file.

Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html
"""

import base64
import hashlib
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from tidemark.glue_service.access.signature_v4 import ChunkSignatures
from tidemark.glue_service.s3.chunks import BLOCK, chunks_of
from tidemark.glue_service.s3.xml import S3Error
from tidemark.model.messages import plural

CHUNKED = "aws-chunked"
MD5 = "content-md5"
CRC32 = "x-amz-checksum-crc32"
HASHES = {
    MD5: hashlib.md5,
    "x-amz-checksum-sha1": hashlib.sha1,
    "x-amz-checksum-sha256": hashlib.sha256,
}


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
        blocks = chunks_of(stream, trailers, signatures)
    hashes = {name: kind(usedforsecurity=False) for name, kind in HASHES.items()}
    crc, size = 0, 0
    with path.open("xb") as file:
        for block in blocks:
            file.write(block)
            size += len(block)
            crc = zlib.crc32(block, crc)
            for one in hashes.values():
                one.update(block)
    if is_chunked:
        said = headers.get("x-amz-trailer", "")
        names = [name.strip().lower() for name in said.split(",") if name.strip()]
        if missing := [name for name in names if name not in trailers]:
            text = f"x-amz-trailer says {said!r}, but the body has no {', '.join(missing)}"
            raise S3Error("MalformedTrailerError", text)
    digests = {name: base64.b64encode(one.digest()).decode() for name, one in hashes.items()}
    digests[CRC32] = base64.b64encode(crc.to_bytes(4)).decode()
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
            "IncompleteBody", f"the body has {plural(size, 'byte')}, and should have {length:,}"
        )
