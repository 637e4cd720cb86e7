"""Requests fail as their services let them fail."""

from __future__ import annotations

from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from tidemark.glue_job.edge.failures import done_of, failing, unanswered

ITEMS = {"orders": [{"PutRequest": {"Item": {"id": {"N": str(number)}}}} for number in range(3)]}
KEYS = {"orders": {"Keys": [{"id": {"N": "1"}}], "ConsistentRead": True}}


@pytest.fixture
def client(monkeypatch):
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    return lambda service: boto3.client(service)


def echo(_client: Any, _operation: str, parameters: Any) -> dict[str, Any]:
    return {"asked": parameters, "UnprocessedItems": {}}


@pytest.mark.parametrize(
    ("service", "operation", "code", "status"),
    [
        ("s3", "PutObject", "SlowDown", 503),
        ("dynamodb", "PutItem", "ProvisionedThroughputExceededException", 400),
        ("sns", "Publish", "ThrottlingException", 400),
    ],
)
def test_a_refused_request_has_the_error_of_its_service(client, service, operation, code, status):
    with pytest.raises(ClientError) as raised:
        failing(echo, client(service), operation, {}, "refused")

    assert raised.value.response["Error"]["Code"] == code
    assert raised.value.response["ResponseMetadata"]["HTTPStatusCode"] == status
    assert raised.value.operation_name == operation


def test_a_throttled_write_of_dynamodb_is_the_exception_that_scripts_name(client):
    dynamodb = client("dynamodb")

    with pytest.raises(dynamodb.exceptions.ProvisionedThroughputExceededException):
        failing(echo, dynamodb, "PutItem", {}, "refused")


def test_without_an_answer_the_request_is_made_and_the_client_waits_in_vain(client):
    s3 = client("s3")

    assert failing(echo, s3, "PutObject", {"Key": "a"}, "unanswered")["asked"] == {"Key": "a"}
    assert isinstance(unanswered(s3), ReadTimeoutError)


def test_a_batch_is_written_by_half_and_the_answer_names_the_rest(client):
    answer = failing(
        echo, client("dynamodb"), "BatchWriteItem", {"RequestItems": ITEMS}, "half done"
    )

    assert answer["asked"]["RequestItems"] == {"orders": ITEMS["orders"][:1]}
    assert answer["UnprocessedItems"] == {"orders": ITEMS["orders"][1:]}


def test_a_batch_of_one_key_is_not_read(client):
    answer = failing(echo, client("dynamodb"), "BatchGetItem", {"RequestItems": KEYS}, "half done")

    assert (answer["Responses"], answer["UnprocessedKeys"]) == ({}, KEYS)


def test_half_of_several_statements_is_done_and_the_answer_has_an_error_for_each_other(client):
    asked = {"Statements": [{"Statement": word} for word in ("a", "b", "c")]}
    done = {"Responses": [{"TableName": "t"}]}

    answer = failing(
        lambda *_: done, client("dynamodb"), "BatchExecuteStatement", asked, "half done"
    )
    only = failing(
        echo, client("dynamodb"), "BatchExecuteStatement", {"Statements": [{}]}, "half done"
    )

    codes = [each.get("Error", {}).get("Code") for each in answer["Responses"]]
    assert codes == [None, "ThrottlingError", "ThrottlingError"]
    assert len(only["Responses"]) == 1


def test_half_of_several_objects_is_deleted_and_the_answer_names_the_others(client):
    asked = {"Bucket": "b", "Delete": {"Objects": [{"Key": key} for key in "abc"], "Quiet": True}}

    answer = failing(echo, client("s3"), "DeleteObjects", asked, "half done")

    assert answer["asked"]["Delete"] == {"Objects": [{"Key": "a"}], "Quiet": True}
    assert [(entry["Key"], entry["Code"]) for entry in answer["Errors"]] == [
        ("b", "InternalError"),
        ("c", "InternalError"),
    ]


@pytest.mark.parametrize(
    ("service", "operation", "asked", "names"),
    [
        ("s3", "DeleteObjects", {"Delete": {"Objects": [{"Key": "a"}]}, "Bucket": "b"}, "Errors"),
        ("sqs", "SendMessageBatch", {"Entries": [{"Id": "1", "MessageBody": "a"}]}, "Failed"),
        ("dynamodb", "BatchWriteItem", {"RequestItems": {"t": [{}]}}, "UnprocessedItems"),
    ],
)
def test_of_a_batch_of_one_nothing_is_done_and_the_answer_names_it(
    client, service, operation, asked, names
):
    answer = failing(echo, client(service), operation, asked, "half done")

    assert "asked" not in answer
    assert len(answer[names]) == 1


@pytest.mark.parametrize(
    ("operation", "name", "entry", "unfinished"),
    [
        ("BatchCreatePartition", "PartitionInputList", {"Values": ["2"]}, "PartitionValues"),
        ("BatchDeletePartition", "PartitionsToDelete", {"Values": ["2"]}, "PartitionValues"),
        (
            "BatchUpdatePartition",
            "Entries",
            {"PartitionValueList": ["2"], "PartitionInput": {}},
            "PartitionValueList",
        ),
    ],
)
def test_half_of_several_partitions_is_changed_and_the_answer_names_the_others(
    client, operation, name, entry, unfinished
):
    asked = {"TableName": "t", name: [{"Values": ["1"]}, entry]}

    answer = failing(echo, client("glue"), operation, asked, "half done")
    only = failing(echo, client("glue"), operation, {name: [entry]}, "half done")

    assert answer["asked"] == {"TableName": "t", name: [{"Values": ["1"]}]}
    (error,) = answer["Errors"]
    assert (error[unfinished], error["ErrorDetail"]["ErrorCode"]) == (
        ["2"],
        "InternalServiceException",
    )
    assert "asked" not in only  # no request of nothing is made
    assert [each[unfinished] for each in only["Errors"]] == [["2"]]


def test_partitions_that_were_not_read_are_named_as_they_were_asked_for(client):
    asked = {"PartitionsToGet": [{"Values": [number]} for number in "123"]}

    answer = failing(echo, client("glue"), "BatchGetPartition", asked, "half done")

    assert answer["asked"] == {"PartitionsToGet": [{"Values": ["1"]}]}
    assert answer["UnprocessedKeys"] == [{"Values": ["2"]}, {"Values": ["3"]}]


@pytest.mark.parametrize(
    ("service", "operation", "name"),
    [
        ("sns", "PublishBatch", "PublishBatchRequestEntries"),
        ("sqs", "SendMessageBatch", "Entries"),
    ],
)
def test_half_of_several_messages_is_sent_and_the_answer_names_the_others(
    client, service, operation, name
):
    asked = {name: [{"Id": number, "Message": number} for number in "123"]}

    answer = failing(echo, client(service), operation, asked, "half done")

    assert answer["asked"] == done_of(operation, asked, "half done") == {name: asked[name][:1]}
    assert [entry["Id"] for entry in answer["Failed"]] == ["2", "3"]
    assert done_of(operation, asked, "") == asked
