"""Requests at random to all services of a port: each gets an answer of AWS, none a 500."""

from __future__ import annotations

import contextlib
import datetime
import http.client
import json
import os
import re
from urllib.parse import urlsplit

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from tests.sampled import at_night
from tests.tidemark.glue_service.fuzzing import KNOWN, SERVICES, Fuzzer, Wire
from tests.waiting import BOUND_S
from tidemark.glue_service.http.services import OPERATIONS
from tidemark.glue_service.http.serving import Options, serving
from tidemark.glue_service.protocol.models import find_operation, service_model
from tidemark.glue_service.s3 import service as s3
from tidemark.local_state.home import Home

EACH = 250  # requests, in the world that a test begins with
NIGHT = (
    os.environ.get("TIDEMARK_FUZZ_SEED") or datetime.datetime.now(datetime.UTC).date().isoformat()
)
SERVED = {**OPERATIONS, "s3": s3.OPERATIONS}
NOT_IMPLEMENTED = 501  # S3's own answer
COMMON = {  # codes of every operation, which the models do not list
    *("SerializationException", "UnknownOperationException", "ValidationException"),
    *("RequestEntityTooLargeException", "MissingAuthenticationTokenException"),
}
SCRIPT = {"Name": "pythonshell", "PythonVersion": "3.9", "ScriptLocation": "s3://lake/none.py"}


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    home = Home.open(tmp_path_factory.mktemp("fuzz") / "home")
    with serving(home, Options(any_key=True)) as (url, _):
        yield url


def define_known(url):
    """Define what requests name, as far as it is missing."""

    def define(service, operation, **members):
        key = {"aws_access_key_id": "a", "aws_secret_access_key": "b"}
        config = Config(retries={"total_max_attempts": 1})
        client = boto3.client(service, "us-east-1", endpoint_url=url, config=config, **key)
        with contextlib.suppress(ClientError):
            getattr(client, operation)(**members)

    keys, storage = [{"Name": "year", "Type": "int"}], {"Location": "s3://fuzzed/t/"}
    of_table = {"DatabaseName": KNOWN, "TableName": KNOWN}
    define("glue", "create_job", Name=KNOWN, Role="r", Command=SCRIPT)
    define("glue", "create_workflow", Name=KNOWN)
    start = {"Name": KNOWN, "Type": "ON_DEMAND", "WorkflowName": KNOWN}
    define("glue", "create_trigger", **start, Actions=[{"JobName": KNOWN}])
    define("glue", "create_database", DatabaseInput={"Name": KNOWN})
    table = {"Name": KNOWN, "PartitionKeys": keys, "StorageDescriptor": storage}
    define("glue", "create_table", DatabaseName=KNOWN, TableInput=table)
    define("glue", "create_table", DatabaseName=KNOWN, TableInput={"Name": "a" * 250})
    define("glue", "create_partition", **of_table, PartitionInput={"Values": ["1"]})
    properties = {"JDBC_CONNECTION_URL": "jdbc:derby:x"}
    jdbc = {"Name": KNOWN, "ConnectionType": "JDBC", "ConnectionProperties": properties}
    define("glue", "create_connection", ConnectionInput=jdbc)
    define("events", "put_rule", Name=KNOWN, EventPattern='{"source": ["a"]}')
    define("s3", "create_bucket", Bucket=KNOWN)
    define("s3", "put_object", Bucket=KNOWN, Key=KNOWN, Body=b"abc")
    key = [{"AttributeName": "id", "KeyType": "HASH"}]
    types = [{"AttributeName": "id", "AttributeType": "S"}]
    items = {"TableName": KNOWN, "KeySchema": key, "BillingMode": "PAY_PER_REQUEST"}
    define("dynamodb", "create_table", **items, AttributeDefinitions=types)
    machine = '{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}'
    define("stepfunctions", "create_state_machine", name=KNOWN, roleArn="r", definition=machine)
    define("sns", "create_topic", Name=KNOWN)
    define("sqs", "create_queue", QueueName=KNOWN)
    define("ssm", "put_parameter", Name=KNOWN, Value="a", Type="String")
    define("secretsmanager", "create_secret", Name=KNOWN, SecretString="a")


def random_request(seed):
    """Return the request of a seed: mostly for an operation that this machine has."""
    fuzzer = Fuzzer(seed)
    service = fuzzer.random.choice(("glue", "glue", "events", "s3", "s3", *SERVICES))
    names = service_model(service).operation_names
    if fuzzer.random.random() < 0.9:
        names = SERVED.get(service, names)
    return fuzzer.request(service, fuzzer.random.choice(list(names)))


def fault_of(wire: Wire, status: int, body: bytes) -> str | None:
    """Return what is wrong with an answer; None if it is one of AWS."""
    if status >= 500 and not (wire.service == "s3" and status == NOT_IMPLEMENTED):
        return f"the status {status}"
    if wire.service not in ("glue", "events", "logs", "states") or status < 400:
        return None
    code = json.loads(body)["__type"]
    operation = find_operation(wire.service, wire.operation)
    listed = {shape.name for shape in operation.service_model.error_shapes}
    return None if code in listed | COMMON else f"the code {code}, which its model does not have"


@pytest.mark.parametrize("number", [0, *at_night(*range(1, 41))])
def test_each_of_many_random_requests_has_an_answer_of_aws(url, number):
    define_known(url)
    night = f"{NIGHT}/" if number else ""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=BOUND_S)

    wrong = []
    for each in range(EACH):
        wire = random_request(f"{night}{number}/{each}")
        connection.request(wire.method, wire.path, wire.body, wire.headers)
        answer = connection.getresponse()
        body = answer.read()
        if fault := fault_of(wire, answer.status, body):
            wrong.append((f"{night}{number}/{each}", fault, wire, body[:300]))

    assert not wrong, wrong[:5]
    connection.request("POST", "/", b"{}", Fuzzer("alive").request("glue", "ListJobs").headers)
    assert re.search(rb'"JobNames": \[', connection.getresponse().read())
    connection.close()


def test_a_seed_makes_the_same_request_again():
    seeds = [f"again/{number}" for number in range(50)]

    assert [random_request(seed) for seed in seeds] == [random_request(seed) for seed in seeds]
    assert len({random_request(seed).body for seed in seeds}) > 20
