"""S3's operations on objects.

Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html
"""

import contextlib
import os
import secrets
import time
import urllib.parse
from collections.abc import Mapping
from pathlib import Path

from tidemark.glue_service.protocol.replies import Reply
from tidemark.glue_service.s3.bodies import CHUNKED, store_body
from tidemark.glue_service.s3.calls import Call, Lake, bucket_folder, object_path
from tidemark.glue_service.s3.conditions import byte_range, check_read, check_write, http_date
from tidemark.glue_service.s3.records import EMPTY, Record
from tidemark.glue_service.s3.seen import SeenObject, open_object, see
from tidemark.glue_service.s3.tags import checked_tags
from tidemark.glue_service.s3.xml import (
    MAX_SIZE,
    S3Error,
    local_name,
    members_of,
    read_xml,
    timestamp,
    xml_reply,
)

USER_METADATA = "x-amz-meta-"
STORED = ("Cache-Control", "Content-Disposition", "Content-Encoding", "Content-Language", "Expires")
RESPONSE_HEADERS = (
    *("Content-Type", "Content-Disposition", "Content-Encoding", "Content-Language"),
    *("Cache-Control", "Expires"),
)
CONTENT_TYPE = "binary/octet-stream"
MAX_METADATA = 2048  # bytes of names and values
MAX_DELETED = 1000
NO_VERSION = "null"  # the version of an object in a bucket without versions


def get_object(lake: Lake, call: Call) -> Reply:
    """Return an object or a range of it; for a HEAD request the headers only."""
    if call.method != "GET":
        reply, _ = _described(call, see(lake, call.bucket, call.key))
        return reply
    seen, file = open_object(lake, call.bucket, call.key)
    with contextlib.ExitStack() as stack:
        stack.callback(file.close)
        reply, begin = _described(call, seen)
        if not reply.length:
            return reply
        file.seek(begin)
        # The sender of the answer closes the file.
        stack.pop_all()
        return Reply(reply.status, reply.headers, file, reply.length)


def _described(call: Call, seen: SeenObject) -> tuple[Reply, int]:
    record, size, written_ns = seen.record, seen.size, seen.stat.st_mtime_ns
    check_read(call.headers, record.etag, written_ns)
    if call.number("partNumber", 1) != 1:
        raise S3Error("InvalidPartNumber", "objects have a single part here; allowed: partNumber 1")
    part = byte_range(call.headers.get("range"), size) if size else None
    begin, end = part or (0, size)
    # A presigned URL may set headers, by fields such as response-content-type.
    given = ((header, call.query.get(f"response-{header.lower()}")) for header in RESPONSE_HEADERS)
    headers = {
        "Content-Type": CONTENT_TYPE,
        **record.headers,
        "ETag": f'"{record.etag}"',
        "Last-Modified": http_date(written_ns),
        "Accept-Ranges": "bytes",
        **{header: _sendable(header, value) for header, value in given if value is not None},
    }
    if record.tags:
        headers["x-amz-tagging-count"] = str(len(record.tags))
    if part:
        headers["Content-Range"] = f"bytes {begin}-{end - 1}/{size}"
    return Reply(206 if part else 200, headers, b"", end - begin), begin


def _sendable(header: str, value: str) -> str:
    """Return a value that a URL gives a header; refuse one that a header cannot have, as S3."""
    if not value.isprintable() or not value.isascii():
        raise S3Error(
            "InvalidArgument",
            "Header value cannot be represented using ISO-8859-1: "
            f"response-{header.lower()} is {value!r}; allowed: ASCII without controls",
        )
    return value


def put_object(lake: Lake, call: Call) -> Reply:
    """Store an object, whole or not at all."""
    path = object_path(lake.home, call.bucket, call.key)
    part = lake.uploads / secrets.token_hex(16)
    try:
        stored = store_body(call.stream, call.headers, part, call.payload.chunks)
        if call.key.endswith("/"):
            record = Record(EMPTY, kept_headers(call.headers), tags_of(call.headers))
            _put_folder(lake, call, path, stored.size, record)
            return Reply(200, {"ETag": f'"{record.etag}"'})
        record = Record(stored.md5, kept_headers(call.headers), tags_of(call.headers))
        put_file(lake, call, part, record)
    finally:
        part.unlink(missing_ok=True)
    return Reply(200, {"ETag": f'"{record.etag}"'})


