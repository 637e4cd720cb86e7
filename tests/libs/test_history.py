"""History, rewind and adopt on the embedded DynamoDB."""

from __future__ import annotations

import itertools
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from boto3.dynamodb.types import TypeDeserializer

from watermarks import (
    CommittedWindow,
    Latest,
    WatermarkAdmin,
    WatermarkConflictError,
    WatermarkNotFoundError,
    WatermarkSupersededError,
    WatermarkValueError,
)

WHY = {"reason": "bad file of Monday", "actor": "ada"}


@pytest.fixture
def three_runs(watermarks, job):
    for count in (1, 2, 3):
        watermarks.advance(
            job_id=job, run_id=f"jr_{count}", to={"high": count}, base=watermarks.latest(job)
        )


@pytest.fixture
def expire(client, table_name, job):
    """Return a function that lets the row of a run expire, without DynamoDB deleting it yet."""

    def expire(run_id):
        client.update_item(
            TableName=table_name,
            Key={"jobName": {"S": job}, "runId": {"S": run_id}},
            UpdateExpression="SET expiresAt = :then",
            ExpressionAttributeValues={":then": {"N": "1356998400"}},
        )

    return expire


def commit_to(watermarks, job, high, run_id, cursor="id"):
    window = watermarks.open_window(job_id=job, run_id=run_id, cursor=cursor, high=high)
    watermarks.commit_window(window)
    return window.window_id, window.attempt


def brief(entries):
    return [(entry.version, entry.kind, entry.run_id, entry.watermarks) for entry in entries]


def test_job_that_never_ran_has_no_history(watermarks, job):
    assert list(watermarks.history(job)) == []
    assert watermarks.committed_windows(job) == []


def test_history_is_newest_first(watermarks, job, three_runs):
    found = list(watermarks.history(job))

    assert brief(found) == [
        (3, "commit", "jr_3", {"high": 3}),
        (2, "commit", "jr_2", {"high": 2}),
        (1, "commit", "jr_1", {"high": 1}),
    ]
    assert timedelta() <= datetime.now(UTC) - found[0].committed_at < timedelta(minutes=1)
    assert found[0].actor == found[0].reason == ""


def test_history_costs_one_read_for_each_entry_that_is_asked_for(new_client, job, three_runs):
    client = new_client()
    reads = []
    client.meta.events.register("before-call.dynamodb", lambda model, **_: reads.append(model.name))

    found = list(WatermarkAdmin("glue-watermarks", client).history(job, limit=2))

    assert [entry.version for entry in found] == [3, 2]
    assert reads == ["GetItem"] * 3


def test_history_ends_before_a_row_that_has_expired(watermarks, job, three_runs, expire):
    expire("jr_2")

    assert [entry.run_id for entry in watermarks.history(job)] == ["jr_3"]


def test_history_ends_with_the_row_of_the_original_class(watermarks, job, put_legacy):
    put_legacy("jr_1", high={"N": "8"})
    base = watermarks.latest(job)
    watermarks.advance(job_id=job, run_id="jr_2", to={"high": 9}, base=base)

    found = list(watermarks.history(job))

    assert brief(found) == [
        (1, "commit", "jr_2", {"high": 9}),
        (0, "legacy", "jr_1", {"high": Decimal(8)}),
    ]
    assert found[1].committed_at is None


def test_history_does_not_go_round_when_the_run_of_the_original_class_commits_again(
    watermarks, job, put_legacy
):
    put_legacy("jr_1", high={"N": "8"})
    first = watermarks.advance(
        job_id=job, run_id="jr_2", to={"high": 9}, base=watermarks.latest(job)
    )
    watermarks.advance(job_id=job, run_id="jr_1", to={"high": 10}, base=first)

    assert [entry.run_id for entry in watermarks.history(job)] == ["jr_1", "jr_2"]
    assert watermarks.committed_windows(job) == []


