"""The coverage of awsglue: of every name that AWS has, whether it runs here."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from tidemark.model.awsglue_api.not_yet import (
    DIFFERS,
    NOT_YET,
    PAGE,
    members_of,
    names_of,
    remedy_of,
)

__all__ = ["API", "PAGE", "Coverage", "Entry", "entries", "outside_library"]

API = Path(__file__).with_name("awsglue_api.json")


class Coverage(Enum):
    """How much of a name runs here."""

    FULL = "full"
    PARTIAL = "partial"
    RAISES = "raises"


@dataclass(frozen=True)
class Entry:
    """A name of AWS's awsglue.

    Attributes:
        module: where AWS has it.
        name: of a member with its class: ``GlueContext.getSink``.
        signature: its parameters with their defaults, None if it is not callable.
        state: how much of it runs here.
        note: what differs, or what to do instead.
    """

    module: str
    name: str
    signature: str | None
    state: Coverage
    note: str = ""

    @property
    def full_name(self) -> str:
        """Return the name with its module."""
        return f"{self.module}.{self.name}"


def entries() -> list[Entry]:
    """Return every name of AWS's awsglue, by module.

    Source: https://github.com/awslabs/aws-glue-libs (branch glue-5.1), read into `API`.
    """
    api: dict[str, dict[str, str | None]] = json.loads(API.read_text(encoding="utf-8"))
    return [
        _entry(module, name, signature)
        for module, names in api.items()
        for name, signature in names.items()
    ]


def _entry(module: str, name: str, signature: str | None) -> Entry:
    owner, _, member = name.partition(".")
    if owner in names_of(module) or member in members_of(module, owner):
        return Entry(module, name, signature, Coverage.RAISES, remedy_of(name))
    differs = DIFFERS.get(f"{module}.{name}")
    return Entry(
        module, name, signature, Coverage.PARTIAL if differs else Coverage.FULL, differs or ""
    )


def outside_library() -> Iterator[tuple[str, str, str]]:
    """Yield module, name and remedy of what raises and is in no package of AWS's library."""
    for module in NOT_YET:
        if not module.startswith("awsglue."):
            for name in names_of(module):
                yield module, name, remedy_of(name)
