"""Databases and partitions of the local Data Catalog."""

from __future__ import annotations

import pytest

from tidemark.errors import EntityNotFoundError, UsageError
from tidemark.local_state.catalog.definitions import (
    catalog_databases,
    drop_database,
    existing_database,
    find_database,
    put_databases,
)
from tidemark.local_state.catalog.partitions import (
    Partition,
    partitions_of,
    register_partitions,
    registered_partitions,
    sync_partitions,
    unregister_partitions,
)
from tidemark.local_state.catalog.tables import catalog_tables, drop_table, put_tables
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_databases import CatalogDatabase, database_of_request
from tidemark.model.assembly.catalog_tables import CatalogTable

ELSEWHERE = Partition(("2024", "x y"), "s3://lake/odd", {"a": "1"})
TABLE = CatalogTable(
    "db",
    "t",
    {
        "PartitionKeys": [{"Name": "year"}, {"Name": "Kind"}],
        "StorageDescriptor": {"Location": "s3://lake/t/"},
    },
)


@pytest.fixture
def home(tmp_path):
    home = Home.open(tmp_path / "home")
    for folder in ("year=2023/kind=a", "year=2023/KIND=b%2Fc", "year=2024", "other=1/kind=a"):
        (home.lake / "lake/t" / folder).mkdir(parents=True)
    return home


@pytest.fixture
def store(home):
    with Store(home.database) as store:
        put_tables(store, [TABLE])
        yield store


def values(partitions):
    return [one.values for one in partitions]


def test_folders_are_partitions_until_one_is_registered(store, home):
    assert registered_partitions(store, TABLE) is None
    assert partitions_of(store, TABLE, home.local_path) == [
        Partition(("2023", "a"), "s3://lake/t/year=2023/kind=a", is_implicit=True),
        Partition(("2023", "b/c"), "s3://lake/t/year=2023/KIND=b%2Fc", is_implicit=True),
    ]


def test_folder_that_was_kept_is_told_from_what_was_registered_by_itself(store, home):
    register_partitions(store, TABLE, [ELSEWHERE], home.local_path)
    first = [one.is_implicit for one in registered_partitions(store, TABLE)]
    own = Partition(("2023", "a"), "s3://lake/t/year=2023/kind=a")
    register_partitions(store, TABLE, [own], home.local_path)

    assert first == [True, True, False]
    assert [one.is_implicit for one in registered_partitions(store, TABLE)] == [False, True, False]


def test_first_registration_keeps_the_folders_and_later_folders_do_not_count(store, home):
    register_partitions(store, TABLE, [ELSEWHERE], home.local_path)
    (home.lake / "lake/t/year=2025/kind=a").mkdir(parents=True)

    found = partitions_of(store, TABLE, home.local_path)

    assert values(found) == [("2023", "a"), ("2023", "b/c"), ("2024", "x y")]
    assert found[-1] == ELSEWHERE


def test_sync_registers_the_folders_that_are_new(store, home):
    assert sync_partitions(store, TABLE, home.local_path) == 2
    assert sync_partitions(store, TABLE, home.local_path) == 0
    (home.lake / "lake/t/year=2025/kind=a").mkdir(parents=True)
    assert sync_partitions(store, TABLE, home.local_path) == 1

    assert values(registered_partitions(store, TABLE))[-1] == ("2025", "a")


def test_partition_that_was_dropped_stays_dropped_though_its_folder_is_there(store, home):
    unregister_partitions(store, TABLE, [("2023", "a")], home.local_path)

    assert values(partitions_of(store, TABLE, home.local_path)) == [("2023", "b/c")]
    assert (home.lake / "lake/t/year=2023/kind=a").is_dir()


def test_table_that_is_made_again_has_its_folders_again(store, home):
    unregister_partitions(store, TABLE, [("2023", "a")], home.local_path)
    drop_table(store, "db", "t")
    put_tables(store, [TABLE])

    assert len(partitions_of(store, TABLE, home.local_path)) == 2


def test_databases_are_those_defined_those_of_tables_and_the_default_one(store):
    made = database_of_request({"DatabaseInput": {"Name": "Mart", "LocationUri": "s3://m/"}})
    put_databases(store, [made])

    assert [one.name for one in catalog_databases(store)] == ["db", "default", "mart"]
    assert find_database(store, "mart").location == "s3://m/"
    assert find_database(store, "db") == CatalogDatabase("db")
    assert find_database(store, "other") is None


def test_dropped_database_takes_its_tables_along(store, home):
    register_partitions(store, TABLE, [ELSEWHERE], home.local_path)
    drop_database(store, "db")

    assert catalog_tables(store) == []
    assert registered_partitions(store, TABLE) is None
    with pytest.raises(EntityNotFoundError, match=r"^Database db not found\..*has default"):
        existing_database(store, "db")


def test_database_without_a_name_is_refused():
    with pytest.raises(UsageError, match=r"DatabaseInput\.Name"):
        database_of_request({"DatabaseInput": {}})
