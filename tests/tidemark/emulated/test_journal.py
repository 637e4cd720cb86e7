"""The file of the requests that changed the emulated services."""

from __future__ import annotations

import pytest

from tidemark.emulated.journal import Journal, JournalEntry
from tidemark.emulated.services import is_kept, operation_of, without_wait
from tidemark.errors import UsageError
from tidemark.local_state.home_folder import SERVICES

ONE = JournalEntry("ssm", "/", {"x-amz-target": "AmazonSSM.PutParameter"}, b"\x00{}", 1)
TWO = JournalEntry("sns", "/", {}, b"Action=CreateTopic&Name=%C3%A9", 2)


def added(journal, *requests):
    with journal.locked() as turn:
        for request in requests:
            turn.add(request)


def unread(journal):
    with journal.locked() as turn:
        return list(turn.unread())


def test_what_another_process_adds_is_read_once(tmp_path):
    mine, other = (Journal(tmp_path / SERVICES) for _ in range(2))

    added(mine, ONE)
    added(other)
    first = unread(other)
    added(mine, TWO)

    assert (first, unread(other), unread(other)) == ([ONE], [TWO], [])
    assert (tmp_path / SERVICES).stat().st_mode & 0o077 == 0


def test_half_a_line_of_a_killed_process_is_replaced(tmp_path):
    path = tmp_path / SERVICES
    added(Journal(path), ONE)
    with path.open("ab") as file:
        file.write(TWO.line()[:-9])
    journal = Journal(path)

    assert unread(journal) == [ONE]
    added(journal, TWO)
    assert unread(Journal(path)) == [ONE, TWO]


@pytest.mark.parametrize("line", [b"\n", b"{}\n", b"[]\n", b"\xff\n", b'{"body": "*"}\n'])
def test_a_damaged_line_is_named(tmp_path, line):
    path = tmp_path / SERVICES
    path.write_bytes(ONE.line() + line)

    with pytest.raises(UsageError, match=f"at byte {len(ONE.line())}"):
        unread(Journal(path))


@pytest.mark.parametrize(
    ("headers", "body", "operation", "kept"),
    [
        ({"x-amz-target": "secretsmanager.GetSecretValue"}, b"{}", "GetSecretValue", False),
        ({"x-amz-target": "AmazonSSM.PutParameter"}, b"{}", "PutParameter", True),
        ({}, b"Action=Publish&TopicArn=a", "Publish", False),
        ({}, b"Action=Subscribe&TopicArn=a", "Subscribe", True),
        ({"x-amz-target": "AmazonSQS.SendMessageBatch"}, b"{}", "SendMessageBatch", False),
    ],
)
def test_what_changes_nothing_and_messages_are_not_kept(headers, body, operation, kept):
    assert (operation_of(headers, body), is_kept(operation)) == (operation, kept)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b'{"QueueUrl": "u", "WaitTimeSeconds": 20}', b'{"QueueUrl": "u", "WaitTimeSeconds": 0}'),
        (b"Action=ReceiveMessage&WaitTimeSeconds=20", b"Action=ReceiveMessage&WaitTimeSeconds=0"),
    ],
)
def test_a_consumer_for_whom_no_thread_is_left_does_not_wait(body, told):
    assert without_wait(body) == told
