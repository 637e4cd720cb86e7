"""The reasons for wildcards in the resources of roles: for which action, on what, and why.

Source: https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidemark.constructs.crawlers import permissions as crawling
from tidemark.constructs.jobs import network, permissions


@dataclass(frozen=True)
class Wildcard:
    """A reason for a wildcard.

    Attributes:
        actions: actions that it covers.
        resource: the form of the resource, with functions of CloudFormation in angle brackets.
        why: the reason.
        condition: the required condition of the statement; None: any.
        is_bound: whether the statement must name a subnet, or must not; None: either.
    """

    actions: Sequence[str]
    resource: str
    why: str
    condition: Mapping[str, Any] | None = None
    is_bound: bool | None = None


# Actions that statements of the constructs allow together.
_TOGETHER: Mapping[str, Sequence[str]] = {
    "write objects": permissions.WRITE_OBJECTS,
    "write logs": permissions.WRITE_LOGS,
    "describe the network": network.DESCRIBE,
    "use applications": network.USE_SAAS,
    "read as a crawler": crawling.READ,
    "write as a crawler": crawling.WRITE,
    "delete as a crawler": crawling.DELETE,
}
_PLACE = r"(?:[\w-]+|<AWS::\w+>)"  # a partition, a region or an account: <place> in the data
_TEXT = Path(__file__).with_suffix(".json").read_text(encoding="utf-8")


def _wildcard(facts: Mapping[str, Any]) -> Wildcard:
    actions, condition = facts["actions"], facts.get("condition")
    return Wildcard(
        _TOGETHER[actions] if isinstance(actions, str) else actions,
        facts["resource"].replace("<place>", _PLACE),
        facts["why"],
        network.TAGGED if condition == "tagged" else condition,
        facts.get("is_bound"),
    )


WILDCARDS = tuple(map(_wildcard, json.loads(_TEXT)))
