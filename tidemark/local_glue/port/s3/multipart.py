"""Objects that are uploaded in parts.

Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/mpuoverview.html
"""

import hashlib
import json
import re
import secrets
import shutil
import time
from pathlib import Path
from typing import Any

from tidemark.local_glue.port.protocol.replies import Reply
from tidemark.local_glue.port.s3.bodies import store_body
from tidemark.local_glue.port.s3.calls import Call, Lake
from tidemark.local_glue.port.s3.conditions import byte_range
from tidemark.local_glue.port.s3.errors import S3Error
from tidemark.local_glue.port.s3.objects import (
    bytes_of,
    kept_headers,
    put_file,
    source_of,
    stat_of,
    tags_of,
)
from tidemark.local_glue.port.s3.places import bucket_folder, object_path
from tidemark.local_glue.port.s3.records import Record
from tidemark.local_glue.port.s3.xml import (
    LARGEST,
    local_name,
    members_of,
    read_xml,
    timestamp,
    xml_reply,
)

LEAST_PART = 5 * 1024**2  # bytes, of all but the last
MOST_PARTS = 10_000
UPLOAD_ID = re.compile(r"mpu-[0-9a-f]{32}")
ABOUT = "upload.json"


def create_multipart_upload(lake: Lake, call: Call) -> Reply:
    """Begin an upload; return its id."""
    object_path(lake.home, call.bucket, call.key)
    upload_id = f"mpu-{secrets.token_hex(16)}"
    folder = lake.uploads / upload_id
    folder.mkdir()
    kept = {"headers": kept_headers(call.headers), "tags": tags_of(call.headers)}
    about = {"bucket": call.bucket, "key": call.key, **kept}
    (folder / ABOUT).write_text(json.dumps(about), encoding="utf-8")
    members = {"Bucket": call.bucket, "Key": call.key, "UploadId": upload_id}
    return xml_reply("InitiateMultipartUploadResult", members)


def _upload(lake: Lake, call: Call) -> tuple[Path, dict[str, Any]]:
    upload_id = call.query.get("uploadId", "")
    folder = lake.uploads / upload_id
    if UPLOAD_ID.fullmatch(upload_id) and (folder / ABOUT).is_file():
        about: dict[str, Any] = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
        if (about["bucket"], about["key"]) == (call.bucket, call.key):
            return folder, about
    raise S3Error("NoSuchUpload", f"The specified multipart upload does not exist: {upload_id!r}")


def upload_part(lake: Lake, call: Call) -> Reply:
    """Store a part, from the body or from an object; one of the same number is replaced."""
    folder, _ = _upload(lake, call)
    number = call.number("partNumber", 0)
    if not 1 <= number <= MOST_PARTS:
        raise S3Error("InvalidArgument", f"partNumber is {number}; allowed: 1 to {MOST_PARTS}")
    written = folder / f"{secrets.token_hex(8)}.unfinished"
    copied = call.headers.get("x-amz-copy-source")
    try:
        md5 = _copy(lake, call, copied, written) if copied else _store(call, written)
        written.replace(folder / _name(number, md5))
    finally:
        written.unlink(missing_ok=True)
    for other in folder.glob(f"{number:05}-*"):
        if other.name != _name(number, md5):
            other.unlink(missing_ok=True)
    if copied:
        now = timestamp(time.time_ns())
        return xml_reply("CopyPartResult", {"LastModified": now, "ETag": f'"{md5}"'})
    return Reply(200, {"ETag": f'"{md5}"'})


def _store(call: Call, written: Path) -> str:
    return store_body(call.stream, call.headers, written).md5


def _copy(lake: Lake, call: Call, header: str, written: Path) -> str:
    source, stat = stat_of(lake, *source_of(header))
    asked = call.headers.get("x-amz-copy-source-range")
    begin, end = byte_range(asked, stat.st_size) or (0, stat.st_size)
    digest = hashlib.md5(usedforsecurity=False)
    with written.open("xb") as file:
        for block in bytes_of(source, begin, end):
            digest.update(block)
            file.write(block)
    return digest.hexdigest()


