"""Clients that hold what a server has few of: connections, threads, numbers of files."""

from __future__ import annotations

import os
import resource
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, nullcontext
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
from botocore.exceptions import IncompleteReadError, ReadTimeoutError, ResponseStreamingError

from tests.waiting import BOUND_S, wait_until
from tidemark.glue_service.access.gate import Gate
from tidemark.glue_service.http import server
from tidemark.glue_service.http.routes import names_of_port
from tidemark.glue_service.http.server import Waits
from tidemark.local_state.machine.loopback import LOOPBACK_NAMES

LARGE = 20_000_000  # bytes: more than sockets and waitress hold of one answer


@pytest.mark.parametrize("host", ["0.0.0.0", "127.0.0.1"])  # noqa: S104 (of no one but this test)
def test_a_port_at_every_address_is_asked_at_one_that_a_request_may_name(host):
    with server.listening(host, 0) as listener:
        number = listener._socket.getsockname()[1]

        assert listener.url == f"http://127.0.0.1:{number}"
        assert "127.0.0.1" in names_of_port(host, ["glue.test"])


def test_a_server_that_ends_while_another_thread_wakes_it_ends_in_peace(monkeypatch):
    def answer(environ, start_response):
        start_response("200 OK", [("Content-Length", "0")])
        return []

    monkeypatch.setattr(server, "SHUTDOWN_S", BOUND_S)  # on a busy machine, too
    with server.listening("127.0.0.1", 0) as listener:
        listener.serve(lambda: answer, Gate(None, "", LOOPBACK_NAMES), any_user=True)
        urlopen(listener.url).close()  # noqa: S310 (of this test)
        trigger = listener._server.trigger
        wake = trigger._physical_pull

        def wake_late():
            wake()  # another thread's, which comes first
            listener._thread.join(10)
            wake()

        monkeypatch.setattr(trigger, "_physical_pull", wake_late)
        listener.close()

        assert not listener._thread.is_alive()
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(trigger.trigger)


def test_a_length_that_no_number_has_is_refused_and_not_shown(port, caplog):
    with socket.create_connection(("127.0.0.1", urlsplit(port.url).port)) as client:
        client.sendall(b"POST / HTTP/1.1\r\nContent-Length: %s\r\n\r\n" % (b"9" * 5000))

        assert client.recv(100).startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert caplog.text == ""


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


@pytest.mark.parametrize("waits_for_others", [True, False])
def test_port_lets_a_request_in_progress_end_unless_it_waits_for_others(waits_for_others, caplog):
    waits, may_end = Waits(), threading.Event()

    def answer(environ, start_response):
        with waits.one() if waits_for_others else nullcontext():
            may_end.wait(2)
        start_response("200 OK", [("Content-Length", "4")])
        return [b"done"]

    with server.listening("127.0.0.1", 0) as listener, ThreadPoolExecutor(1) as pool:
        listener.serve(lambda: answer, Gate(None, "", LOOPBACK_NAMES), any_user=True)
        asked = pool.submit(urlopen, listener.url)
        wait_until(lambda: listener._server and listener._server.active_channels)
        time.sleep(0.2)
        begun_s = time.monotonic()
        listener.close(waits)
        took_s = time.monotonic() - begun_s

        assert (took_s < 1.5) is waits_for_others
        assert (asked.exception() is None) is not waits_for_others
        may_end.set()
        wait_until(lambda: not listener._server.task_dispatcher.threads)
        listener._server.trigger.close()
    assert not caplog.records  # the operator need not know


def test_file_numbers_above_those_of_select_are_answered(port):
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most < 2_000:
        pytest.skip(f"this process may have {most} files open")
    with ExitStack() as stack:
        for _ in range(1_100):
            stack.enter_context(Path(os.devnull).open())

        assert account_of(port) == "000000000000"
