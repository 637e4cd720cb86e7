"""S3's operations on buckets, and the listings of their objects.

Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html
"""

import bisect
import contextlib
import os
import re
import time
import urllib.parse
from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from xml.sax.saxutils import escape

from tidemark.errors import UsageError
from tidemark.glue_service.protocol.replies import Reply
from tidemark.glue_service.s3.calls import US_EAST_1, Call, Lake, bucket_folder
from tidemark.glue_service.s3.listing import Walk, read_token, rolled_up, walk, written_token
from tidemark.glue_service.s3.records import EMPTY, etag_of_file
from tidemark.glue_service.s3.seen import see
from tidemark.glue_service.s3.xml import (
    Markup,
    S3Error,
    escaped,
    local_name,
    read_xml,
    timestamp,
    xml_reply,
)

PAGE = 1000
MAX_SIZE = 1 << 20  # of the document in CreateBucket
MAX_BUCKETS = 10_000  # of a page
PLAIN = re.compile(r"[A-Za-z0-9_./~-]*")  # characters that neither URLs nor XML escape
OWNER = {"ID": "local", "DisplayName": "local"}
OWNER_XML = "<Owner><ID>local</ID><DisplayName>local</DisplayName></Owner>"


def list_buckets(lake: Lake, call: Call) -> Reply:
    """Return a page of the folders of the lake."""
    prefix, token = call.query.get("prefix", ""), call.query.get("continuation-token")
    after = "" if token is None else read_token(token)
    is_of_region = call.query.get("bucket-region", lake.region) == lake.region
    names = sorted(
        path.name
        for path in lake.home.lake.iterdir()
        if is_of_region and path.is_dir() and path.name.startswith(prefix) and path.name > after
    )
    most = call.number("max-buckets", MAX_BUCKETS)
    if not 1 <= most <= MAX_BUCKETS:
        raise S3Error("InvalidArgument", f"max-buckets is {most}; allowed: 1 to {MAX_BUCKETS:,}")
    buckets = [
        {"Name": name, "CreationDate": timestamp((lake.home.lake / name).stat().st_mtime_ns)}
        for name in names[:most]
    ]
    members = {
        "Owner": OWNER,
        "Buckets": {"Bucket": buckets},
        "ContinuationToken": written_token(names[most - 1]) if most < len(names) else None,
        "Prefix": prefix or None,
    }
    return xml_reply("ListAllMyBucketsResult", members)


def create_bucket(lake: Lake, call: Call) -> Reply:
    """Create a folder of the lake."""
    body = call.document(MAX_SIZE)
    if body and any(local_name(element) == "Tag" for element in read_xml(body).iter()):
        raise S3Error("NotImplemented", "the local S3 keeps no Tags of buckets: leave them out")
    try:
        is_new = lake.home.create_bucket(call.bucket)
    except UsageError as error:
        raise S3Error("InvalidBucketName", str(error)) from error
    if not is_new and lake.region != US_EAST_1:  # in us-east-1 it is no error, for history's sake
        raise S3Error("BucketAlreadyOwnedByYou", f"there is a bucket {call.bucket} already")
    if is_new:
        # A folder that was deleted by hand may have left its tags.
        lake.records.tag_bucket(call.bucket, {})
    return Reply(200, {"Location": f"/{call.bucket}"})


def head_bucket(lake: Lake, call: Call) -> Reply:
    """Return whether a bucket exists."""
    bucket_folder(lake.home, call.bucket)
    return Reply(200, {"x-amz-bucket-region": lake.region})


def delete_bucket(lake: Lake, call: Call) -> Reply:
    """Delete a bucket without objects."""
    folder = bucket_folder(lake.home, call.bucket)
    if walk(folder, "", "", lake.records.folders(call.bucket, "")):
        raise S3Error("BucketNotEmpty", f"the bucket {call.bucket} has objects; delete them first")
    for path, _, _ in os.walk(folder, topdown=False):
        # Something may have been put there meanwhile.
        with contextlib.suppress(OSError):
            os.rmdir(path)  # noqa: PTH106 (a text)
    lake.records.tag_bucket(call.bucket, {})
    return Reply(204, {})


def get_bucket_location(lake: Lake, call: Call) -> Reply:
    """Return the region of the buckets; us-east-1 is an empty string."""
    bucket_folder(lake.home, call.bucket)
    region = "" if lake.region == US_EAST_1 else lake.region
    return xml_reply("LocationConstraint", Markup(escape(region)))


def get_bucket_versioning(lake: Lake, call: Call) -> Reply:
    """Return that versioning was never enabled."""
    bucket_folder(lake.home, call.bucket)
    return xml_reply("VersioningConfiguration", {})


def list_objects_v2(lake: Lake, call: Call) -> Reply:
    """Return a page of the objects and common prefixes of a bucket."""
    if call.query["list-type"] != "2":
        raise S3Error("InvalidArgument", f"list-type is {call.query['list-type']!r}; allowed: 2")
    token, start = call.query.get("continuation-token"), call.query.get("start-after")
    after = start or "" if token is None else read_token(token)
    page = _Page(lake, call, after, token is not None)
    members = {
        "Name": call.bucket,
        "KeyCount": len(page.keys) + len(page.prefixes),
        "ContinuationToken": token,
        "NextContinuationToken": written_token(page.last) if page.is_truncated else None,
        "StartAfter": None if start is None else page.encoded(start),
    }
    return xml_reply("ListBucketResult", {**members, **page.members()})


