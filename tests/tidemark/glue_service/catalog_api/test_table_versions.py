"""Versions of tables, by boto3."""

from __future__ import annotations

import pytest

from tidemark.local_state.catalog.tables import drop_table, put_tables
from tidemark.model.assembly.catalog_tables import CatalogTable


@pytest.fixture
def database(port, request):
    name = f"v{abs(hash(request.node.name))}"
    port.glue.create_database(DatabaseInput={"Name": name})
    return name


@pytest.fixture
def of_table(port, database):
    """What names a table that was changed twice."""
    common = {"DatabaseName": database}
    port.glue.create_table(**common, TableInput={"Name": "orders", "Description": "zero"})
    for text in ("one", "two"):
        port.glue.update_table(**common, TableInput={"Name": "orders", "Description": text})
    return {**common, "TableName": "orders"}


def versions_of(port, of_table):
    found = port.glue.get_table_versions(**of_table)["TableVersions"]
    return [(one["VersionId"], one["Table"]["Description"]) for one in found]


def test_a_table_is_kept_as_it_was_before_each_change(port, of_table):
    first = port.glue.get_table_version(**of_table, VersionId="0")["TableVersion"]
    last = port.glue.get_table_version(**of_table)["TableVersion"]

    assert versions_of(port, of_table) == [("2", "two"), ("1", "one"), ("0", "zero")]
    assert (first["VersionId"], first["Table"]["Description"]) == ("0", "zero")
    assert (last["Table"]["VersionId"], last["Table"]["Description"]) == ("2", "two")
    assert first["Table"]["CreateTime"] == last["Table"]["CreateTime"]
    pages = port.glue.get_paginator("get_table_versions").paginate(
        **of_table, PaginationConfig={"PageSize": 2}
    )
    assert [len(page["TableVersions"]) for page in pages] == [2, 1]


def test_a_change_that_skips_the_archive_keeps_nothing(port, of_table):
    port.glue.update_table(
        DatabaseName=of_table["DatabaseName"],
        TableInput={"Name": "orders", "Description": "three"},
        SkipArchive=True,
    )

    assert [version for version, _ in versions_of(port, of_table)] == ["3", "1", "0"]


def test_versions_are_deleted_but_for_the_one_that_the_table_has(port, of_table):
    glue = port.glue
    glue.delete_table_version(**of_table, VersionId="0")
    errors = glue.batch_delete_table_version(**of_table, VersionIds=["1", "2", "9"])["Errors"]

    assert versions_of(port, of_table) == [("2", "two")]
    assert [(one["VersionId"], one["ErrorDetail"]["ErrorCode"]) for one in errors] == [
        ("2", "InvalidInputException"),
        ("9", "EntityNotFoundException"),
    ]
    for call in (glue.get_table_version, glue.delete_table_version):
        with pytest.raises(glue.exceptions.EntityNotFoundException, match="'x'"):
            call(**of_table, VersionId="x")


def test_a_table_that_is_made_again_has_no_versions_of_the_old_one(port, of_table):
    database = of_table["DatabaseName"]
    port.engine.ask(lambda glue: drop_table(glue.store, database, "orders"))
    table = CatalogTable(database, "orders", {"Name": "orders", "Description": "new"})
    port.engine.ask(lambda glue: put_tables(glue.store, [table]))

    assert versions_of(port, of_table) == [("0", "new")]
