"""The listings of unfinished uploads, and of their parts.

Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListMultipartUploads.html
"""

import urllib.parse
from collections.abc import Iterator, Mapping
from typing import Any

from tidemark.glue_service.protocol.replies import Reply
from tidemark.glue_service.s3.calls import Call, Lake, bucket_folder
from tidemark.glue_service.s3.listing import rolled_up
from tidemark.glue_service.s3.multipart import ABOUT, about_upload, find_upload, parts_of
from tidemark.glue_service.s3.xml import timestamp, xml_reply

PAGE = 1000


def list_parts(lake: Lake, call: Call) -> Reply:
    """Return a page of the parts of an upload."""
    folder, _ = find_upload(lake, call)
    size = min(call.number("max-parts", PAGE), PAGE)
    marker = call.number("part-number-marker", 0)
    later = [(number, path) for number, path in parts_of(folder).items() if number > marker]
    parts = [
        {
            "PartNumber": number,
            "LastModified": timestamp(path.stat().st_mtime_ns),
            "ETag": f'"{path.name[6:]}"',
            "Size": path.stat().st_size,
        }
        for number, path in later[:size]
    ]
    is_truncated = 0 < size < len(later)
    members = {
        "Bucket": call.bucket,
        "Key": call.key,
        "UploadId": folder.name,
        "PartNumberMarker": marker,
        "NextPartNumberMarker": later[size - 1][0] if is_truncated else None,
        "MaxParts": size,
        "IsTruncated": is_truncated,
        "Part": parts,
    }
    return xml_reply("ListPartsResult", members)


def list_multipart_uploads(lake: Lake, call: Call) -> Reply:
    """Return a page of the unfinished uploads of a bucket."""
    bucket_folder(lake.home, call.bucket)
    is_encoded, size = call.is_url_encoded, min(call.number("max-uploads", PAGE), PAGE)
    query = {name: call.query.get(name, "") for name in ("prefix", "delimiter")}
    key_marker, id_marker = (call.query.get(f"{of}-marker", "") for of in ("key", "upload-id"))
    listed = [
        item
        for item in _items(lake, call.bucket, **query)
        if _is_after(item, key_marker, id_marker)
    ]
    page = listed[:size]
    is_truncated = 0 < size < len(listed)
    last: Mapping[str, Any] = page[-1] if is_truncated else {}

    def written(key: str) -> str:
        return urllib.parse.quote(key, safe="/") if is_encoded else key

    members = {
        "Bucket": call.bucket,
        "KeyMarker": written(key_marker),
        "UploadIdMarker": id_marker,
        "NextKeyMarker": written(last["Key"]) if last else None,
        "NextUploadIdMarker": last.get("UploadId"),
        "Prefix": written(query["prefix"]),
        "Delimiter": written(query["delimiter"]) or None,
        "EncodingType": "url" if is_encoded else None,
        "MaxUploads": size,
        "IsTruncated": is_truncated,
        "Upload": [{**u, "Key": written(u["Key"])} for u in page if "UploadId" in u],
        "CommonPrefixes": [{"Prefix": written(u["Key"])} for u in page if "UploadId" not in u],
    }
    return xml_reply("ListMultipartUploadsResult", members)


def _items(lake: Lake, bucket: str, prefix: str, delimiter: str) -> list[dict[str, str]]:
    """Return uploads, and common prefixes without an id, by key, then by id."""
    uploads, prefixes = [], set()
    for upload in _uploads(lake, bucket):
        key = upload["Key"]
        if not key.startswith(prefix):
            continue
        common = rolled_up(key, prefix, delimiter) if delimiter else key
        if delimiter and delimiter in key[len(prefix) :]:
            prefixes.add(common)
        else:
            uploads.append(upload)
    items = [*uploads, *({"Key": item} for item in prefixes)]
    return sorted(items, key=lambda item: (item["Key"].encode(), item.get("UploadId", "")))


def _uploads(lake: Lake, bucket: str) -> Iterator[dict[str, str]]:
    for folder in lake.uploads.iterdir():
        about = about_upload(folder)
        if about is None or about["bucket"] != bucket:
            continue
        try:
            initiated = timestamp((folder / ABOUT).stat().st_mtime_ns)
        except FileNotFoundError:
            continue  # it was ended meanwhile
        yield {"Key": about["key"], "UploadId": folder.name, "Initiated": initiated}


def _is_after(item: Mapping[str, str], key_marker: str, id_marker: str) -> bool:
    key, marker = item["Key"].encode(), key_marker.encode()
    if key != marker or not key_marker:
        return key > marker
    # An id counts only with a key.
    return bool(id_marker) and item.get("UploadId", "") > id_marker