def test_history_names_the_windows_that_each_run_committed(watermarks, job):
    first = commit_to(watermarks, job, 10, "jr_1")
    second = commit_to(watermarks, job, 20, "jr_2")
    third = commit_to(watermarks, job, 30, "jr_2")

    newest, oldest = watermarks.history(job)

    assert newest.windows == (
        CommittedWindow("id", *second, 10, 20),
        CommittedWindow("id", *third, 20, 30),
    )
    assert oldest.windows == (CommittedWindow("id", *first, None, 10),)
    assert watermarks.committed_windows(job) == [first, second, third]


def test_committed_windows_can_be_asked_for_one_cursor(watermarks, job):
    orders = commit_to(watermarks, job, 10, "jr_1", cursor="orders_id")
    customers = commit_to(watermarks, job, 7, "jr_1", cursor="customers_id")

    assert watermarks.committed_windows(job) == [orders, customers]
    assert watermarks.committed_windows(job, "customers_id") == [customers]


def test_windows_after_the_run_of_a_rewind_are_no_longer_in_force(watermarks, job):
    first = commit_to(watermarks, job, 10, "jr_1")
    commit_to(watermarks, job, 20, "jr_2")
    commit_to(watermarks, job, 30, "jr_3")

    watermarks.rewind(job, to_run="jr_1", **WHY)
    assert watermarks.committed_windows(job) == [first]

    again = commit_to(watermarks, job, 40, "jr_4")
    assert watermarks.committed_windows(job) == [first, again]


def test_rewind_to_a_run_that_was_undone_brings_its_windows_back(watermarks, job):
    first = commit_to(watermarks, job, 10, "jr_1")
    second = commit_to(watermarks, job, 20, "jr_2")
    watermarks.rewind(job, to_run="jr_1", **WHY)
    commit_to(watermarks, job, 15, "jr_3")

    watermarks.rewind(job, to_run="jr_2", **WHY)

    assert watermarks.committed_windows(job) == [first, second]


def test_windows_before_an_expired_row_are_refused_rather_than_forgotten(watermarks, job, expire):
    for count in (1, 2, 3):
        commit_to(watermarks, job, count * 10, f"jr_{count}")
    expire("jr_2")

    with pytest.raises(
        WatermarkNotFoundError, match=r"before version 3 .*'jr_2' has expired; read"
    ):
        watermarks.committed_windows(job)


def test_windows_are_known_when_only_the_row_of_the_original_class_is_gone(
    client, watermarks, job, put_legacy
):
    put_legacy("jr_1", id={"N": "8"})
    second = commit_to(watermarks, job, 10, "jr_2")

    client.delete_item(
        TableName=watermarks.table_name, Key={"jobName": {"S": job}, "runId": {"S": "jr_1"}}
    )

    assert watermarks.committed_windows(job) == [second]


def test_rewind_makes_the_watermarks_of_a_run_the_current_ones(watermarks, job, three_runs):
    latest = watermarks.rewind(job, to_run="jr_1", **WHY)

    assert latest == watermarks.latest(job)
    assert latest == Latest("jr_1", 4, {"high": 1}, log="~AUDIT#000000000004", prev="jr_3")
    assert watermarks.get_most_recent_run_id(job) == "jr_1"


def test_rewind_is_recorded_with_who_and_why(watermarks, job, three_runs, rows):
    watermarks.rewind(job, to_run="jr_1", **WHY)

    newest, before, *_ = watermarks.history(job)
    assert brief([newest, before]) == [
        (4, "rewind", "jr_1", {"high": 1}),
        (3, "commit", "jr_3", {"high": 3}),
    ]
    assert (newest.actor, newest.reason) == ("ada", "bad file of Monday")
    audit = rows()["~AUDIT#000000000004"]
    assert audit["wmFromRunId"] == {"S": "jr_3"}
    assert audit["wmBefore"] == {"M": {"high": {"N": "3"}}}
    assert "expiresAt" not in audit


def test_original_reader_finds_the_rewound_watermark(client, watermarks, job, three_runs):
    watermarks.rewind(job, to_run="jr_2", **WHY)

    row = client.query(
        TableName=watermarks.table_name,
        KeyConditionExpression="jobName = :job",
        ExpressionAttributeValues={":job": {"S": job}},
        ScanIndexForward=False,
        Limit=1,
    )["Items"][0]
    assert TypeDeserializer().deserialize(row["watermarks"]) == {"high": 2}


