"""S3's errors.

Source: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
"""

from tidemark.glue_service.protocol.service_errors import ServiceError

STATUS = {
    "AccessDenied": 403,
    "InvalidAccessKeyId": 403,
    "RequestTimeTooSkewed": 403,
    "SignatureDoesNotMatch": 403,
    "BucketAlreadyOwnedByYou": 409,
    "BucketNotEmpty": 409,
    "InvalidPartNumber": 416,
    "InvalidRange": 416,
    "MethodNotAllowed": 405,
    "NoSuchBucket": 404,
    "NoSuchKey": 404,
    "NoSuchTagSet": 404,
    "NoSuchUpload": 404,
    "NotImplemented": 501,
    "NotModified": 304,
    "PreconditionFailed": 412,
}


class S3Error(ServiceError):
    """An error with the code of S3; a failed precondition names its condition, such as If-Match."""

    def __init__(self, code: str, text: str, condition: str | None = None) -> None:
        super().__init__(code, text, STATUS.get(code, 400))
        self.condition = condition


def no_such_key(key: str) -> S3Error:
    """Return the error for an object that is not there."""
    return S3Error("NoSuchKey", f"The specified key does not exist: {key!r}")
