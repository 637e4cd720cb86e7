"""What to do about an error of Spark's catalog, from the local Data Catalog; pure but for that."""

import re

from tidemark.glue_job.metastore.asked import ARGUMENT
from tidemark.local_state.catalog.databases import find_database
from tidemark.local_state.catalog.tables import table_or_none
from tidemark.local_state.store.database import Store

_TABLE = re.compile(r"TABLE_OR_VIEW_NOT_FOUND\].*?`(?:spark_catalog`\.`)?([^`]+)`\.`([^`]+)`")
_DATABASE = re.compile(r"SCHEMA_NOT_FOUND\].*?`(?:spark_catalog`\.`)?([^`]+)`")
_NO_PLACE = "Can not create a Path from an empty string"


def catalog_hint(cause: str, store: Store, *, is_asked: bool) -> str:
    """Return what to do about the error of a job; empty if the Data Catalog knows nothing of it."""
    if _NO_PLACE in cause:
        return (
            "the database of the table has no LocationUri: give it one, or name the table's place "
            "with LOCATION, or .option('path', 's3://…')"
        )
    if is_asked:
        return ""
    named = _TABLE.search(cause) or _DATABASE.search(cause)
    if named is None:
        return ""
    what = ".".join(named.groups())
    is_there = (
        table_or_none(store, *named.groups())
        if named.re is _TABLE
        else named[1] != "default" and find_database(store, named[1])
    )
    if not is_there:
        return ""
    return f"{what} is in the Data Catalog, which Spark sees with the job's argument {ARGUMENT}"
