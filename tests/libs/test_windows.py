"""Windows on the embedded DynamoDB: open, take over, commit, and who is refused."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from botocore.exceptions import ConnectionClosedError
from botocore.stub import Stubber

from tests.sampled import at_night
from watermarks import (
    AmbiguousWatermarkError,
    WatermarkConflictError,
    Watermarks,
    WatermarkSupersededError,
    WatermarkValueError,
)

LIBS = Path(__file__).parents[2] / "libs"
NOON = datetime(2013, 1, 1, 12, tzinfo=UTC)
NAIVE = NOON.replace(tzinfo=None)


def open_to(watermarks, job, high, run_id="jr_1", **options):
    options.setdefault("cursor", "id")
    return watermarks.open_window(job_id=job, run_id=run_id, high=high, **options)


def test_first_window_begins_at_the_first_row(watermarks, job):
    window = open_to(watermarks, job, 10)

    assert (window.low, window.high, window.bounds, window.is_recovered) == (None, 10, "(]", False)


def test_first_window_begins_at_the_initial_value(watermarks, job):
    assert open_to(watermarks, job, 10, initial=5).low == 5


def test_first_window_has_the_rows_at_the_initial_value(watermarks, job):
    died = open_to(watermarks, job, 10, "jr_died", initial=5, lookback=3)
    first = open_to(watermarks, job, 20, "jr_1", initial=5)
    watermarks.commit_window(first)
    second = open_to(watermarks, job, 20, "jr_2", initial=5, lookback=3)

    assert (died.low, died.high, died.bounds, died.read_low) == (5, 10, "[]", 5)
    assert (first.window_id, first.bounds) == (died.window_id, "[]")
    assert (second.low, second.high, second.bounds, second.read_low) == (10, 20, "(]", 7)


def test_first_window_of_the_initial_value_alone(watermarks, job):
    only = open_to(watermarks, job, 5, initial=5)
    watermarks.commit_window(only)

    assert (only.low, only.high, only.bounds) == (5, 5, "[]")
    assert open_to(watermarks, job, 5, "jr_2", initial=5).is_empty
    assert open_to(watermarks, f"{job}-late", 4, initial=5).is_empty


def test_first_window_without_its_high_has_the_initial_value_anyway(watermarks, job):
    window = open_to(watermarks, job, 10, initial=5, bounds="[)")

    assert (window.low, window.bounds) == (5, "[)")


@pytest.mark.parametrize(
    "edited", [{"high": 7}, {"high": 20}, {"low": 1}, {"bounds": "[)"}, {"run_id": "jr_9"}]
)
def test_a_window_is_committed_as_it_was_opened_or_not_at_all(watermarks, job, edited):
    window = open_to(watermarks, job, 10)

    with pytest.raises(WatermarkConflictError, match="commit the window unchanged"):
        watermarks.commit_window(replace(window, **edited))

    assert watermarks.latest(job) is None
    assert watermarks.commit_window(replace(window, nulls="exclude")).watermarks == {"id": 10}


def test_committed_window_moves_the_watermark_and_the_next_begins_there(watermarks, job):
    stored = watermarks.commit_window(open_to(watermarks, job, 10))

    assert stored == watermarks.latest(job)
    assert stored.watermarks == {"id": 10}
    assert (stored.version, stored.run_id) == (1, "jr_1")
    assert open_to(watermarks, job, 20, "jr_2").low == 10


def test_open_window_is_no_watermark_yet(watermarks, job):
    open_to(watermarks, job, 10)

    assert watermarks.latest(job) is None
    with pytest.raises(KeyError):
        watermarks.get_most_recent_run_id(job)


@pytest.mark.parametrize("high", [None, 10, 9], ids=["no rows", "the same", "behind"])
def test_nothing_new_is_an_empty_window_that_writes_nothing(watermarks, job, rows, high):
    watermarks.commit_window(open_to(watermarks, job, 10))
    before = rows()

    window = open_to(watermarks, job, high, "jr_2")

    assert window.is_empty
    assert watermarks.commit_window(window).watermarks == {"id": 10}
    assert rows() == before


def test_bound_is_captured_once_and_only_for_a_new_window(watermarks, job):
    asked = []

    def capture(low):
        asked.append(low)
        return 10

    open_to(watermarks, job, capture)
    open_to(watermarks, job, capture, "jr_2")

    assert asked == [None]


def test_window_of_a_dead_run_is_taken_over_with_its_low_high_and_id(watermarks, job):
    dead = open_to(watermarks, job, 10)

    taken = open_to(watermarks, job, 99, "jr_2")

    assert taken.is_recovered
    assert (taken.low, taken.high, taken.window_id) == (dead.low, dead.high, dead.window_id)
    assert taken.attempt > dead.attempt


def test_superseded_run_cannot_commit_and_is_told_by_whom(watermarks, job, rows):
    first = open_to(watermarks, job, 10)
    second = open_to(watermarks, job, 10, "jr_2")
    before = rows()

    with pytest.raises(WatermarkSupersededError, match="run 'jr_2' took the window over: nothing"):
        watermarks.commit_window(first)

    assert rows() == before
    assert watermarks.commit_window(second).watermarks == {"id": 10}
    with pytest.raises(WatermarkSupersededError, match="'jr_2' committed or discarded the window"):
        watermarks.commit_window(first)


def test_commit_of_a_window_whose_cursor_was_advanced_otherwise_is_refused(watermarks, job):
    watermarks.advance(job_id=job, run_id="jr_0", to={"id": 5}, base=None)
    window = open_to(watermarks, job, 10)
    watermarks.advance(job_id=job, run_id="jr_9", to={"id": 7}, base=watermarks.latest(job))

    with pytest.raises(Exception, match="advanced by 'jr_9' meanwhile: nothing was written"):
        watermarks.commit_window(window)

    assert watermarks.latest(job).watermarks == {"id": 7}


def test_open_window_that_was_overtaken_by_an_advance_is_given_up(watermarks, job):
    overtaken = open_to(watermarks, job, 10)
    watermarks.advance(job_id=job, run_id="jr_2", to={"id": 20}, base=None)

    window = open_to(watermarks, job, 30, "jr_3")

    assert (window.low, window.high, window.is_recovered) == (20, 30, False)
    assert window.window_id != overtaken.window_id
    assert watermarks.commit_window(window).watermarks == {"id": 30}
    with pytest.raises(WatermarkSupersededError):
        watermarks.commit_window(overtaken)


def test_block_that_ends_well_commits(watermarks, job):
    with watermarks.window(job_id=job, run_id="jr_1", cursor="id", high=10) as window:
        assert window.high == 10

    assert watermarks.latest(job).watermarks == {"id": 10}


def test_block_that_raises_leaves_the_window_for_the_next_run(watermarks, job):
    with (
        pytest.raises(OSError, match="disk"),
        watermarks.window(job_id=job, run_id="jr_1", cursor="id", high=10),
    ):
        raise OSError("disk")

    assert watermarks.latest(job) is None
    assert open_to(watermarks, job, 99, "jr_2").high == 10


def test_loop_runs_the_recovered_window_first_and_then_what_is_new(watermarks, job):
    open_to(watermarks, job, 10)

    request = {"job_id": job, "run_id": "jr_2", "cursor": "id", "high": lambda _: 30}
    seen = [(w.low, w.high, w.is_recovered) for w in watermarks.windows(**request)]

    assert seen == [(None, 10, True), (10, 30, False)]
    assert watermarks.latest(job).watermarks == {"id": 30}
    assert list(watermarks.windows(**request)) == []


def test_loop_body_that_raises_commits_nothing_of_its_window(watermarks, job):
    def run():
        for _ in watermarks.windows(job_id=job, run_id="jr_1", cursor="id", high=10):
            raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        run()

    assert watermarks.latest(job) is None


def test_cursors_of_a_job_have_windows_of_their_own(watermarks, job):
    orders = open_to(watermarks, job, 10, cursor="orders_id")
    customers = open_to(watermarks, job, NOON, cursor="customers_updated_at")

    watermarks.commit_window(orders)
    stored = watermarks.commit_window(customers)

    assert stored.watermarks == {"orders_id": 10, "customers_updated_at": NOON}
    assert stored.version == 2
    assert set(stored.committed) == {orders.window_id, customers.window_id}


def test_window_does_not_replace_watermarks_that_share_its_name(watermarks, job, rows):
    watermarks.advance(job_id=job, run_id="jr_1", to={"orders": {"id": 10}}, base=None)
    before = rows()

    with pytest.raises(WatermarkValueError, match="or source='orders' and the cursor of it"):
        open_to(watermarks, job, 20, "jr_2", cursor="orders")

    assert rows() == before


def test_source_that_died_is_taken_over_while_the_other_goes_on(watermarks, job):
    open_to(watermarks, job, 10, cursor="orders_id")
    watermarks.commit_window(open_to(watermarks, job, 1, cursor="customers_id"))

    taken = open_to(watermarks, job, 99, "jr_2", cursor="orders_id")

    assert (taken.high, taken.is_recovered) == (10, True)
    assert open_to(watermarks, job, 2, "jr_2", cursor="customers_id").low == 1


def test_job_with_one_row_of_the_original_class_goes_on_from_it(watermarks, put_legacy, job):
    put_legacy("jr_old", id={"N": "5"})

    window = open_to(watermarks, job, 10)

    assert window.low == Decimal(5)
    assert watermarks.get_watermark_values(job) == {"id": Decimal(5)}
    assert watermarks.commit_window(window).watermarks == {"id": 10}


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (1, 2),
        (Decimal("1.5"), Decimal("1.50001")),
        (date(2013, 1, 1), date(2013, 1, 2)),
        (NAIVE, NAIVE + timedelta(microseconds=1)),
        (NOON, NOON + timedelta(microseconds=1)),
        (NOON.astimezone(ZoneInfo("Europe/London")), NOON + timedelta(seconds=1)),
        ("a", "b"),
    ],
)
def test_cursor_of_every_type_comes_back_as_it_went_in(watermarks, job, low, high):
    watermarks.commit_window(open_to(watermarks, job, low))

    window = open_to(watermarks, job, high, "jr_2")

    assert (window.low, window.high) == (low, high)
    assert type(window.low) is type(low)


@pytest.mark.parametrize("high", [True, 1.5, float("nan"), Decimal("NaN"), [1], {"a": 1}])
def test_value_that_cannot_be_a_cursor_is_refused(watermarks, job, high):
    with pytest.raises(WatermarkValueError, match="cursor"):
        open_to(watermarks, job, high)


@pytest.mark.parametrize("high", ["10", date(2013, 1, 1), NOON, NOON.replace(tzinfo=None)])
def test_cursor_that_changes_its_type_is_refused(watermarks, job, rows, high):
    watermarks.commit_window(open_to(watermarks, job, 10))
    before = rows()

    with pytest.raises(WatermarkValueError, match=r"'id' was a number \(10\) and is now"):
        open_to(watermarks, job, high, "jr_2")

    assert rows() == before


@pytest.mark.parametrize(
    ("first", "then", "harm"), [("(]", "[)", "read twice"), ("[)", "(]", "lost")]
)
def test_cursor_keeps_its_bounds_until_it_starts_anew(watermarks, job, rows, first, then, harm):
    watermarks.commit_window(open_to(watermarks, job, 10, bounds=first))
    watermarks.advance(job_id=job, run_id="jr_2", to={"n": 1}, base=watermarks.latest(job))
    before = rows()

    with pytest.raises(WatermarkValueError, match=f"rows at the watermark would be {harm}; give"):
        open_to(watermarks, job, 20, "jr_3", bounds=then)

    assert rows() == before
    assert open_to(watermarks, job, 20, "jr_3", bounds=then, cursor="other").bounds == then
    watermarks.rewind(job, to_run="jr_1", reason="test", actor="ops")
    with pytest.raises(WatermarkValueError, match="rows at the watermark"):
        open_to(watermarks, job, 20, "jr_3", bounds=then)
    watermarks.rewind(job, to_run=None, reason="test", actor="ops")
    watermarks.commit_window(open_to(watermarks, job, 20, "jr_3", bounds=then))
    assert open_to(watermarks, job, 30, "jr_4", bounds=then).low == 20


def test_settle_stays_behind_the_clock(watermarks, job):
    ahead = datetime.now(UTC) + timedelta(hours=1)

    window = open_to(watermarks, job, ahead, cursor="at", settle=timedelta(minutes=5))

    assert timedelta(minutes=5) <= datetime.now(UTC) - window.high < timedelta(minutes=6)


def test_clock_can_be_given(client, table_name, job, rows):
    watermarks = Watermarks(table_name, client, now=lambda: NOON)

    window = open_to(watermarks, job, NOON, cursor="at", settle=timedelta(minutes=5))
    watermarks.commit_window(window)

    assert window.high == NOON - timedelta(minutes=5)
    assert rows()["jr_1"]["wmAt"] == {"S": "2013-01-01T12:00:00.000000+00:00"}


def test_settle_does_not_touch_a_bound_that_is_old_enough(watermarks, job):
    assert open_to(watermarks, job, NOON, cursor="at", settle=timedelta(minutes=5)).high == NOON


def test_lookback_reads_behind_the_mark_and_leaves_the_window_as_it_is(watermarks, job):
    watermarks.commit_window(open_to(watermarks, job, 100))

    window = open_to(watermarks, job, 200, "jr_2", lookback=10)

    assert (window.low, window.read_low, window.high) == (100, 90, 200)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"settle": 1000}, "settle is 1000: give a timedelta"),
        ({"settle": timedelta(-1)}, "settle is .*: give one that is not negative"),
        ({"bounds": "[]"}, r"bounds is '\[\]': allowed are"),
        ({"nulls": "drop"}, "nulls is 'drop': allowed are raise, include, exclude"),
        ({"cursor": "orders.id"}, "give source='orders', cursor='id'"),
        ({"cursor": ""}, "cursor is '': give a non-empty str"),
        ({"run_id": "~x"}, "run_id is '~x'"),
    ],
)
def test_parameter_that_does_not_fit_is_refused(watermarks, job, options, message):
    with pytest.raises(ValueError, match=message):
        open_to(watermarks, job, 10, **options)


def test_lost_response_to_an_open_is_recognised(lossy_client, table_name, job):
    client = lossy_client(2, "UpdateItem")
    watermarks = Watermarks(table_name, client, sleep=lambda _: None)

    window = open_to(watermarks, job, 10)

    assert (window.attempt, window.is_recovered) == (1, False)
    assert watermarks.commit_window(window).version == 1


def test_two_processes_of_one_run_id_do_not_hold_one_attempt(
    new_client, watermarks, table_name, job
):
    client = new_client()
    others = []

    def open_first(**_):
        if not others:
            others.append(open_to(watermarks, job, 10, "manual"))

    client.meta.events.register("before-call.dynamodb.UpdateItem", open_first)

    mine = open_to(Watermarks(table_name, client, sleep=lambda _: None), job, 10, "manual")

    assert (others[0].attempt, mine.attempt, mine.is_recovered) == (1, 2, True)
    with pytest.raises(WatermarkSupersededError, match="run 'manual' took the window over"):
        watermarks.commit_window(others[0])


def test_window_of_a_job_whose_head_was_deleted_has_no_id_of_before(watermarks, client, job):
    first = open_to(watermarks, job, 10)
    watermarks.commit_window(first)
    head = {"jobName": {"S": job}, "runId": {"S": "~HEAD"}}
    client.delete_item(TableName=watermarks.table_name, Key=head)

    with pytest.raises(AmbiguousWatermarkError, match="adopt"):
        open_to(watermarks, job, 20, "jr_2")

    watermarks.adopt(job, "jr_1", reason="the head was deleted", actor="ops")
    window = open_to(watermarks, job, 20, "jr_2")
    assert (window.low, window.window_id > first.window_id) == (10, True)


def test_commit_is_recognised_by_a_new_process(lossy_client, watermarks, table_name, job):
    dying = Watermarks(table_name, lossy_client(100), sleep=lambda _: None)
    window = open_to(dying, job, 10)
    with pytest.raises(ConnectionClosedError):
        dying.commit_window(window)

    stored = watermarks.commit_window(pickle.loads(pickle.dumps(window)))  # noqa: S301 (our own)

    assert stored == watermarks.latest(job)
    assert stored.version == 1


def test_run_costs_three_requests(new_client, table_name, job):
    client = new_client()
    sent = []
    client.meta.events.register("before-call.dynamodb", lambda model, **_: sent.append(model.name))
    watermarks = Watermarks(table_name, client)
    watermarks.commit_window(open_to(watermarks, job, 10))
    sent.clear()

    watermarks.commit_window(open_to(watermarks, job, 20, "jr_2"))

    assert sent == ["GetItem", "UpdateItem", "TransactWriteItems"]


@pytest.mark.stress
@pytest.mark.parametrize("runs", [4, *at_night(16)])
def test_threads_with_lost_responses_tile_the_cursor(
    lossy_client, watermarks, table_name, job, runs
):
    """Runs at once, each commits 12 windows of 1; every tenth answer is lost."""
    start = threading.Barrier(runs)

    def run(number):
        client = lossy_client(every=10)
        mine = Watermarks(table_name, client, sleep=lambda pause: time.sleep(pause / 20))
        start.wait()
        done, count = [], 0
        while len(done) < 12:
            count += 1
            try:
                window = open_to(mine, job, lambda low: (low or 0) + 1, f"jr_{number}_{count}")
                mine.commit_window(window)
            except WatermarkConflictError:
                continue
            done.append((window.low, window.high))
        return done

    with ThreadPoolExecutor(runs) as pool:
        ranges = sorted(
            (item for done in pool.map(run, range(runs)) for item in done), key=lambda r: r[1]
        )

    assert ranges == [(n or None, n + 1) for n in range(12 * runs)]
    assert watermarks.latest(job).version == 12 * runs
    assert watermarks.latest(job).watermarks == {"id": 12 * runs}


COMMIT_TWELVE = """
import sys
import boto3
from watermarks import WatermarkConflictError, Watermarks

