"""Objects that are uploaded in parts.

Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/mpuoverview.html
"""

import contextlib
import hashlib
import json
import os
import re
import secrets
import shutil
import time
from pathlib import Path
from typing import Any

from tidemark.glue_job.process.lake_fs.semantics import is_of_running_jvm
from tidemark.glue_service.protocol.replies import Reply
from tidemark.glue_service.s3.bodies import BLOCK, store_body
from tidemark.glue_service.s3.calls import Call, Lake, object_path
from tidemark.glue_service.s3.conditions import byte_range, check_read
from tidemark.glue_service.s3.objects import kept_headers, put_file, source_of, tags_of
from tidemark.glue_service.s3.records import Record
from tidemark.glue_service.s3.seen import open_object
from tidemark.glue_service.s3.xml import (
    MAX_SIZE,
    S3Error,
    local_name,
    members_of,
    read_xml,
    timestamp,
    xml_reply,
)

MIN_PART = 5 * 1024**2  # bytes, of all but the last
MAX_PARTS = 10_000
PART_NUMBER = re.compile("[0-9]{1,5}")
PART_NAME = re.compile(r"[0-9]{5}-[0-9a-f]{32}")
UPLOAD_ID = re.compile(r"mpu-[0-9a-f]{32}")
ABOUT = "upload.json"
UNFINISHED = ".unfinished"  # suffix of files in progress


def delete_dead_uploads(uploads: Path) -> None:
    """Delete the unfinished files of a killed process; keep parts of uploads that may continue."""
    for path in uploads.iterdir():
        if is_of_running_jvm(path):
            continue
        if not UPLOAD_ID.fullmatch(path.name):
            _delete(path)
            continue
        for part in path.glob(f"*{UNFINISHED}"):
            _delete(part)


