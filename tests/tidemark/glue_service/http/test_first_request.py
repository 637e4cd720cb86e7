"""What answers a port is made for its first client, and ends as if it had always been there."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from tests.waiting import BOUND_S
from tidemark.glue_service.access.gate import Gate
from tidemark.glue_service.http import server
from tidemark.glue_service.lazy import Lazy
from tidemark.local_state.machine.loopback import LOOPBACK_NAMES

ADMITS = Gate(None, "", LOOPBACK_NAMES)


def answer(environ, start_response):
    start_response("200 OK", [("Content-Length", "4")])
    return [b"done"]


def no_application():
    raise AssertionError("nobody has asked")


def test_a_port_that_nobody_asks_has_one_thread_and_no_application():
    before = threading.active_count()
    with server.listening("127.0.0.1", 0) as listener:
        listener.serve(no_application, ADMITS, any_user=True)

        assert threading.active_count() == before + 1
    assert threading.active_count() == before


def test_first_requests_at_once_make_one_application():
    made = []
    all_asked = threading.Barrier(4)

    def make():
        made.append(answer)
        return answer

    def ask(url):
        all_asked.wait(BOUND_S)
        return urlopen(url).read()  # noqa: S310 (of this test)

    with server.listening("127.0.0.1", 0) as listener, ThreadPoolExecutor(4) as pool:
        listener.serve(Lazy(make), ADMITS, any_user=True)

        assert list(pool.map(ask, [listener.url] * 4)) == [b"done"] * 4
    assert len(made) == 1


def test_a_first_request_is_answered_although_the_port_ends_before_there_is_a_server(monkeypatch):
    begins, may_go_on = threading.Event(), threading.Event()
    server_at = server._server_at

    def slow(*arguments):
        begins.set()
        may_go_on.wait(BOUND_S)
        return server_at(*arguments)

    monkeypatch.setattr(server, "_server_at", slow)
    with server.listening("127.0.0.1", 0) as listener, ThreadPoolExecutor(2) as pool:
        listener.serve(lambda: answer, ADMITS, any_user=True)
        asked = pool.submit(urlopen, listener.url)
        begins.wait(BOUND_S)
        closed = pool.submit(listener.close)
        may_go_on.set()

        assert asked.result(BOUND_S).read() == b"done"
        closed.result(BOUND_S)


def test_a_client_waits_while_no_file_can_be_opened_for_a_server(monkeypatch):
    tried = []
    server_at = server._server_at

    def no_file_at_first(*arguments):
        tried.append(arguments)
        if len(tried) == 1:
            raise OSError("too many files are open")
        return server_at(*arguments)

    monkeypatch.setattr(server, "_server_at", no_file_at_first)
    with server.listening("127.0.0.1", 0) as listener:
        listener.serve(lambda: answer, ADMITS, any_user=True)

        assert urlopen(listener.url).read() == b"done"  # noqa: S310 (of this test)


def test_an_application_that_cannot_be_made_is_tried_again_for_the_next_request(caplog):
    tried = []

    def make():
        tried.append(answer)
        if len(tried) == 1:
            raise OSError("too many files are open")
        return answer

    with server.listening("127.0.0.1", 0) as listener:
        listener.serve(Lazy(make), ADMITS, any_user=True)
        with pytest.raises(HTTPError, match="500"):
            urlopen(listener.url)  # noqa: S310 (of this test)

        assert urlopen(listener.url).read() == b"done"  # noqa: S310 (of this test)