def list_objects(lake: Lake, call: Call) -> Reply:
    """Return a page of the objects and common prefixes of a bucket, in the form of version 1."""
    marker = call.query.get("marker", "")
    page = _Page(lake, call, marker)
    has_marker = page.is_truncated and call.query.get("delimiter")
    members = {
        "Name": call.bucket,
        "Marker": page.encoded(marker),
        "NextMarker": page.encoded(page.last) if has_marker else None,
    }
    return xml_reply("ListBucketResult", {**members, **page.members()})


@lru_cache(maxsize=1024)
def _quoted(text: str) -> str:
    return urllib.parse.quote(text, safe="/")


class _Page:
    """One page of a listing: the keys after a key."""

    def __init__(self, lake: Lake, call: Call, after: str, is_continued: bool = False) -> None:
        self._call = call
        self._lake = lake
        self._folder = bucket_folder(lake.home, call.bucket)
        self._is_encoded = call.is_url_encoded
        self._prefix = call.query.get("prefix", "")
        self._delimiter = call.query.get("delimiter", "")
        self._size = min(call.number("max-keys", PAGE), PAGE)
        is_second = "list-type" in call.query
        has_owner = not is_second or call.query.get("fetch-owner") == "true"
        self._owner = OWNER_XML if has_owner else ""
        listing = (call.bucket, self._prefix, self._delimiter)
        may_go_on = is_continued or (after and not is_second)
        place = (*listing, after)
        left = lake.snapshots.take(place, is_continued=is_continued) if may_go_on else None
        whole = left or self._walked()
        items = whole.items
        begin = self._first_after(items, after)
        page = items[begin : begin + self._size]
        self.is_truncated = bool(page) and begin + self._size < len(items)
        self.last = page[-1] if page else ""
        if self.is_truncated:
            lake.snapshots.leave((*listing, self.last), whole)
        self.prefixes = [item for item in page if self._is_prefix(item)]
        self.keys = [item for item in page if not self._is_prefix(item)]

    def _walked(self) -> Walk:
        uploads, at_s = self._lake.snapshots.uploads(self._call.bucket), time.monotonic()
        items = walk(self._folder, self._prefix, self._delimiter, self._put_folders(self._prefix))
        return Walk(items, at_s, uploads)

    def _put_folders(self, prefix: str) -> list[str]:
        put = self._lake.records.folders(self._call.bucket, prefix)
        return [key for key in put if (self._folder / key).is_dir()]

    def _first_after(self, items: list[str], after: str) -> int:
        # A common prefix is after a key inside it if it contains another key after that one.
        if not after:
            return 0
        position = bisect.bisect_right(items, after.encode(), key=str.encode)
        common = after
        if self._delimiter and after.startswith(self._prefix):
            common = rolled_up(after, self._prefix, self._delimiter)
        if common != after:
            keys = walk(self._folder, common, "", self._put_folders(common))
            if keys and keys[-1].encode() > after.encode():
                return bisect.bisect_left(items, common.encode(), key=str.encode)
        return position

    def _is_prefix(self, item: str) -> bool:
        return bool(self._delimiter) and self._delimiter in item[len(self._prefix) :]

    def encoded(self, text: str) -> str:
        """Return a key in the encoding of the request."""
        if not self._is_encoded:
            return text
        folder, slash, name = text.rpartition("/")
        return f"{_quoted(folder)}{slash}{name if PLAIN.fullmatch(name) else _quoted(name)}"

    def _written(self, key: str) -> str:
        if self._is_encoded:
            return self.encoded(key)
        return key if PLAIN.fullmatch(key) else escaped(key)

    def members(self) -> dict[str, Any]:
        """Return the members that both versions of the answer have."""
        stats = [(key, stat) for key in self.keys if (stat := self._stat(key))]
        etags = self._lake.records.etags(self._call.bucket, self.keys)
        return {
            "Prefix": self.encoded(self._prefix),
            "Delimiter": self.encoded(self._delimiter) if self._delimiter else None,
            "MaxKeys": self._size,
            "EncodingType": self._call.query.get("encoding-type"),
            "IsTruncated": self.is_truncated,
            "Contents": Markup("".join(self._object(key, stat, etags) for key, stat in stats)),
            "CommonPrefixes": [{"Prefix": self.encoded(item)} for item in self.prefixes],
        }

    def _stat(self, key: str) -> os.stat_result | None:
        try:
            return os.stat(f"{self._folder}/{key}")  # noqa: PTH116 (100,000 of them)
        except (FileNotFoundError, NotADirectoryError):
            return None  # it was deleted meanwhile

    def _object(
        self, key: str, stat: os.stat_result, etags: Mapping[tuple[str, int, int], str]
    ) -> str:
        is_folder = key.endswith("/")
        etag = etags.get((key, stat.st_mtime_ns, stat.st_size))
        if etag is None and not is_folder:
            now = self._stat(key)
            if now and (now.st_mtime_ns, now.st_ino) != (stat.st_mtime_ns, stat.st_ino):
                try:
                    seen = see(self._lake, self._call.bucket, key)
                except S3Error:
                    return ""  # it was deleted meanwhile
                stat, etag = seen.stat, seen.record.etag
            else:
                etag = etag_of_file(f"{self._folder}/{key}", stat)
        return (
            f"<Contents><Key>{self._written(key)}</Key>"
            f"<LastModified>{timestamp(stat.st_mtime_ns)}</LastModified>"
            f"<ETag>&quot;{EMPTY if is_folder else etag}&quot;</ETag>"
            f"<Size>{0 if is_folder else stat.st_size}</Size>"
            f"{self._owner}<StorageClass>STANDARD</StorageClass></Contents>"
        )
