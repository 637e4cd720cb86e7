"""Conditions and ranges of requests, as plain data.

Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-requests.html
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from tidemark.glue_service.s3.xml import S3Error
from tidemark.model.messages import plural

RANGE = re.compile(r"bytes=(\d{0,999})-(\d{0,999})", re.ASCII)


def check_read(headers: Mapping[str, str], etag: str, modified_ns: int, prefix: str = "") -> None:
    """Refuse a read if an object does not meet its conditions."""
    match, none_match = (headers.get(f"{prefix}{name}") for name in ("if-match", "if-none-match"))
    if match is not None and not _names(match, etag):
        raise _failed("If-Match", f"If-Match is {match}, the ETag is {etag}")
    unmodified = _time(headers.get(f"{prefix}if-unmodified-since"))
    if match is None and unmodified is not None and modified_ns // 10**9 > unmodified:
        raise _failed("If-Unmodified-Since", "the object was modified since")
    not_modified = "PreconditionFailed" if prefix else "NotModified"
    if none_match is not None:
        if _names(none_match, etag):
            text = f"If-None-Match is {none_match}, and so is the ETag"
            raise S3Error(not_modified, text, "If-None-Match")
        return
    modified = _time(headers.get(f"{prefix}if-modified-since"))
    if modified is not None and modified_ns // 10**9 <= modified:
        raise S3Error(not_modified, "the object was not modified since", "If-Modified-Since")


def check_write(headers: Mapping[str, str], etag: str | None) -> None:
    """Refuse a write if the existing object does not meet its conditions."""
    match, none_match = headers.get("if-match"), headers.get("if-none-match")
    if none_match not in (None, "*"):
        raise S3Error("NotImplemented", f"If-None-Match of a write is {none_match}; allowed: *")
    if none_match == "*" and etag is not None:
        raise _failed("If-None-Match", "there is an object of this key already")
    if match is not None:
        if etag is None:
            raise S3Error("NoSuchKey", "If-Match is set, but the object does not exist")
        if not _names(match, etag):
            raise _failed("If-Match", f"If-Match is {match}, the ETag is {etag}")


def _failed(condition: str, text: str) -> S3Error:
    return S3Error("PreconditionFailed", text, condition)


def _names(header: str, etag: str) -> bool:
    words = [word.strip().removeprefix("W/").strip('"') for word in header.split(",")]
    return "*" in words or etag in words


def _time(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        time = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        # An invalid date is ignored, as in HTTP.
        return None
    return int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp())


def byte_range(header: str | None, size: int) -> tuple[int, int] | None:
    """Return the first byte of a range and the one after its last; None for the whole object."""
    match = RANGE.fullmatch(header or "")
    if match is None or match[0] == "bytes=-":
        return None
    first, last = match[1], match[2]
    if not first:
        begin, end = max(size - int(last), 0), size
        is_none = int(last) == 0
    else:
        begin, end = int(first), min(int(last) + 1, size) if last else size
        is_none = bool(last) and int(last) < begin
    if is_none or begin >= size:
        raise S3Error("InvalidRange", f"the range {header} is not one of {plural(size, 'byte')}")
    return begin, end


def http_date(epoch_ns: int) -> str:
    """Return a time in the form of headers."""
    return datetime.fromtimestamp(epoch_ns // 10**9, UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")
