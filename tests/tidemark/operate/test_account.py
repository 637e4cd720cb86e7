"""The account of a stage, asked over a port that answers as AWS does."""

from __future__ import annotations

import pytest

from tidemark.errors import DamagedDatabaseError
from tidemark.glue_service.http.serving import serving
from tidemark.local_state.access_key import access_key
from tidemark.local_state.home import Home
from tidemark.model.assembly.cloud_assembly import Assembly
from tidemark.operate.account import Account
from tidemark.operate.clients import of_port


def test_metadata_of_iceberg_that_are_none_are_named_with_their_object(tmp_path):
    home = Home.open(tmp_path / "home")
    place = "s3://lake/orders/metadata/v1.metadata.json"
    key = access_key(home).arguments
    with serving(home) as (url, _), of_port(url, "here", "eu-west-1", key) as glue:
        glue.glue.create_database(DatabaseInput={"Name": "sales"})
        parameters = {"table_type": "ICEBERG", "metadata_location": place}
        table = {"Name": "orders", "Parameters": parameters}
        glue.glue.create_table(DatabaseName="sales", TableInput=table)
        glue.client("s3").create_bucket(Bucket="lake")
        glue.client("s3").put_object(Bucket="lake", Key=place[len("s3://lake/") :], Body=b"<html>")

        with pytest.raises(DamagedDatabaseError) as refused:
            Account(glue, Assembly((), ())).iceberg_metadata("sales.orders")

    assert place in str(refused.value)
    assert "sales.orders" in str(refused.value)
