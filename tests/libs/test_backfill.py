"""Backfill on the embedded DynamoDB: parts, restarts, and what it leaves alone."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from watermarks import (
    AmbiguousWatermarkError,
    WatermarkNotFoundError,
    Watermarks,
    WatermarksError,
    WatermarkSupersededError,
    WatermarkValueError,
)

NAIVE = datetime(2013, 1, 1)  # noqa: DTZ001
LONDON = ZoneInfo("Europe/London")


def refill(watermarks, job, **options):
    asked = {"backfill_id": "b", "cursor": "id", "low": 0, "high": 9, "run_id": "jr_b", "parts": 3}
    return watermarks.backfill(job, **{**asked, **options})


def looked_at(windows):
    """Return the windows of a loop whose body looks at each."""
    return [window for window in windows if window.window_id]


def ranges(windows):
    return [(window.low, window.high) for window in windows]


def test_parts_are_equal_contiguous_windows(watermarks, job):
    windows = looked_at(refill(watermarks, job, low=10, high=40, bounds="[)"))

    assert ranges(windows) == [(10, 20), (20, 30), (30, 40)]
    ids = [re.fullmatch("backfill-b-([0-9a-f]{16})-([123])", w.window_id) for w in windows]
    assert [found[2] for found in ids] == ["1", "2", "3"]
    assert len({found[1] for found in ids}) == 1
    first = windows[0]
    assert (first.job_id, first.run_id, first.cursor) == (job, "jr_b", "id")
    assert (first.bounds, first.attempt, first.read_low, first.is_empty) == ("[)", 1, 10, False)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 10, [0, 3, 6, 10]),
        (Decimal("0.5"), 2, [Decimal("0.5"), Decimal(1), Decimal("1.5"), 2]),
        (date(2013, 1, 1), date(2013, 1, 11), [date(2013, 1, d) for d in (1, 4, 7, 11)]),
        (
            NAIVE,
            NAIVE + timedelta(hours=1),
            [NAIVE + timedelta(minutes=minutes) for minutes in (0, 20, 40, 60)],
        ),
        (
            datetime(2013, 3, 31, 0, tzinfo=LONDON),
            datetime(2013, 3, 31, 4, tzinfo=LONDON),  # three hours: the clock jumps from 1 to 2
            [datetime(2013, 3, 31, hour, tzinfo=LONDON) for hour in (0, 2, 3, 4)],
        ),
    ],
    ids=["int", "Decimal", "date", "naive datetime", "datetime over a change of the clock"],
)
def test_every_type_with_arithmetic_can_be_split(watermarks, job, low, high, expected):
    windows = looked_at(refill(watermarks, job, low=low, high=high))

    assert ranges(windows) == list(pairwise(expected))


def test_unequal_decimals_still_meet_at_their_edges(watermarks, job):
    windows = looked_at(refill(watermarks, job, low=Decimal(0), high=Decimal(1), parts=7))

    assert [w.high for w in windows][:-1] == [w.low for w in windows][1:]
    assert (windows[0].low, windows[-1].high) == (0, 1)


def test_text_is_one_part(watermarks, job):
    assert ranges(refill(watermarks, job, low="a", high="m", parts=1)) == [("a", "m")]


def test_backfill_leaves_the_watermark_and_the_open_window_alone(watermarks, job, rows):
    watermarks.advance(job_id=job, run_id="jr_1", to={"id": 5}, base=None)
    window = watermarks.open_window(job_id=job, run_id="jr_2", cursor="id", high=20)
    head = rows()["~HEAD"]

    looked_at(refill(watermarks, job))

    assert rows()["~HEAD"] == head
    assert watermarks.commit_window(window).watermarks == {"id": 20}


def test_original_reader_still_finds_the_head(client, watermarks, job):
    watermarks.advance(job_id=job, run_id="jr_1", to={"id": 5}, base=None)
    looked_at(refill(watermarks, job))

    row = client.query(
        TableName=watermarks.table_name,
        KeyConditionExpression="jobName = :job",
        ExpressionAttributeValues={":job": {"S": job}},
        ScanIndexForward=False,
        Limit=1,
    )["Items"][0]
    assert row["runId"] == {"S": "~HEAD"}


def test_job_can_be_backfilled_before_its_first_run(watermarks, job):
    looked_at(refill(watermarks, job))

    assert watermarks.latest(job) is None
    assert watermarks.advance(job_id=job, run_id="jr_1", to={"id": 5}, base=None).version == 1


def test_backfill_is_recorded_with_its_range_and_expires(watermarks, job, rows):
    looked_at(refill(watermarks, job))

    row = rows()["~BACKFILL#b"]
    assert row["wmRange"] == {"M": {"low": {"N": "0"}, "high": {"N": "9"}}}
    assert (row["wmParts"], row["wmOwner"]) == ({"N": "3"}, {"S": "jr_b"})
    assert row["wmDone"] == {"M": {part: {"N": "1"} for part in "123"}}
    left = int(row["expiresAt"]["N"]) - datetime.now(UTC).timestamp()
    assert left == pytest.approx(timedelta(days=400).total_seconds(), abs=60)


def test_part_that_was_not_looked_at_is_not_done(watermarks, job):
    with pytest.raises(WatermarksError, match=r"as list\(backfill\(\)\) or an empty body do"):
        list(refill(watermarks, job))

    assert ranges(refill(watermarks, job, run_id="jr_c")) == [(0, 3), (3, 6), (6, 9)]


def test_part_whose_work_fails_is_not_done_and_a_restart_begins_there(watermarks, job):
    with pytest.raises(ZeroDivisionError):  # noqa: PT012 (the loop is what is tested)
        for window in refill(watermarks, job):
            if window.low == 3:
                raise ZeroDivisionError

    windows = looked_at(refill(watermarks, job, run_id="jr_c"))

    assert ranges(windows) == [(3, 6), (6, 9)]
    assert {(w.attempt, w.run_id, w.is_recovered) for w in windows} == {(2, "jr_c", True)}


def test_finished_backfill_yields_nothing(watermarks, job):
    looked_at(refill(watermarks, job))

    assert looked_at(refill(watermarks, job)) == []


def test_windows_that_are_done_are_told_with_their_attempts(watermarks, job):
    with pytest.raises(WatermarkNotFoundError, match="it never started, or its row has expired"):
        watermarks.backfilled_windows(job, "b")
    parts = refill(watermarks, job, parts=12, high=12)
    assert next(parts).attempt == 1
    next(parts)
    ((first, attempt),) = watermarks.backfilled_windows(job, "b")
    assert attempt == 1

    others = [window.window_id for window in refill(watermarks, job, parts=12, high=12)]

    assert watermarks.backfilled_windows(job, "b") == [(first, 1), *((w, 2) for w in others)]


def test_backfills_of_one_name_have_windows_of_their_own(watermarks, job):
    one, other = (looked_at(refill(watermarks, name)) for name in (job, f"{job}-eu"))

    assert not {w.window_id for w in one} & {w.window_id for w in other}


def test_backfill_is_not_written_before_its_first_window_is_asked_for(watermarks, job, rows):
    refill(watermarks, job)

    assert rows() == {}


@pytest.mark.parametrize(
    "other",
    [
        {"high": 12},
        {"low": 1},
        {"parts": 9},
        {"cursor": "at"},
        {"bounds": "[)"},
        {"low": Decimal(0)},
    ],
    ids=["high", "low", "parts", "cursor", "bounds", "type"],
)
def test_other_backfill_of_the_same_id_is_refused(watermarks, job, rows, other):
    next(refill(watermarks, job))
    before = rows()

    with pytest.raises(
        WatermarksError, match=r"'id' from 0 to 9 \(\] in 3 parts, and now .* another backfill_id"
    ):
        looked_at(refill(watermarks, job, **other))

    assert rows() == before


def test_run_that_was_overtaken_cannot_finish_a_part(watermarks, job):
    old = refill(watermarks, job, run_id="jr_old")
    assert next(old).attempt == 1
    next(refill(watermarks, job, run_id="jr_new"))

    with pytest.raises(WatermarkSupersededError, match=r"continues it .* part 1 is not marked"):
        next(old)

    assert watermarks.backfilled_windows(job, "b") == []


def test_lost_responses_leave_no_part_undone(new_client, table_name, job):
    client = new_client()
    losses = iter([503, 503])

    def lose(http_response, parsed, **_):
        if status := next(losses, None):
            parsed["Error"] = {"Code": "InternalServerError", "Message": "internal"}
            parsed["ResponseMetadata"]["HTTPStatusCode"] = http_response.status_code = status

    client.meta.events.register("after-call.dynamodb.UpdateItem", lose)
    watermarks = Watermarks(table_name, client, sleep=lambda _: None)

    assert ranges(refill(watermarks, job)) == [(0, 3), (3, 6), (6, 9)]
    assert len(watermarks.backfilled_windows(job, "b")) == 3


def test_job_of_the_original_class_must_adopt_first(watermarks, job, put_legacy):
    put_legacy("jr_1", id={"N": "8"})

    with pytest.raises(AmbiguousWatermarkError, match=r"in the way .* WatermarkAdmin.adopt\("):
        refill(watermarks, job)

    watermarks.adopt(job, "jr_1", reason="only run", actor="ada")
    assert len(looked_at(refill(watermarks, job))) == 3


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"backfill_id": ""}, ValueError, "backfill_id is ''"),
        ({"backfill_id": "a/b"}, ValueError, "backfill_id is 'a/b': output is named by it"),
        ({"cursor": ""}, ValueError, "cursor is ''"),
        ({"run_id": "~b"}, ValueError, "run_id is '~b'"),
        ({"bounds": "()"}, ValueError, r"bounds is '\(\)': allowed are"),
        ({"parts": 0}, ValueError, "parts is 0: give an integer from 1 to 1000"),
        ({"parts": 1.5}, ValueError, "parts is 1.5"),
        ({"parts": True}, ValueError, "parts is True"),
        ({"parts": 10}, WatermarkValueError, "parts is 10: the range .* fewer values"),
        ({"low": None}, WatermarkValueError, "low is None: .*to_run=None"),
        ({"low": 9}, WatermarkValueError, "low is 9, not before high 9"),
        ({"low": 1.5}, WatermarkValueError, "is a float"),
        ({"low": "a"}, WatermarkValueError, "these have no order"),
        ({"low": "a", "high": "b"}, WatermarkValueError, "strings cannot be split; use parts=1"),
    ],
)
def test_unusable_parameter_is_refused_at_once(watermarks, job, rows, given, error, message):
    with pytest.raises(error, match=message):
        refill(watermarks, job, **given)

    assert rows() == {}
