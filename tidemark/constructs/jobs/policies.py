"""Fits the permissions of a role into the policies that IAM has room for: pure, on plain data.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tidemark.constructs.jobs.permissions import Statement

MAX_INLINE = 10_240  # characters of all inline policies of a role, white space not counted
MAX_MANAGED = 6_144  # characters of a managed policy, likewise
MAX_POLICIES = 10  # managed policies of a role, IAM's default quota
MAX_PIECE = 1_000  # size of the pieces of a statement that does not fit as a whole
# The value of a token at deployment is unknown: at most as long as these.
TOKEN = re.compile(r"\$\{Token\[([^\]]*)\.\d+\]\}")
LENGTHS = {"AWS.Partition": 10, "AWS.Region": 14, "AWS.AccountId": 12, "AWS.URLSuffix": 16}
MAX_ARN_LENGTH = 96  # an ARN of a bucket, a key or a table
EMPTY: Mapping[str, object] = {"Version": "2012-10-17", "Statement": []}


def fit(statements: Sequence[Statement]) -> tuple[list[Statement], list[list[Statement]]]:
    """Return the statements of an inline policy, and those of additional managed policies.

    Managed policies get only what does not fit into an inline one. There may be more of them
    than `MAX_POLICIES`, which the caller must refuse.
    """
    if size(statements) <= MAX_INLINE:
        return list(statements), []
    policies: list[list[Statement]] = [[]]
    for piece in (piece for statement in statements for piece in _pieces(statement)):
        room = MAX_INLINE if len(policies) == 1 else MAX_MANAGED
        if size([*policies[-1], piece]) > room:
            policies.append([])
        policies[-1].append(piece)
    return policies[0], policies[1:]


def size(statements: Sequence[Statement]) -> int:
    """Return how many characters a policy may have once it is deployed."""
    text = json.dumps({**EMPTY, "Statement": list(statements)}, separators=(",", ":"))
    return len(TOKEN.sub(lambda token: "x" * LENGTHS.get(token[1], MAX_ARN_LENGTH), text))


def _pieces(statement: Statement) -> Iterator[Statement]:
    """Yield statements that together allow the same as one, each as small as it should be."""
    halves = _halves(statement) if size([statement]) > MAX_PIECE else None
    if halves is None:
        yield statement
        return
    for half in halves:
        yield from _pieces(half)


def _halves(statement: Mapping[str, Any]) -> tuple[Statement, Statement] | None:
    """Return two statements that together allow the same as one; None if it cannot be split."""
    resources = statement["Resource"]
    middle = len(resources) // 2
    if middle:
        return (
            {**statement, "Resource": resources[:middle]},
            {**statement, "Resource": resources[middle:]},
        )
    match statement.get("Condition"):
        case {"StringLikeIfExists": {"s3:prefix": [_, _, *_] as prefixes}}:
            middle = len(prefixes) // 2
            first, second = (
                {"StringLikeIfExists": {"s3:prefix": half}}
                for half in (prefixes[:middle], prefixes[middle:])
            )
            return {**statement, "Condition": first}, {**statement, "Condition": second}
    return None
