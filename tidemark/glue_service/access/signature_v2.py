"""S3's Signature Version 2, boto3's default for presigned URLs.

Source: https://docs.aws.amazon.com/AmazonS3/latest/API/RESTAuthentication.html
"""

import base64
import hmac
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from tidemark.glue_service.access.claims import TIME, check_clock
from tidemark.glue_service.access.head import Head
from tidemark.glue_service.access.refused import Refusal, RefusedError

# The parts of a query that are signed.
SIGNED = (
    "accelerate acl analytics cors delete inventory lifecycle location logging metrics "
    "notification object-lock partNumber policy replication requestPayment restore select "
    "select-type storageClass tagging torrent uploadId uploads versionId versioning versions "
    "website defaultObjectAcl response-cache-control response-content-disposition "
    "response-content-encoding response-content-language response-content-type response-expires"
).split()
LOCAL = ".localhost"
ALGORITHM = "AWS "


def signatures_v2(secret: str, head: Head, time: str) -> list[str]:
    """Return the valid signatures of a request: paths of buckets are signed in two forms."""
    given = {**{name.lower(): value for name, value in head.pairs}, **head.headers}
    own = sorted((name, value) for name, value in given.items() if name.startswith("x-amz-"))
    lines = (
        head.method,
        given.get("content-md5", ""),
        given.get("content-type", ""),
        time,
        *(f"{name}:{value.strip()}" for name, value in own),
    )
    return [_signature(secret, *lines, resource) for resource in _resources(head)]


def _signature(secret: str, *lines: str) -> str:
    digest = hmac.digest(secret.encode(), "\n".join(lines).encode("latin-1"), "sha1")
    return base64.b64encode(digest).decode()


def _resources(head: Head) -> list[str]:
    host = urlsplit(f"//{head.headers.get('host', '')}").hostname or ""
    bucket = f"/{host.removesuffix(LOCAL)}" if host.endswith(LOCAL) else ""
    pairs = sorted(pair for pair in head.pairs if pair[0] in SIGNED)
    words = "&".join(f"{name}={value}" if value else name for name, value in pairs)
    path, query = f"{bucket}{head.path}", f"?{words}" if words else ""
    is_of_bucket = path.count("/") == 1 and path != "/"
    return [f"{path}{end}{query}" for end in (("", "/") if is_of_bucket else ("",))]


@dataclass(frozen=True)
class ClaimV2:
    """A signature of version 2.

    Attributes:
        key_id: id of the access key.
        signature: in Base64.
        signed_time: the string that is signed as its time.
        date: time of the request; None for a URL.
        expires: when the URL expires, in seconds; None for a request.
    """

    key_id: str
    signature: str
    signed_time: str
    date: str | None = None
    expires: str | None = None


def read_claim_v2(head: Head) -> ClaimV2 | None:
    """Return the signature of a request; None if it has none of version 2."""
    header, query = head.headers.get("authorization", ""), dict(head.pairs)
    if header.startswith(ALGORITHM):
        key_id, _, signature = header.removeprefix(ALGORITHM).partition(":")
        date, amz_date = head.headers.get("date", ""), head.headers.get("x-amz-date")
        return ClaimV2(key_id, signature, "" if amz_date else date, date=amz_date or date)
    if "Signature" in query and not header:
        expires = query.get("Expires", "")
        return ClaimV2(query.get("AWSAccessKeyId", ""), query["Signature"], expires, None, expires)
    return None


def check_time_v2(claim: ClaimV2, now: datetime) -> None:
    """Refuse a URL that has expired, and a request that was signed with a wrong clock."""
    try:
        if claim.expires is None:
            signed = parsedate_to_datetime(claim.date or "").astimezone(UTC)
        else:
            signed = datetime.fromtimestamp(int(claim.expires), UTC)
    except (ValueError, TypeError, OverflowError, OSError) as error:
        raise RefusedError(
            Refusal.DENIED, f"the time of the request cannot be read: {error}"
        ) from error
    if claim.expires is None:
        check_clock(signed, now)
    elif now > signed:
        raise RefusedError(
            Refusal.DENIED, f"Request has expired: {signed:{TIME}}, it is {now:{TIME}}"
        )