endpoint, table, job, number = sys.argv[1:]
session = boto3.Session("test", "test", region_name="eu-west-2")
watermarks = Watermarks(table, session.client("dynamodb", endpoint_url=endpoint))
committed = count = 0
while committed < 12:
    count += 1
    request = {"job_id": job, "run_id": f"jr_{number}_{count}", "cursor": "id"}
    try:
        window = watermarks.open_window(**request, high=lambda low: (low or 0) + 1)
        watermarks.commit_window(window)
    except WatermarkConflictError:
        continue
    committed += 1
"""


@pytest.mark.nightly
@pytest.mark.stress
def test_processes_on_one_store_tile_the_cursor(endpoint_url, watermarks, table_name, job):
    command = [sys.executable, "-c", COMMIT_TWELVE, endpoint_url, table_name, job]
    environment = {**os.environ, "PYTHONPATH": str(LIBS)}

    processes = [subprocess.Popen([*command, str(n)], env=environment) for n in range(4)]

    assert [process.wait(120) for process in processes] == [0, 0, 0, 0]
    latest = watermarks.latest(job)
    assert (latest.version, latest.watermarks) == (48, {"id": 48})


@pytest.mark.parametrize(
    "code",
    [
        "TransactionConflictException",
        "ThrottlingException",
        "ProvisionedThroughputExceededException",
    ],
)
def test_open_that_meets_a_passing_refusal_is_sent_again_with_growing_pauses(new_client, job, code):
    client = new_client()
    pauses = []
    watermarks = Watermarks("glue-watermarks", client, sleep=pauses.append, jitter=lambda: 1.0)

    with Stubber(client) as stub:
        stub.add_response("get_item", {"ConsumedCapacity": {"TableName": "glue-watermarks"}})
        stub.add_response("query", {"Items": []})
        for _ in range(3):
            stub.add_client_error("update_item", code, http_status_code=400)
        stub.add_response("update_item", {})
        window = open_to(watermarks, job, 10)
        stub.assert_no_pending_responses()

    assert re.fullmatch("0000000001-[0-9a-f]{16}", window.window_id)
    assert pauses == [0.05, 0.1, 0.2]


def test_no_two_jobs_have_a_window_of_the_same_id_nor_has_a_job_that_began_again(
    watermarks, client, job
):
    ids = [open_to(watermarks, name, 10).window_id for name in (job, f"{job}-eu")]
    client.delete_item(
        TableName=watermarks.table_name,
        Key={"jobName": {"S": job}, "runId": {"S": "~HEAD"}},
    )
    ids.append(open_to(watermarks, job, 10).window_id)

    assert len(set(ids)) == 3
    assert [number for number, _, _ in (id_.partition("-") for id_ in ids)] == ["0000000001"] * 3