def _put_folder(lake: Lake, call: Call, path: Path, size: int, record: Record) -> os.stat_result:
    if size:
        raise S3Error("InvalidArgument", f"the key {call.key!r} is a folder: it has no bytes")
    with lake.lock:
        is_there = call.key in lake.records.folders(call.bucket, call.key) and path.is_dir()
        check_write(call.headers, EMPTY if is_there else None)
        make_folder(path)
        stat = path.stat()
        lake.records.put(call.bucket, call.key, stat, record)
        lake.snapshots.note_upload(call.bucket)
    return stat


def put_file(lake: Lake, call: Call, part: Path, record: Record) -> os.stat_result:
    """Move a written file to the place of an object, if the conditions of the call hold."""
    path = object_path(lake.home, call.bucket, call.key)
    with lake.lock:
        check_write(call.headers, _current_etag(lake, call))
        _delete_empty_folders(path, call.key)
        make_folder(path.parent)
        # The file system gives equal times to files of one moment.
        now_ns = time.time_ns()
        os.utime(part, ns=(now_ns, now_ns))
        stat = part.stat()
        lake.records.put(call.bucket, call.key, stat, record)
        part.replace(path)
        lake.records.delete_others(call.bucket, call.key, stat)
        lake.snapshots.note_upload(call.bucket)
    return stat


def _current_etag(lake: Lake, call: Call) -> str | None:
    try:
        return see(lake, call.bucket, call.key).record.etag
    except S3Error as error:
        if error.code != "NoSuchKey":
            raise
        return None


def _delete_empty_folders(path: Path, key: str) -> None:
    # A killed writer may have left folders without a file.
    if not path.is_dir():
        return
    for folder, _, _ in os.walk(path, topdown=False):
        with contextlib.suppress(OSError):
            Path(folder).rmdir()
    if path.is_dir():
        raise S3Error("InvalidArgument", f"the lake has a folder at {key!r}; no file can be there")


def make_folder(folder: Path) -> None:
    """Create a folder and its parents."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise S3Error(
            "InvalidArgument", f"the lake has a file where {folder.name!r} would be a folder"
        ) from error


def kept_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of an upload that answers repeat.

    Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingMetadata.html
    """
    kept = {"Content-Type": headers.get("content-type") or CONTENT_TYPE}
    kept |= {name: headers[name.lower()] for name in STORED if name.lower() in headers}
    metadata = {name: value for name, value in headers.items() if name.startswith(USER_METADATA)}
    size = sum(len(name) - len(USER_METADATA) + len(value) for name, value in metadata.items())
    if size > MAX_METADATA:
        text = f"the user metadata has {size:,} bytes; allowed: {MAX_METADATA:,}"
        raise S3Error("MetadataTooLarge", text)
    kept |= metadata
    words = [word.strip() for word in kept.pop("Content-Encoding", "").split(",")]
    encoding = ",".join(word for word in words if word not in ("", CHUNKED))
    return {**kept, "Content-Encoding": encoding} if encoding else kept