def test_run_in_flight_is_stale_after_a_rewind(watermarks, job, three_runs):
    base = watermarks.latest(job)
    watermarks.rewind(job, to_run="jr_1", **WHY)

    with pytest.raises(WatermarkConflictError, match="advanced by '~AUDIT#000000000004' meanwhile"):
        watermarks.advance(job_id=job, run_id="jr_4", to={"high": 4}, base=base)

    base = watermarks.latest(job)
    assert watermarks.advance(job_id=job, run_id="jr_4", to={"high": 4}, base=base).version == 5
    assert [entry.version for entry in watermarks.history(job)] == [5, 4, 3, 2, 1]


def test_run_that_was_rewound_to_cannot_commit_something_else(watermarks, job, three_runs):
    watermarks.rewind(job, to_run="jr_1", **WHY)

    with pytest.raises(WatermarkConflictError):
        watermarks.advance(job_id=job, run_id="jr_1", to={"high": 9}, base=watermarks.latest(job))


def test_open_window_is_discarded_by_a_rewind(watermarks, job):
    commit_to(watermarks, job, 10, "jr_1")
    window = watermarks.open_window(job_id=job, run_id="jr_2", cursor="id", high=20)

    watermarks.rewind(job, to_run="jr_1", **WHY)

    with pytest.raises(WatermarkSupersededError, match="'~AUDIT#000000000002' committed or disc"):
        watermarks.commit_window(window)
    fresh = watermarks.open_window(job_id=job, run_id="jr_3", cursor="id", high=30)
    assert (fresh.low, fresh.high, fresh.is_recovered) == (10, 30, False)
    assert fresh.window_id > window.window_id
    assert fresh.attempt > window.attempt + 1  # the rewind counts: no two windows share an attempt


def test_window_opened_during_a_rewind_is_discarded_or_refused(new_client, watermarks, job):
    commit_to(watermarks, job, 10, "jr_1")
    opened = []
    client = new_client()

    def open_meanwhile(**_):
        if not opened:
            opened.append(watermarks.open_window(job_id=job, run_id="jr_2", cursor="id", high=20))

    client.meta.events.register("before-call.dynamodb.TransactWriteItems", open_meanwhile)

    WatermarkAdmin(watermarks.table_name, client).rewind(job, to_run="jr_1", **WHY)

    with pytest.raises(WatermarkSupersededError):
        watermarks.commit_window(opened[0])


def test_lost_response_of_a_rewind_is_recognised(lossy_client, table_name, job, three_runs):
    client = lossy_client(2)
    rewinding = WatermarkAdmin(table_name, client, sleep=lambda _: None)

    latest = rewinding.rewind(job, to_run="jr_1", **WHY)

    assert latest == rewinding.latest(job)
    assert latest.version == 4


def test_same_rewind_again_changes_nothing(watermarks, job, three_runs, rows):
    first = watermarks.rewind(job, to_run="jr_1", **WHY)

    assert watermarks.rewind(job, to_run="jr_1", **WHY) == first
    assert len(rows()) == 5


def test_same_rewind_again_discards_a_window_opened_since(watermarks, job, three_runs):
    watermarks.rewind(job, to_run="jr_1", **WHY)
    watermarks.open_window(job_id=job, run_id="jr_4", cursor="high", high=9)

    assert watermarks.rewind(job, to_run="jr_1", **WHY).version == 5


def test_rewind_counts_a_commit_that_was_faster(new_client, watermarks, job, three_runs):
    client = new_client()
    rivals = iter(["jr_4"])

    def overtake(**_):
        if run_id := next(rivals, None):
            watermarks.advance(
                job_id=job, run_id=run_id, to={"high": 4}, base=watermarks.latest(job)
            )

    client.meta.events.register("before-call.dynamodb.TransactWriteItems", overtake)
    rewinding = WatermarkAdmin(watermarks.table_name, client, sleep=lambda _: None)

    latest = rewinding.rewind(job, to_run="jr_1", **WHY)

    assert (latest.version, latest.watermarks) == (5, {"high": 1})


