"""Answers that a proxy cuts or garbles after the work was done: resolved or named, never raw."""

from __future__ import annotations

import random
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ConnectionError  # noqa: A004

from tests.sampled import at_night, sampled
from watermarks import WatermarkAdmin, WatermarkConflictError, Watermarks, WatermarksError

Answer = tuple[int, bytes]
SECRETS = ("test", "test")


def cut(choose: random.Random, answer: Answer) -> Answer:
    status, body = answer
    return status, body[: choose.randrange(len(body))] if body else body


def garbled(choose: random.Random, answer: Answer) -> Answer:
    status, body = answer
    at = choose.randrange(len(body) + 1)
    return status, body[:at] + b"\xff" + choose.randbytes(4) + body[at + 5 :]


def page(choose: random.Random, _: Answer) -> Answer:
    return choose.choice([200, 400, 403, 502]), b"<html><body>Bad gateway</body></html>"


def other_json(choose: random.Random, answer: Answer) -> Answer:
    return answer[0], choose.choice([b"[]", b'"a"', b"7", b"null", b'{"Item": []}'])


DAMAGES: dict[str, Callable[[random.Random, Answer], Answer]] = {
    "cut": cut,
    "garbled": garbled,
    "a page": page,
    "other JSON": other_json,
}


class Proxy(ThreadingHTTPServer):
    """Passes requests on, and damages a share of the answers; `shorten` breaks the connection."""

    daemon_threads = True

    def __init__(self, target: str, damage: str, share: float, seed: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.target, self.damage, self.share = target, damage, share
        self.choose, self.lock = random.Random(seed), threading.Lock()  # noqa: S311 (no secret)
        self.damaged = 0

    def answer(self, answer: Answer) -> tuple[Answer, int]:
        """Return an answer, damaged or not, and the length that its head says."""
        with self.lock:
            if self.choose.random() >= self.share:
                return answer, len(answer[1])
            self.damaged += 1
            if self.damage == "connection ends":
                return cut(self.choose, answer), len(answer[1])
            found = DAMAGES[self.damage](self.choose, answer)
            return found, len(found[1])


class _Handler(BaseHTTPRequestHandler):
    server: Proxy
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        names = ("content-type", "x-amz-target", "authorization", "x-amz-date")
        headers = {name: self.headers[name] for name in names if self.headers[name]}
        request = urllib.request.Request(self.server.target, body, headers)  # noqa: S310 (loopback)
        try:
            with urllib.request.urlopen(request) as response:  # noqa: S310 (loopback)
                answer = response.status, response.read()
        except urllib.error.HTTPError as error:
            answer = error.code, error.read()
        (status, content), length = self.server.answer(answer)
        self.send_response(status)
        self.send_header("Content-Type", "application/x-amz-json-1.0")
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(content)
        self.close_connection = length != len(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (of the library)
        """Log nothing."""


@pytest.fixture
def through(endpoint_url: str, table_name: str) -> Iterator[Callable[..., Any]]:
    """Return a maker of proxies, with a client of each."""
    proxies: list[Proxy] = []
    clients: list[Any] = []

    def make(damage: str, share: float, seed: int = 1) -> tuple[Any, Proxy]:
        proxy = Proxy(endpoint_url, damage, share, seed)
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        proxies.append(proxy)
        config = Config(retries={"total_max_attempts": 1}, max_pool_connections=32)
        session = boto3.Session(*SECRETS, region_name="eu-west-2")
        url = f"http://127.0.0.1:{proxy.server_port}"
        clients.append(session.client("dynamodb", endpoint_url=url, config=config))
        return clients[-1], proxy

    yield make
    for client in clients:
        client.close()
    for proxy in proxies:
        proxy.shutdown()
        proxy.server_close()


KINDS = [*DAMAGES, "connection ends"]
SHARE = 0.2


@pytest.mark.parametrize("seed", [1, *at_night(2, 3)])
@pytest.mark.parametrize("damage", sampled(KINDS, "cut", "connection ends"))
def test_windows_whose_answers_are_damaged_tile_the_cursor(
    through, watermarks, table_name, job, damage, seed
):
    client, proxy = through(damage, SHARE, seed)

    def run(number: int) -> list[tuple[Any, Any]]:
        mine = Watermarks(table_name, client, sleep=lambda _: None)
        done: list[tuple[Any, Any]] = []
        for count in range(100):
            try:
                run_id = f"jr_{number}_{count}"
                window = mine.open_window(
                    job, run_id=run_id, cursor="id", high=lambda low: (low or 0) + 1
                )
                mine.commit_window(window)
            except WatermarkConflictError:  # another run was faster
                continue
            done.append((window.low, window.high))
            if len(done) == 5:
                break
        return done

    with ThreadPoolExecutor(3) as pool:
        ranges = [pair for done in pool.map(run, range(3)) for pair in done]

    assert proxy.damaged
    assert sorted(ranges, key=lambda pair: pair[1]) == [(n or None, n + 1) for n in range(15)]
    assert watermarks.latest(job).version == 15


@pytest.mark.parametrize("damage", sampled(KINDS, "cut", "connection ends"))
def test_what_is_read_and_written_through_damaged_answers_is_as_without(
    through, watermarks, table_name, job, damage
):
    client, proxy = through(damage, SHARE)
    shaky = WatermarkAdmin(table_name, client, sleep=lambda _: None)

    for number in range(1, 6):
        item = shaky.create_watermark_item(job, f"jr_{number}", count=number)
        shaky.add_watermark(item)
        base = shaky.latest(job)
        shaky.advance(
            job_id=job, run_id=f"jr_a{number}", to={"count": base.watermarks["count"]}, base=base
        )

    for look in (
        lambda admin: admin.latest(job),
        lambda admin: [one.run_id for one in admin.history(job)],
        lambda admin: admin.jobs_with_open_windows(),
    ):
        assert look(shaky) == look(watermarks)
    assert watermarks.latest(job).version == 10
    assert proxy.damaged


@pytest.mark.parametrize("damage", KINDS)
def test_answers_that_are_all_damaged_are_named(through, watermarks, table_name, job, damage):
    watermarks.advance(job_id=job, run_id="jr_0", to={"id": 0}, base=None)
    client, _ = through(damage, 1.0)
    shaky = WatermarkAdmin(table_name, client, sleep=lambda _: None)

    for act in (
        lambda: shaky.latest(job),
        lambda: shaky.open_window(job, run_id="jr_1", cursor="id", high=1),
        lambda: shaky.advance(job_id=job, run_id="jr_1", to={"id": 1}, base=watermarks.latest(job)),
        lambda: list(shaky.history(job)),
    ):
        with pytest.raises((WatermarksError, ConnectionError)) as named:
            act()
        assert "127.0.0.1" in str(named.value)
