"""Services that this machine does not have: refused by name, or answered by an endpoint."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from botocore.exceptions import ClientError

from tests.tidemark.glue_service.conftest import Port
from tests.waiting import wait_until
from tidemark.errors import UsageError
from tidemark.glue_service.http import other_services
from tidemark.glue_service.http.forward import read_forwards
from tidemark.glue_service.http.other_services import OtherServices
from tidemark.glue_service.http.serving import Options
from tidemark.local_state.home import Home


@pytest.mark.parametrize(
    ("service", "operation", "name"),
    [
        ("lambda", "list_functions", "lambda"),  # REST with JSON
        ("athena", "list_work_groups", "athena"),  # JSON
        ("cloudformation", "list_stacks", "cloudformation"),  # a form, and XML
        ("ec2", "describe_instances", "ec2"),  # XML of its own
        ("route53", "list_hosted_zones", "route53"),  # REST with XML
        ("cloudwatch", "list_metrics", "monitoring"),  # CBOR
    ],
)
def test_a_service_that_is_not_here_is_refused_by_name(port, service, operation, name):
    with pytest.raises(ClientError, match=f"no service '{name}'") as caught:
        getattr(port.client(service), operation)()

    assert caught.value.response["Error"]["Code"] == "UnknownOperationException"
    assert f"--forward {service}=URL" in str(caught.value)


class Emulator(BaseHTTPRequestHandler):
    """Answers as Lambda, and remembers what it was asked."""

    asked: list[tuple[str, str, bytes]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.asked.append((self.path, self.headers["Host"], body))
        self.send_response(200)
        self.send_header("X-Amz-Function-Error", "Unhandled")
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"true")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def emulator() -> Iterator[HTTPServer]:
    Emulator.asked = []
    with HTTPServer(("127.0.0.1", 0), Emulator) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_a_service_is_answered_by_the_endpoint_that_is_named_for_it(serve, tmp_path, emulator):
    place = f"127.0.0.1:{emulator.server_port}"
    forwards = read_forwards([f"lambda=http://{place}/base/"])
    with serve(options=Options(forwards=forwards)) as (url, engine):
        client = Port(Home.open(tmp_path / "home"), url, engine).client("lambda")
        answer = client.invoke(FunctionName="f é", Payload=b"{}", Qualifier="1")

    assert (answer["Payload"].read(), answer["FunctionError"]) == (b"true", "Unhandled")
    path = "/base/2015-03-31/functions/f%20%C3%A9/invocations?Qualifier=1"
    assert Emulator.asked == [(path, place, b"{}")]


def test_an_endpoint_that_does_not_answer_is_named(serve, tmp_path):
    with serve(options=Options(forwards={"lambda": "http://127.0.0.1:9"})) as (url, engine):
        client = Port(Home.open(tmp_path / "home"), url, engine).client("lambda")

        with pytest.raises(ClientError, match=r"http://127\.0\.0\.1:9 does not answer"):
            client.list_functions()


def sqs(others, name, **members):
    headers = {"x-amz-target": f"AmazonSQS.{name}", "content-type": "application/x-amz-json-1.0"}
    answer = others.answer("sqs", "POST", "/", headers, json.dumps(members).encode())
    return json.loads(answer.body)


def test_requests_that_wait_for_others_are_counted_while_they_do(tmp_path, monkeypatch):
    others = OtherServices(Home.open(tmp_path / "home"), {"lambda": "http://127.0.0.1:9"})
    monkeypatch.setattr(other_services, "forward", lambda *_: others.waits.count)
    queue = sqs(others, "CreateQueue", QueueName="orders")["QueueUrl"]
    wait = threading.Thread(
        target=sqs,
        args=(others, "ReceiveMessage"),
        kwargs={"QueueUrl": queue, "WaitTimeSeconds": 1},
    )

    assert others.answer("lambda", "POST", "/", {}, b"") == 1
    assert others.waits.count == 0
    wait.start()
    wait_until(lambda: others.waits.count == 1)
    wait.join()
    assert others.waits.count == 0


def test_services_are_named_as_boto3_calls_them():
    forwards = read_forwards(["cloudwatch=http://a:1/", "stepfunctions=https://b"])

    assert forwards == {"monitoring": "http://a:1", "states": "https://b"}


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("lambda", "SERVICE=URL"),
        ("lambda=127.0.0.1:1", "SERVICE=URL"),
        ("lamda=http://a", '"lamda"'),
        ("monitoring=http://a", "write --forward cloudwatch=http://a"),
        ("states=http://a", "write --forward stepfunctions=http://a"),
        ("email=http://a", "ses=http://a"),
        ("elasticmapreduce=http://a", "write --forward emr=http://a"),
        ("glue=http://a", "serves itself"),
        ("lambda=https://lambda.eu-west-1.amazonaws.com", "AWS"),
    ],
)
def test_a_forward_that_cannot_be_is_told(word, told):
    with pytest.raises(UsageError, match=told):
        read_forwards([word])