def test_windows_in_force_have_no_gap_when_rewinds_race_with_runs(table_name, client, job):
    watermarks = WatermarkAdmin(table_name, client, sleep=lambda _: time.sleep(0.001))
    commit_to(watermarks, job, 1, "jr_first")
    stop = threading.Event()

    def run(thread):
        for count in itertools.count():
            if stop.is_set():
                return
            with suppress(WatermarkConflictError):
                low = watermarks.latest(job).watermarks["id"]
                commit_to(watermarks, job, low + 1, f"jr_{thread}_{count}")

    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(run, thread) for thread in range(4)]
        try:
            for count in range(5):
                recent = [e.run_id for e in watermarks.history(job, limit=6) if e.kind == "commit"]
                watermarks.rewind(job, to_run=recent[-1], reason=f"no. {count}", actor="ada")
        finally:
            stop.set()
        for done in runs:
            done.result()

    entries = list(watermarks.history(job))
    assert [entry.version for entry in entries] == list(range(len(entries), 0, -1))
    assert [entry.kind for entry in entries].count("rewind") == 5
    committed = {w.window_id: (w.low, w.high) for entry in entries for w in entry.windows}
    in_force = [committed[window_id] for window_id, _ in watermarks.committed_windows(job)]
    edges = [high for _, high in in_force]
    assert [low for low, _ in in_force] == [None, *edges[:-1]]
    assert edges[-1] == watermarks.latest(job).watermarks["id"]


def test_rewind_keeps_the_types_and_the_key_of_the_run(watermarks, job):
    noon = datetime(2013, 1, 1, 12, tzinfo=UTC)
    watermarks.add_watermark(watermarks.create_watermark_item(job, "jr_1", "state", at=noon))
    watermarks.add_watermark(watermarks.create_watermark_item(job, "jr_2", at="2013"))

    watermarks.rewind(job, to_run="jr_1", **WHY)

    assert watermarks.get_watermark(job) == {
        "jobName": job,
        "runId": "jr_1",
        "state": {"at": noon},
    }


def test_rewind_to_the_beginning_leaves_no_watermark(watermarks, job, three_runs):
    latest = watermarks.rewind(job, to_run=None, **WHY)

    assert (latest.version, latest.run_id, latest.watermarks) == (4, "", {})
    assert watermarks.latest(job) is None
    with pytest.raises(WatermarkNotFoundError, match="has no watermark"):
        watermarks.get_watermark(job)
    with pytest.raises(WatermarkNotFoundError, match="has no watermark"):
        watermarks.get_most_recent_run_id(job)
    assert brief(watermarks.history(job, limit=1)) == [(4, "rewind", "", {})]
    assert watermarks.committed_windows(job) == []


def test_job_starts_anew_after_a_rewind_to_the_beginning(watermarks, job, three_runs):
    watermarks.rewind(job, to_run=None, **WHY)

    latest = watermarks.advance(job_id=job, run_id="jr_4", to={"high": 4}, base=None)

    assert latest == watermarks.latest(job)
    assert (latest.version, latest.prev) == (5, "~AUDIT#000000000004")
    assert [entry.version for entry in watermarks.history(job)] == [5, 4, 3, 2, 1]


def test_adding_and_windows_start_anew_after_a_rewind_to_the_beginning(watermarks, job):
    commit_to(watermarks, job, 10, "jr_1")
    watermarks.rewind(job, to_run=None, **WHY)
    again = commit_to(watermarks, job, 5, "jr_2")
    assert watermarks.latest(job).version == 3
    assert watermarks.committed_windows(job) == [again]

    watermarks.rewind(job, to_run=None, **WHY)
    watermarks.add_watermark(watermarks.create_watermark_item(job, "jr_3", high=1))

    assert watermarks.latest(job).version == 5


def test_lost_response_of_the_first_advance_after_that_is_recognised(
    lossy_client, watermarks, table_name, job, three_runs
):
    watermarks.rewind(job, to_run=None, **WHY)
    losing = WatermarkAdmin(table_name, lossy_client(3), sleep=lambda _: None)

    latest = losing.advance(job_id=job, run_id="jr_4", to={"high": 4}, base=None)

    assert latest == watermarks.latest(job)
    assert latest.version == 5


