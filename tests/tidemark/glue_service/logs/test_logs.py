"""CloudWatch Logs over the logs of job runs, by boto3."""

from __future__ import annotations

import time

import pytest

from tests.waiting import wait_until

OUTPUT, ERROR = "/aws-glue/python-jobs/output", "/aws-glue/python-jobs/error"
LINES = """
import sys, time
for number in range(25):
    print("line", number)
print("WARN: slow", file=sys.stderr)
print("ERROR: broken", file=sys.stderr)
sys.stdout.write("no newline")
"""
SLOW = """
import pathlib, time
print("first", flush=True)
while not pathlib.Path("go").exists():
    time.sleep(0.01)
print("second", flush=True)
"""


@pytest.fixture(scope="module")
def written(port):
    port.job("writer", LINES)
    run_id = port.start("writer")
    port.ended("writer", run_id)
    return run_id


def messages(answer):
    return [event["message"] for event in answer["events"]]


def test_a_stream_is_read_from_its_head_in_pages_to_a_token_that_repeats(port, written):
    found, token = [], None
    while True:
        more = {"nextToken": token} if token else {}
        answer = port.logs.get_log_events(
            logGroupName=OUTPUT, logStreamName=written, startFromHead=True, limit=10, **more
        )
        if answer["nextForwardToken"] == token:
            break
        found.append(messages(answer))
        token = answer["nextForwardToken"]

    assert [len(page) for page in found] == [10, 10, 6]
    assert [line for page in found for line in page] == [
        *(f"line {number}" for number in range(25)),
        "no newline",
    ]


def test_a_stream_is_read_backwards_from_its_end(port, written):
    last = port.logs.get_log_events(logGroupName=OUTPUT, logStreamName=written, limit=2)
    before = port.logs.get_log_events(
        logGroupName=OUTPUT, logStreamName=written, limit=2, nextToken=last["nextBackwardToken"]
    )

    assert messages(last) == ["line 24", "no newline"]
    assert messages(before) == ["line 22", "line 23"]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("", ["WARN: slow", "ERROR: broken"]),
        ("ERROR:", ["ERROR: broken"]),
        ('"R: b"', ["ERROR: broken"]),
        ("?WARN ?ERROR", ["WARN: slow", "ERROR: broken"]),
        ("-WARN", ["ERROR: broken"]),
        ("WARN ERROR", []),
    ],
)
def test_events_are_filtered_by_terms(port, written, pattern, found):
    answer = port.logs.filter_log_events(
        logGroupName=ERROR, logStreamNames=[written], filterPattern=pattern
    )

    assert messages(answer) == found


def test_events_of_several_streams_come_in_pages_by_time_each_once(port, written):
    port.job("other-writer", "for n in range(12): print('other', n)")
    other = port.start("other-writer")
    port.ended("other-writer", other)

    pages = port.logs.get_paginator("filter_log_events").paginate(
        logGroupName=OUTPUT,
        logStreamNames=[written, other],
        PaginationConfig={"PageSize": 7},
    )
    events = [event for page in pages for event in page["events"]]

    assert len(events) == 26 + 12
    assert len({event["eventId"] for event in events}) == 38
    assert [e["timestamp"] for e in events] == sorted(e["timestamp"] for e in events)
    assert [e["message"] for e in events if e["logStreamName"] == other] == [
        f"other {number}" for number in range(12)
    ]


def test_a_run_is_followed_while_it_writes(port):
    port.job("slow", SLOW)
    run_id = port.start("slow")
    query = {"logGroupName": OUTPUT, "logStreamNames": [run_id]}
    wait_until(lambda: messages(port.logs.filter_log_events(**query)) == ["first"])
    (first,) = port.logs.filter_log_events(**query)["events"]
    time.sleep(0.05)
    (port.home.runs / run_id / "go").touch()
    port.ended("slow", run_id)

    later = port.logs.filter_log_events(**query, startTime=first["timestamp"] + 1)

    assert messages(later) == ["second"]


def test_streams_are_listed_by_name_and_by_time(port, written):
    port.job("newest", "print(1)")
    newest = port.start("newest")
    port.ended("newest", newest)

    by_time = port.logs.describe_log_streams(
        logGroupName=OUTPUT, orderBy="LastEventTime", descending=True, limit=1
    )
    by_name = port.logs.describe_log_streams(logGroupName=OUTPUT, logStreamNamePrefix=written)
    groups = port.logs.describe_log_groups(logGroupNamePrefix="/aws-glue/python")["logGroups"]

    assert [stream["logStreamName"] for stream in by_time["logStreams"]] == [newest]
    assert [stream["logStreamName"] for stream in by_name["logStreams"]] == [written]
    assert [group["logGroupName"] for group in groups] == [ERROR, OUTPUT]


def test_no_line_is_later_than_the_end_of_its_run(port, written):
    end = port.run("writer", written)["CompletedOn"].timestamp() * 1000
    query = {"logGroupName": OUTPUT, "logStreamNames": [written]}
    *_, last = port.logs.filter_log_events(**query)["events"]

    assert last["timestamp"] <= round(end)
    from_last = port.logs.filter_log_events(**query, startTime=last["timestamp"])
    assert from_last["events"][-1] == last


@pytest.mark.parametrize(
    "request_",
    [
        {"logGroupName": "/aws-glue/none", "logStreamName": "x"},
        {"logGroupName": OUTPUT, "logStreamName": "jr_none"},
    ],
)
def test_a_group_or_stream_that_is_not_there_is_told(port, request_):
    with pytest.raises(port.logs.exceptions.ResourceNotFoundException):
        port.logs.get_log_events(**request_)


@pytest.mark.parametrize("places", ['{"%s": -1}', "[" * 100_000], ids=["negative", "deep"])
def test_a_token_that_no_answer_had_is_refused(port, written, places):
    with pytest.raises(port.logs.exceptions.InvalidParameterException, match="nextToken"):
        port.logs.filter_log_events(logGroupName=OUTPUT, nextToken=places.replace("%s", written))


@pytest.mark.parametrize("pattern", ["{ $.a = 1 }", "[a, b]", "%regex%", '"open'])
def test_patterns_that_do_not_work_here_are_refused(port, pattern):
    with pytest.raises(port.logs.exceptions.InvalidParameterException, match="filterPattern"):
        port.logs.filter_log_events(logGroupName=OUTPUT, filterPattern=pattern)
