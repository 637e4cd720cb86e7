"""The safe pair: latest and advance, under races, lost responses and refusals of AWS."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError
from botocore.stub import Stubber

from watermarks import (
    Latest,
    WatermarkConflictError,
    Watermarks,
    WatermarkValueError,
)

THREADS = 16
COMMITS = 6


def test_first_advance_makes_version_one(watermarks, job):
    latest = watermarks.advance(job_id=job, run_id="jr_1", to={"high": 7}, base=None)

    assert latest == Latest("jr_1", 1, {"high": 7}, log="jr_1")
    assert watermarks.latest(job_id=job) == latest


def test_rows_have_the_schema_that_old_readers_and_the_history_need(watermarks, job, rows):
    first = watermarks.advance(job_id=job, run_id="jr_1", to={"high": 7}, base=None)
    watermarks.advance(job_id=job, run_id="jr_2", to={"high": 8}, base=first)

    found = rows()

    assert sorted(found) == ["jr_1", "jr_2", "~HEAD"]
    run, head = found["jr_2"], found["~HEAD"]
    assert len(run.pop("wmDigest")["S"]) == 32
    assert run.pop("wmAt")["S"].endswith("+00:00")
    assert run.pop("expiresAt")
    run.pop("wmCheckpoint", None)  # the code of pytest, if it is a file
    assert run == {
        "jobName": {"S": job},
        "runId": {"S": "jr_2"},
        "watermarks": {"M": {"high": {"N": "8"}}},
        "wmTypes": {"M": {"high": {"S": "i"}}},
        "wmKind": {"S": "commit"},
        "wmVersion": {"N": "2"},
        "wmPrev": {"S": "jr_1"},
        "wmPrevVersion": {"N": "1"},
    }
    assert head == {
        **head,
        "watermarks": {"M": {"high": {"N": "8"}}},
        "wmTypes": {"M": {"high": {"S": "i"}}},
        "wmVersion": {"N": "2"},
        "wmRunId": {"S": "jr_2"},
        "wmLog": {"S": "jr_2"},
        "wmPrev": {"S": "jr_1"},
    }


def test_only_rows_of_runs_expire(client, table_name, job, rows):
    watermarks = Watermarks(table_name, client, history_days=30)
    watermarks.advance(job_id=job, run_id="jr_1", to={"high": 7}, base=None)

    found = rows()

    left = int(found["jr_1"]["expiresAt"]["N"]) - datetime.now(UTC).timestamp()
    assert left == pytest.approx(30 * 86_400, abs=60)
    assert "expiresAt" not in found["~HEAD"]


def test_history_is_kept_for_400_days_by_default(watermarks, job, rows):
    watermarks.advance(job_id=job, run_id="jr_1", to={"high": 7}, base=None)

    left = int(rows()["jr_1"]["expiresAt"]["N"]) - datetime.now(UTC).timestamp()
    assert left == pytest.approx(400 * 86_400, abs=60)


def test_sources_that_are_not_given_keep_their_watermarks(watermarks, job):
    start = {"orders": {"id": 1, "at": datetime(2013, 1, 1)}, "customers": {"id": 5}}  # noqa: DTZ001
    first = watermarks.advance(job_id=job, run_id="jr_1", to=start, base=None)

    watermarks.advance(job_id=job, run_id="jr_2", to={"customers": {"id": 6}}, base=first)

    expected = {"orders": start["orders"], "customers": {"id": 6}}
    assert watermarks.latest(job).watermarks == expected
    assert watermarks.get_watermark_values(job, "jr_2") == expected


def test_second_advance_from_the_same_base_is_refused_and_leaves_no_row(watermarks, job, rows):
    base = watermarks.advance(job_id=job, run_id="jr_0", to={"high": 1}, base=None)
    stored = watermarks.advance(job_id=job, run_id="jr_a", to={"high": 5}, base=base)

    with pytest.raises(WatermarkConflictError) as caught:
        watermarks.advance(job_id=job, run_id="jr_b", to={"high": 4}, base=base)

    assert str(caught.value) == (
        f"job '{job}': run 'jr_b' proposed {{'high': 4}} from version 1, but the table holds "
        "version 2, {'high': 5}, advanced by 'jr_a' meanwhile: nothing was written; let this run "
        "fail and start a new one, which reads from there"
    )
    assert caught.value.stored == stored
    assert caught.value.proposed == {"high": 4}
    assert sorted(rows()) == ["jr_0", "jr_a", "~HEAD"]
    assert watermarks.latest(job) == stored


def test_advance_without_a_base_is_refused_when_there_is_a_watermark(watermarks, job):
    watermarks.advance(job_id=job, run_id="jr_a", to={"high": 5}, base=None)

    with pytest.raises(WatermarkConflictError, match="from version 0, but the table holds versio"):
        watermarks.advance(job_id=job, run_id="jr_b", to={"high": 4}, base=None)


def test_advance_from_a_head_that_is_gone_is_refused(watermarks, job, rows):
    base = Latest("jr_0", 3, {"high": 1})

    with pytest.raises(WatermarkConflictError, match=r"no watermark.*last good run") as caught:
        watermarks.advance(job_id=job, run_id="jr_1", to={"high": 4}, base=base)

    assert caught.value.stored is None
    assert rows() == {}


def test_run_that_committed_and_was_overtaken_cannot_commit_something_else(watermarks, job, rows):
    first = watermarks.advance(job_id=job, run_id="jr_a", to={"high": 1}, base=None)
    second = watermarks.advance(job_id=job, run_id="jr_b", to={"high": 2}, base=first)

    with pytest.raises(WatermarkConflictError, match=r"already committed version 1, .*'high': 1"):
        watermarks.advance(job_id=job, run_id="jr_a", to={"high": 3}, base=second)

    assert watermarks.latest(job) == second


def test_run_may_advance_several_times_in_a_row(watermarks, job, rows):
    base = watermarks.advance(job_id=job, run_id="jr_0", to={"high": 0}, base=None)
    for high in (1, 2, 3):
        base = watermarks.advance(job_id=job, run_id="jr_1", to={"high": high}, base=base)

    assert watermarks.latest(job) == base == Latest("jr_1", 4, {"high": 3}, log="jr_1", prev="jr_0")
    assert sorted(rows()) == ["jr_0", "jr_1", "~HEAD"]


@pytest.mark.parametrize("read_base_again", [False, True], ids=["same base", "fresh base"])
def test_advancing_twice_is_advancing_once(watermarks, job, read_base_again):
    base = watermarks.advance(job_id=job, run_id="jr_0", to={"high": 1}, base=None)
    first = watermarks.advance(job_id=job, run_id="jr_1", to={"high": 2}, base=base)

    base = watermarks.latest(job) if read_base_again else base
    second = watermarks.advance(job_id=job, run_id="jr_1", to={"high": 2}, base=base)

    assert first == second == watermarks.latest(job)


@pytest.mark.parametrize(
    ("stored", "to", "error", "message"),
    [
        ({"id": 9}, {"id": 8}, WatermarkValueError, r"watermarks.id is 8, before the stored 9:"),
        ({"a": {"id": 9}}, {"a": {"id": 8}}, WatermarkValueError, r"watermarks.a.id is 8, before"),
        ({"name": "b"}, {"name": "a"}, WatermarkValueError, r"'a', before the stored 'b'.*rewind"),
        ({"id": 9}, {"id": "10"}, WatermarkValueError, r"was a number \(9\) and is now a string"),
        ({"id": 9}, {"id": {"a": 10}}, WatermarkValueError, r"not a dict"),
    ],
    ids=["number", "source", "text", "type", "dict"],
)
def test_watermark_does_not_go_back_or_change_its_type(
    watermarks, job, rows, stored, to, error, message
):
    base = watermarks.advance(job_id=job, run_id="jr_1", to=stored, base=None)
    before = rows()

    with pytest.raises(error, match=message):
        watermarks.advance(job_id=job, run_id="jr_2", to=to, base=base)

    assert rows() == before


def test_clock_set_back_for_winter_time_is_no_step_back(watermarks, job):
    berlin = ZoneInfo("Europe/Berlin")
    summer = datetime(2013, 10, 27, 2, 30, tzinfo=berlin)
    winter = datetime(2013, 10, 27, 2, 10, tzinfo=berlin, fold=1)
    base = watermarks.advance(job_id=job, run_id="jr_1", to={"at": summer}, base=None)

    assert watermarks.advance(job_id=job, run_id="jr_2", to={"at": winter}, base=base).version == 2


def test_untyped_watermark_of_the_original_class_may_be_followed_by_a_typed_one(
    watermarks, job, put_legacy
):
    put_legacy("jr_old", latest_data={"S": "2013-01-01 10:00:00"})
    to = {"latest_data": datetime(2013, 1, 2, tzinfo=UTC)}

    latest = watermarks.advance(job_id=job, run_id="jr_1", to=to, base=watermarks.latest(job))

    assert latest.watermarks == to


def test_commit_is_recognised_from_a_base_that_has_moved_on_since(watermarks, job):
    first = watermarks.advance(job_id=job, run_id="jr_1", to={"high": 1}, base=None)
    second = watermarks.advance(job_id=job, run_id="jr_2", to={"high": 2}, base=first)

    assert watermarks.advance(job_id=job, run_id="jr_1", to={"high": 1}, base=second) == first


def test_commit_is_recognised_after_others_have_committed(watermarks, job):
    first = watermarks.advance(job_id=job, run_id="jr_1", to={"high": 1}, base=None)
    second = watermarks.advance(job_id=job, run_id="jr_2", to={"high": 2}, base=first)

    for base in (None, first, second):
        again = watermarks.advance(job_id=job, run_id="jr_1", to={"high": 1}, base=base)
        assert again == first
    assert watermarks.latest(job) == second


def test_lost_response_is_recognised_by_the_same_instance(lossy_client, table_name, job):
    pauses = []
    client = lossy_client(2)
    watermarks = Watermarks(table_name, client, sleep=pauses.append, jitter=lambda: 1.0)

    latest = watermarks.advance(job_id=job, run_id="jr_1", to={"high": 1}, base=None)

    assert latest == watermarks.latest(job) == Latest("jr_1", 1, {"high": 1}, log="jr_1")
    assert pauses == [0.05, 0.1]


def test_lost_response_is_recognised_by_a_new_process(lossy_client, watermarks, table_name, job):
    base = watermarks.advance(job_id=job, run_id="jr_0", to={"high": 1}, base=None)
    dying = Watermarks(table_name, lossy_client(100), sleep=lambda _: None)
    with pytest.raises(ConnectionClosedError):
        dying.advance(job_id=job, run_id="jr_1", to={"high": 2}, base=base)

    latest = watermarks.advance(job_id=job, run_id="jr_1", to={"high": 2}, base=base)

    assert latest == watermarks.latest(job)
    assert latest.version == 2


def test_server_error_after_the_commit_is_recognised(new_client, table_name, job):
    client = new_client()
    failures = iter([503, 500])

    def fail(http_response, parsed, **_):
        status = next(failures, None)
        if status:
            http_response.status_code = status
            parsed["Error"] = {"Code": "InternalServerError", "Message": "internal"}
            parsed["ResponseMetadata"]["HTTPStatusCode"] = status

    client.meta.events.register("after-call.dynamodb.TransactWriteItems", fail)
    watermarks = Watermarks(table_name, client, sleep=lambda _: None)

    latest = watermarks.advance(job_id=job, run_id="jr_1", to={"high": 1}, base=None)

    assert latest == watermarks.latest(job)
    assert latest.version == 1


@pytest.mark.parametrize(
    "code", ["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"]
)
def test_passing_refusal_is_sent_again_with_growing_jittered_pauses(new_client, job, code):
    client = new_client()
    pauses = []
    watermarks = Watermarks("glue-watermarks", client, sleep=pauses.append, jitter=lambda: 0.5)

    with Stubber(client) as stub:
        for _ in range(7):
            add_cancellation(stub, "None", code)
        stub.add_response("transact_write_items", {})
        latest = watermarks.advance(job_id=job, run_id="jr_1", to={"high": 1}, base=None)
        stub.assert_no_pending_responses()

    assert latest.version == 1
    assert pauses == [0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.0]


@pytest.mark.parametrize(
    "code",
    [
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "ThrottlingException",
        "TransactionInProgressException",
    ],
)
def test_commit_that_is_throttled_as_a_whole_is_sent_again(new_client, job, code):
    client = new_client()
    pauses = []
    watermarks = Watermarks("glue-watermarks", client, sleep=pauses.append, jitter=lambda: 1.0)

    with Stubber(client) as stub:
        for _ in range(2):
            stub.add_client_error("transact_write_items", code, http_status_code=400)
        stub.add_response("transact_write_items", {})
        latest = watermarks.advance(job_id=job, run_id="jr_1", to={"high": 1}, base=None)
        stub.assert_no_pending_responses()

    assert latest.version == 1
    assert pauses == [0.05, 0.1]


def test_endless_transaction_conflict_ends_with_the_error_of_aws(new_client, job):
    client = new_client()
    watermarks = Watermarks("glue-watermarks", client, sleep=lambda _: None)

    with Stubber(client) as stub:
        for _ in range(8):
            add_cancellation(stub, "TransactionConflict", "None")
        with pytest.raises(ClientError, match="TransactionCanceledException"):
            watermarks.advance(job_id=job, run_id="jr_1", to={"high": 1}, base=None)
        stub.assert_no_pending_responses()


@pytest.mark.parametrize(
    ("error_code", "reason_codes"),
    [
        ("ItemCollectionSizeLimitExceededException", None),
        ("TransactionCanceledException", ("ValidationError", "None")),
    ],
)
def test_other_errors_of_aws_propagate_untouched(new_client, job, error_code, reason_codes):
    client = new_client()
    watermarks = Watermarks("glue-watermarks", client)

    with Stubber(client) as stub:
        if reason_codes:
            add_cancellation(stub, *reason_codes)
        else:
            stub.add_client_error("transact_write_items", error_code)
        with pytest.raises(ClientError, match=error_code):
            watermarks.advance(job_id=job, run_id="jr_1", to={"high": 1}, base=None)


def add_cancellation(stub, *codes):
    stub.add_client_error(
        "transact_write_items",
        "TransactionCanceledException",
        modeled_fields={"CancellationReasons": [{"Code": code} for code in codes]},
    )


@pytest.mark.nightly
def test_sixteen_threads_lose_no_commit_and_leave_no_gap(lossy_client, table_name, job, rows):
    watermarks = Watermarks(table_name, lossy_client(THREADS), sleep=lambda _: time.sleep(0.001))
    start = threading.Barrier(THREADS)

    def advance_in_turn(thread):
        start.wait()
        versions = []
        while len(versions) < COMMITS:
            base = watermarks.latest(job)
            run_id = f"jr_{thread:02}_{len(versions)}"
            count = base.watermarks["count"] if base else 0
            try:
                latest = watermarks.advance(
                    job_id=job, run_id=run_id, to={"count": count + 1}, base=base
                )
            except WatermarkConflictError:
                continue
            versions.append(latest.version)
        return versions

    with ThreadPoolExecutor(THREADS) as pool:
        versions = [v for done in pool.map(advance_in_turn, range(THREADS)) for v in done]

    total = THREADS * COMMITS
    assert sorted(versions) == list(range(1, total + 1))
    assert watermarks.latest(job).watermarks == {"count": total}
    found = rows()
    assert len(found) == total + 1
    assert history(found) == list(range(total, 0, -1))


def test_adding_from_several_threads_retries_the_lost_races(client, table_name, job, rows):
    watermarks = Watermarks(table_name, client, sleep=lambda pause: time.sleep(pause / 20))
    start = threading.Barrier(4)

    def add(thread):
        start.wait()
        for count in range(5):
            run_id = f"jr_{thread}_{count}"
            watermarks.add_watermark(watermarks.create_watermark_item(job, run_id, count=count))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, range(4)))

    assert history(rows()) == list(range(20, 0, -1))


def history(rows):
    """Return the versions along the log, newest first."""
    versions = []
    log = rows["~HEAD"]["wmLog"]["S"]
    while log:
        versions.append(int(rows[log]["wmVersion"]["N"]))
        log = rows[log]["wmPrev"]["S"]
    return versions


def test_adding_gives_up_after_a_bounded_number_of_lost_races(new_client, watermarks, job):
    client = new_client()
    rival = iter(range(1000))
    pauses = []
    adding = Watermarks(watermarks.table_name, client, sleep=pauses.append)

    def overtake(**_):
        count = next(rival)
        watermarks.advance(
            job_id=job, run_id=f"jr_rival_{count}", to={"high": count}, base=watermarks.latest(job)
        )

    client.meta.events.register("before-call.dynamodb.TransactWriteItems", overtake)

    with pytest.raises(WatermarkConflictError, match="advanced by 'jr_rival_19'"):
        adding.add_watermark(adding.create_watermark_item(job, "jr_1", high=1))
    assert len(pauses) == 19


def measured(client, *operations):
    """Return a list that the capacity units of some operations will be added to."""
    consumed = []

    def measure(params, **_):
        params["ReturnConsumedCapacity"] = "TOTAL"

    def collect(parsed, **_):
        capacity = parsed["ConsumedCapacity"]
        found = capacity if isinstance(capacity, list) else [capacity]
        consumed.append(sum(one["CapacityUnits"] for one in found))

    for operation in operations:
        name = f"dynamodb.{operation}"
        client.meta.events.register(f"provide-client-params.{name}", measure)
        client.meta.events.register(f"after-call.{name}", collect)
    return consumed


def test_reading_costs_one_unit_and_advancing_four(new_client, table_name, job):
    client = new_client()
    consumed = measured(client, "GetItem", "TransactWriteItems")
    watermarks = Watermarks(table_name, client)
    watermarks.advance(job_id=job, run_id="jr_1", to={"high": 1}, base=None)
    base = watermarks.latest(job)

    watermarks.advance(job_id=job, run_id="jr_2", to={"high": 2}, base=base)

    assert consumed == [4.0, 1.0, 4.0]


def test_window_costs_one_unit_to_read_one_to_open_and_four_to_commit(new_client, table_name, job):
    client = new_client()
    watermarks = Watermarks(table_name, client)
    request = {"job_id": job, "cursor": "orders_updated_at"}
    run_ids = [f"jr_{number:064x}" for number in range(2)]
    highs = [datetime(2013, 1, day, 12, 0, 0, 123456, tzinfo=UTC) for day in (1, 2)]
    for window in watermarks.windows(**request, run_id=run_ids[0], high=highs[0]):
        assert window.high == highs[0]
    consumed = measured(client, "GetItem", "UpdateItem", "TransactWriteItems")

    for window in watermarks.windows(**request, run_id=run_ids[1], high=highs[1]):
        assert window.high == highs[1]

    assert consumed == [1.0, 1.0, 4.0]


@pytest.mark.parametrize(
    "value",
    [
        datetime(9999, 12, 31, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, 59, 999999),  # noqa: DTZ001 (as a column without a zone is)
        date(2999, 1, 1),
        "9999-12-31",
        datetime.now(UTC) + timedelta(days=2),
    ],
    ids=["time", "time without zone", "date", "text", "in two days"],
)
def test_a_time_in_the_future_is_refused_unless_it_is_allowed_by_name(watermarks, job, rows, value):
    with pytest.raises(WatermarkValueError, match="would hide every row until then"):
        watermarks.advance(job_id=job, run_id="jr_1", to={"at": value, "id": 1}, base=None)
    assert rows() == {}

    allowed = timedelta(days=3_000_000)
    first = watermarks.advance(
        job_id=job, run_id="jr_1", to={"at": value, "id": 1}, base=None, future=allowed
    )
    with pytest.raises(WatermarkValueError, match="would hide every row until then"):
        watermarks.advance(job_id=f"{job}2", run_id="jr_1", to={"a": {"at": value}}, base=None)
    # What is stored already hides nothing more.
    second = watermarks.advance(job_id=job, run_id="jr_2", to={"at": value, "id": 2}, base=first)
    assert second.watermarks == {"at": value, "id": 2}


@pytest.mark.parametrize("future", [-timedelta(1), 1, None])
def test_how_far_ahead_is_a_timedelta(watermarks, job, future):
    with pytest.raises(WatermarkValueError, match="future is"):
        watermarks.advance(job_id=job, run_id="jr_1", to={"id": 1}, base=None, future=future)