def test_run_from_before_a_rewind_to_the_beginning_is_stale(watermarks, job, three_runs):
    base = watermarks.latest(job)
    watermarks.rewind(job, to_run=None, **WHY)

    with pytest.raises(WatermarkConflictError, match="nothing was written"):
        watermarks.advance(job_id=job, run_id="jr_4", to={"high": 4}, base=base)


def test_unknown_run_is_no_target_and_the_runs_there_are_are_named(watermarks, job, three_runs):
    watermarks.rewind(job, to_run="jr_2", **WHY)

    with pytest.raises(
        WatermarkNotFoundError, match=r"run 'jr_9'.*newest first, jr_3, jr_2, jr_1$"
    ):
        watermarks.rewind(job, to_run="jr_9", **WHY)


def test_expired_run_is_no_target(watermarks, job, three_runs, expire, rows):
    expire("jr_1")
    before = rows()

    with pytest.raises(WatermarkNotFoundError, match=r"its row has expired; .* jr_3, jr_2$"):
        watermarks.rewind(job, to_run="jr_1", **WHY)

    assert rows() == before


def test_many_runs_are_not_all_named(watermarks, job):
    base = None
    for count in range(12):
        base = watermarks.advance(
            job_id=job, run_id=f"jr_{count:02}", to={"high": count}, base=base
        )

    with pytest.raises(WatermarkNotFoundError, match=r"jr_11, jr_10, .*jr_02 and older ones$"):
        watermarks.rewind(job, to_run="jr_99", **WHY)


def test_job_without_a_head_cannot_be_rewound(watermarks, job, put_legacy):
    put_legacy("jr_1", high={"N": "8"})

    with pytest.raises(WatermarkNotFoundError, match=r"no ~HEAD row.*call adopt\(job, run"):
        watermarks.rewind(job, to_run="jr_1", **WHY)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"reason": "", "actor": "ada"}, "reason is ''"),
        ({"reason": "x", "actor": ""}, "actor is ''"),
        ({"reason": "x", "actor": None}, "actor is None"),
    ],
)
def test_rewind_and_adopt_need_a_reason_and_an_actor(watermarks, job, three_runs, given, message):
    with pytest.raises(ValueError, match=message):
        watermarks.rewind(job, to_run="jr_1", **given)
    with pytest.raises(ValueError, match=message):
        watermarks.adopt(job, "jr_1", **given)


def test_row_of_the_library_is_no_target(watermarks, job, three_runs):
    with pytest.raises(ValueError, match="run_id is '~HEAD'"):
        watermarks.rewind(job, to_run="~HEAD", **WHY)


def test_adopted_run_is_the_current_one_of_several_of_the_original_class(
    watermarks, job, put_legacy
):
    put_legacy("jr_1", high={"N": "8"})
    put_legacy("jr_2", high={"N": "5"})

    latest = watermarks.adopt(job, "jr_1", **WHY)

    assert latest == watermarks.latest(job)
    assert (latest.run_id, latest.version, latest.watermarks) == ("jr_1", 1, {"high": 8})
    assert brief(watermarks.history(job)) == [
        (1, "adopt", "jr_1", {"high": 8}),
        (0, "legacy", "jr_1", {"high": 8}),
    ]
    assert watermarks.get_watermark_values(job, "jr_2") == {"high": 5}


def test_job_goes_on_from_an_adopted_run(watermarks, job, put_legacy):
    put_legacy("jr_1", id={"N": "8"})
    put_legacy("jr_2", id={"N": "5"})
    watermarks.adopt(job, "jr_1", **WHY)

    window = watermarks.open_window(job_id=job, run_id="jr_3", cursor="id", high=10)
    watermarks.commit_window(window)

    assert (window.low, watermarks.latest(job).version) == (8, 2)
    watermarks.rewind(job, to_run="jr_2", **WHY)
    assert watermarks.latest(job).watermarks == {"id": 5}
    assert watermarks.committed_windows(job) == []


