"""Writes of one row, and their conditions: each stands here, once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from .latest import Attribute, Item
from .schema import Table

_OURS = re.compile(r"wm[A-Za-z]+|expiresAt")

# Conditions. Each is an expression and its values.
Condition: TypeAlias = tuple[str, Item]
IS_ABSENT: Condition = ("attribute_not_exists(runId)", {})
IS_NOT_OURS: Condition = ("attribute_not_exists(wmVersion)", {})


def number(value: int) -> Attribute:
    """Return a number in DynamoDB's form."""
    return {"N": str(value)}


def version_is(version: int) -> Condition:
    """The head has moved no further than it was read."""
    return "wmVersion = :version_is", {":version_is": number(version)}


def epoch_is(epoch: int) -> Condition:
    """Nobody has opened a window since the head was read."""
    if not epoch:
        return "attribute_not_exists(wmEpoch)", {}
    return "wmEpoch = :epoch_is", {":epoch_is": number(epoch)}


def both(*conditions: Condition, word: str = " AND ") -> Condition:
    """Every one of these holds."""
    values = {name: value for _, own_values in conditions for name, value in own_values.items()}
    return word.join(f"({text})" for text, _ in conditions), values


def either(*conditions: Condition) -> Condition:
    """One of these holds."""
    return both(*conditions, word=" OR ")


def put_request(table: Table, item: Item, condition: Condition) -> dict[str, Any]:
    """Return the request of PutItem for a row, under a condition."""
    text, values = condition
    request = {
        "TableName": table.name,
        "Item": item,
        "ConditionExpression": text,
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    return request | ({"ExpressionAttributeValues": values} if values else {})


def update_request(
    table: Table,
    key: Item,
    sets: Mapping[Any, Attribute],
    condition: Condition,
    *,
    removes: Sequence[str | tuple[str, str]] = (),
    counts: Sequence[str] = (),
    keeps: Mapping[str, Attribute] | None = None,
) -> dict[str, Any]:
    """Return the request of UpdateItem for a row, under a condition.

    A pair as a name is an entry of a map. Numbers of `counts` are raised by one, from 0 if the row
    has none; attributes of `keeps` are set only if it has none.
    """
    text, values = condition
    names: dict[str, str] = {}
    given = dict(values)

    def name(path: str | tuple[str, str]) -> str:
        parts = (path,) if isinstance(path, str) else path
        # Ours need no placeholder; a caller's may be a word of DynamoDB's, or have a dot.
        return ".".join(
            part if _OURS.fullmatch(part) else names.setdefault(part, f"#n{len(names)}")
            for part in parts
        )

    def value(attribute: Attribute) -> str:
        placeholder = f":v{len(given)}"
        given[placeholder] = attribute
        return placeholder

    parts = [f"{name(path)} = {value(attribute)}" for path, attribute in sets.items()]
    for path in counts:
        there = name(path)
        zero, increment = value(number(0)), value(number(1))
        parts.append(f"{there} = if_not_exists({there}, {zero}) + {increment}")
    for path, attribute in (keeps or {}).items():
        parts.append(f"{name(path)} = if_not_exists({name(path)}, {value(attribute)})")
    expression = f"SET {', '.join(parts)}"
    if removes:
        expression += f" REMOVE {', '.join(map(name, removes))}"
    return {
        "TableName": table.name,
        "Key": key,
        "UpdateExpression": expression,
        "ConditionExpression": text,
        **({"ExpressionAttributeNames": {v: k for k, v in names.items()}} if names else {}),
        "ExpressionAttributeValues": given,
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
