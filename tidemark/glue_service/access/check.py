"""Checks that a request is signed with the access key of the port.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
"""

from datetime import datetime

from tidemark.glue_service.access.claims import HEX, Claim, check_time, read_claim
from tidemark.glue_service.access.head import Head
from tidemark.glue_service.access.payload import UNCHECKED, Payload
from tidemark.glue_service.access.refused import Refusal, RefusedError
from tidemark.glue_service.access.signature_v2 import check_time_v2, read_claim_v2, signatures_v2
from tidemark.glue_service.access.signature_v4 import (
    ChunkSignatures,
    canonical_requests,
    is_same,
    signature,
    signing_key,
)
from tidemark.local_state.access_key import AccessKey

HASH = "x-amz-content-sha256"
UNSIGNED = "UNSIGNED-PAYLOAD"
CHUNKS = ("STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER")
NOT_SIGNED = (UNSIGNED, "STREAMING-UNSIGNED-PAYLOAD-TRAILER")
S3 = "s3"
WRONG_SIGNATURE = (
    "the signature does not match this request: the secret access key is another one, or the "
    "request was changed on its way"
)


def check_signature(head: Head, service: str, key: AccessKey, now: datetime) -> Payload:
    """Check the signed head of a request; return the check for its body."""
    if service == S3 and (claim_v2 := read_claim_v2(head)):
        _check_key(claim_v2.key_id, key)
        check_time_v2(claim_v2, now)
        right = signatures_v2(key.secret, head, claim_v2.signed_time)
        if not any(is_same(expected, claim_v2.signature) for expected in right):
            raise RefusedError(Refusal.SIGNATURE, WRONG_SIGNATURE)
        # Version 2 does not cover the body.
        return UNCHECKED
    claim = read_claim(head)
    _check_key(claim.key_id, key)
    check_time(claim, now)
    if claim.scope.service != service:
        signed_for = f"the signature is for the service {claim.scope.service[:40]!r}"
        raise RefusedError(Refusal.SIGNATURE, f"{signed_for}, but the request is for {service!r}")
    own = {name for name in head.headers if name.startswith("x-amz-") and name != HASH}
    if missing := sorted((own | {"host"}) - set(claim.signed)):
        raise RefusedError(
            Refusal.DENIED,
            "There were headers present in the request which were not signed: "
            f"{', '.join(missing)}",
        )
    return _check_s3(head, claim, key) if service == S3 else _check_other(head, claim, key)


def check_expiry(head: Head, service: str, now: datetime) -> None:
    """Refuse a presigned URL that has expired, whatever its key."""
    of_url = Head(head.method, head.path, head.query, {})
    if "X-Amz-Expires" in dict(head.pairs):
        check_time(read_claim(of_url), now)
    elif service == S3 and (claim := read_claim_v2(of_url)):
        check_time_v2(claim, now)


def _check_key(given: str, key: AccessKey) -> None:
    if given != key.key_id:
        raise RefusedError(
            Refusal.KEY, f"the access key id {given[:40]!r} is not that of this port"
        )


def _check_s3(head: Head, claim: Claim, key: AccessKey) -> Payload:
    hashed = head.headers.get(HASH) or (UNSIGNED if claim.expires_s is not None else None)
    if hashed is None:
        raise RefusedError(Refusal.INVALID, f"Missing required header for this request: {HASH}")
    if not (HEX.fullmatch(hashed) or hashed in NOT_SIGNED or hashed in CHUNKS):
        allowed = ", ".join(("the SHA-256 of the body", *NOT_SIGNED, *CHUNKS))
        raise RefusedError(Refusal.HASH, f"{HASH} is {hashed[:80]!r}; allowed: {allowed}")
    _check_against(head, claim, key, hashed)
    if hashed in CHUNKS:
        signing = signing_key(key.secret, claim.scope)
        return Payload(None, ChunkSignatures(signing, claim.time, claim.scope, claim.signature))
    if hashed in NOT_SIGNED:
        return UNCHECKED
    return Payload(lambda digest: _check_body(digest, hashed))


def _check_other(head: Head, claim: Claim, key: AccessKey) -> Payload:
    # The hash of the body is signed, and may not be sent: then it is known after the body.
    hashed = head.headers.get(HASH, "")
    if not HEX.fullmatch(hashed):
        return Payload(lambda digest: _check_against(head, claim, key, digest))
    _check_against(head, claim, key, hashed)
    return Payload(lambda digest: _check_body(digest, hashed))


def _check_against(head: Head, claim: Claim, key: AccessKey, hashed: str) -> None:
    signing = signing_key(key.secret, claim.scope)
    for canonical in canonical_requests(head, claim.scope.service, claim.signed, hashed):
        if is_same(signature(signing, claim.time, claim.scope, canonical), claim.signature):
            return
    raise RefusedError(Refusal.SIGNATURE, WRONG_SIGNATURE)


def _check_body(digest: str, said: str) -> None:
    if digest != said:
        raise RefusedError(Refusal.BODY, f"{HASH} is {said}, but the body has {digest}")
