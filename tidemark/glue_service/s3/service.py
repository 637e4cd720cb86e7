"""Finds the S3 operation of a request, and runs it.

Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations_Amazon_Simple_Storage_Service.html
"""

import contextlib
import threading
from collections.abc import Callable, Mapping
from errno import EILSEQ, EINVAL, EISDIR, ELOOP, ENAMETOOLONG, ENOTDIR

from tidemark.glue_service.eventbridge.documents import CreatedObject
from tidemark.glue_service.protocol.replies import Reply
from tidemark.glue_service.s3 import buckets, multipart, objects, tags, uploads
from tidemark.glue_service.s3.calls import Call, Lake
from tidemark.glue_service.s3.records import Records
from tidemark.glue_service.s3.seen import see
from tidemark.glue_service.s3.xml import S3Error
from tidemark.local_state.home import Home
from tidemark.local_state.home_folder import OBJECTS_FILE

Operation = Callable[[Lake, Call], Reply]
# By method and by the query parameter that names an operation.
BUCKET_OPERATIONS: Mapping[tuple[str, str], tuple[str, Operation]] = {
    ("PUT", ""): ("CreateBucket", buckets.create_bucket),
    ("HEAD", ""): ("HeadBucket", buckets.head_bucket),
    ("DELETE", ""): ("DeleteBucket", buckets.delete_bucket),
    ("GET", ""): ("ListObjects", buckets.list_objects),
    ("GET", "list-type"): ("ListObjectsV2", buckets.list_objects_v2),
    ("GET", "location"): ("GetBucketLocation", buckets.get_bucket_location),
    ("GET", "versioning"): ("GetBucketVersioning", buckets.get_bucket_versioning),
    ("GET", "tagging"): ("GetBucketTagging", tags.get_bucket_tagging),
    ("PUT", "tagging"): ("PutBucketTagging", tags.put_bucket_tagging),
    ("DELETE", "tagging"): ("DeleteBucketTagging", tags.delete_bucket_tagging),
    ("GET", "uploads"): ("ListMultipartUploads", uploads.list_multipart_uploads),
    ("POST", "delete"): ("DeleteObjects", objects.delete_objects),
}
OBJECT_OPERATIONS: Mapping[tuple[str, str], tuple[str, Operation]] = {
    ("GET", ""): ("GetObject", objects.get_object),
    ("HEAD", ""): ("HeadObject", objects.get_object),
    ("PUT", ""): ("PutObject", objects.put_object),
    ("PUT", "copy"): ("CopyObject", objects.copy_object),
    ("DELETE", ""): ("DeleteObject", objects.delete_object),
    ("GET", "tagging"): ("GetObjectTagging", tags.get_object_tagging),
    ("PUT", "tagging"): ("PutObjectTagging", tags.put_object_tagging),
    ("DELETE", "tagging"): ("DeleteObjectTagging", tags.delete_object_tagging),
    ("POST", "uploads"): ("CreateMultipartUpload", multipart.create_multipart_upload),
    ("PUT", "uploadId"): ("UploadPart", multipart.upload_part),
    ("PUT", "uploadId copy"): ("UploadPartCopy", multipart.upload_part),
    ("POST", "uploadId"): ("CompleteMultipartUpload", multipart.complete_multipart_upload),
    ("DELETE", "uploadId"): ("AbortMultipartUpload", multipart.abort_multipart_upload),
    ("GET", "uploadId"): ("ListParts", uploads.list_parts),
}
OPERATIONS = (
    "ListBuckets",
    *(name for name, _ in BUCKET_OPERATIONS.values()),
    *(name for name, _ in OBJECT_OPERATIONS.values()),
)
# Parameters that select the operation; all others are its parameters.
NAMING = (
    "accelerate acl analytics attributes cors delete encryption intelligent-tiering inventory "
    "legal-hold lifecycle list-type location logging metrics notification object-lock "
    "ownershipControls policy policyStatus publicAccessBlock renameObject replication "
    "requestPayment restore retention select tagging torrent uploadId uploads versioning "
    "versions website versionId"
).split()
# What the file system of the lake says of a key that no check has refused -> S3's code.
FILE_SYSTEM_CODES = {
    ENAMETOOLONG: "KeyTooLongError",
    **dict.fromkeys((EINVAL, EILSEQ, EISDIR, ELOOP, ENOTDIR), "InvalidArgument"),
}
CREATING = ("PutObject", "CopyObject", "CompleteMultipartUpload")
# Headers of uploads that must not be ignored.
REFUSED = {
    "x-amz-write-offset-bytes": "nothing is appended to an object here; put it whole",
    "x-amz-server-side-encryption-customer-algorithm": "nothing is encrypted here",
    "x-amz-object-lock-mode": "objects are not locked here",
    "x-amz-object-lock-legal-hold": "objects are not locked here",
    "x-amz-bucket-object-lock-enabled": "objects are not locked here",
    "x-amz-website-redirect-location": "buckets are not websites here",
}


class S3:
    """S3 over the lake of a home; called by many threads."""

    def __init__(
        self,
        home: Home,
        region: str,
        on_created: Callable[[CreatedObject], None],
        wants_created: threading.Event,
    ) -> None:
        """Serve the lake of a home, which no other process serves."""
        self._on_created = on_created
        self._wants_created = wants_created
        self._lake = Lake(home, Records(home.root / OBJECTS_FILE), region)
        multipart.delete_dead_uploads(self._lake.uploads)

    def answer(self, call: Call) -> Reply:
        """Run the operation of a request."""
        for name, why in REFUSED.items():
            if call.headers.get(name, "false") != "false":
                raise S3Error("NotImplemented", f"the local S3 does not have {name}: {why}")
        if not call.bucket:
            if call.method == "GET":
                return buckets.list_buckets(self._lake, call)
            raise S3Error("MethodNotAllowed", f"{call.method} needs a bucket")
        name, operation = _operation_of(call)
        try:
            answer = operation(self._lake, call)
        except OSError as error:
            if code := FILE_SYSTEM_CODES.get(error.errno or 0):
                raise S3Error(code, f"no file can be there: {error.strerror}") from error
            raise
        if name in CREATING and self._wants_created.is_set():
            with contextlib.suppress(S3Error):  # it was deleted meanwhile
                seen = see(self._lake, call.bucket, call.key)
                etag = seen.record.etag
                self._on_created(CreatedObject(call.bucket, call.key, seen.size, etag, name))
        return answer


def _operation_of(call: Call) -> tuple[str, Operation]:
    table = OBJECT_OPERATIONS if call.key else BUCKET_OPERATIONS
    named = " ".join(name for name in NAMING if name in call.query)
    if call.method == "PUT" and "x-amz-copy-source" in call.headers:
        named = f"{named} copy".strip()
    operation = table.get((call.method, named))
    if operation is None:
        what = f"{call.method} ?{named}" if named else call.method
        raise S3Error(
            "NotImplemented", f"the local S3 does not have {what}; it has {', '.join(OPERATIONS)}"
        )
    return operation
