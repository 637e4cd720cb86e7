"""Shows the local Data Catalog as a table."""

from collections.abc import Iterable

from rich.table import Table

from local_glue.catalog import CatalogTable


def catalog_table(tables: Iterable[CatalogTable]) -> Table:
    """Return one row per table of the Data Catalog."""
    shown = Table("table", "format", "columns", "partition keys", "location")
    for table in tables:
        columns = ", ".join(f"{name} {kind}" for name, kind in table.columns)
        keys = ", ".join(f"{name} {kind}" for name, kind in table.partition_keys)
        location = "" if table.is_jdbc else table.location
        shown.add_row(table.full_name, table.classification, columns, keys, location)
    return shown
