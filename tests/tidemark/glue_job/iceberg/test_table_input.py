"""Tables of Iceberg as the Data Catalog describes them."""

from __future__ import annotations

import json

import pytest

from tidemark.glue_job.iceberg.table_input import glue_type, table_input


@pytest.mark.parametrize(
    ("iceberg", "glue"),
    [
        ("long", "bigint"),
        ("integer", "int"),
        ("int", "int"),
        ("decimal(10, 2)", "decimal(10,2)"),
        ("timestamptz", "timestamp"),
        ("uuid", "string"),
        ("fixed[16]", "binary"),
        (
            {"type": "map", "key": "string", "value": {"type": "list", "element": "double"}},
            "map<string,array<double>>",
        ),
        (
            {
                "type": "struct",
                "fields": [{"name": "a", "type": "long"}, {"name": "b", "type": "date"}],
            },
            "struct<a:bigint,b:date>",
        ),
    ],
)
def test_each_type_has_one_in_the_data_catalog(iceberg, glue):
    assert glue_type(iceberg) == glue


def schema(*names):
    fields = [
        {"id": number, "name": name, "type": "int", "required": name == "id"}
        for number, name in enumerate(names, 1)
    ]
    return json.dumps({"fields": fields})


def test_a_commit_keeps_what_others_have_put_into_the_table():
    before = {
        "Description": "kept",
        "Parameters": {"mine": "1", "metadata_location": "s3://b/1"},
        "StorageDescriptor": {"Columns": [], "Location": "s3://b/t"},
        "Retention": 3,
    }
    commit = {
        "table": "t",
        "metadata_location": "s3://b/2",
        "previous_metadata_location": "s3://b/1",
        "location": "s3://b/t",
        "properties": {"owner": "me"},
        "schemas": [schema("id", "new"), schema("id", "old")],
    }

    found = table_input(commit, before)

    assert found["Parameters"] == {
        "mine": "1",
        "table_type": "ICEBERG",
        "metadata_location": "s3://b/2",
        "previous_metadata_location": "s3://b/1",
    }
    assert (found["Description"], found["Owner"], found["Retention"]) == ("kept", "me", 3)
    columns = found["StorageDescriptor"]["Columns"]
    assert [(one["Name"], one["Parameters"]["iceberg.field.current"]) for one in columns] == [
        ("id", "true"),
        ("new", "true"),
        ("old", "false"),
    ]
    assert columns[0]["Parameters"]["iceberg.field.optional"] == "false"
