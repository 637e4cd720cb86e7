"""One served home for the tests of S3, and short ways to ask."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from botocore.exceptions import ClientError

from tests.tidemark.glue_service.conftest import Port
from tidemark.glue_service.http.serving import serving
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
