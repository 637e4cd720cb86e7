"""S3's operations on buckets, and the listings of their objects.

Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html
"""

import bisect
import contextlib
import os
import re
import urllib.parse
from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from xml.sax.saxutils import escape

from tidemark.errors import UsageError
from tidemark.local_glue.port.protocol.replies import Reply
from tidemark.local_glue.port.s3.calls import US_EAST_1, Call, Lake
from tidemark.local_glue.port.s3.errors import S3Error
from tidemark.local_glue.port.s3.listing import walk
from tidemark.local_glue.port.s3.places import bucket_folder
from tidemark.local_glue.port.s3.records import EMPTY, etag_of_file
from tidemark.local_glue.port.s3.xml import Markup, timestamp, xml_reply

PAGE = 1000
PLAIN = re.compile(r"[A-Za-z0-9_./~-]*")  # what neither URLs nor XML write in another way
OWNER = {"ID": "local", "DisplayName": "local"}
OWNER_XML = "<Owner><ID>local</ID><DisplayName>local</DisplayName></Owner>"


def list_buckets(lake: Lake, call: Call) -> Reply:
    """Return a page of the folders of the lake."""
    prefix, after = call.query.get("prefix", ""), call.query.get("continuation-token", "")
    names = sorted(
        path.name
        for path in lake.home.lake.iterdir()
        if path.is_dir() and path.name.startswith(prefix) and path.name > after
    )
    most = call.number("max-buckets", len(names)) or len(names)
    buckets = [
        {"Name": name, "CreationDate": timestamp((lake.home.lake / name).stat().st_mtime_ns)}
        for name in names[:most]
    ]
    members = {
        "Owner": OWNER,
        "Buckets": {"Bucket": buckets},
        "ContinuationToken": names[most - 1] if most < len(names) else None,
        "Prefix": prefix or None,
    }
    return xml_reply("ListAllMyBucketsResult", members)


def create_bucket(lake: Lake, call: Call) -> Reply:
    """Make a folder of the lake."""
    try:
        is_new = lake.home.create_bucket(call.bucket)
    except UsageError as error:
        raise S3Error("InvalidBucketName", str(error)) from error
    if not is_new:
        raise S3Error("BucketAlreadyOwnedByYou", f"there is a bucket {call.bucket} already")
    return Reply(200, {"Location": f"/{call.bucket}"})


def head_bucket(lake: Lake, call: Call) -> Reply:
    """Tell whether a bucket is there."""
    bucket_folder(lake.home, call.bucket)
    return Reply(200, {"x-amz-bucket-region": lake.region})


def delete_bucket(lake: Lake, call: Call) -> Reply:
    """Delete a bucket without objects."""
    folder = bucket_folder(lake.home, call.bucket)
    if walk(folder, "", "", lake.records.folders(call.bucket, "")):
        raise S3Error("BucketNotEmpty", f"the bucket {call.bucket} has objects; delete them first")
    for path, _, _ in os.walk(folder, topdown=False):
        with contextlib.suppress(OSError):  # something was put there meanwhile
            os.rmdir(path)  # noqa: PTH106 (a text)
    return Reply(204, {})


def get_bucket_location(lake: Lake, call: Call) -> Reply:
    """Return the region of the buckets; us-east-1 is an empty one."""
    bucket_folder(lake.home, call.bucket)
    region = "" if lake.region == US_EAST_1 else lake.region
    return xml_reply("LocationConstraint", Markup(escape(region)))


def get_bucket_versioning(lake: Lake, call: Call) -> Reply:
    """Return that versioning was never enabled."""
    bucket_folder(lake.home, call.bucket)
    return xml_reply("VersioningConfiguration", {})


def list_objects_v2(lake: Lake, call: Call) -> Reply:
    """Return a page of the objects and common prefixes of a bucket."""
    token = call.query.get("continuation-token")
    after = call.query.get("start-after", "") if token is None else token
    page = _Page(lake, call, after)
    members = {
        "Name": call.bucket,
        "KeyCount": len(page.keys) + len(page.prefixes),
        "ContinuationToken": token,
        "NextContinuationToken": page.last if page.is_truncated else None,
        "StartAfter": call.query.get("start-after"),
    }
    return xml_reply("ListBucketResult", {**members, **page.members()})


