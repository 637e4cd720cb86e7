"""The errors of AWS that have a remedy, as errors of the library that name it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from botocore.exceptions import ClientError

from watermarks.errors import WatermarkTableError

if TYPE_CHECKING:
    from botocore.client import ClientMeta

_ACTION = re.compile(r"dynamodb:\w+")
_OTHER_KEYS = (
    "does not match the schema",
    "missed key schema element",
    "Missing the key",
    "Type mismatch for key",
    "the table has no sort key",
    "multiple operations on one item",  # both writes have one hash key, and there is no other
)
_PASSING_CODES = {
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "ThrottlingException",
    "TransactionConflictException",
    "TransactionInProgressException",  # botocore itself has sent the transaction again
}
_PASSING_REASONS = {"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"}
_CONDITION_FAILED = "ConditionalCheckFailed"
_FIRST_SERVER_ERROR = 500


def translate_client_error(
    error: ClientError, table_name: str, meta: ClientMeta
) -> WatermarkTableError | None:
    """Return the library's error for an error of AWS, None if it has none."""
    table = f"table {table_name!r} in region {meta.region_name} ({place_of(meta.endpoint_url)})"
    messages = [error.response["Error"].get("Message", "")]
    messages += [
        reason.get("Message", "")
        for reason in _reasons(error)
        if reason.get("Code") == "ValidationError"
    ]
    message = "; ".join(filter(None, messages))
    if code_of(error) == "ResourceNotFoundException":
        return WatermarkTableError(
            f"there is no DynamoDB {table}: deploy the stack that owns it, or give the name and "
            "the region of an existing table with keys jobName and runId",
            "not_found",
        )
    if code_of(error) == "AccessDeniedException":
        action = _ACTION.search(message)
        return WatermarkTableError(
            f"{action.group() if action else error.operation_name} is not allowed on {table}: "
            "nothing was written; allow dynamodb:GetItem, Query, PutItem, UpdateItem and "
            f"DescribeTable on the table to the role of the job ({message})",
            "access_denied",
        )
    if any(words in message for words in _OTHER_KEYS):
        return WatermarkTableError(
            f"the DynamoDB {table} has other keys than this library needs, jobName (hash, string) "
            "and runId (range, string): nothing was written; keys cannot be changed, so give the "
            f"name of another table, or create one with these keys ({message})",
            "wrong_keys",
        )
    if "exceeded the maximum allowed size" in message:
        return WatermarkTableError(
            f"the watermarks do not fit into one row of {table}, which holds 400 KB with all open "
            "windows: nothing was written; keep large values elsewhere and a reference to them "
            "here, or give each source= its own watermarks",
            "too_large",
        )
    return None


def place_of(endpoint: str) -> str:
    """Return a URL without its path and user: what Tidemark gives a job has a secret there."""
    url = urlsplit(endpoint)
    return f"{url.scheme}://{url.netloc.rpartition('@')[2]}"


def code_of(error: Exception) -> str:
    """Return the code of an error of AWS, empty for any other."""
    return str(error.response["Error"]["Code"]) if isinstance(error, ClientError) else ""


def rows_found(error: Exception) -> list[dict[str, Any] | None]:
    """Return the row in the way of each write of a cancelled transaction, in its order."""
    return [reason.get("Item") or None for reason in _reasons(error)]


def is_refused(error: Exception) -> bool:
    """Return whether a condition of a transaction did not hold."""
    return any(reason.get("Code") == _CONDITION_FAILED for reason in _reasons(error))


def is_passing(error: Exception) -> bool:
    """Return whether to send again: what became of it is unknown, or AWS asks for it."""
    if not isinstance(error, ClientError):
        return True
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    codes = {reason.get("Code") for reason in _reasons(error)}
    if codes & _PASSING_REASONS and _CONDITION_FAILED not in codes:
        return True
    return status >= _FIRST_SERVER_ERROR or code_of(error) in _PASSING_CODES


def _reasons(error: Exception) -> list[Any]:
    # One per write of the transaction, in order; none for any other error.
    if not isinstance(error, ClientError):
        return []
    return list(error.response.get("CancellationReasons", []))
