"""Reads the signature of a request: from its header Authorization, or from its URL.

Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-auth-using-authorization-header.html
Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from tidemark.glue_service.access.head import Head
from tidemark.glue_service.access.refused import Refusal, RefusedError
from tidemark.glue_service.access.signature_v4 import ALGORITHM, TERMINATOR, Scope

TIME = "%Y%m%dT%H%M%SZ"
HEX = re.compile(r"[0-9a-f]{64}")
EXPIRES = re.compile(r"-?[0-9]{1,6}")
MAX_AGE_S = 7 * 24 * 3600  # seconds; the longest expiry of a signed URL
CLOCKS = timedelta(minutes=15)  # clocks may differ by that much
QUERY_FIELDS = ("Algorithm", "Credential", "Date", "Expires", "SignedHeaders", "Signature")


@dataclass(frozen=True)
class Claim:
    """A signature of version 4, and the fields that it is made with.

    Attributes:
        key_id: id of the access key.
        scope: scope of the signing key.
        time: time of the request, such as 20130524T000000Z.
        signed: the names of the signed headers.
        signature: in hexadecimal digits.
        expires_s: how long a URL is valid; None for a request that is signed in its header.
    """

    key_id: str
    scope: Scope
    time: str
    signed: tuple[str, ...]
    signature: str
    expires_s: int | None = None


def read_claim(head: Head) -> Claim:
    """Return the signature of a request."""
    of_url = {name: value for name, value in head.pairs if name.startswith("X-Amz-")}
    header = head.headers.get("authorization", "")
    if header and "X-Amz-Signature" in of_url:
        raise RefusedError(Refusal.MALFORMED, "the request is signed twice: by header and by URL")
    if "X-Amz-Algorithm" in of_url or "X-Amz-Signature" in of_url:
        return _url_claim(of_url)
    if not header:
        raise RefusedError(Refusal.MISSING, "the request is not signed")
    algorithm, _, rest = header.partition(" ")
    _check_algorithm(algorithm)
    words = (word.strip().partition("=") for word in rest.split(","))
    fields = {name: value for name, _, value in words}
    for name in ("Credential", "SignedHeaders", "Signature"):
        if not fields.get(name):
            raise RefusedError(Refusal.MALFORMED, f"the header Authorization has no {name}")
    return _claim(fields, _time_of(head.headers), Refusal.MALFORMED)


def _url_claim(given: Mapping[str, str]) -> Claim:
    fields = {name: given.get(f"X-Amz-{name}", "") for name in QUERY_FIELDS}
    _check_algorithm(fields["Algorithm"])
    missing = [f"X-Amz-{name}" for name, value in fields.items() if not value]
    if missing:
        raise RefusedError(Refusal.QUERY, f"the URL has no {', '.join(missing)}")
    expires = fields["Expires"]
    if not (EXPIRES.fullmatch(expires) and int(expires) <= MAX_AGE_S):
        raise RefusedError(
            Refusal.QUERY, f"X-Amz-Expires is {expires[:40]!r}; allowed: 0 to {MAX_AGE_S} seconds"
        )
    return _claim(fields, fields["Date"], Refusal.QUERY, int(expires))


def _check_algorithm(algorithm: str) -> None:
    if algorithm != ALGORITHM:
        raise RefusedError(
            Refusal.INVALID,
            f"the request is signed by {algorithm[:40]!r}; allowed: {ALGORITHM}, as clients of AWS "
            "sign for one region",
        )


def _claim(
    fields: Mapping[str, str], time: str, kind: Refusal, expires_s: int | None = None
) -> Claim:
    words = fields["Credential"].rsplit("/", 4)
    if len(words) != 5 or words[4] != TERMINATOR:
        allowed = f"KEY/DAY/REGION/SERVICE/{TERMINATOR}"
        raise RefusedError(kind, f"Credential is {fields['Credential'][:80]!r}; allowed: {allowed}")
    scope = Scope(*words[1:4])
    if scope.day != time[:8]:
        raise RefusedError(kind, f"Credential is of the day {scope.day!r}, the request of {time!r}")
    time_of(time, kind)
    if not HEX.fullmatch(fields["Signature"]):
        raise RefusedError(Refusal.SIGNATURE, "the signature must have 64 hexadecimal digits")
    signed = tuple(fields["SignedHeaders"].split(";"))
    return Claim(words[0], scope, time, signed, fields["Signature"], expires_s)


def _time_of(headers: Mapping[str, str]) -> str:
    if time := headers.get("x-amz-date"):
        return time
    date = headers.get("date", "")
    try:
        return parsedate_to_datetime(date).astimezone(UTC).strftime(TIME)
    except (ValueError, TypeError, OverflowError):
        return date


def time_of(text: str, kind: Refusal) -> datetime:
    """Return the time of a request."""
    try:
        return datetime.strptime(text, TIME).replace(tzinfo=UTC)
    except ValueError:
        allowed = "a time such as 20130524T000000Z, in X-Amz-Date"
        raise RefusedError(kind, f"the time is {text[:40]!r}; allowed: {allowed}") from None


def check_time(claim: Claim, now: datetime) -> None:
    """Refuse a request with a wrong time, and a URL that has expired."""
    signed = time_of(claim.time, Refusal.MALFORMED)
    if claim.expires_s is not None:
        if now > signed + timedelta(seconds=claim.expires_s):
            raise RefusedError(
                Refusal.DENIED, f"Request has expired: {claim.time}, it is {now:{TIME}}"
            )
        if signed - now > CLOCKS:
            raise RefusedError(
                Refusal.DENIED, f"Request is not yet valid: {claim.time}, it is {now:{TIME}}"
            )
    else:
        check_clock(signed, now)


def check_clock(signed: datetime, now: datetime) -> None:
    """Refuse a request that was signed with a wrong clock."""
    if abs(now - signed) > CLOCKS:
        what = "Signature expired" if signed < now else "Signature not yet current"
        raise RefusedError(
            Refusal.CLOCK,
            f"{what}: {signed:{TIME}} is more than 15 minutes from {now:{TIME}}, the time of this "
            "machine; set the clock of the client",
        )
