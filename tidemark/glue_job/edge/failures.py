"""Lets requests of boto3 fail as their services do: refused, without an answer, done in part.

Sources: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html and
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html;
of statements, https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchStatementError.html;
of messages, https://docs.aws.amazon.com/sns/latest/api/API_BatchResultErrorEntry.html;
of partitions, https://docs.aws.amazon.com/glue/latest/webapi/API_BatchCreatePartition.html
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from tidemark.glue_job.edge.messages import ENTRIES
from tidemark.local_state.operations import HALF_DONE, REFUSED

# What a client gets when it has tried as often as it does.
THROTTLED = {
    "dynamodb": ("ProvisionedThroughputExceededException", 400),
    "s3": ("SlowDown", 503),
    "sqs": ("RequestThrottled", 403),
}
ELSEWHERE = ("ThrottlingException", 400)
MESSAGE = "an experiment refuses this request: please reduce your request rate"
ANSWERED = {"ResponseMetadata": {"HTTPStatusCode": 200}}
NOTHING_DONE = {"Responses": {}, "Partitions": [], "Successful": [], **ANSWERED}
Call = Callable[[Any, str, Mapping[str, Any]], Any]


def failing(
    call: Call, client: Any, operation: str, parameters: Mapping[str, Any], how: str
) -> Any:
    """Return the answer to a request that fails in a way; empty: it does not.

    Raises:
        ClientError: it is refused.
    """
    if how == REFUSED:
        raise refusal(client, operation)
    if how != HALF_DONE:
        return call(client, operation, parameters)
    half, unfinished = HALVES[operation](parameters)
    # No service takes a request without entries: nothing is done of a request with one.
    parts = (*half.values(), half.get("Delete", {}).get("Objects"))
    is_empty = any(part in ({}, []) for part in parts)
    answer = NOTHING_DONE if is_empty else call(client, operation, half)
    # Of statements, one list has what was done and what was not.
    if "Responses" in unfinished:
        return {**answer, "Responses": [*answer["Responses"], *unfinished["Responses"]]}
    return {**answer, **unfinished}


def done_of(operation: str, parameters: Mapping[str, Any], how: str) -> Mapping[str, Any]:
    """Return the part of a request that is done if it fails in a way."""
    return HALVES[operation](parameters)[0] if how == HALF_DONE else parameters


def refusal(client: Any, operation: str) -> Exception:
    """Return the error of a service that has refused a request as often as the client tries."""
    code, status = THROTTLED.get(client.meta.service_model.service_name, ELSEWHERE)
    document = {
        "Error": {"Code": code, "Message": MESSAGE},
        "ResponseMetadata": {"HTTPStatusCode": status, "RetryAttempts": 4},
    }
    error: Exception = client.exceptions.from_code(code)(document, operation)
    return error


def unanswered(client: Any) -> Exception:
    """Return the error of a client that waits for the answer to a request in vain."""
    from botocore.exceptions import ReadTimeoutError

    return ReadTimeoutError(endpoint_url=client.meta.endpoint_url)


def _half_of_items(parameters: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    pairs = [(table, item) for table, items in parameters["RequestItems"].items() for item in items]
    first, rest = _by_table(pairs[: len(pairs) // 2]), _by_table(pairs[len(pairs) // 2 :])
    return {**parameters, "RequestItems": first}, {"UnprocessedItems": rest}


def _half_of_keys(parameters: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    items = parameters["RequestItems"]
    pairs = [(table, key) for table, of_table in items.items() for key in of_table["Keys"]]
    halves = _by_table(pairs[: len(pairs) // 2]), _by_table(pairs[len(pairs) // 2 :])
    first, rest = ({name: {**items[name], "Keys": half[name]} for name in half} for half in halves)
    return {**parameters, "RequestItems": first}, {"UnprocessedKeys": rest}


def _half_of_objects(parameters: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    objects = parameters["Delete"]["Objects"]
    first, rest = objects[: len(objects) // 2], objects[len(objects) // 2 :]
    errors = [{**entry, "Code": "InternalError", "Message": MESSAGE} for entry in rest]
    return {**parameters, "Delete": {**parameters["Delete"], "Objects": first}}, {"Errors": errors}


def _half_of_entries(
    parameters: Mapping[str, Any], name: str, unfinished: str, error: Callable[[Any], object]
) -> tuple[dict[str, Any], dict[str, Any]]:
    entries = parameters[name]
    first, rest = entries[: len(entries) // 2], entries[len(entries) // 2 :]
    return {**parameters, name: first}, {unfinished: [error(entry) for entry in rest]}


def _of_message(entry: Mapping[str, Any]) -> object:
    return {"Id": entry["Id"], "Code": "InternalError", "Message": MESSAGE, "SenderFault": False}


def _of_statement(_: object) -> object:
    return {"Error": {"Code": "ThrottlingError", "Message": MESSAGE}}


def _half_of_partitions(
    parameters: Mapping[str, Any], operation: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    name = PARTITIONS[operation]
    entries = parameters[name]
    first, rest = entries[: len(entries) // 2], entries[len(entries) // 2 :]
    half = {**parameters, name: first}
    if operation == "BatchGetPartition":
        return half, {"UnprocessedKeys": rest}
    error = {"ErrorDetail": {"ErrorCode": "InternalServiceException", "ErrorMessage": MESSAGE}}
    key = "PartitionValueList" if operation == "BatchUpdatePartition" else "PartitionValues"
    values = [entry.get("Values", entry.get("PartitionValueList", [])) for entry in rest]
    return half, {"Errors": [{key: of_entry, **error} for of_entry in values]}


def _by_table(pairs: list[tuple[str, Any]]) -> dict[str, list[Any]]:
    items: dict[str, list[Any]] = {}
    for table, item in pairs:
        items.setdefault(table, []).append(item)
    return items


PARTITIONS = {
    "BatchCreatePartition": "PartitionInputList",
    "BatchDeletePartition": "PartitionsToDelete",
    "BatchGetPartition": "PartitionsToGet",
    "BatchUpdatePartition": "Entries",
}
"""Requests for partitions, each with the parameter that has them."""
HALVES: Mapping[str, Callable[[Mapping[str, Any]], tuple[dict[str, Any], dict[str, Any]]]] = {
    "BatchExecuteStatement": partial(
        _half_of_entries, name="Statements", unfinished="Responses", error=_of_statement
    ),
    "BatchGetItem": _half_of_keys,
    "BatchWriteItem": _half_of_items,
    "DeleteObjects": _half_of_objects,
    **{
        name: partial(_half_of_entries, name=ENTRIES[name], unfinished="Failed", error=_of_message)
        for name in ("PublishBatch", "SendMessageBatch")
    },
    **{name: partial(_half_of_partitions, operation=name) for name in PARTITIONS},
}
"""Requests that a service may do in part."""
