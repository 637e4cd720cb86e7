"""Metadata of a job in the template, for the checks and the local Glue; Glue ignores it.

`tidemark.model.assembly.template` reads it.
"""

from collections.abc import Mapping, Sequence

from tidemark.checks.lint.ignores import repeated
from tidemark.constructs.catalog.iceberg_table import IcebergTable
from tidemark.constructs.catalog.schema_policy import Folder
from tidemark.constructs.catalog.table_use import TableUse
from tidemark.constructs.dataset import Dataset


def data_of(
    reads: Sequence[Dataset],
    writes: Sequence[Dataset],
    keeps: Sequence[Dataset],
    quarantines: Sequence[Folder],
) -> dict[str, list[dict[str, object]]]:
    """Return the data that a job reads and writes, each with its table and its contract."""
    return {
        "reads": [_uri(data, delivered=data.delivered) | _table(data) for data in reads],
        "writes": [
            *(
                _uri(data, published=data.published) | _table(data, is_written=True)
                for data in writes
            ),
            # No job reads it.
            *(_uri(data, published=True, state=True) for data in keeps),
            # People read it.
            *(_uri(data, published=True, quarantine=True) for data in quarantines),
        ],
    }


def _uri(data: Folder, **flags: bool) -> dict[str, object]:
    return {"uri": data.uri, **{flag: True for flag, is_set in flags.items() if is_set}}


def tables_of(uses: Sequence[TableUse]) -> dict[str, list[str]]:
    """Return the tables of the account's own catalog that a job uses, by kind of use."""
    own = [use for use in uses if not use.catalog_id]
    metadata = {
        "tables": [use.table for use in own],
        "tablesWritten": [use.table for use in own if use.write],
        "tablesGoverned": [use.table for use in own if use.lake_formation],
    }
    return {key: list(dict.fromkeys(names)) for key, names in metadata.items() if names}


def repeats_of(
    script: str, arguments: Mapping[str, str], writes: Sequence[Dataset]
) -> dict[str, list[dict[str, str]]]:
    """Return the data in which a script accepts that a repeated run writes rows twice, and why."""
    repeats = repeated(script, arguments, [data.uri for data in writes])
    return {"repeats": [{"uri": uri, "reason": why} for uri, why in repeats]} if repeats else {}


def _table(data: Dataset, is_written: bool = False) -> dict[str, object]:
    """Return the contract of a dataset, and its table."""
    table, schema = data.table, {"schema": data.schema.metadata()} if data.schema else {}
    if not isinstance(table, IcebergTable):
        return {"table": table.full_name, **schema} if table else {**schema}
    # No template creates a table of Iceberg: a job makes it, or it exists.
    made = {"made": True} if is_written or data.delivered or not table.create else {}
    return {"table": table.full_name, "format": "iceberg", **made, **schema}
