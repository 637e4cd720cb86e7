"""Definitions of the local Data Catalog that clients tag, with times: databases, connections."""

import json
from collections.abc import Mapping
from typing import Any, Literal

from tidemark.local_state.store.database import Store
from tidemark.model.clock import now_ms

TAGS = "Tags"
Table = Literal["catalog_database", "catalog_connection"]
CREATED = {"catalog_database": "CreateTime", "catalog_connection": "CreationTime"}  # AWS's names
CHANGED = "LastUpdatedTime"


def put_definition(store: Store, table: Table, name: str, definition: Mapping[str, Any]) -> None:
    """Insert or replace a definition; it keeps its tags unless it brings others.

    Its times are in it, in epoch seconds as in requests: of its first definition, and of this one.
    """
    rows = store.query(f"SELECT definition FROM {table} WHERE name = ?", (name,))  # noqa: S608 (ours)
    old = json.loads(rows[0]["definition"]) if rows else {}
    tags, created = tags_of(old), CREATED[table]
    kept = {TAGS: tags} if tags else {}
    now_s = now_ms() / 1000
    times = {created: old.get(created, now_s), CHANGED: now_s}
    store.query(
        f"INSERT OR REPLACE INTO {table} VALUES (?, ?)",  # noqa: S608 (ours)
        (name, json.dumps({**kept, **definition, **times})),
    )


def tags_of(definition: Mapping[str, Any]) -> dict[str, str]:
    """Return the tags of a definition."""
    return dict(definition.get(TAGS) or {})
