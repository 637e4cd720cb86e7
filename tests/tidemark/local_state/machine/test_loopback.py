"""What only the programs of one user may know is in no message, whoever makes it."""

from __future__ import annotations

import secrets
from urllib.parse import urlsplit

import pytest
from botocore.exceptions import EndpointConnectionError

from tidemark.glue_job.process.failures import cause_of, print_from_script
from tidemark.local_state.dynamodb import dynamodb_client
from tidemark.local_state.engine.front import front_of, is_front
from tidemark.local_state.machine.loopback import show_endpoint, without_secrets
from tidemark.testing.watermark_table import WatermarkTable
from watermarks import Watermarks, WatermarksError, WatermarkTableError

NO_TABLE = b'{"__type": "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException"}'


class Engine:
    """What answers behind a front."""

    def __init__(self, status, body):
        self.answer = (status, [("content-type", "application/x-amz-json-1.0")], body)

    def request(self, *_):
        return self.answer


@pytest.mark.parametrize(
    ("answer", "error"),
    [((400, NO_TABLE), WatermarkTableError), ((200, b"<html>"), WatermarksError)],
    ids=["no table", "no answer"],
)
def test_errors_of_the_watermark_library_have_no_secret_path(answer, error):
    with front_of(Engine(*answer)) as url, dynamodb_client(url, "eu-west-1") as client:
        with pytest.raises(error) as raised:
            Watermarks("orders", client).latest("ingest")

        place = urlsplit(url)
        assert place.path[1:] not in str(raised.value)
        assert place.netloc in str(raised.value)
        assert place.path[1:] not in repr(WatermarkTable(url, None))


def test_why_a_run_failed_and_its_traceback_have_no_secret(monkeypatch, capsys):
    key = secrets.token_hex(20)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", key)
    with front_of(Engine(200, b"")) as url:
        assert is_front(url)
        assert not is_front(f"{url}x")
        path = urlsplit(url).path[1:]
    error = EndpointConnectionError(endpoint_url=f"{url}/ {key}")

    print_from_script(error, "job.py")

    for text in (cause_of(error), capsys.readouterr().err, without_secrets(f"'{url}'{key}")):
        assert path not in text
        assert key not in text
        assert f"127.0.0.1:{urlsplit(url).port}" in text


def test_the_secret_path_of_this_process_is_hidden_without_its_host_too(monkeypatch):
    path = secrets.token_urlsafe(32)
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", f"http://127.0.0.1:4/{path}")

    for text in (
        f"Max retries exceeded with url: /{path} (",
        f"http%3A%2F%2F127.0.0.1%3A4%2F{path}",
    ):
        assert path not in without_secrets(text)


def test_other_texts_stay_as_they_are(monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    text = "a test of http://127.0.0.1:80/short and http://localhost:4566/"

    assert without_secrets(text) == text
    assert show_endpoint("http://me:word@localhost:4566/x?y") == "http://localhost:4566"
