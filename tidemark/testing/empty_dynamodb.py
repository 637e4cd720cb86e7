"""A DynamoDB that is empty before and after a test, even if it outlives the tests."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import boto3
import pytest

from tidemark.errors import UsageError
from tidemark.glue_service.commands import region
from tidemark.local_state.dynamodb import dynamodb_client, dynamodb_endpoint
from tidemark.local_state.engine.features import TABLE
from tidemark.local_state.engine.kept_by import kept_by
from tidemark.local_state.home import Home

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@contextmanager
def empty_dynamodb(home: Home) -> Iterator[str]:
    """Yield the URL of the DynamoDB of a test's home.

    Raises:
        UsageError: the environment names a DynamoDB that has tables, maybe with watermarks that
            are wanted.
    """
    with dynamodb_endpoint(home) as endpoint:
        other = kept_by(home)
        if other is None:  # the embedded engine has the tables of the home alone
            yield endpoint
            return
        with dynamodb_client(endpoint, region()) as client:
            tables = _tables(client)
        if tables:
            raise UsageError(
                f"the DynamoDB at {other.url} has tables ({', '.join(tables)}), and tests want an "
                "empty one: start one for tests, and run them in one process; or unset "
                "AWS_ENDPOINT_URL_DYNAMODB: each test then has the embedded engine for itself"
            )
        try:
            yield endpoint
        finally:
            with dynamodb_client(endpoint, region()) as client:
                for name in _tables(client):
                    client.delete_table(TableName=name)


def let_boto3_find(patch: pytest.MonkeyPatch, endpoint: str, region_name: str) -> None:
    """Let clients of boto3 that a test makes go to a DynamoDB, by the environment."""
    patch.setenv("AWS_ENDPOINT_URL_DYNAMODB", endpoint)
    patch.setenv("AWS_ACCESS_KEY_ID", "local")
    patch.setenv("AWS_SECRET_ACCESS_KEY", "local")
    patch.setenv("AWS_DEFAULT_REGION", region_name)
    patch.setattr(boto3, "DEFAULT_SESSION", None)


def _tables(client: "DynamoDBClient") -> list[str]:
    pages = client.get_paginator("list_tables").paginate()
    return [name for page in pages for name in page["TableNames"] if name != TABLE]
