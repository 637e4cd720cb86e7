"""A client that is refused can read why, whether it waits with its body or sends it first."""

from __future__ import annotations

import http.client
import socket
from urllib.parse import urlsplit

import pytest

from tests.signing import raw, signed
from tests.waiting import BOUND_S, wait_until
from tidemark.glue_service.http import connections
from tidemark.local_state.access_key import access_key


def sent_by(url, head):
    """Return what a client is answered that sends a head, and waits."""
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.netloc, timeout=BOUND_S)
    connection.connect()
    connection.sock.sendall(head)
    answer = connection.sock.recv(65536)
    connection.close()
    return answer


@pytest.mark.parametrize("how", [{"Expect": "100-continue"}, {}])
def test_a_client_that_is_refused_is_told_before_it_sends_its_body(port, how):
    headers = {"Host": urlsplit(port.url).netloc, "Content-Length": "5000000000", **how}

    for head in (
        raw("PUT", "/bucket/a", headers),
        raw("PUT", "/bucket/a", {**headers, "Origin": "http://evil.test"}),
        raw("POST", "/", {**headers, "X-Amz-Target": "Tidemark.Deploy"}),
        raw("POST", "/", {**headers, "X-Amz-Target": "AWSGlue.ListJobs"}),
    ):
        answer = sent_by(port.url, head)
        assert answer.startswith((b"HTTP/1.1 403 ", b"HTTP/1.1 400 "))
        assert b"Connection: close" in answer


def test_a_client_that_sends_all_first_can_read_why_it_is_refused(port):
    connection = http.client.HTTPConnection(urlsplit(port.url).netloc, timeout=BOUND_S)
    connection.request("PUT", "/bucket/a", b"x" * 50_000_000)
    answer = connection.getresponse()

    assert (answer.status, b"AccessDenied" in answer.read()) == (403, True)
    connection.close()


def test_a_refused_client_that_sends_on_is_cut_off(port, monkeypatch):
    monkeypatch.setattr(connections, "LINGER_S", 0.1)
    place = urlsplit(port.url)
    with socket.create_connection((place.hostname, place.port), timeout=BOUND_S) as client:
        client.sendall(
            raw("PUT", "/bucket/a", {"Host": place.netloc, "Content-Length": "5000000000"})
        )
        answer = client.recv(65536)

        def is_cut_off():
            try:
                client.sendall(b"x")
            except (BrokenPipeError, ConnectionResetError):
                return True
            return False

        wait_until(is_cut_off)

    assert answer.startswith(b"HTTP/1.1 403 ")


def test_a_body_of_json_that_is_too_large_is_refused_by_its_head(port):
    key = access_key(port.home)
    asked = {"X-Amz-Target": "AWSGlue.ListJobs", "Content-Length": "10000001"}

    answer = sent_by(port.url, raw("POST", "/", signed(key, "POST", port.url, asked)))

    assert answer.startswith(b"HTTP/1.1 413 ")
