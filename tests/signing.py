"""Requests that are signed with the access key of a port, for clients that are no SDK."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from botocore.auth import S3SigV4Auth, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from tidemark.local_state.access_key import AccessKey, access_key
from tidemark.local_state.home import Home

REGION = "us-east-1"


def variables_of(home: Home, url: str) -> dict[str, str]:
    """Return the environment of a client of a port."""
    key = access_key(home).variables
    return {**key, "AWS_ENDPOINT_URL": url, "AWS_DEFAULT_REGION": REGION}


def signed(
    key: AccessKey,
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes = b"",
    service: str = "glue",
) -> dict[str, str]:
    """Return the headers of a request, with those of its signature."""
    request: Any = AWSRequest(method, url, dict(headers), body)
    kind: Any = S3SigV4Auth if service == "s3" else SigV4Auth
    kind(Credentials(key.key_id, key.secret), service, REGION).add_auth(request)
    return {"Host": urlsplit(url).netloc, **dict(request.headers.items())}


def raw(method: str, path: str, headers: Mapping[str, str]) -> bytes:
    """Return the head of a request as it goes over a socket."""
    lines = (f"{name}: {value}" for name, value in headers.items())
    return "\r\n".join((f"{method} {path} HTTP/1.1", *lines, "", "")).encode()


def raw_upload(s3: Any, bucket: str, key: str, **headers: str) -> bytes:
    """Return the head of a presigned upload as it goes over a socket."""
    url = s3.generate_presigned_url("put_object", Params={"Bucket": bucket, "Key": key})
    place = urlsplit(url)
    return raw("PUT", f"{place.path}?{place.query}", {"Host": place.netloc, **headers})
