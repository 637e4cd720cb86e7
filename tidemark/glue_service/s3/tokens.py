"""Continuation tokens of listings: the last key of a page, with a check that a page gave it."""

import base64
import binascii
import hashlib

from tidemark.glue_service.s3.errors import S3Error

CHECK = 12  # bytes
PURPOSE = b"continuation-token"


def written_token(key: str) -> str:
    """Return the token for what comes after a key; equal for equal keys, also after a restart."""
    text = key.encode()
    return base64.urlsafe_b64encode(_check(text) + text).decode()


def read_token(token: str) -> str:
    """Return the key of a token."""
    try:
        found = base64.b64decode(token.encode(), altchars=b"-_", validate=True)
        key = found[CHECK:].decode()
    except (binascii.Error, UnicodeError):
        raise _incorrect() from None
    if written_token(key) != token:
        raise _incorrect()
    return key


def _check(text: bytes) -> bytes:
    return hashlib.blake2b(text, digest_size=CHECK, person=PURPOSE[:16]).digest()


def _incorrect() -> S3Error:
    return S3Error("InvalidArgument", "The continuation token provided is incorrect")
