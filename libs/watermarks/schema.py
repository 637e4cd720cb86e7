"""The table: its name, its keys, and the attribute by which rows expire."""

from typing import Any

TABLE_NAME = "glue-watermarks"
EXPIRES_AT = "expiresAt"  # epoch seconds, of rows that may be forgotten
_KEYS = {"jobName": "HASH", "runId": "RANGE"}


def create_table_request(table_name: str = TABLE_NAME) -> dict[str, Any]:
    """Return the request of DynamoDB's CreateTable for a table of watermarks.

    Its time to live, on `expiresAt`, is set by a request of its own, UpdateTimeToLive.

    Args:
        table_name: name of the table.
    """
    return {
        "TableName": table_name,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": key, "KeyType": kind} for key, kind in _KEYS.items()],
        "AttributeDefinitions": [{"AttributeName": key, "AttributeType": "S"} for key in _KEYS],
    }
