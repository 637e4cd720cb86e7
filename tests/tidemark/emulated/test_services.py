"""SSM of several homes in one process: each has its own parameters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tidemark.emulated.services import EmulatedServices
from tidemark.glue_service.protocol.service_errors import ServiceError

JSON = "application/x-amz-json-1.1"
SNS = "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/sns/aws4_request, SignedHeaders=host"


def ask(services: EmulatedServices, operation: str, body: dict[str, object]) -> tuple[int, str]:
    headers = {"x-amz-target": f"AmazonSSM.{operation}", "content-type": JSON}
    reply = services.answer("ssm", "/", headers, json.dumps(body).encode())
    return reply.status, json.loads(reply.body).get("Parameter", {}).get("Value", "")


def test_homes_of_one_process_share_no_parameter(tmp_path: Path) -> None:
    homes = [EmulatedServices(tmp_path / name) for name in ("one", "two")]
    for number, home in enumerate(homes):
        (tmp_path / ("one", "two")[number]).mkdir()
        put = {"Name": "/last", "Value": str(number), "Type": "String"}
        assert ask(home, "PutParameter", put)[0] == 200

    for _ in range(2):
        found = [ask(home, "GetParameter", {"Name": "/last"}) for home in homes]

        assert found == [(200, "0"), (200, "1")]


@pytest.mark.parametrize(
    ("service", "operation", "body", "code"),
    [
        ("ssm", "GetParameter", {"NameY": "a"}, "ValidationException"),
        ("ssm", "GetParameter", {"Name": ["a"]}, "ValidationException"),
        ("ssm", "GetNothing", {}, "UnknownOperationException"),
        ("ssm", "ListOpsMetadata", {}, "UnknownOperationException"),  # which moto does not have
        ("sqs", "CreateQueue", [[]], "SerializationException"),
    ],
)
def test_what_moto_would_fail_on_is_refused_by_name(tmp_path, service, operation, body, code):
    headers = {"x-amz-target": f"{service}.{operation}", "content-type": JSON}

    with pytest.raises(ServiceError) as caught:
        EmulatedServices(tmp_path).answer(service, "/", headers, json.dumps(body).encode())

    assert caught.value.code.startswith(code)
    assert caught.value.status == 400


def test_a_form_that_moto_fails_on_is_refused_by_name(tmp_path):
    body = b"Action=TagResource&Version=2010-03-31&ResourceArn=a&Tags.member.1.Key=a"
    headers = {"content-type": "application/x-www-form-urlencoded", "authorization": SNS}

    with pytest.raises(ServiceError, match="KeyError: 'Value'") as caught:
        EmulatedServices(tmp_path).answer("sns", "/", headers, body)

    assert caught.value.status == 400


def test_a_home_that_has_none_finds_none_of_another_home(tmp_path: Path) -> None:
    one, two = EmulatedServices(tmp_path / "one"), EmulatedServices(tmp_path / "two")
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    ask(one, "PutParameter", {"Name": "/last", "Value": "7", "Type": "String"})

    assert ask(two, "GetParameter", {"Name": "/last"})[0] == 400
