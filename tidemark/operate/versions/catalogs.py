"""The differences between the Data Catalogs that two versions leave behind."""

from collections.abc import Iterator

from tidemark.local_state.catalog.partitions import registered_partitions
from tidemark.local_state.catalog.tables import catalog_tables
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_tables import CatalogTable
from tidemark.operate.versions.outcomes import TargetOutcome

FORMAT = "Data Catalog"


def differing_tables(old: Store, new: Store, versions: tuple[str, str]) -> list[TargetOutcome]:
    """Return the tables that only one catalog has, or that are defined in other ways.

    Their parameters are left out, where each Spark leaves notes of its own, and the values of
    partitions, which name the windows of a run.

    Args:
        old: the state of the old version.
        new: that of the new one.
        versions: of Glue, before and after.
    """
    stores = (old, new)
    sides = [{table.full_name: table for table in catalog_tables(store)} for store in stores]
    found = []
    for name in sorted({*sides[0], *sides[1]}):
        before, after = (side.get(name) for side in sides)
        if before is None or after is None:
            problem = f"a table on {versions[before is None]} only"
            found.append(TargetOutcome(name, format=FORMAT, problem=problem))
            continue
        types = [dict([*table.columns, *table.partition_keys]) for table in (before, after)]
        schema = {
            column: (types[0].get(column), types[1].get(column))
            for column in {**types[0], **types[1]}
            if types[0].get(column) != types[1].get(column)
        }
        facts = [
            dict(_facts(store, table)) for store, table in zip(stores, (before, after), strict=True)
        ]
        others = [
            f"{what}: {facts[0][what]} -> {facts[1][what]}"
            for what in facts[0]
            if facts[0][what] != facts[1][what]
        ]
        if schema or others:
            problem = "; ".join(others) or "other columns"
            found.append(TargetOutcome(name, format=FORMAT, schema=schema or None, problem=problem))
    return found


def _facts(store: Store, table: CatalogTable) -> Iterator[tuple[str, object]]:
    storage = table.definition.get("StorageDescriptor", {})
    yield "Location", storage.get("Location")
    yield "InputFormat", storage.get("InputFormat")
    yield "TableType", table.definition.get("TableType")
    yield "PartitionKeys", ", ".join(name for name, _ in table.partition_keys)
    partitions = registered_partitions(store, table)
    yield "partitions", "of folders" if partitions is None else len(partitions)
