"""What rules of EventBridge publish to topics of SNS, as a subscriber on this machine hears it."""

from __future__ import annotations

import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from tests.tidemark.glue_service.conftest import Port
from tests.waiting import wait_until
from tidemark.glue_service.http.serving import Options
from tidemark.local_state.home import Home


@pytest.fixture
def heard():
    """Give a URL of this machine, and what SNS posts to it."""
    told: list[dict[str, str]] = []

    class Endpoint(BaseHTTPRequestHandler):
        def do_POST(self):
            told.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Endpoint) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/", told
        server.shutdown()
        thread.join()


@pytest.mark.rule("The API on a port", source="EVENTS")
def test_messages_of_a_rule_to_a_topic_are_published(serve, tmp_path, heard):
    url, told = heard
    said: list[str] = []
    with serve(options=Options(say=said.append)) as (port_url, engine):
        port = Port(Home.open(tmp_path / "home"), port_url, engine)
        sns, events = port.client("sns"), port.client("events")
        arn = sns.create_topic(Name="failures")["TopicArn"]
        sns.subscribe(TopicArn=arn, Protocol="http", Endpoint=url)
        pattern = {"source": ["aws.glue"], "detail": {"jobName": ["breaks"]}}
        events.put_rule(Name="failed", EventPattern=json.dumps(pattern))
        transformer = {
            "InputPathsMap": {"job": "$.detail.jobName", "state": "$.detail.state"},
            "InputTemplate": '"<job> ended <state>"',
        }
        targets = [
            {"Id": "none", "Arn": f"{arn}-none"},
            {"Id": "text", "Arn": arn, "InputTransformer": transformer},
            {"Id": "event", "Arn": arn},
        ]
        events.put_targets(Rule="failed", Targets=targets)
        port.job("breaks", "raise ValueError('no')")
        run = port.ended("breaks", port.start("breaks"))
        wait_until(lambda: len(told) == 2)

    told.sort(key=lambda one: one["Message"])  # SNS keeps no order
    assert told[0]["TopicArn"] == arn
    assert told[0]["Message"] == '"breaks ended FAILED"'
    event = json.loads(told[1]["Message"])
    assert (event["detail"]["jobRunId"], event["detail"]["severity"]) == (run["Id"], "ERROR")
    assert [f"could not publish to {arn}-none: " in text for text in said] == [True]


def test_a_subscriber_that_does_not_answer_holds_up_no_one(serve, tmp_path):
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        serve() as (url, engine),
    ):
        port = Port(Home.open(tmp_path / "home"), url, engine)
        sns = port.client("sns", read_timeout=8)
        arn = sns.create_topic(Name="heard")["TopicArn"]
        for number in (silent.getsockname()[1], 1):  # the other one refuses
            sns.subscribe(TopicArn=arn, Protocol="http", Endpoint=f"http://127.0.0.1:{number}/")
        begun_s = time.monotonic()
        published = sns.publish(TopicArn=arn, Message="a")
        topics = sns.list_topics()["Topics"]
        took_s = time.monotonic() - begun_s
        silent.close()

    assert published["MessageId"]
    assert topics == [{"TopicArn": arn}]
    assert took_s < 8
