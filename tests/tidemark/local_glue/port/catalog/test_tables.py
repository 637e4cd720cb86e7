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
