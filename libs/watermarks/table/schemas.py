"""What a watermark holds of the columns of targets: attributes of rows that go with it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TypeVar

_MAX_BYTES = 100_000  # a row has up to three of it, and an item of DynamoDB room for 400 KB
_Held = TypeVar("_Held", bound="_Text")


class _Text:
    """A dataclass that a row holds as JSON, without what is empty."""

    @classmethod
    def of(cls: type[_Held], text: str) -> _Held:
        """Return it as a row holds it."""
        return cls(**json.loads(text))

    @property
    def text(self) -> str:
        """Return it as a row holds it."""
        values = asdict(self)  # type: ignore[call-overload]  # a dataclass
        kept = {name: value for name, value in values.items() if value}
        return json.dumps(kept, separators=(",", ":"), ensure_ascii=False)


@dataclass(frozen=True)
class TargetSchema(_Text):
    """The columns of a target, as a version of a watermark holds them.

    Attributes:
        columns: after the last window that was committed: types as SQL takes them, by name.
        declared: the schema of the contract then; empty if it had none.
        is_accepted: whether somebody has accepted them since, and no window has them yet.
    """

    columns: Mapping[str, str]
    declared: Mapping[str, str] = field(default_factory=dict)
    is_accepted: bool = False


@dataclass(frozen=True)
class RefusedSchema(_Text):
    """What a contract has refused last, and the columns that its target would have with it.

    Attributes:
        target: `s3://bucket/folder/`, or `table:database.name`.
        columns: after an acceptance: types as SQL takes them, by name.
        declared: the schema of the contract; empty if it has none.
        changes: what was refused, for people.
        blocked: why it cannot be accepted; empty if it can.
        run_id: the run that was refused.
        at: when, as an ISO string.
    """

    target: str
    columns: Mapping[str, str]
    declared: Mapping[str, str] = field(default_factory=dict)
    changes: str = ""
    blocked: str = ""
    run_id: str = ""
    at: str = ""

    @property
    def accepted(self) -> TargetSchema:
        """The columns of the target after an acceptance."""
        return TargetSchema(self.columns, self.declared, is_accepted=True)


def has_room(*held: TargetSchema | RefusedSchema | None) -> bool:
    """Return whether a row has room for some of these."""
    return sum(len(each.text.encode()) for each in held if each) <= _MAX_BYTES
