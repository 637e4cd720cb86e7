"""Requests that are wrong, or from where they must not come: refused, and the port goes on."""

from __future__ import annotations

import http.client
import json
import re
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.signing import signed
from tests.waiting import BOUND_S
from tidemark.errors import UsageError
from tidemark.glue_service.http.routes import names_of_port, service_of
from tidemark.glue_service.http.services import OPERATIONS, unsupported
from tidemark.glue_service.protocol.models import find_faults, find_operation, service_model
from tidemark.local_state.access_key import access_key
from tidemark.local_state.machine.loopback import refusal_reason


def post(port, body, target="AWSGlue.GetJob", **headers):
    connection = http.client.HTTPConnection(urlsplit(port.url).netloc, timeout=BOUND_S)
    sent = {"X-Amz-Target": target, "Content-Type": "application/x-amz-json-1.1", **headers}
    key, service = access_key(port.home), service_of({"x-amz-target": target}, "")
    connection.request("POST", "/", body, signed(key, "POST", port.url, sent, body, service))
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, text


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", "SerializationException"),
        (b"[]", "SerializationException"),
        (b'{"JobName": NaN}', "SerializationException"),
        (b'{"JobName": 1e400}', "SerializationException"),
        (b'{"JobName": ' + b"9" * 5000 + b"}", "SerializationException"),
        (b"\xff", "SerializationException"),
        (b'{"JobName": "\\ud800"}', "SerializationException"),
        (b'{"a":' * 150 + b"1" + b"}" * 150, "SerializationException"),
        (b"[" * 100_000, "SerializationException"),
        (b"{}", "InvalidInputException"),
        (b'{"JobName": 1}', "InvalidInputException"),
        (b'{"JobName": ""}', "InvalidInputException"),
        (b'{"JobName": "a", "Nope": 1}', "InvalidInputException"),
        (b'{"JobName": "none"}', "EntityNotFoundException"),
    ],
)
def test_a_body_that_is_no_request_is_answered_by_code(port, body, code):
    status, text = post(port, body)

    assert (status, json.loads(text)["__type"]) == (400, code)


def test_a_body_that_is_too_large_is_refused(port):
    status, text = post(port, b" " * 10_000_001)

    assert (status, json.loads(text)["__type"]) == (413, "RequestEntityTooLargeException")


@pytest.mark.parametrize(
    ("target", "named"),
    [
        ("AWSGlue.GetClassifiers", "GetClassifiers of glue"),
        ("AWSGlue.Nothing", "no operation 'Nothing'"),
        ("Logs_20140328.PutLogEvents", "PutLogEvents of logs"),
    ],
)
def test_an_operation_that_is_not_there_is_told_by_name(port, target, named):
    status, text = post(port, b"{}", target)

    answer = json.loads(text)
    assert (status, answer["__type"]) == (400, "UnknownOperationException")
    assert named in answer["Message"]


@pytest.mark.parametrize(
    ("service", "operation", "instead"),
    [
        ("glue", "CreateClassifier", "CreateTable"),
        ("glue", "UpdateCrawlerSchedule", "StartCrawler"),
        ("glue", "UpdateColumnStatisticsForTable", "docs/reference/local.md"),
        ("glue", "CreatePartitionIndex", "it has CreatePartition"),
        ("iam", "CreateRole", "any ARN of a role"),
        ("events", "CreateEventBus", "on AWS only"),
        ("logs", "PutLogEvents", "GetLogEvents"),
        ("glue", "ListRegistries", "columns are in tables"),
        ("glue", "CreateBlueprint", "no operation here is like it"),
        ("glue", "GetUserDefinedFunctions", "no operation here is like it"),
        ("sts", "GetSessionToken", "it has GetCallerIdentity"),
    ],
)
def test_an_operation_that_is_not_there_says_in_a_line_what_there_is_instead(
    service, operation, instead
):
    text = str(unsupported(service, operation))

    assert instead in text
    assert f"{operation} of {service}" in text
    assert len(text) < 400


def test_the_operations_that_are_named_instead_are_on_the_same_subject():
    named = []
    for operation in set(service_model("glue").operation_names) - set(OPERATIONS["glue"]):
        text = str(unsupported("glue", operation))
        if "it has " in text:
            others = text.partition("it has ")[2].partition(";")[0].split(", ")
            named += [(operation, name) for name in others]

    assert ("DeletePartitionIndex", "DeletePartition") in named
    subjects = "Connection|Database|Job|Partition|Security|Table|Tag|Trigger|Workflow"
    for operation, name in named:
        (subject,) = re.findall(subjects, name)[:1]
        assert subject in operation, (operation, name)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "http://127.0.0.1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Host": "evil.example"},
        {"Host": "evil.example:4566"},
        {"Host": ""},
    ],
)
def test_requests_of_web_pages_are_refused(port, headers):
    assert post(port, b'{"JobName": "none"}', **headers)[0] == 403


def test_a_host_at_another_address_is_named_by_it():
    assert refusal_reason({"host": "10.0.0.7:4566"}, names_of_port("10.0.0.7", [])) is None
    assert refusal_reason({"host": "[::1]:4566"}, frozenset(("::1",))) is None


@pytest.mark.parametrize(
    ("headers", "query", "service"),
    [
        ({"x-amz-target": "AWSGlue.GetJob"}, "", "glue"),
        ({"x-amz-target": "DynamoDB_20120810.GetItem"}, "", "dynamodb"),
        ({"authorization": "AWS4-HMAC-SHA256 Credential=a/20260101/r/sts/aws4_request"}, "", "sts"),
        ({}, "X-Amz-Credential=a%2F20260101%2Fr%2Fs3%2Faws4_request", "s3"),
        ({}, "", "s3"),
    ],
)
def test_the_service_is_found_by_target_or_signature(headers, query, service):
    assert service_of(headers, query) == service


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(OPERATIONS["glue"]), st.data())
def test_no_request_breaks_the_checks(operation_name, data):
    operation = find_operation("glue", operation_name)
    names = st.sampled_from(sorted(operation.input_shape.members)) | st.text()
    request = data.draw(st.dictionaries(names, JSON, max_size=4))

    assert all(isinstance(fault, str) for fault in find_faults(operation, request))


@pytest.mark.parametrize(
    ("host", "further", "named"),
    [
        ("10.0.0.7", [], "10.0.0.7"),
        ("10.0.0.7", [], "localhost"),
        ("0.0.0.0", ["Glue.Example.com"], "glue.example.com"),  # noqa: S104
        ("0.0.0.0", ["10.0.0.7"], "10.0.0.7"),  # noqa: S104
        ("::", ["[fe80::1]"], "[fe80::1]"),
        ("127.0.0.2", [], "127.0.0.2"),
    ],
)
def test_the_hosts_that_are_given_may_be_named_and_others_may_not(host, further, named):
    hosts = names_of_port(host, further)

    assert refusal_reason({"host": f"{named}:4566"}, hosts) is None
    assert "evil.example" in (refusal_reason({"host": "evil.example"}, hosts) or "")
    assert refusal_reason({"host": "0.0.0.0:4566"}, hosts)


def test_a_port_at_every_address_needs_a_name():
    with pytest.raises(UsageError, match=r"every address.*--allow-host NAME"):
        names_of_port("0.0.0.0", [])  # noqa: S104


@pytest.mark.parametrize("word", ["", "*", "*.example.com", "a b", "host:4566", "http://host"])
def test_a_name_that_is_not_of_a_host_is_refused(word):
    with pytest.raises(UsageError, match=r"--allow-host is .*without a port"):
        names_of_port("0.0.0.0", [word])  # noqa: S104
