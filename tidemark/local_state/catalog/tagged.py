"""Definitions of the local Data Catalog that clients tag: databases and connections."""

import json
from collections.abc import Mapping
from typing import Any, Literal

from tidemark.local_state.store.database import Store

TAGS = "Tags"
Table = Literal["catalog_database", "catalog_connection"]


def put_definition(store: Store, table: Table, name: str, definition: Mapping[str, Any]) -> None:
    """Insert or replace a definition; it keeps its tags unless it brings others."""
    rows = store.query(f"SELECT definition FROM {table} WHERE name = ?", (name,))  # noqa: S608 (ours)
    tags = tags_of(json.loads(rows[0]["definition"])) if rows else {}
    kept = {TAGS: tags} if tags else {}
    store.query(
        f"INSERT OR REPLACE INTO {table} VALUES (?, ?)",  # noqa: S608 (ours)
        (name, json.dumps({**kept, **definition})),
    )


def tags_of(definition: Mapping[str, Any]) -> dict[str, str]:
    """Return the tags of a definition."""
    return dict(definition.get(TAGS) or {})
