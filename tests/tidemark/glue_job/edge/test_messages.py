"""Messages that a run has sent, as objects with a row for each."""

from __future__ import annotations

import json

import pytest

from tidemark.glue_job.edge import announce
from tidemark.glue_job.edge.messages import keep_messages, messages_place
from tidemark.local_state.home import Home
from tidemark.local_state.operations import Recorder, record_operations

TOPIC = {"TopicArn": "arn:aws:sns:eu-west-1:123456789012:alerts"}
QUEUE = {"QueueUrl": "http://127.0.0.1:4566/123456789012/loads"}


@pytest.mark.parametrize(
    ("service", "name", "parameters", "folder"),
    [
        ("sns", "Publish", {**TOPIC, "Message": "a"}, "sns/alerts"),
        ("sqs", "SendMessage", {**QUEUE, "MessageBody": "a"}, "sqs/loads"),
        ("sns", "Publish", {"PhoneNumber": "+49", "Message": "a"}, "sns/+49"),
    ],
)
def test_a_message_is_an_object_below_its_topic_or_queue(service, name, parameters, folder):
    places = {messages_place(service, name, parameters) for _ in range(2)}

    assert len(places) == 2
    assert all(place.startswith(f"s3://aws-messages-local/{folder}/") for place in places)


@pytest.mark.parametrize(
    ("service", "name"), [("sns", "CreateTopic"), ("sqs", "ReceiveMessage"), ("s3", "Publish")]
)
def test_other_requests_send_nothing(service, name):
    assert messages_place(service, name, {}) == ""


def test_a_message_that_a_fifo_topic_knows_is_the_same_object():
    known = {**TOPIC, "Message": "a", "MessageDeduplicationId": "../x" * 60}

    assert messages_place("sns", "Publish", known) == messages_place("sns", "Publish", known)
    assert ".." not in messages_place("sns", "Publish", known)


def test_a_row_has_the_fields_of_a_message_or_its_text(tmp_path, monkeypatch):
    home = Home.open(tmp_path)
    record_operations(home)
    monkeypatch.setattr(announce, "_edge", announce.Edge(Recorder(home, "jr_1"), "job.py"))
    entries = [{"MessageBody": '{"rows": 3}', "Id": "1"}, {"MessageBody": "done", "Id": "2"}]
    place = "s3://aws-messages-local/sqs/loads/1.json"

    keep_messages(place, "SendMessageBatch", {**QUEUE, "Entries": entries})

    lines = home.local_path(place).read_text().splitlines()
    assert [json.loads(line) for line in lines] == [{"rows": 3}, {"message": "done"}]


def test_nothing_is_kept_where_nobody_records(tmp_path, monkeypatch):
    monkeypatch.setattr(announce, "_edge", None)

    keep_messages("s3://aws-messages-local/sns/a/1.json", "Publish", {**TOPIC, "Message": "a"})

    assert not list(tmp_path.iterdir())
