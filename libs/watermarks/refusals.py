"""The errors of AWS that have a remedy, as errors of the library that name it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .errors import (
    WatermarkAccessError,
    WatermarkSchemaError,
    WatermarksError,
    WatermarkTableNotFoundError,
    WatermarkTooLargeError,
)

if TYPE_CHECKING:
    from botocore.client import ClientMeta
    from botocore.exceptions import ClientError

_ACTION = re.compile(r"dynamodb:\w+")
_OTHER_KEYS = (
    "does not match the schema",
    "missed key schema element",
    "Missing the key",
    "Type mismatch for key",
    "the table has no sort key",
    "multiple operations on one item",  # both writes have one hash key, and there is no other
)
_TOO_LARGE = "exceeded the maximum allowed size"


def named(error: ClientError, table_name: str, meta: ClientMeta) -> WatermarksError | None:
    """Return the library's error for an error of AWS, None if it has none.

    Args:
        error: what AWS answered.
        table_name: the table that was asked.
        meta: what the client says about itself.
    """
    table = f"table {table_name!r} in region {meta.region_name} ({meta.endpoint_url})"
    code = error.response["Error"]["Code"]
    told = _told(error)
    if code == "ResourceNotFoundException":
        return WatermarkTableNotFoundError(
            f"there is no DynamoDB {table}: deploy the stack that owns it, or give the name and "
            "the region of an existing table with keys jobName and runId"
        )
    if code == "AccessDeniedException":
        action = _ACTION.search(told)
        return WatermarkAccessError(
            f"{action.group() if action else error.operation_name} is not allowed on {table}: "
            "nothing was written; allow dynamodb:GetItem, Query, PutItem, UpdateItem and "
            f"DescribeTable on the table to the role of the job ({told})"
        )
    if any(words in told for words in _OTHER_KEYS):
        return WatermarkSchemaError(
            f"the DynamoDB {table} has other keys than this library needs, jobName (hash, string) "
            "and runId (range, string): nothing was written; keys cannot be changed, so give the "
            f"name of another table, or make one with these keys ({told})"
        )
    if _TOO_LARGE in told:
        return WatermarkTooLargeError(
            f"the watermarks do not fit into one row of {table}, which holds 400 KB with all open "
            "windows: nothing was written; keep large values elsewhere and a reference to them "
            "here, or split the sources of the job among several jobs"
        )
    return None


def _told(error: ClientError) -> str:
    reasons = error.response.get("CancellationReasons", [])
    messages = [error.response["Error"].get("Message", "")]
    messages += [
        reason.get("Message", "") for reason in reasons if reason.get("Code") == "ValidationError"
    ]
    return "; ".join(filter(None, messages))
