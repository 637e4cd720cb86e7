"""Shows the local Data Catalog as a list."""

from collections.abc import Iterable
from typing import Any

from tidemark.cli.views.listing import Listing
from tidemark.model.assembly.catalog_tables import CatalogTable


def catalog_table(tables: Iterable[CatalogTable]) -> Listing:
    """Return one row per table of the Data Catalog."""
    rows = []
    for table in tables:
        columns = ", ".join(f"{name} {kind}" for name, kind in table.columns)
        keys = ", ".join(f"{name} {kind}" for name, kind in table.partition_keys)
        location = "" if table.is_view or table.is_jdbc else table.location
        kind = "view" if table.is_view else table.classification
        rows.append((table.full_name, kind, columns, keys, location))
    return Listing(("table", "format", "columns", "partition keys", "location"), rows)


def catalog_json(tables: Iterable[CatalogTable]) -> list[dict[str, Any]]:
    """Return the same as plain JSON values."""
    return [
        {
            "table": table.full_name,
            "format": "view" if table.is_view else table.classification,
            "columns": dict(table.columns),
            "partition_keys": dict(table.partition_keys),
            "location": None if table.is_view or table.is_jdbc else table.location,
        }
        for table in tables
    ]
