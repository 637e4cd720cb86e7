"""S3's Signature Version 2, which boto3 gives presigned URLs by default.

Source: https://docs.aws.amazon.com/AmazonS3/latest/API/RESTAuthentication.html
"""

import base64
import hmac
from urllib.parse import urlsplit

from tidemark.glue_service.access.head import Head

SIGNED = frozenset(
    (
        "accelerate",
        "acl",
        "analytics",
        "cors",
        "delete",
        "inventory",
        "lifecycle",
        "location",
        "logging",
        "metrics",
        "notification",
        "object-lock",
        "partNumber",
        "policy",
        "replication",
        "requestPayment",
        "restore",
        "select",
        "select-type",
        "storageClass",
        "tagging",
        "torrent",
        "uploadId",
        "uploads",
        "versionId",
        "versioning",
        "versions",
        "website",
        "defaultObjectAcl",
        "response-cache-control",
        "response-content-disposition",
        "response-content-encoding",
        "response-content-language",
        "response-content-type",
        "response-expires",
    )
)
LOCAL = ".localhost"


def signatures_v2(secret: str, head: Head, time: str) -> list[str]:
    """Return the signatures that a request may have: paths of buckets are signed in two forms."""
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
