"""Settings of Iceberg's catalogs that mean services of AWS."""

from __future__ import annotations

import pytest

from tidemark.errors import UnsupportedError
from tidemark.glue_job.iceberg.settings import local_settings, put_all

C = "spark.sql.catalog.c"
REST = "https://glue.eu-west-1.amazonaws.com/iceberg"


@pytest.mark.parametrize(
    ("given", "changed"),
    [
        ({f"{C}.catalog-impl": "org.apache.iceberg.aws.glue.GlueCatalog"}, {}),
        ({f"{C}.type": "rest", f"{C}.uri": REST}, {f"{C}.type": "glue"}),
        ({f"{C}.type": "rest", f"{C}.uri": "http://localhost:8181"}, {}),
        (
            {f"{C}.catalog-impl": "org.apache.iceberg.rest.RESTCatalog", f"{C}.uri": REST},
            {f"{C}.catalog-impl": "org.apache.iceberg.aws.glue.GlueCatalog"},
        ),
        (
            {f"{C}.lock-impl": "org.apache.iceberg.aws.dynamodb.DynamoDbLockManager"},
            {f"{C}.lock-impl": "org.apache.iceberg.util.LockManagers$InMemoryLockManager"},
        ),
        ({"spark.x": "org.apache.iceberg.aws.glue.DynamoLockManager"}, {}),
    ],
)
def test_only_what_needs_aws_is_changed(given, changed):
    assert local_settings(given) == changed


@pytest.mark.parametrize(
    "setting",
    [
        (f"{C}.uri", "https://s3tables.eu-west-1.amazonaws.com/iceberg"),
        (f"{C}.catalog-impl", "software.amazon.s3tables.iceberg.S3TablesCatalog"),
    ],
)
def test_s3_tables_are_refused_by_name(setting):
    with pytest.raises(UnsupportedError, match="the catalog c is one of S3 Tables"):
        local_settings(dict([setting]))


@pytest.mark.parametrize("names", [("type", "uri"), ("uri", "type")])
def test_settings_that_come_one_by_one_mean_the_same(names):
    values = {"type": "rest", "uri": REST}
    made = {}

    for name in names:
        put_all(dict.__setitem__, made, f"{C}.{name}", values[name])

    assert made == {f"{C}.type": "glue", f"{C}.uri": REST}
