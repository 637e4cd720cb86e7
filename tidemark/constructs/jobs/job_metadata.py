"""Metadata of a job in the template, for the checks and the local Glue; Glue ignores it."""

from collections.abc import Mapping, Sequence

from tidemark.constructs.catalog.iceberg_table import IcebergTable
from tidemark.constructs.catalog.schema_policy import Folder
from tidemark.constructs.catalog.table_use import TableUse
from tidemark.constructs.dataset import Dataset


def metadata_of(
    name: str,
    reads: Sequence[Dataset],
    writes: Sequence[Dataset],
    keeps: Sequence[Dataset],
    quarantines: Sequence[Folder],
    tables: Sequence[TableUse],
    not_secret: Mapping[str, str],
    repeats: Sequence[tuple[str, str]],
    *,
    watermark: bool,
) -> dict[str, object]:
    """Return the metadata of a job, for `tidemark.model.assembly.template`."""
    return {
        "name": name,
        "reads": [
            {"uri": data.uri, **({"delivered": True} if data.delivered else {}), **_table(data)}
            for data in reads
        ],
        "writes": [
            *(
                {
                    "uri": data.uri,
                    **({"published": True} if data.published else {}),
                    **_table(data, True),
                }
                for data in writes
            ),
            # No job reads it.
            *({"uri": data.uri, "published": True, "state": True} for data in keeps),
            # People read it.
            *({"uri": q.uri, "published": True, "quarantine": True} for q in quarantines),
        ],
        **_tables(tables),
        "watermark": watermark,
        **({"notSecret": dict(not_secret)} if not_secret else {}),
        **({"repeats": [{"uri": uri, "reason": why} for uri, why in repeats]} if repeats else {}),
    }


def _tables(uses: Sequence[TableUse]) -> dict[str, list[str]]:
    """Return the tables of the account's own catalog that a job uses, by kind of use."""
    own = [use for use in uses if not use.catalog_id]
    metadata = {
        "tables": [use.table for use in own],
        "tablesWritten": [use.table for use in own if use.write],
        "tablesGoverned": [use.table for use in own if use.lake_formation],
    }
    return {key: list(dict.fromkeys(names)) for key, names in metadata.items() if names}


def _table(data: Dataset, is_written: bool = False) -> dict[str, object]:
    """Return the contract of a dataset, and its table.

    One of Iceberg says whether it is there without a template.
    """
    table, schema = data.table, {"schema": data.schema.metadata()} if data.schema else {}
    if not isinstance(table, IcebergTable):
        return {"table": table.full_name, **schema} if table else {**schema}
    made = {"made": True} if is_written or data.delivered or not table.create else {}
    return {"table": table.full_name, "format": "iceberg", **made, **schema}