def tags_of(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the tags that a request sets on an object."""
    text = headers.get("x-amz-tagging", "")
    return checked_tags(urllib.parse.parse_qsl(text, keep_blank_values=True))


def copy_object(lake: Lake, call: Call) -> Reply:
    """Copy an object, with its metadata and tags unless the request replaces them."""
    bucket, key = source_of(call.headers["x-amz-copy-source"])
    replaces = _is_replaced(call.headers, "x-amz-metadata-directive")
    retags = _is_replaced(call.headers, "x-amz-tagging-directive")
    path = object_path(lake.home, call.bucket, call.key)
    seen, stream = open_object(lake, bucket, key)
    part = lake.uploads / secrets.token_hex(16)
    try:
        record = seen.record
        check_read(call.headers, record.etag, seen.stat.st_mtime_ns, "x-amz-copy-source-")
        if (bucket, key) == (call.bucket, call.key) and not replaces:
            raise S3Error(
                "InvalidRequest",
                "This copy request is illegal because it is trying to copy an object to itself "
                "without changing the object's metadata",
            )
        stored = store_body(stream, {}, part)
        new = Record(
            stored.md5,
            kept_headers(call.headers) if replaces else record.headers,
            tags_of(call.headers) if retags else record.tags,
        )
        if call.key.endswith("/"):
            stat = _put_folder(lake, call, path, stored.size, new)
        else:
            stat = put_file(lake, call, part, new)
    finally:
        stream.close()
        part.unlink(missing_ok=True)
    members = {"LastModified": timestamp(stat.st_mtime_ns), "ETag": f'"{new.etag}"'}
    return xml_reply("CopyObjectResult", members)


def _is_replaced(headers: Mapping[str, str], name: str) -> bool:
    directive = headers.get(name, "COPY")
    if directive not in ("COPY", "REPLACE"):
        raise S3Error("InvalidArgument", f"{name} is {directive!r}; allowed: COPY, REPLACE")
    return directive == "REPLACE"


def source_of(header: str) -> tuple[str, str]:
    """Return bucket and key of x-amz-copy-source."""
    path, _, version = header.partition("?")
    if version:
        raise S3Error("NotImplemented", "buckets have no versions here; leave versionId out")
    bucket, slash, key = urllib.parse.unquote(path).removeprefix("/").partition("/")
    if not (bucket and slash and key):
        raise S3Error("InvalidArgument", f"x-amz-copy-source is {header!r}; write bucket/key")
    return bucket, key


def delete_object(lake: Lake, call: Call) -> Reply:
    """Delete an object; a missing object is not an error."""
    delete_key(lake, call.bucket, call.key, call.headers.get("if-match"))
    return Reply(204, {})


def delete_objects(lake: Lake, call: Call) -> Reply:
    """Delete up to 1,000 objects."""
    document = read_xml(call.document(MAX_SIZE))
    objects = [members_of(e) for e in document if local_name(e) == "Object"]
    if not 1 <= len(objects) <= MAX_DELETED:
        raise S3Error("MalformedXML", f"{len(objects)} keys; allowed: 1 to {MAX_DELETED}")
    is_quiet = members_of(document).get("Quiet", "") == "true"
    deleted, errors = [], []
    for listed in objects:
        key = listed.get("Key", "")
        try:
            if listed.get("VersionId", NO_VERSION) != NO_VERSION:
                raise S3Error("NotImplemented", "buckets have no versions here")
            delete_key(lake, call.bucket, key, listed.get("ETag"))
            deleted.append({"Key": key})
        except S3Error as error:
            errors.append({"Key": key, "Code": error.code, "Message": str(error)})
    return xml_reply("DeleteResult", {"Deleted": [] if is_quiet else deleted, "Error": errors})


def delete_key(lake: Lake, bucket: str, key: str, match: str | None = None) -> None:
    """Delete the file of a key, its record, and folders that become empty."""
    with lake.lock:
        try:
            seen = see(lake, bucket, key)
        except S3Error as error:
            if error.code == "NoSuchKey":
                return
            raise
        if match is not None:
            check_write({"if-match": match}, seen.record.etag)
        path = seen.path
        if not key.endswith("/"):
            path.unlink(missing_ok=True)
            path = path.parent
        lake.records.delete(bucket, key)
        # The lock keeps uploads from creating a folder meanwhile.
        _delete_empty(lake, bucket, path)


def _delete_empty(lake: Lake, bucket: str, folder: Path) -> None:
    """Delete empty folders, up to one that a client put."""
    root = bucket_folder(lake.home, bucket)
    while folder != root:
        key = f"{folder.relative_to(root)}/"
        if key in lake.records.folders(bucket, key):
            return
        with contextlib.suppress(OSError):
            folder.rmdir()
        if folder.exists():
            return
        folder = folder.parent