def test_adopting_twice_is_adopting_once(watermarks, job, put_legacy):
    put_legacy("jr_1", high={"N": "8"})
    put_legacy("jr_2", high={"N": "5"})
    first = watermarks.adopt(job, "jr_1", **WHY)

    assert watermarks.adopt(job, "jr_1", **WHY) == first == watermarks.latest(job)


def test_job_with_a_head_cannot_adopt(watermarks, job, three_runs, put_legacy, rows):
    put_legacy("jr_8", high={"N": "8"})
    before = rows()

    with pytest.raises(WatermarkConflictError, match=r"has a head row.*rewind to the run instead"):
        watermarks.adopt(job, "jr_8", **WHY)

    assert rows() == before


def test_unknown_run_cannot_be_adopted(watermarks, job, put_legacy):
    put_legacy("jr_1", high={"N": "8"})

    with pytest.raises(WatermarkNotFoundError, match="there is no watermark of run 'jr_9'"):
        watermarks.adopt(job, "jr_9", **WHY)


def test_run_is_adopted_after_the_head_was_deleted(client, watermarks, job, three_runs):
    client.delete_item(
        TableName=watermarks.table_name, Key={"jobName": {"S": job}, "runId": {"S": "~HEAD"}}
    )

    watermarks.adopt(job, "jr_3", **WHY)

    assert [entry.version for entry in watermarks.history(job)] == [4, 3, 2, 1]


@pytest.mark.parametrize("to_run", ["jr_1", None], ids=["to a run", "to the beginning"])
@pytest.mark.parametrize("call", ["add_watermark", "advance"])
def test_run_that_commits_the_same_again_after_a_rewind_is_told(watermarks, job, call, to_run):
    def commit():
        if call == "advance":
            base = watermarks.latest(job)
            watermarks.advance(job_id=job, run_id="manual", to={"high": 2}, base=base)
        else:
            item = watermarks.create_watermark_item(job, "manual", high=2)
            watermarks.add_watermark(item)

    watermarks.advance(job_id=job, run_id="jr_1", to={"high": 1}, base=None)
    commit()
    commit()  # changes nothing, and says nothing: the watermarks are there
    watermarks.rewind(job, to_run=to_run, reason="wrong rows", actor="me")
    before = watermarks.latest(job)

    with pytest.raises(WatermarkConflictError, match=r"run 'manual' .* set back since"):
        commit()

    assert watermarks.latest(job) == before
    item = watermarks.create_watermark_item(job, "another", high=2)
    watermarks.add_watermark(item)
    assert watermarks.latest(job).watermarks == {"high": 2}


def test_a_rewind_restores_the_bounds_that_held_then(watermarks, job):
    def run(run_id, high, bounds):
        window = watermarks.open_window(job, run_id=run_id, cursor="id", high=high, bounds=bounds)
        watermarks.commit_window(window)

    run("jr_1", 10, "[)")
    watermarks.rewind(job, to_run=None, reason="other bounds", actor="ada")
    run("jr_2", 10, "(]")

    watermarks.rewind(job, to_run="jr_1", reason="back", actor="ada")

    with pytest.raises(WatermarkValueError, match="rows at the watermark would be lost"):
        run("jr_3", 20, "(]")
    run("jr_3", 20, "[)")


def test_a_run_of_many_windows_is_rewound_to_its_last(watermarks, job):
    for high in range(1, 8):
        window = watermarks.open_window(job, run_id="jr_1", cursor="id", high=high)
        watermarks.commit_window(window)
    watermarks.commit_window(watermarks.open_window(job, run_id="jr_2", cursor="id", high=9))

    assert watermarks.watermarks_of(job, "jr_1") == {"id": 7}
    assert watermarks.get_watermark_values(job, "jr_1") == {"id": 7}
    assert watermarks.rewind(job, to_run="jr_1", reason="x", actor="y").watermarks == {"id": 7}
    assert len(watermarks.committed_windows(job)) == 7
    assert watermarks.get_most_recent_run_id(job) == "jr_1"
