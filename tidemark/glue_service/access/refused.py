"""Why a request is refused, in the words and the protocol of each AWS service.

Source: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
Source: https://docs.aws.amazon.com/STS/latest/APIReference/CommonErrors.html
"""

from enum import Enum

from tidemark.errors import TidemarkError
from tidemark.glue_service.protocol.service_errors import ServiceError
from tidemark.glue_service.s3.xml import S3Error

REMEDY = (
    "`tidemark env` prints the lines that give a shell the access key of this port, and "
    "`tidemark serve --port NUMBER --any-key` answers every key"
)


class Refusal(Enum):
    """The reason for a refusal: the codes of S3, of services with JSON, and of those with forms."""

    MISSING = "AccessDenied", "MissingAuthenticationTokenException", "MissingAuthenticationToken"
    MALFORMED = (
        "AuthorizationHeaderMalformed",
        "IncompleteSignatureException",
        "IncompleteSignature",
    )
    QUERY = "AuthorizationQueryParametersError", *MALFORMED[1:]
    INVALID = "InvalidRequest", *QUERY[1:]
    KEY = "InvalidAccessKeyId", "UnrecognizedClientException", "InvalidClientTokenId"
    SIGNATURE = "SignatureDoesNotMatch", "InvalidSignatureException", "SignatureDoesNotMatch"
    CLOCK = "RequestTimeTooSkewed", *SIGNATURE[1:]
    DENIED = "AccessDenied", *SIGNATURE[1:]
    BODY = "XAmzContentSHA256Mismatch", *SIGNATURE[1:]
    HASH = "InvalidArgument", *SIGNATURE[1:]


class RefusedError(TidemarkError):
    """A request without valid credentials; the message is the reason."""

    def __init__(self, kind: Refusal, text: str) -> None:
        super().__init__(text)
        self.kind = kind


def refusal_of(error: RefusedError, protocol: str) -> ServiceError:
    """Return a refusal in the form of a service's error."""
    of_s3, of_json, of_form = error.kind.value
    text = f"{error}; {REMEDY}"
    if protocol == "s3":
        return S3Error(of_s3, text)
    if protocol in ("json", "cbor"):
        return ServiceError(of_json, text)
    return ServiceError(of_form, text, 403)
