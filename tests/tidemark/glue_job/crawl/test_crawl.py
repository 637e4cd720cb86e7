"""A crawl of a folder of the lake, in the Data Catalog and on the command line."""

from __future__ import annotations

import gzip
import json

import fastavro
import pytest
from click.testing import CliRunner

from tidemark.cli.main import main
from tidemark.errors import EntityNotFoundError, UsageError
from tidemark.glue_job.crawl.crawl import crawl
from tidemark.local_state.catalog.partitions import partitions_of
from tidemark.local_state.catalog.tables import catalog_tables, find_table
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import Store


@pytest.fixture
def lake(tmp_path, monkeypatch):
    monkeypatch.setenv("TIDEMARK_HOME", str(tmp_path / "home"))
    return Home.open(tmp_path / "home")


def put(lake, key, text):
    path = lake.lake / "raw" / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()) if key.endswith(".gz") else text.encode())


def tidemark(*words):
    return CliRunner().invoke(main, words)


def test_folder_with_two_kinds_of_data_is_two_tables_with_their_partitions(lake):
    put(lake, "shop/Orders/day=1/a.json.gz", '{"id": 1, "total": 1.5}\n')
    put(lake, "shop/Orders/day=2/_SUCCESS", "")
    put(lake, "shop/Orders/day=2/a.json.gz", '{"id": 3000000000, "total": 2}\n')
    put(lake, "shop/users/2024/01/u.csv", "name|age\na|1\n")

    found = crawl(lake, "s3://raw/shop/", "Lake", "raw_")

    assert [(one.table.full_name, one.is_new, one.new_partitions) for one in found] == [
        ("lake.raw_orders", True, 2),
        ("lake.raw_users", True, 1),
    ]
    orders, users = (one.table for one in found)
    assert orders.columns == [("id", "bigint"), ("total", "double")]
    assert orders.partition_keys == [("day", "string")]
    assert (orders.location, orders.classification) == ("s3://raw/shop/Orders/", "json")
    assert orders.parameters["compressionType"] == "gzip"
    assert users.columns == [("name", "string"), ("age", "bigint")]
    assert users.partition_keys == [("partition_0", "string"), ("partition_1", "string")]
    assert users.parameters["skip.header.line.count"] == "1"
    with Store(lake.database) as store:
        (partition,) = partitions_of(store, users, lake.existing_path)
    assert (partition.values, partition.location) == (
        ("2024", "01"),
        "s3://raw/shop/users/2024/01/",
    )


def test_files_tell_together_what_a_column_holds(lake):
    put(lake, "income/2018/a.json", '{"value": 30.5, "of": {"a": 1}}')
    put(lake, "income/2019/a.json", '{"value": null, "of": {"b": null}}')
    put(lake, "income/2020/a.json", '{"value": 28, "of": {"b": "x"}}')
    put(lake, "prices/2024/a.csv", "id,price\n1,\n")
    put(lake, "prices/2025/a.csv", "id,price\n1,2\n")

    income, prices = (one.table for one in crawl(lake, "s3://raw/", "lake", ""))

    assert income.columns == [("value", "double"), ("of", "struct<a:int,b:string>")]
    assert prices.columns == [("id", "bigint"), ("price", "bigint")]


def test_next_crawl_adds_columns_and_partitions_and_keeps_the_rest(lake):
    put(lake, "orders/day=1/a.json", '{"id": 1, "b": 1, "c": 1}\n')
    crawl(lake, "s3://raw/orders", "lake")
    put(lake, "orders/day=2/a.json", '{"id": "x", "b": 1, "c": 1, "d": 1}\n')

    (found,) = crawl(lake, "s3://raw/orders/", "lake")

    assert (found.is_new, found.new_partitions) == (False, 1)
    assert found.table.columns == [("id", "string"), ("b", "int"), ("c", "int"), ("d", "int")]
    with Store(lake.database) as store:
        assert len(catalog_tables(store)) == 1


def test_table_of_another_place_keeps_its_name(lake):
    put(lake, "a/orders/a.json", '{"id": 1}\n')
    put(lake, "b/orders/a.json", '{"id": 1}\n')
    crawl(lake, "s3://raw/a/orders/", "lake")

    (second,) = crawl(lake, "s3://raw/b/orders/", "lake")

    assert second.table.name.startswith("orders_")
    with Store(lake.database) as store:
        assert find_table(store, "lake", "orders").location == "s3://raw/a/orders/"