def list_objects(lake: Lake, call: Call) -> Reply:
    """Return a page of the objects and common prefixes of a bucket, as the first version has it."""
    page = _Page(lake, call, call.query.get("marker", ""))
    has_marker = page.is_truncated and call.query.get("delimiter")
    members = {
        "Name": call.bucket,
        "Marker": call.query.get("marker", ""),
        "NextMarker": page.encoded(page.last) if has_marker else None,
    }
    return xml_reply("ListBucketResult", {**members, **page.members()})


@lru_cache(maxsize=1024)
def _quoted(text: str) -> str:
    return urllib.parse.quote(text, safe="/")


class _Page:
    """One page of a listing: what is behind a key."""

    def __init__(self, lake: Lake, call: Call, after: str) -> None:
        self._call = call
        self._lake = lake
        self._folder = bucket_folder(lake.home, call.bucket)
        self._is_encoded = call.query.get("encoding-type") == "url"
        self._prefix = call.query.get("prefix", "")
        self._delimiter = call.query.get("delimiter", "")
        self._size = min(call.number("max-keys", PAGE), PAGE)
        is_second = "list-type" in call.query
        has_owner = not is_second or call.query.get("fetch-owner") == "true"
        self._owner = OWNER_XML if has_owner else ""
        listing = (call.bucket, self._prefix, self._delimiter)
        items = lake.snapshots.take((*listing, after)) if after else None
        if items is None:
            put = lake.records.folders(call.bucket, self._prefix)
            folders = [key for key in put if (self._folder / key).is_dir()]
            items = walk(self._folder, self._prefix, self._delimiter, folders)
        begin = bisect.bisect_right(items, after.encode(), key=str.encode) if after else 0
        found = items[begin : begin + self._size]
        self.is_truncated = bool(found) and begin + self._size < len(items)
        self.last = found[-1] if found else ""
        if self.is_truncated:
            lake.snapshots.leave((*listing, self.last), items)
        self.prefixes = [item for item in found if self._is_prefix(item)]
        self.keys = [item for item in found if not self._is_prefix(item)]

    def _is_prefix(self, item: str) -> bool:
        return bool(self._delimiter) and self._delimiter in item[len(self._prefix) :]

    def encoded(self, text: str) -> str:
        """Return a key as the request wants it."""
        if not self._is_encoded:
            return text
        folder, slash, name = text.rpartition("/")
        return f"{_quoted(folder)}{slash}{name if PLAIN.fullmatch(name) else _quoted(name)}"

    def _written(self, key: str) -> str:
        """Return a key as it stands in the XML of the answer."""
        if self._is_encoded:
            return self.encoded(key)
        return key if PLAIN.fullmatch(key) else escape(key)

    def members(self) -> dict[str, Any]:
        """Return what both versions of the answer have."""
        return {
            "Prefix": self.encoded(self._prefix),
            "Delimiter": self.encoded(self._delimiter) if self._delimiter else None,
            "MaxKeys": self._size,
            "EncodingType": self._call.query.get("encoding-type"),
            "IsTruncated": self.is_truncated,
            "Contents": self._contents(),
            "CommonPrefixes": [{"Prefix": self.encoded(item)} for item in self.prefixes],
        }

    def _contents(self) -> Markup:
        etags = self._lake.records.etags(self._call.bucket, self.keys)
        return Markup("".join(self._object(key, etags) for key in self.keys))

    def _object(self, key: str, etags: Mapping[tuple[str, int, int], str]) -> str:
        try:
            stat = os.stat(f"{self._folder}/{key}")  # noqa: PTH116 (100,000 of them)
        except (FileNotFoundError, NotADirectoryError):
            return ""  # it was deleted meanwhile
        is_folder = key.endswith("/")
        etag = etags.get((key, stat.st_mtime_ns, stat.st_size)) or etag_of_file(stat)
        return (
            f"<Contents><Key>{self._written(key)}</Key>"
            f"<LastModified>{timestamp(stat.st_mtime_ns)}</LastModified>"
            f"<ETag>&quot;{EMPTY if is_folder else etag}&quot;</ETag>"
            f"<Size>{0 if is_folder else stat.st_size}</Size>"
            f"{self._owner}<StorageClass>STANDARD</StorageClass></Contents>"
        )
