"""What the experiment `rewind` takes back: bookmarks and watermarks, and no table of the job's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tidemark.glue_service.commands import region
from tidemark.local_state.dynamodb import create_tables, dynamodb_client, dynamodb_endpoint
from tidemark.local_state.home import Home
from tidemark.local_state.operations import Operation
from tidemark.local_state.watermark_tables import watermark_table
from tidemark.model.assembly.definitions import TableDefinition
from tidemark.operate.prove.baselines import Baseline
from tidemark.operate.prove.bench import Outcome
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.homes import linked_home
from tidemark.operate.prove.items import put_watermarks
from tidemark.operate.prove.tables import OtherStores

OWN_PUT = Operation(1, "jr_1", "request", ("dynamodb PutItem marks",), "job.py", 7)
LIBRARY_PUT = Operation(2, "jr_1", "request", ("dynamodb PutItem glue-watermarks",), "job.py", 8)
BOOKMARK = Operation(3, "jr_1", "bookmark", ("",), "job.py", 9)
MARKS = {
    "TableName": "marks",
    "KeySchema": [{"AttributeName": "job", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "job", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}


@pytest.mark.parametrize(
    ("operations", "is_rewound"),
    [([OWN_PUT], False), ([OWN_PUT, LIBRARY_PUT], True), ([OWN_PUT, BOOKMARK], True)],
)
def test_a_mark_of_the_jobs_own_in_dynamodb_is_nothing_to_rewind(
    tmp_path: Path, operations: Sequence[Operation], is_rewound: bool
) -> None:
    home = Home.open(tmp_path)
    outcome = Outcome(Experiment("again", "again"), home)
    run = Baseline(home, outcome, operations, (), {}, (), OtherStores(items=["marks"]))

    assert (not run.not_rewound) is is_rewound


def put(home: Home, table: str, item: dict[str, Any]) -> None:
    with (
        dynamodb_endpoint(home) as endpoint,
        dynamodb_client(endpoint, region()) as client,
    ):
        client.put_item(TableName=table, Item=item)


def items(home: Home, table: str) -> list[Any]:
    with (
        dynamodb_endpoint(home) as endpoint,
        dynamodb_client(endpoint, region()) as client,
    ):
        return client.scan(TableName=table)["Items"]


def test_watermarks_go_back_and_other_tables_stay(tmp_path: Path) -> None:
    before = Home.open(tmp_path / "before")
    definition = watermark_table("glue-watermarks")
    with (
        dynamodb_endpoint(before) as endpoint,
        dynamodb_client(endpoint, region()) as client,
    ):
        create_tables(client, [definition, TableDefinition("marks", MARKS, None)])
        keys = client.describe_table(TableName="glue-watermarks")["Table"]["KeySchema"]
    first = {one["AttributeName"]: {"S": "a"} for one in keys}
    put(before, "glue-watermarks", {**first, "at": {"N": "1"}})
    after = linked_home(before, tmp_path / "after")
    put(after, "glue-watermarks", {**first, "at": {"N": "2"}})
    put(after, "glue-watermarks", {one: {"S": "b"} for one in first})
    put(after, "marks", {"job": {"S": "orders"}})

    put_watermarks(before, after)

    assert items(after, "glue-watermarks") == [{**first, "at": {"N": "1"}}]
    assert items(after, "marks") == [{"job": {"S": "orders"}}]
