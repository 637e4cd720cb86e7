from __future__ import annotations

from uuid import UUID

import pytest

from tidemark.report.lineage.openlineage_names import catalog_name, dataset_name, run_uuid


@pytest.mark.parametrize(
    ("dataset", "expected"),
    [
        ("s3://raw/flights/", ("s3://raw", "flights")),
        ("s3a://raw/a/b.csv", ("s3://raw", "a/b.csv")),
        ("s3://raw", ("s3://raw", "/")),
        ("s3://raw/Ströme/ä ö/", ("s3://raw", "Ströme/ä ö")),
        (
            "jdbc:postgresql://db.example:5433/shop#public.orders",
            ("postgres://db.example:5433", "shop.public.orders"),
        ),
        ("jdbc:postgresql://db/shop#orders", ("postgres://db:5432", "shop.orders")),
        ("jdbc:mysql://db:3306/shop#orders", ("mysql://db:3306", "shop.orders")),
        ("jdbc:sqlserver://db;databaseName=shop#orders", ("sqlserver://db:1433", "shop.orders")),
        ("jdbc:derby:shop#FLIGHTS", ("derby:shop", "FLIGHTS")),
        ("jdbc:derby:shop#", ("derby:shop", "a query")),
        ("dynamodb:orders", ("dynamodb://eu-west-1", "orders")),
        ("kinesis:stream", ("kinesis", "stream")),
        ("odd", ("unknown", "odd")),
    ],
)
def test_a_dataset_is_named_as_openlineage_has_it(dataset, expected):
    assert dataset_name(dataset, "eu-west-1") == expected


@pytest.mark.parametrize(
    "url",
    [
        "jdbc:postgresql://me:hunter2@db/shop?user=me&password=hunter2#orders",
        "jdbc:mysql://me:hunter2@db:3306/shop#orders",
        "jdbc:sqlserver://db;user=me;password=hunter2#orders",
        "jdbc:derby:shop;user=me;password=hunter2#orders",
    ],
)
def test_no_password_is_in_the_name_of_a_database(url):
    assert "hunter2" not in "".join(dataset_name(url, "eu-west-1"))


def test_a_table_of_the_data_catalog_is_named_as_the_spark_integration_names_it():
    assert catalog_name("mart.delays", "eu-west-1", "123456789012") == (
        "arn:aws:glue:eu-west-1:123456789012",
        "table/mart/delays",
    )


def test_a_run_has_the_same_uuid_always_and_no_other_run_has_it():
    assert run_uuid("jr_1") == run_uuid("jr_1") == str(UUID(run_uuid("jr_1")))
    assert run_uuid("jr_1") != run_uuid("jr_1_attempt_1")
