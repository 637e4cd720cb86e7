"""What something else than DynamoDB answers is named as that, and no state is taken from it."""

from __future__ import annotations

import io

import pytest
from botocore.awsrequest import AWSResponse

from watermarks import WatermarksError
from watermarks.table.client import NoAnswerError

GARBAGE = {
    "a page": b"<html><body>Please log in</body></html>",
    "bytes": bytes(range(128, 200)),
    "half of an answer": b'{"Item": {"jobName": {"S": "a"',
    "another answer": b'{"status": "ok"}',
    "nothing": b"",
}


class _Raw(io.BytesIO):
    def stream(self, **_):
        yield self.read()


@pytest.fixture(params=GARBAGE.values(), ids=GARBAGE.keys())
def garbage(request):
    return request.param


@pytest.fixture
def broken(garbage, client):
    """Return a function that lets an action be answered by garbage from now on."""
    left = [0]

    def answer(request, **_):
        left[0] -= 1
        if left[0] < 0:
            return None
        headers = {"content-length": str(len(garbage)), "content-type": "text/html"}
        return AWSResponse(request.url, 200, headers, _Raw(garbage))

    names = []

    def break_(action, times=99):
        left[0] = times
        names.append(f"before-send.dynamodb.{action}")
        client.meta.events.register(names[-1], answer)

    yield break_
    for name in names:
        client.meta.events.unregister(name, answer)


def actions(watermarks, job):
    return [
        lambda: watermarks.latest(job),
        lambda: watermarks.committed_windows(job),
        lambda: watermarks.open_window(job, run_id="jr_2", cursor="id", high=2),
        lambda: list(watermarks.history(job)),
    ]


@pytest.mark.parametrize("name", ["GetItem", "Query"])
def test_an_answer_of_no_dynamodb_is_named(watermarks, job, broken, name):
    for number in (1, 2):
        window = watermarks.open_window(job, run_id=f"jr_{number}", cursor="id", high=number)
        watermarks.commit_window(window)
    wanted = [act() for act in actions(watermarks, job)]
    broken(name)

    for act, found in zip(actions(watermarks, job), wanted, strict=True):
        outcome = outcome_of(act)
        if outcome != found:  # else it did not need what was broken
            assert type(outcome) is NoAnswerError
            assert "is not DynamoDB" in str(outcome)


def outcome_of(act):
    """Return what an action returns, or the error of the library that it raises."""
    try:
        return act()
    except WatermarksError as error:
        return error


@pytest.mark.parametrize("times", [1, pytest.param(99, marks=pytest.mark.nightly)])
def test_a_write_that_something_else_answered_is_not_taken_for_done(watermarks, job, broken, times):
    """The first request never arrived; the outcome is found out by sending it again."""
    window = watermarks.open_window(job, run_id="jr_1", cursor="id", high=1)
    broken("TransactWriteItems", times)

    if times == 1:
        assert watermarks.commit_window(window).watermarks == {"id": 1}
    else:
        with pytest.raises(WatermarksError, match="is not DynamoDB"):
            watermarks.commit_window(window)

    latest = watermarks.latest(job)
    assert (latest and latest.watermarks) == ({"id": 1} if times == 1 else None)


def test_a_job_without_a_row_is_new_whoever_answers(watermarks, job):
    assert watermarks.latest(job) is None
    assert watermarks.committed_windows(job) == []
