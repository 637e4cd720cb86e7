"""Tables that Glue refuses, by boto3."""

from __future__ import annotations

import pytest


def test_a_partition_key_that_is_no_primitive_type_is_refused(port):
    port.glue.create_database(DatabaseInput={"Name": "keys"})
    key = {"Name": "k", "Type": "struct<a:int>"}

    with pytest.raises(port.glue.exceptions.InvalidInputException, match="partition key 'k'"):
        port.glue.create_table(
            DatabaseName="keys", TableInput={"Name": "t", "PartitionKeys": [key]}
        )


def test_no_index_of_partitions_is_made_and_an_empty_list_asks_for_none(port):
    glue = port.glue
    glue.create_database(DatabaseInput={"Name": "indexes"})
    key = {"Name": "day", "Type": "string"}
    table = {"DatabaseName": "indexes", "TableInput": {"Name": "t", "PartitionKeys": [key]}}
    index = {"IndexName": "i", "Keys": ["day"]}

    with pytest.raises(glue.exceptions.InvalidInputException, match="PartitionIndexes"):
        glue.create_table(**table, PartitionIndexes=[index])
    glue.create_table(**table, PartitionIndexes=[])

    found = glue.get_partition_indexes(DatabaseName="indexes", TableName="t")
    assert found["PartitionIndexDescriptorList"] == []
    with pytest.raises(glue.exceptions.EntityNotFoundException):
        glue.get_partition_indexes(DatabaseName="indexes", TableName="none")