def _name(number: int, md5: str) -> str:
    return f"{number:05}-{md5}"


def _parts(folder: Path) -> dict[int, Path]:
    return {int(path.name[:5]): path for path in sorted(folder.glob("[0-9]*-*"))}


def complete_multipart_upload(lake: Lake, call: Call) -> Reply:
    """Make the object of the parts that the request lists."""
    folder, about = _upload(lake, call)
    document = read_xml(call.document(LARGEST))
    listed = [members_of(e) for e in document if local_name(e) == "Part"]
    parts = _chosen(_parts(folder), listed)
    whole = folder / f"{secrets.token_hex(8)}.unfinished"
    digest = hashlib.md5(usedforsecurity=False)
    try:
        with whole.open("xb") as file:
            for part in parts:
                digest.update(bytes.fromhex(part.name[6:]))
                with part.open("rb") as source:
                    shutil.copyfileobj(source, file, 1 << 20)
        etag = f"{digest.hexdigest()}-{len(parts)}"
        record = Record(etag, about["headers"], about.get("tags", {}))
        put_file(lake, call, whole, record)
    finally:
        whole.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    members = {"Bucket": call.bucket, "Key": call.key, "ETag": f'"{record.etag}"'}
    return xml_reply("CompleteMultipartUploadResult", members)


def _chosen(there: dict[int, Path], listed: list[dict[str, str]]) -> list[Path]:
    if not listed:
        raise S3Error("MalformedXML", "the request lists no parts")
    found = []
    for part in listed:
        text = part.get("PartNumber", "")
        path = there.get(int(text)) if text.isascii() and text.isdigit() else None
        if path is None or path.name[6:] != part.get("ETag", "").strip('"'):
            raise S3Error("InvalidPart", f"part {text!r} was not uploaded with this ETag")
        found.append(path)
    numbers = [path.name[:5] for path in found]
    if numbers != sorted(set(numbers)):
        raise S3Error("InvalidPartOrder", "the parts are not in the order of their numbers")
    if small := [path.name[:5] for path in found[:-1] if path.stat().st_size < LEAST_PART]:
        raise S3Error("EntityTooSmall", f"part {small[0]} has less than {LEAST_PART:,} bytes")
    return found


def abort_multipart_upload(lake: Lake, call: Call) -> Reply:
    """Forget an upload and its parts."""
    folder, _ = _upload(lake, call)
    shutil.rmtree(folder, ignore_errors=True)
    return Reply(204, {})


def list_parts(lake: Lake, call: Call) -> Reply:
    """Return the parts of an upload, all in one page."""
    folder, _ = _upload(lake, call)
    parts = [
        {
            "PartNumber": number,
            "LastModified": timestamp(path.stat().st_mtime_ns),
            "ETag": f'"{path.name[6:]}"',
            "Size": path.stat().st_size,
        }
        for number, path in _parts(folder).items()
    ]
    members = {"Bucket": call.bucket, "Key": call.key, "UploadId": folder.name}
    return xml_reply("ListPartsResult", {**members, "IsTruncated": False, "Part": parts})


def list_multipart_uploads(lake: Lake, call: Call) -> Reply:
    """Return the uploads of a bucket that are not finished, all in one page."""
    bucket_folder(lake.home, call.bucket)
    found = []
    for about_file in lake.uploads.glob(f"mpu-*/{ABOUT}"):
        about = json.loads(about_file.read_text(encoding="utf-8"))
        if about["bucket"] == call.bucket and about["key"].startswith(call.query.get("prefix", "")):
            initiated = timestamp(about_file.stat().st_mtime_ns)
            upload_id = about_file.parent.name
            found.append({"Key": about["key"], "UploadId": upload_id, "Initiated": initiated})
    found.sort(key=lambda upload: (upload["Key"], upload["Initiated"]))
    members = {"Bucket": call.bucket, "IsTruncated": False, "Upload": found}
    return xml_reply("ListMultipartUploadsResult", members)
