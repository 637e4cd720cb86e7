"""The types that a table of the Data Catalog declares, for ResolveChoice's match_catalog."""

import re

from pyspark.sql.types import DataType, _parse_datatype_string

from tidemark.errors import UnsupportedError, UsageError
from tidemark.local_state.catalog.tables import find_table
from tidemark.local_state.job_run import job_home
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.intrinsics import ACCOUNT_ID

_TEXT = re.compile(r"\b(?:var)?char\(\d+\)")


def types_of_table(
    database: str | None, table_name: str | None, catalog_id: str | None
) -> dict[str, DataType]:
    """Return the types of a table's columns and partition keys, by lower-case name."""
    if not database or not table_name:
        raise UsageError(
            f"the choice match_catalog needs database and table_name; it got {database!r} and "
            f"{table_name!r}"
        )
    if catalog_id not in (None, ACCOUNT_ID):
        raise UnsupportedError(
            f"catalog_id {catalog_id!r} is another account; the local Data Catalog is of "
            f"{ACCOUNT_ID}"
        )
    with Store(job_home().database) as store:
        table = find_table(store, database, table_name)
    columns = [*table.columns, *table.partition_keys]
    return {
        name.lower(): _parse_datatype_string(_TEXT.sub("string", kind)) for name, kind in columns
    }