def test_file_and_bucket_may_be_crawled_and_avro_tells_its_types(lake):
    schema = {
        "type": "record",
        "name": "r",
        "fields": [
            {"name": "Id", "type": "long"},
            {"name": "tags", "type": {"type": "array", "items": "string"}},
        ],
    }
    (lake.lake / "raw").mkdir()
    with (lake.lake / "raw/a.avro").open("wb") as file:
        fastavro.writer(file, schema, [{"Id": 1, "tags": []}])

    (of_bucket,) = crawl(lake, "s3://raw", "lake")
    (of_file,) = crawl(lake, "s3://raw/a.avro", "lake")

    assert (of_bucket.table.name, of_bucket.table.location) == ("raw", "s3://raw/")
    assert of_bucket.table.columns == [("id", "bigint"), ("tags", "array<string>")]
    assert (of_file.table.name, of_file.table.location) == ("a_avro", "s3://raw/a.avro")


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({}, "there is no file with data in s3://raw/x/"),
        ({"x/a.json": '{"a": 1}', "x/b.csv": "a,b\n1,2\n"}, "formats json and csv"),
        ({"x/a.xml": "<a/>"}, "s3://raw/x/a.xml is xml; crawls support"),
        ({"x/a.txt": "words"}, "is of an unknown format"),
        ({"x/a.zst": "words"}, r"compressed with \.zst"),
        ({"x/t/metadata/0.metadata.json": "{}"}, "s3://raw/x/t is a table of Iceberg"),
    ],
    ids=["none", "two formats", "xml", "text", "zstd", "iceberg"],
)
def test_data_that_make_no_table_are_refused_by_name(lake, files, told):
    (lake.lake / "raw/x").mkdir(parents=True)
    for key, text in files.items():
        put(lake, key, text)

    with pytest.raises(UsageError, match=told):
        crawl(lake, "s3://raw/x/", "lake")
    with pytest.raises(EntityNotFoundError, match="NoSuchBucket"):
        crawl(lake, "s3://other/x/", "lake")


def test_command_line_crawls_shows_syncs_and_drops(lake):
    put(lake, "orders/day=1/a.json", '{"id": 1}\n')
    crawled = tidemark("catalog", "crawl", "s3://raw/orders/", "--database", "lake")
    put(lake, "orders/day=2/a.json", '{"id": 1}\n')
    synced = tidemark("catalog", "sync", "lake.orders")
    again = tidemark("catalog", "sync")
    shown = json.loads(tidemark("catalog", "show", "Lake.Orders").output)
    dropped = tidemark("catalog", "drop", "lake.orders")
    missing = tidemark("catalog", "show", "lake.orders")

    assert crawled.output == "lake.orders: new, json, id int; 1 new partition by day\n"
    assert (synced.output, again.output) == (
        "lake.orders: 1 new partition\n",
        "lake.orders: 0 new partitions\n",
    )
    assert (shown["Table"]["DatabaseName"], shown["PartitionsAreRegistered"]) == ("lake", True)
    assert [one["Values"] for one in shown["Partitions"]] == [["1"], ["2"]]
    assert (dropped.exit_code, (lake.lake / "raw/orders/day=1/a.json").exists()) == (0, True)
    assert missing.exit_code == 2
    assert "Database lake not found" in missing.output


def test_wrong_names_on_the_command_line_are_told(lake):
    put(lake, "plain/a.json", '{"id": 1}\n')
    crawl(lake, "s3://raw/plain/", "lake")

    assert "write it as DATABASE.TABLE" in tidemark("catalog", "show", "plain").output
    assert "has no partition keys" in tidemark("catalog", "sync", "lake.plain").output
    assert tidemark("catalog", "sync").output == "no table has partition keys\n"


def test_database_is_put_by_its_json(lake, tmp_path):
    file = tmp_path / "db.json"
    file.write_text('{"DatabaseInput": {"Name": "Mart", "LocationUri": "s3://m/"}}')

    assert tidemark("catalog", "put", str(file)).output == "mart is in the local Data Catalog\n"
