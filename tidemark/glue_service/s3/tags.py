"""S3's operations on the tags of objects and of buckets.

Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketTagging.html
"""

from collections.abc import Mapping

from tidemark.glue_service.protocol.replies import Reply
from tidemark.glue_service.s3 import xml
from tidemark.glue_service.s3.calls import Call, Lake, bucket_folder
from tidemark.glue_service.s3.records import Record
from tidemark.glue_service.s3.seen import see

MAX_OF_OBJECT, MAX_OF_BUCKET = 10, 50
MAX_TAG_KEY_LENGTH, MAX_TAG_VALUE_LENGTH = 128, 256


def checked_tags(tags: list[tuple[str, str]], most: int = MAX_OF_OBJECT) -> dict[str, str]:
    """Return tags by their keys.

    Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-tagging.html
    """
    by_key = dict(tags)
    if len(tags) > most:
        raise xml.S3Error("BadRequest", f"{len(tags)} tags; allowed: up to {most}")
    if len(by_key) < len(tags):
        raise xml.S3Error("InvalidTag", "Cannot provide multiple Tags with the same key")
    for key, value in tags:
        if key.lower().startswith("aws:"):
            raise xml.S3Error(
                "InvalidTag", f"the tag {key!r} starts with aws:, which is reserved for AWS"
            )
        if not 1 <= len(key) <= MAX_TAG_KEY_LENGTH or len(value) > MAX_TAG_VALUE_LENGTH:
            raise xml.S3Error(
                "InvalidTag",
                f"the tag {key[:MAX_TAG_KEY_LENGTH]!r} is empty or too long; allowed: keys of 1 to "
                f"{MAX_TAG_KEY_LENGTH} characters, values of up to {MAX_TAG_VALUE_LENGTH}",
            )
    return by_key


def get_object_tagging(lake: Lake, call: Call) -> Reply:
    """Return the tags of an object."""
    return _reply(see(lake, call.bucket, call.key).record.tags)


def put_object_tagging(lake: Lake, call: Call) -> Reply:
    """Replace the tags of an object."""
    _set_tags(lake, call, checked_tags(_given(call)))
    return Reply(200, {})


def delete_object_tagging(lake: Lake, call: Call) -> Reply:
    """Remove all tags from an object."""
    _set_tags(lake, call, {})
    return Reply(204, {})


def _set_tags(lake: Lake, call: Call, tags: Mapping[str, str]) -> None:
    with lake.lock:
        seen = see(lake, call.bucket, call.key)
        record = Record(seen.record.etag, seen.record.headers, tags)
        lake.records.put(call.bucket, call.key, seen.stat, record)


def get_bucket_tagging(lake: Lake, call: Call) -> Reply:
    """Return the tags of a bucket; an error without tags, as on AWS."""
    bucket_folder(lake.home, call.bucket)
    tags = lake.records.bucket_tags(call.bucket)
    if not tags:
        raise xml.S3Error("NoSuchTagSet", "The TagSet does not exist")
    return _reply(tags)


def put_bucket_tagging(lake: Lake, call: Call) -> Reply:
    """Replace the tags of a bucket."""
    bucket_folder(lake.home, call.bucket)
    lake.records.tag_bucket(call.bucket, checked_tags(_given(call), MAX_OF_BUCKET))
    return Reply(204, {})


def delete_bucket_tagging(lake: Lake, call: Call) -> Reply:
    """Remove all tags from a bucket."""
    bucket_folder(lake.home, call.bucket)
    lake.records.tag_bucket(call.bucket, {})
    return Reply(204, {})


def _given(call: Call) -> list[tuple[str, str]]:
    document = xml.read_xml(call.document(xml.MAX_SIZE))
    tags = [xml.members_of(e) for e in document.iter() if xml.local_name(e) == "Tag"]
    return [(tag.get("Key", ""), tag.get("Value", "")) for tag in tags]


def _reply(tags: Mapping[str, str]) -> Reply:
    members = [{"Key": name, "Value": value} for name, value in tags.items()]
    return xml.xml_reply("Tagging", {"TagSet": {"Tag": members}})
