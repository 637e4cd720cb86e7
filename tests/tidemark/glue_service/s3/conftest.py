"""One served home for the tests of S3, and short ways to ask."""

from __future__ import annotations

import http.client
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest
from botocore.exceptions import ClientError

from tests.signing import signed
from tests.tidemark.glue_service.conftest import Port
from tests.waiting import BOUND_S
from tidemark.glue_service.http.serving import serving
from tidemark.local_state.access_key import access_key
from tidemark.local_state.home import Home


@pytest.fixture(scope="package")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Port]:
    """One home for all of them; each has a bucket of its own."""
    home = Home.open(tmp_path_factory.mktemp("s3") / "home")
    with serving(home) as (url, engine):
        yield Port(home, url, engine)


@pytest.fixture(scope="package")
def s3(port):
    return port.client("s3")


@pytest.fixture
def bucket(port, s3, request):
    """A bucket of the test's own."""
    name = f"b{abs(hash(request.node.name))}"
    s3.create_bucket(Bucket=name)
    return name


def put(s3, bucket, *keys, body=b"x"):
    for key in keys:
        s3.put_object(Bucket=bucket, Key=key, Body=body)


def keys_of(answer):
    return [item["Key"] for item in answer.get("Contents", [])]


def prefixes_of(answer):
    return [item["Prefix"] for item in answer.get("CommonPrefixes", [])]


def code_of(call, **members):
    with pytest.raises(ClientError) as caught:
        call(**members)
    return caught.value.response["Error"]["Code"]


class Answer(NamedTuple):
    """An answer as it came: its status, its headers in lower case, its body."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def code(self) -> str:
        found = re.search(b"<Code>(.*)</Code>", self.body)
        return found[1].decode() if found else ""


def ask(port, method, path, body=b"", headers=None, is_signed=True):
    """Send a request that is not one of boto3."""
    sent = dict(headers or {})
    if is_signed:
        sent = signed(access_key(port.home), method, f"{port.url}{path}", sent, body, "s3")
    connection = http.client.HTTPConnection(urlsplit(port.url).netloc, timeout=BOUND_S)
    connection.request(method, path, body, sent)
    answer = connection.getresponse()
    found = {name.lower(): value for name, value in answer.getheaders()}
    content = answer.read()
    connection.close()
    return Answer(answer.status, found, content)
