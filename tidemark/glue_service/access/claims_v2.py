"""What a request to S3 says of a signature of version 2.

Source: https://docs.aws.amazon.com/AmazonS3/latest/API/RESTAuthentication.html
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from tidemark.glue_service.access.claims import TIME, check_clock
from tidemark.glue_service.access.head import Head
from tidemark.glue_service.access.refused import Kind, RefusedError

ALGORITHM = "AWS "


@dataclass(frozen=True)
class ClaimV2:
    """A signature of version 2.

    Attributes:
        key_id: of the access key.
        signature: in Base64.
        signed_time: the text that is signed as its time.
        date: of the request; None of a URL.
        expires: when the URL is over, in seconds; None of a request.
    """

    key_id: str
    signature: str
    signed_time: str
    date: str | None = None
    expires: str | None = None


def read_claim_v2(head: Head) -> ClaimV2 | None:
    """Return what a request says of its signature; None if it has none of version 2."""
    header, query = head.headers.get("authorization", ""), dict(head.pairs)
    if header.startswith(ALGORITHM):
        key_id, _, signature = header.removeprefix(ALGORITHM).partition(":")
        date, other = head.headers.get("date", ""), head.headers.get("x-amz-date")
        return ClaimV2(key_id, signature, "" if other else date, date=other or date)
    if "Signature" in query and not header:
        expires = query.get("Expires", "")
        return ClaimV2(query.get("AWSAccessKeyId", ""), query["Signature"], expires, None, expires)
    return None


def check_time_v2(claim: ClaimV2, now: datetime) -> None:
    """Refuse a URL whose time is over, and a request that was signed by another clock."""
    try:
        if claim.expires is None:
            signed = parsedate_to_datetime(claim.date or "").astimezone(UTC)
        else:
            signed = datetime.fromtimestamp(int(claim.expires), UTC)
    except (ValueError, TypeError, OverflowError, OSError) as error:
        raise RefusedError(
            Kind.DENIED, f"the time of the request cannot be read: {error}"
        ) from error
    if claim.expires is None:
        check_clock(signed, now)
    elif now > signed:
        raise RefusedError(Kind.DENIED, f"Request has expired: {signed:{TIME}}, it is {now:{TIME}}")
