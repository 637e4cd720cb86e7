"""Where an object is: the file of its key in the folder of its bucket, and nowhere else."""

from pathlib import Path

from tidemark.errors import EntityNotFoundError, UsageError
from tidemark.glue_service.s3.errors import S3Error
from tidemark.local_state.home import NO_BUCKET, Home

MAX_KEY_LENGTH = 1024  # bytes
MAX_NAME_LENGTH = 255  # bytes of a part of a key: a folder or a file has no longer name


def bucket_folder(home: Home, bucket: str) -> Path:
    """Return the folder of a bucket."""
    try:
        return home.existing_path(f"s3://{bucket}/")
    except (EntityNotFoundError, UsageError) as error:
        why = str(error).removeprefix(f"{NO_BUCKET}: ")
        raise S3Error("NoSuchBucket", f"The specified bucket does not exist: {why}") from error


def object_path(home: Home, bucket: str, key: str) -> Path:
    """Return where an object is or would be; a key that ends with / is a folder."""
    bucket_folder(home, bucket)
    if why := why_no_file(key):
        raise S3Error("InvalidArgument", f"the key {key!r} {why}")
    try:
        return home.existing_path(f"s3://{bucket}/{key}")
    except UsageError as error:
        raise S3Error("AccessDenied", str(error)) from error


def why_no_file(key: str) -> str | None:
    """Return why a key cannot be a file of the lake; None if it can."""
    try:
        size = len(key.encode())
    except UnicodeEncodeError:
        return "is no text"
    parts = key.removesuffix("/").split("/")
    if size > MAX_KEY_LENGTH or any(len(part.encode()) > MAX_NAME_LENGTH for part in parts):
        return f"is too long; allowed: {MAX_KEY_LENGTH} bytes, {MAX_NAME_LENGTH} between two /"
    if "\0" in key or any(part in ("", ".", "..") for part in parts):
        return "has an empty part, '.', '..' or a zero byte, which no folder can be called"
    return None
