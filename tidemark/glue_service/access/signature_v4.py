"""AWS's Signature Version 4, computed over a request as received.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html
Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming-trailers.html
"""

import hashlib
import hmac
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote, unquote_to_bytes

from botocore.utils import normalize_url_path

from tidemark.glue_service.access.head import Head

ALGORITHM = "AWS4-HMAC-SHA256"
TERMINATOR = "aws4_request"
SIGNATURE = "X-Amz-Signature"  # the part of a query that is not signed
UNRESERVED = "-_.~"
EMPTY = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True)
class Scope:
    """The scope of a signing key: the day, such as 20130524, the region and the service."""

    day: str
    region: str
    service: str

    def __str__(self) -> str:
        """Return it in its signed form."""
        return f"{self.day}/{self.region}/{self.service}/{TERMINATOR}"


@lru_cache(maxsize=256)
def signing_key(secret: str, scope: Scope) -> bytes:
    """Return the key that signs requests of a scope."""
    key = f"AWS4{secret}".encode()
    for word in (scope.day, scope.region, scope.service, TERMINATOR):
        key = hmac.digest(key, word.encode(), "sha256")
    return key


def signature(key: bytes, time: str, scope: Scope, canonical: str) -> str:
    """Return the signature of a request, in hexadecimal digits."""
    return sign(key, ALGORITHM, time, str(scope), _hash(canonical.encode("latin-1")))


def sign(key: bytes, *lines: str) -> str:
    """Return the signature of lines, in hexadecimal digits."""
    return hmac.digest(key, "\n".join(lines).encode("latin-1"), "sha256").hex()


def canonical_requests(
    head: Head, service: str, signed: Iterable[str], payload: str
) -> Iterator[str]:
    """Yield the forms in which a request may be signed: for S3 also the path as received."""
    names = tuple(signed)
    sent = ((name, head.headers.get(name, "").encode("latin-1")) for name in names)
    headers = (f"{name}:{b' '.join(value.split()).decode('latin-1')}" for name, value in sent)
    rest = "\n".join((canonical_query(head), *headers, "", ";".join(names), payload))
    for path in dict.fromkeys(canonical_paths(head.path, service)):
        yield f"{head.method}\n{path}\n{rest}"


def canonical_paths(path: str, service: str) -> tuple[str, ...]:
    """Return the signed forms of a URL's path."""
    if service == "s3":
        return quote(unquote_to_bytes(path.encode("latin-1")), safe=f"/{UNRESERVED}"), path
    return (quote(normalize_url_path(path).encode("latin-1"), safe=f"/{UNRESERVED}"),)


def canonical_query(head: Head) -> str:
    """Return the signed form of a URL's query."""
    pairs = ((_encoded(name), _encoded(value)) for name, value in head.pairs if name != SIGNATURE)
    return "&".join(f"{name}={value}" for name, value in sorted(pairs))


def _encoded(text: str) -> str:
    return quote(text.encode("latin-1"), safe=UNRESERVED)


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class ChunkSignatures:
    """Checks the chunks of a body in order: each signature covers the previous one."""

    def __init__(self, key: bytes, time: str, scope: Scope, seed: str) -> None:
        """Start with the signature of the request, ``seed``."""
        self._key, self._time, self._scope, self._last = key, time, str(scope), seed

    def is_chunk(self, digest: str, given: str) -> bool:
        """Return whether the next chunk, with this hash, has the given signature."""
        return self._is_next("PAYLOAD", given, EMPTY, digest)

    def is_trailer(self, lines: bytes, given: str) -> bool:
        """Return whether the headers after the last chunk have the given signature."""
        return self._is_next("TRAILER", given, _hash(lines))

    def _is_next(self, what: str, given: str, *hashes: str) -> bool:
        name = f"{ALGORITHM}-{what}"
        self._last = sign(self._key, name, self._time, self._scope, self._last, *hashes)
        return is_same(self._last, given)


def is_same(right: str, given: str) -> bool:
    """Compare two signatures in a time that reveals nothing about them."""
    return hmac.compare_digest(right.encode(), given.encode("utf-8", "replace"))
