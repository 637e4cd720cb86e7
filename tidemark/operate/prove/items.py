"""The items of tables in the DynamoDB of a home, as files whose rows can be compared."""

import base64
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidemark.glue_service.commands import region
from tidemark.local_state.dynamodb import dynamodb_client, dynamodb_endpoint
from tidemark.local_state.home import Home
from tidemark.local_state.operations import (
    DYNAMODB,
    ITEMS,
    Operation,
    changes_items,
    table_uri,
    tables_changed,
)
from watermarks import WatermarkAdmin, create_table_request

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

KEY_FILE = "_key.json"  # beside the items: names of the attributes that identify one


def tables_of(home: Home, operations: Sequence[Operation]) -> list[str]:
    """Return the tables whose items were changed, without those of watermarks."""
    named = sorted({table for operation in operations for table in tables_changed(operation)})
    if not named:
        return []
    with _client(home) as client:
        return [table for table in named if _is_of_items(client, table)]


def with_items(operations: Sequence[Operation], tables: Collection[str]) -> list[Operation]:
    """Return the operations, those on the items of some tables as such, after their requests."""
    return [
        replace(
            operation,
            kind=ITEMS,
            places=(operation.places[0], *map(table_uri, tables_changed(operation))),
        )
        if changes_items(operation) and set(tables).intersection(tables_changed(operation))
        else operation
        for operation in operations
    ]


def dump_items(home: Home, folder: Path, tables: Sequence[str]) -> None:
    """Write the items of tables as lines of JSON, each into a sub-folder of a folder."""
    if not tables:
        return
    with _client(home) as client:
        there = set(client.list_tables()["TableNames"])
        for table in sorted(there.intersection(tables)):
            keys = client.describe_table(TableName=table)["Table"]["KeySchema"]
            names = [key["AttributeName"] for key in keys]
            write_rows(folder / f"{DYNAMODB}.{table}", _items(client, table), names)


def write_rows(folder: Path, rows: Iterable[Mapping[str, Any]], key: Sequence[str]) -> None:
    """Write rows as lines of JSON into a new folder, with the columns that identify one."""
    folder.mkdir(parents=True)
    lines = [json.dumps(row, sort_keys=True) for row in rows]
    (folder / "rows.json").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (folder / KEY_FILE).write_text(json.dumps(key), encoding="utf-8")


@contextmanager
def _client(home: Home) -> Iterator["DynamoDBClient"]:
    with dynamodb_endpoint(home) as endpoint, dynamodb_client(endpoint, region()) as client:
        yield client


@contextmanager
def watermark_clients(home: Home) -> Iterator[list[WatermarkAdmin]]:
    """Yield what reads and rewinds each table of watermarks of a home."""
    with _client(home) as client:
        names = client.list_tables()["TableNames"]
        own = [name for name in names if not _is_of_items(client, name)]
        yield [WatermarkAdmin(name, client) for name in own]


def put_watermarks(source: Home, target: Home) -> None:
    """Let the watermarks of a home be those of another one; its other tables stay as they are."""
    with _client(source) as here, _client(target) as there:
        known = here.list_tables()["TableNames"]
        for table in there.list_tables()["TableNames"]:
            if _is_of_items(there, table):
                continue
            keys = [
                attribute["AttributeName"] for attribute in create_table_request(table)["KeySchema"]
            ]
            for item in _pages(there, table):
                there.delete_item(TableName=table, Key={key: item[key] for key in keys})
            for item in _pages(here, table) if table in known else ():
                there.put_item(TableName=table, Item=item)


def _is_of_items(client: "DynamoDBClient", table: str) -> bool:
    if table not in client.list_tables()["TableNames"]:
        return False  # the job has deleted it
    keys = client.describe_table(TableName=table)["Table"]["KeySchema"]
    return list(keys) != list(create_table_request(table)["KeySchema"])


def _items(client: "DynamoDBClient", table: str) -> Iterator[dict[str, Any]]:
    from boto3.dynamodb.types import TypeDeserializer

    plain = TypeDeserializer()
    for item in _pages(client, table):
        yield {name: _as_json(plain.deserialize(value)) for name, value in item.items()}


def _pages(client: "DynamoDBClient", table: str) -> list[dict[str, Any]]:
    """Return the items of a table as they are in requests."""
    pages = client.get_paginator("scan").paginate(TableName=table)
    return [dict(item) for page in pages for item in page["Items"]]


def _as_json(value: Any) -> Any:
    """Return a value of an attribute as JSON: numbers that JSON would round, as strings."""
    match value:
        case Decimal():
            number = int(value) if value == value.to_integral_value() else float(value)
            return number if Decimal(repr(number)) == value else str(value)
        case set():
            return [_as_json(element) for element in sorted(value, key=str)]
        case list():
            return [_as_json(element) for element in value]
        case dict():
            return {name: _as_json(element) for name, element in value.items()}
        case str() | bool() | None:
            return value
    return base64.b64encode(bytes(value)).decode()
