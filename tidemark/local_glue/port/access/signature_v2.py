"""S3's Signature Version 2, which boto3 gives presigned URLs unless it is told otherwise.

Source: https://docs.aws.amazon.com/AmazonS3/latest/API/RESTAuthentication.html
"""

import base64
import hmac
from urllib.parse import urlsplit

from tidemark.local_glue.port.access.head import Head

SIGNED = frozenset(
    (
        *("accelerate", "acl", "analytics", "cors", "delete", "inventory", "lifecycle", "location"),
        *("logging", "metrics", "notification", "object-lock", "partNumber", "policy"),
        *("replication", "requestPayment", "restore", "select", "select-type", "storageClass"),
        *("tagging", "torrent", "uploadId", "uploads", "versionId", "versioning", "versions"),
        *("website", "defaultObjectAcl", "response-cache-control", "response-content-disposition"),
        *("response-content-encoding", "response-content-language", "response-content-type"),
        "response-expires",
    )
)
LOCAL = ".localhost"


def signature_v2(secret: str, head: Head, time: str) -> str:
    """Return the signature of a request.

    Args:
        secret: of the access key.
        head: of the request.
        time: its header Date, nothing if it has x-amz-date, or when its URL expires.
    """
    given = {**{name.lower(): value for name, value in head.pairs}, **head.headers}
    own = sorted((name, value) for name, value in given.items() if name.startswith("x-amz-"))
    text = "\n".join(
        (
            head.method,
            given.get("content-md5", ""),
            given.get("content-type", ""),
            time,
            *(f"{name}:{value.strip()}" for name, value in own),
            _resource(head),
        )
    )
    digest = hmac.digest(secret.encode(), text.encode("latin-1"), "sha1")
    return base64.b64encode(digest).decode()


def _resource(head: Head) -> str:
    host = urlsplit(f"//{head.headers.get('host', '')}").hostname or ""
    bucket = f"/{host.removesuffix(LOCAL)}" if host.endswith(LOCAL) else ""
    pairs = sorted(pair for pair in head.pairs if pair[0] in SIGNED)
    words = "&".join(f"{name}={value}" if value else name for name, value in pairs)
    return f"{bucket}{head.path}?{words}" if words else f"{bucket}{head.path}"
