"""A table of the Data Catalog over the prefix of a test."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from tidemark.local_state.catalog.tables import put_tables
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_tables import table_of_request

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from awsglue.context import GlueContext
    from tidemark.local_state.home import Home

ORIGIN = {"Name": "origin", "Type": "varchar(3)"}
COLUMNS = [{"Name": "id", "Type": "bigint"}, ORIGIN]


@pytest.fixture
def define(spark_home: Home, s3: Any) -> Callable[..., None]:
    """Return a definer of the test's table."""

    def define(
        columns: Any = COLUMNS,
        keys: Any = (),
        serde: Any = None,
        location: str = s3.uri,
        **parameters: Any,
    ) -> None:
        serde_info = {"Parameters": serde or {}}
        storage = {"Columns": columns, "Location": location, "SerdeInfo": serde_info}
        table = {
            "Name": s3.folder.name,
            "PartitionKeys": [{"Name": name, "Type": kind} for name, kind in keys],
            "StorageDescriptor": storage,
            "Parameters": {"classification": "json", **parameters},
        }
        with Store(spark_home.database) as store:
            put_tables(store, [table_of_request({"DatabaseName": "lake", "TableInput": table})])

    return define


@pytest.fixture
def read(glue_context: GlueContext, s3: Any) -> Callable[..., DataFrame]:
    """Return a reader of the test's table."""

    def read(**arguments: Any) -> DataFrame:
        names = {"database": "lake", "table_name": s3.folder.name}
        return glue_context.create_dynamic_frame.from_catalog(**{**names, **arguments}).toDF()

    return read
