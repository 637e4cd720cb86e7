"""Which folders a crawl takes for tables and which for partitions, and their names."""

from __future__ import annotations

import pytest

from tidemark.errors import UsageError
from tidemark.glue_job.crawl.layout import (
    DataFolder,
    FileSchema,
    are_similar,
    crawled_tables,
    table_name,
)
from tidemark.model.hive_types import common_type, known_type

ORDERS = FileSchema("json", (("id", "int"), ("total", "double"), ("at", "string")))
ORDERS_BIG = FileSchema("json", (("id", "bigint"), ("total", "double"), ("at", "string")))
USERS = FileSchema("json", (("name", "string"), ("email", "string")))
CSV = FileSchema("csv", (("id", "int"), ("total", "double"), ("at", "string")))


def found(*pairs):
    return [
        (
            "/".join(table.folders),
            table.partition_keys,
            [table.values(leaf) for leaf in table.leaves],
        )
        for table in crawled_tables(
            [DataFolder(tuple(filter(None, p.split("/"))), k) for p, k in pairs]
        )
    ]


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([("", ORDERS)], [("", [], [()])]),
        (
            [("Year=2024/month=1", ORDERS), ("Year=2024/month=a%2Fb", ORDERS_BIG)],
            [("", ["year", "month"], [("2024", "1"), ("2024", "a/b")])],
        ),
        (
            [("2024/01", ORDERS), ("2024/02", ORDERS)],
            [("", ["partition_0", "partition_1"], [("2024", "01"), ("2024", "02")])],
        ),
        (
            [("orders/day=1", ORDERS), ("orders/day=2", ORDERS), ("users", USERS)],
            [("orders", ["day"], [("1",), ("2",)]), ("users", [], [()])],
        ),
        ([("a", ORDERS), ("b", CSV)], [("a", [], [()]), ("b", [], [()])]),
        ([("a", ORDERS), ("b/c", ORDERS)], [("a", [], [()]), ("b", ["partition_0"], [("c",)])]),
    ],
    ids=["files", "keys", "folders", "two tables", "two formats", "two depths"],
)
def test_alike_folders_are_partitions_of_one_table_and_others_tables(pairs, expected):
    assert found(*pairs) == expected


def test_files_beside_folders_with_files_are_refused():
    with pytest.raises(UsageError, match="the path has files next to folders"):
        found(("", ORDERS), ("day=1", ORDERS))


def test_column_has_a_type_that_holds_the_values_of_every_partition():
    (table,) = crawled_tables([DataFolder(("d=1",), ORDERS), DataFolder(("d=2",), ORDERS_BIG)])

    assert table.columns == [("id", "bigint"), ("total", "double"), ("at", "string")]


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        ("int", "int", "int"),
        ("bigint", "int", "bigint"),
        ("bigint", "double", "double"),
        ("int", "string", "string"),
        ("", "double", "double"),
        ("struct<a:int>", "int", "string"),
        ("struct<a:int,b:>", "struct<b:array<>,c:string>", "struct<a:int,b:array<>,c:string>"),
        ("array<struct<x:int>>", "array<struct<x:double>>", "array<struct<x:double>>"),
    ],
)
def test_common_type(one, other, both):
    assert common_type(one, other) == both


def test_what_is_null_everywhere_is_text():
    assert known_type("struct<a:,b:array<struct<c:>>>") == (
        "struct<a:string,b:array<struct<c:string>>>"
    )
    assert (known_type(""), known_type("int")) == ("string", "int")


def test_seven_of_ten_columns_in_common_make_schemas_similar():
    ten = tuple((f"c{n}", "int") for n in range(10))
    seven, six = (tuple((f"c{n}", "int") for n in range(k)) for k in (7, 6))

    assert are_similar(FileSchema("csv", ten), FileSchema("csv", seven))
    assert not are_similar(FileSchema("csv", ten), FileSchema("csv", six))
    assert not are_similar(FileSchema("csv", ten), FileSchema("json", ten))


@pytest.mark.parametrize(
    ("prefix", "folder", "taken", "name"),
    [
        ("", "Orders-2024 é", (), "orders_2024__"),
        ("raw_", "orders.csv", (), "raw_orders_csv"),
        ("", "orders", ("orders",), "orders_538464f007062926796b207be000baa8"),
        ("", "x" * 200, (), "x" * 128),
    ],
)
def test_name_of_a_table_is_that_of_its_folder_in_letters_of_hive(prefix, folder, taken, name):
    assert table_name(prefix, folder, "s3://b/orders/", taken) == name
