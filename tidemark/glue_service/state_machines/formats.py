"""Times and values as Step Functions writes them."""

import json
import random
import uuid
from datetime import UTC, date, datetime
from typing import Any

MS_PER_S = 1000


def as_text(moment: datetime) -> str:
    """Return a time as Step Functions writes it.

    >>> as_text(datetime(2026, 3, 1, 12, tzinfo=UTC))
    '2026-03-01T12:00:00.000Z'
    """
    utc = moment.astimezone(UTC)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03}Z"


def text_of(time_ms: float) -> str:
    """Return a time in epoch milliseconds as Step Functions writes it."""
    return as_text(datetime.fromtimestamp(time_ms / MS_PER_S, UTC))


def as_json(value: Any, separators: tuple[str, str] | None = None) -> str:
    """Return the JSON of a value, with characters as they are; moto escapes what is not ASCII."""
    return json.dumps(value, ensure_ascii=False, separators=separators, default=_as_plain)


def _as_plain(value: Any) -> str:
    return value.isoformat() if isinstance(value, (datetime, date)) else str(value)


def uuid_of(chance: random.Random) -> str:
    """Return the UUID that a generator draws, the same for the same seed.

    >>> uuid_of(random.Random("a")) == uuid_of(random.Random("a"))
    True
    """
    return str(uuid.UUID(int=chance.getrandbits(128), version=4))