def _delete(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _forget(folder: Path) -> None:
    dead = folder.with_name(f"{folder.name}{UNFINISHED}")
    with contextlib.suppress(FileNotFoundError):  # another call has ended it
        # All of it at once, then its files: a kill leaves no half of an upload.
        folder.rename(dead)
    shutil.rmtree(dead, ignore_errors=True)


def create_multipart_upload(lake: Lake, call: Call) -> Reply:
    """Start an upload; return its id."""
    object_path(lake.home, call.bucket, call.key)
    upload_id = f"mpu-{secrets.token_hex(16)}"
    facts = {"headers": kept_headers(call.headers), "tags": tags_of(call.headers)}
    about = {"bucket": call.bucket, "key": call.key, **facts}
    new = lake.uploads / f"{upload_id}{UNFINISHED}"
    new.mkdir()
    (new / ABOUT).write_text(json.dumps(about), encoding="utf-8")
    new.rename(lake.uploads / upload_id)
    members = {"Bucket": call.bucket, "Key": call.key, "UploadId": upload_id}
    return xml_reply("InitiateMultipartUploadResult", members)


def find_upload(lake: Lake, call: Call) -> tuple[Path, dict[str, Any]]:
    """Return the folder of the upload that a request names, and the data from its start."""
    upload_id = call.query.get("uploadId", "")
    folder = lake.uploads / upload_id
    about = about_upload(folder)
    if about and (about["bucket"], about["key"]) == (call.bucket, call.key):
        return folder, about
    raise _no_such(upload_id)


def about_upload(folder: Path) -> dict[str, Any] | None:
    """Return the data from the start of an upload; None if a folder has no upload."""
    if not UPLOAD_ID.fullmatch(folder.name):
        return None
    try:
        about: dict[str, Any] = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None  # it has ended
    return about


def _no_such(upload_id: str) -> S3Error:
    return S3Error("NoSuchUpload", f"The specified multipart upload does not exist: {upload_id!r}")


def upload_part(lake: Lake, call: Call) -> Reply:
    """Store a part, from the body or from an object; it replaces one with the same number."""
    folder, _ = find_upload(lake, call)
    number = call.number("partNumber", 0)
    if not 1 <= number <= MAX_PARTS:
        raise S3Error("InvalidArgument", f"partNumber is {number}; allowed: 1 to {MAX_PARTS}")
    written = folder / f"{secrets.token_hex(8)}{UNFINISHED}"
    copied = call.headers.get("x-amz-copy-source")
    try:
        md5 = _copy(lake, call, copied, written) if copied else _store(call, written)
        with lake.lock:
            # The newest part of a number counts.
            now_ns = time.time_ns()
            os.utime(written, ns=(now_ns, now_ns))
            written.replace(folder / _name(number, md5))
            for older in folder.glob(f"{number:05}-*"):
                if older.name != _name(number, md5):
                    older.unlink(missing_ok=True)
    except FileNotFoundError:
        raise _no_such(folder.name) from None  # it was ended meanwhile
    finally:
        written.unlink(missing_ok=True)
    if copied:
        now = timestamp(time.time_ns())
        return xml_reply("CopyPartResult", {"LastModified": now, "ETag": f'"{md5}"'})
    return Reply(200, {"ETag": f'"{md5}"'})


def _store(call: Call, written: Path) -> str:
    return store_body(call.stream, call.headers, written, call.payload.chunks).md5


def _copy(lake: Lake, call: Call, header: str, written: Path) -> str:
    seen, source = open_object(lake, *source_of(header))
    digest = hashlib.md5(usedforsecurity=False)
    with source, written.open("xb") as file:
        check_read(call.headers, seen.record.etag, seen.stat.st_mtime_ns, "x-amz-copy-source-")
        part_range = call.headers.get("x-amz-copy-source-range")
        begin, end = byte_range(part_range, seen.size) or (0, seen.size)
        source.seek(begin)
        left = end - begin
        while left and (block := source.read(min(left, BLOCK))):
            left -= len(block)
            digest.update(block)
            file.write(block)
    return digest.hexdigest()


def _name(number: int, md5: str) -> str:
    return f"{number:05}-{md5}"


def parts_of(folder: Path) -> dict[int, Path]:
    """Return the parts by number; the newer one if a kill left two of one number."""
    paths = [path for path in folder.glob("[0-9]*-*") if PART_NAME.fullmatch(path.name)]
    try:
        paths.sort(key=lambda path: (path.name[:5], path.stat().st_mtime_ns))
    except FileNotFoundError:  # one was replaced meanwhile
        return parts_of(folder)
    return {int(path.name[:5]): path for path in paths}


def complete_multipart_upload(lake: Lake, call: Call) -> Reply:
    """Create the object from the parts in the request."""
    folder, about = find_upload(lake, call)
    document = read_xml(call.document(MAX_SIZE))
    listed = [members_of(e) for e in document if local_name(e) == "Part"]
    parts = _chosen(parts_of(folder), listed)
    whole = folder / f"{secrets.token_hex(8)}{UNFINISHED}"
    digest = hashlib.md5(usedforsecurity=False)
    try:
        with whole.open("xb") as file:
            for part in parts:
                digest.update(bytes.fromhex(part.name[6:]))
                with part.open("rb") as source:
                    shutil.copyfileobj(source, file, BLOCK)
        etag = f"{digest.hexdigest()}-{len(parts)}"
        record = Record(etag, about["headers"], about.get("tags", {}))
        put_file(lake, call, whole, record)
    except FileNotFoundError:
        raise _no_such(folder.name) from None  # it was ended meanwhile
    finally:
        whole.unlink(missing_ok=True)
    _forget(folder)
    members = {"Bucket": call.bucket, "Key": call.key, "ETag": f'"{record.etag}"'}
    return xml_reply("CompleteMultipartUploadResult", members)


def _chosen(there: dict[int, Path], listed: list[dict[str, str]]) -> list[Path]:
    if not listed:
        raise S3Error("MalformedXML", "the request lists no parts")
    chosen = []
    for part in listed:
        text = part.get("PartNumber", "")
        path = there.get(int(text)) if PART_NUMBER.fullmatch(text) else None
        if path is None or path.name[6:] != part.get("ETag", "").strip('"'):
            raise S3Error("InvalidPart", f"part {text!r} was not uploaded with this ETag")
        chosen.append(path)
    numbers = [path.name[:5] for path in chosen]
    if numbers != sorted(set(numbers)):
        raise S3Error("InvalidPartOrder", "the parts are not in the order of their numbers")
    if small := [path.name[:5] for path in chosen[:-1] if path.stat().st_size < MIN_PART]:
        raise S3Error("EntityTooSmall", f"part {small[0]} has less than {MIN_PART:,} bytes")
    return chosen


def abort_multipart_upload(lake: Lake, call: Call) -> Reply:
    """Delete an upload and its parts."""
    folder, _ = find_upload(lake, call)
    _forget(folder)
    return Reply(204, {})
