"""The Data Catalogs that two versions leave behind are compared."""

from __future__ import annotations

import pytest

from tidemark.local_state.catalog.databases import put_databases
from tidemark.local_state.catalog.tables import put_tables
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_databases import CatalogDatabase
from tidemark.model.assembly.catalog_tables import CatalogTable
from tidemark.operate.versions.catalogs import differing_tables


def table(name="orders", kind="int", **storage):
    columns = {"Columns": [{"Name": "id", "Type": kind}], "Location": f"s3://lake/{name}/"}
    noted = {"spark.sql.create.version": str(storage)}
    definition = {
        "Name": name,
        "TableType": "EXTERNAL_TABLE",
        "PartitionKeys": [{"Name": "day", "Type": "date"}],
        "Parameters": noted,
        "StorageDescriptor": {**columns, "InputFormat": "Text", **storage},
    }
    return CatalogTable("sales", name, definition)


@pytest.fixture
def compare(tmp_path):
    def compared(old, new):
        found = []
        for name, tables in (("old", old), ("new", new)):
            with Store(Home.open(tmp_path / name).database) as store:
                put_databases(store, [CatalogDatabase("sales", {"Name": "sales"})])
                put_tables(store, tables)
        with (
            Store(Home.open(tmp_path / "old").database) as one,
            Store(Home.open(tmp_path / "new").database) as other,
        ):
            found = differing_tables(one, other, ("5.1", "6.0"))
        assert not any(outcome.is_equal for outcome in found)
        return [(it.target, it.schema, it.problem) for it in found]

    return compared


def test_the_same_tables_do_not_differ(compare):
    assert compare([table(), table("items")], [table(Compressed=False), table("items")]) == []


def test_what_one_lacks_and_what_is_defined_otherwise_is_told(compare):
    old = [table(), table("items"), table("parts", "int")]
    new = [table(InputFormat="Parquet"), table("more"), table("parts", "bigint")]

    assert compare(old, new) == [
        ("sales.items", None, "a table on 5.1 only"),
        ("sales.more", None, "a table on 6.0 only"),
        ("sales.orders", None, "InputFormat: Text -> Parquet"),
        ("sales.parts", {"id": ("int", "bigint")}, "other columns"),
    ]
