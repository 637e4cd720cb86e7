"""One request to S3, parsed; and the state for its operations: the lake, and paths in it."""

import threading
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from tidemark.errors import EntityNotFoundError, UsageError
from tidemark.glue_service.access.payload import PAYLOAD, UNCHECKED, Payload
from tidemark.glue_service.s3.listing import Snapshots
from tidemark.glue_service.s3.records import Records
from tidemark.glue_service.s3.xml import S3Error
from tidemark.local_state.home import NO_BUCKET, UPLOADS, Home

MAX_SIZE = 2**31 - 1  # maximum of a numeric parameter
US_EAST_1 = "us-east-1"
MAX_KEY_LENGTH = 1024  # bytes
TOO_LONG = "is too long"
MAX_NAME_LENGTH = 255  # bytes of a part of a key: the longest name of a folder or a file


@dataclass(frozen=True)
class Lake:
    """The buckets, and S3's own records about them."""

    home: Home
    records: Records
    region: str = US_EAST_1
    snapshots: Snapshots = field(default_factory=Snapshots)
    lock: threading.Lock = field(default_factory=threading.Lock)  # for conditional writes

    @property
    def uploads(self) -> Path:
        """The folder of unfinished uploads, on the disk of the lake."""
        folder = self.home.root / UPLOADS
        folder.mkdir(exist_ok=True)
        return folder


@dataclass(frozen=True)
class Call:
    """One request: its bucket and key, parameters of its query, headers in lower case, body.

    `payload` is the check of the body by the signature.
    """

    method: str
    bucket: str
    key: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    stream: IO[bytes]
    payload: Payload = UNCHECKED

    def document(self, largest: int) -> bytes:
        """Return the body of a request with XML."""
        body = self.stream.read(largest + 1)
        if len(body) > largest:
            raise S3Error("MaxMessageLengthExceeded", f"the body has more than {largest:,} bytes")
        return body

    def number(self, name: str, otherwise: int) -> int:
        """Return a parameter that is a number."""
        text = self.query.get(name, "") or str(otherwise)
        if not (text.isascii() and text.isdigit() and len(text) <= 10 and int(text) <= MAX_SIZE):
            allowed = f"a number from 0 to {MAX_SIZE}"
            raise S3Error("InvalidArgument", f"{name} is {text[:40]!r}; allowed: {allowed}")
        return int(text)

    @property
    def is_url_encoded(self) -> bool:
        """Whether a listing encodes its keys for URLs."""
        kind = self.query.get("encoding-type")
        if kind not in (None, "url"):
            raise S3Error("InvalidArgument", f"encoding-type is {kind!r}; allowed: url")
        return kind == "url"


def call_of(environ: Mapping[str, Any], headers: Mapping[str, str]) -> Call:
    """Return a WSGI request as a call of S3, with its bucket in the path or in the host."""
    try:
        path = environ["PATH_INFO"].encode("latin-1").decode()
    except UnicodeDecodeError as error:
        raise S3Error("InvalidURI", f"the path is not UTF-8: {error}") from error
    name = urllib.parse.urlsplit(f"//{headers.get('host', '')}").hostname or ""
    if name.endswith(".localhost"):
        path = f"/{name.removesuffix('.localhost')}{path}"
    bucket, _, key = path.removeprefix("/").partition("/")
    query = urllib.parse.parse_qsl(environ.get("QUERY_STRING", ""), keep_blank_values=True)
    method = environ["REQUEST_METHOD"]
    stream, payload = environ["wsgi.input"], environ.get(PAYLOAD, UNCHECKED)
    return Call(method, bucket, key, dict(query), headers, stream, payload)


def bucket_folder(home: Home, bucket: str) -> Path:
    """Return the folder of a bucket."""
    try:
        return home.existing_path(f"s3://{bucket}/")
    except EntityNotFoundError as error:
        why = str(error).removeprefix(f"{NO_BUCKET}: ")
        raise S3Error("NoSuchBucket", f"The specified bucket does not exist: {why}") from error
    except UsageError as error:
        raise S3Error("InvalidBucketName", f"The specified bucket is not valid: {error}") from error


def object_path(home: Home, bucket: str, key: str) -> Path:
    """Return the path of an object, which may not exist; a key that ends with / is a folder."""
    bucket_folder(home, bucket)
    if why := key_problem(key):
        code = "KeyTooLongError" if why.startswith(TOO_LONG) else "InvalidArgument"
        raise S3Error(code, f"the key {key!r} {why}")
    try:
        return home.existing_path(f"s3://{bucket}/{key}")
    except UsageError as error:
        raise S3Error("AccessDenied", str(error)) from error


def key_problem(key: str) -> str | None:
    """Return why a key cannot be a file of the lake; None if it can."""
    try:
        size = len(key.encode())
    except UnicodeEncodeError:
        return "is not valid Unicode"
    parts = key.removesuffix("/").split("/")
    if size > MAX_KEY_LENGTH or any(len(part.encode()) > MAX_NAME_LENGTH for part in parts):
        return f"{TOO_LONG}; allowed: {MAX_KEY_LENGTH} bytes, {MAX_NAME_LENGTH} between two /"
    if "\0" in key or any(part in ("", ".", "..") for part in parts):
        return "has an empty part, '.', '..' or a zero byte, which cannot be the name of a folder"
    return None
