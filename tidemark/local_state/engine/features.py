"""Tries whether a DynamoDB does what watermarks stand on; it is asked when a home first uses it.

Each trial makes its own rows in the table TABLE. A program that lacks one is refused: it would
silently lose watermarks.
"""

import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tidemark.errors import UsageError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TABLE = "tidemark-homes"
HASH, RANGE = "home", "part"
THREADS, ROUNDS = 8, 6
Item = dict[str, Any]


def check_features(client: "DynamoDBClient", url: str) -> None:
    """Try everything, in a table that is created if it is missing."""
    for feature, trial in TRIALS.items():
        with _naming(feature, url):
            trial(client, f"trial-{uuid.uuid4().hex}")


@contextmanager
def _naming(feature: str, url: str) -> Iterator[None]:
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except (AssertionError, BotoCoreError, ClientError, KeyError) as error:
        raise UsageError(
            f"the DynamoDB at {url} cannot keep watermarks; it lacks: {feature} ({error}); use one "
            "that docs/dynamodb.md names, or the embedded engine"
        ) from error


def _makes_tables(client: "DynamoDBClient", _: str) -> None:
    try:
        client.create_table(
            TableName=TABLE,
            AttributeDefinitions=[
                {"AttributeName": HASH, "AttributeType": "S"},
                {"AttributeName": RANGE, "AttributeType": "S"},
            ],
            KeySchema=[
                {"AttributeName": HASH, "KeyType": "HASH"},
                {"AttributeName": RANGE, "KeyType": "RANGE"},
            ],
            BillingMode="PAY_PER_REQUEST",
        )
    except client.exceptions.ResourceInUseException:
        return
    client.get_waiter("table_exists").wait(TableName=TABLE)


def _refuses_conditions(client: "DynamoDBClient", home: str) -> None:
    item = _item(home, "a")
    client.put_item(TableName=TABLE, Item=item)
    try:
        client.put_item(
            TableName=TABLE, Item=item, ConditionExpression=f"attribute_not_exists({HASH})"
        )
    except client.exceptions.ConditionalCheckFailedException:
        return
    finally:
        client.delete_item(TableName=TABLE, Key=item)
    raise AssertionError("a write was taken whose condition is false")


def _refuses_whole_transactions(client: "DynamoDBClient", home: str) -> None:
    stored = {**_item(home, "a"), "n": {"N": "1"}}
    client.put_item(TableName=TABLE, Item=stored)
    try:
        client.transact_write_items(TransactItems=[_put_new(home, "b"), _put_new(home, "a")])
    except client.exceptions.TransactionCanceledException as error:
        reasons = error.response["CancellationReasons"]
        _hold(reasons[1]["Code"] == "ConditionalCheckFailed", f"the reasons are {reasons}")
        _hold(reasons[1].get("Item") == stored, "the reasons lack the item that is in the way")
    else:
        raise AssertionError("one was taken though a condition of it is false")
    rows = _rows(client, home)
    _hold(rows == [stored], f"one was carried out in part: {rows}")
    client.delete_item(TableName=TABLE, Key=_item(home, "a"))


def _keeps_transactions_apart(client: "DynamoDBClient", home: str) -> None:
    """Count up with several threads: each transaction writes the count and its own row."""
    client.put_item(TableName=TABLE, Item={**_item(home, "count"), "n": {"N": "0"}})

    def count_up(_: int) -> None:
        for _ in range(ROUNDS):
            _count_one(client, home)

    with ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(count_up, range(THREADS)))  # raises what one of them has raised
    rows = _rows(client, home)
    count = next(row["n"]["N"] for row in rows if row[RANGE]["S"] == "count")
    for row in rows:
        client.delete_item(TableName=TABLE, Key={HASH: row[HASH], RANGE: row[RANGE]})
    expected = THREADS * ROUNDS
    _hold(
        int(count) == len(rows) - 1 == expected,
        f"of {expected} it counted {count}, kept {len(rows) - 1}",
    )


def _count_one(client: "DynamoDBClient", home: str) -> None:
    key = _item(home, "count")
    while True:
        n = int(client.get_item(TableName=TABLE, Key=key, ConsistentRead=True)["Item"]["n"]["N"])
        update: Any = {
            "TableName": TABLE,
            "Key": key,
            "UpdateExpression": "SET n = :next",
            "ConditionExpression": "n = :n",
            "ExpressionAttributeValues": {":n": {"N": str(n)}, ":next": {"N": str(n + 1)}},
        }
        row = _put_new(home, f"row-{n + 1:04d}")
        try:
            client.transact_write_items(TransactItems=[{"Update": update}, row])
        except client.exceptions.TransactionCanceledException:
            continue
        return


def _hold(holds: bool, otherwise: str) -> None:
    if not holds:
        raise AssertionError(otherwise)


def _item(home: str, part: str) -> Item:
    return {HASH: {"S": home}, RANGE: {"S": part}}


def _put_new(home: str, part: str) -> Any:
    return {
        "Put": {
            "TableName": TABLE,
            "Item": _item(home, part),
            "ConditionExpression": f"attribute_not_exists({HASH})",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
    }


def _rows(client: "DynamoDBClient", home: str) -> list[Item]:
    return client.query(
        TableName=TABLE,
        KeyConditionExpression=f"{HASH} = :home",
        ExpressionAttributeValues={":home": {"S": home}},
        ConsistentRead=True,
    )["Items"]


TRIALS: dict[str, Callable[["DynamoDBClient", str], None]] = {
    "tables": _makes_tables,
    "conditional writes": _refuses_conditions,
    "transactions, all or nothing": _refuses_whole_transactions,
    "transactions of several clients at once": _keeps_transactions_apart,
}
