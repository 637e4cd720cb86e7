"""Clients that hold what a server has few of: connections, threads, numbers of files."""

from __future__ import annotations

import os
import resource
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import pytest
from botocore.exceptions import IncompleteReadError, ReadTimeoutError, ResponseStreamingError

from tests.signing import raw_upload
from tidemark.local_glue.port.http import server
from tidemark.local_glue.port.http.routes import names_of_port

HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\nX-Begun: "
LARGE = 20_000_000  # bytes: more than sockets and waitress hold of one answer


@pytest.fixture
def connect(port):
    """Return what opens a connection that is closed at the end of the test."""
    with ExitStack() as stack:

        def connected(sent: bytes = b"") -> socket.socket:
            name, number = port.url.removeprefix("http://").split(":")
            one = stack.enter_context(closing(socket.create_connection((name, int(number)), 10)))
            one.sendall(sent)
            return one

        yield connected


@pytest.mark.parametrize("host", ["0.0.0.0", "127.0.0.1"])  # noqa: S104 (of no one but this test)
def test_a_port_at_every_address_is_asked_at_one_that_a_request_may_name(host):
    with server.listening(host, 0) as listener:
        number = listener._socket.getsockname()[1]

        assert listener.url == f"http://127.0.0.1:{number}"
        assert "127.0.0.1" in names_of_port(host, ["glue.test"])


def account_of(port):
    return port.client("sts", read_timeout=8).get_caller_identity()["Account"]


def test_clients_that_do_not_read_on_hold_up_no_one(port):
    s3 = port.client("s3", max_pool_connections=50, read_timeout=8)
    s3.create_bucket(Bucket="large")
    content = os.urandom(LARGE)
    s3.put_object(Bucket="large", Key="one", Body=content)

    bodies = [s3.get_object(Bucket="large", Key="one")["Body"] for _ in range(40)]

    assert account_of(port) == "000000000000"
    assert bodies[-1].read() == bodies[0].read() == content
    for body in bodies:
        body.close()
    part = s3.get_object(Bucket="large", Key="one", Range="bytes=19000000-19999998")
    assert part["Body"].read() == content[19_000_000:-1]


def test_a_file_that_is_cut_while_it_is_read_ends_the_answer(port):
    s3 = port.client("s3", read_timeout=8)
    s3.create_bucket(Bucket="cut")
    s3.put_object(Bucket="cut", Key="one", Body=b"x" * LARGE)
    body = s3.get_object(Bucket="cut", Key="one")["Body"]

    os.truncate(port.home.lake / "cut" / "one", 1000)

    with pytest.raises((IncompleteReadError, ResponseStreamingError)) as caught:
        body.read()
    assert not isinstance(caught.value, ReadTimeoutError)


def test_requests_that_are_not_gone_on_with_leave_room_for_others(port, connect):
    for _ in range(server.MOST_CONNECTIONS + 20):
        connect(HEAD)

    assert account_of(port) == "000000000000"


def test_bodies_that_come_a_byte_at_a_time_leave_room_for_others(port, connect, monkeypatch):
    monkeypatch.setattr(server, "SLOW_S", 0.5)
    s3 = port.client("s3")
    s3.create_bucket(Bucket="slow")
    body = raw_upload(s3, "slow", "one", **{"Content-Length": "1000000"})
    slow = [connect(body) for _ in range(server.MOST_CONNECTIONS + 20)]
    is_answered = threading.Event()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(_trickle, slow, is_answered)
        try:
            assert account_of(port) == "000000000000"
        finally:
            is_answered.set()


def _trickle(sockets, is_enough):
    while not is_enough.wait(0.2):
        for one in sockets:
            with suppress(OSError):  # it was closed
                one.send(b"x")


def test_a_request_has_a_time_for_its_head_however_often_a_byte_of_it_comes(
    port, connect, monkeypatch
):
    monkeypatch.setattr(server, "HEAD_S", 1)
    one = connect(HEAD)

    with pytest.raises(OSError, match=r"reset|Broken pipe"):
        _send_slowly(one, seconds=10)


def _send_slowly(one, seconds):
    for _ in range(seconds * 10):
        one.sendall(b"a")
        time.sleep(0.1)


def test_consumers_that_wait_for_messages_hold_up_no_one(port):
    consumers = server.THREADS + 6
    sqs = port.client("sqs", max_pool_connections=consumers)
    url = sqs.create_queue(QueueName="orders")["QueueUrl"]
    with ThreadPoolExecutor(consumers) as pool:
        waits = [
            pool.submit(sqs.receive_message, QueueUrl=url, WaitTimeSeconds=3)
            for _ in range(consumers)
        ]
        time.sleep(0.5)
        begun_s = time.monotonic()
        account_of(port)

        assert time.monotonic() - begun_s < 2
        assert not any("Messages" in wait.result() for wait in waits)


def test_file_numbers_above_those_of_select_are_answered(port, connect):
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most < 2_000:
        pytest.skip(f"this process may have {most} files open")
    with ExitStack() as stack:
        for _ in range(1_100):
            stack.enter_context(Path(os.devnull).open())

        assert account_of(port) == "000000000000"
