"""Sources of one job: each has watermarks, a history and rewinds of its own, at a flat cost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from watermarks import (
    AmbiguousWatermarkError,
    WatermarkAdmin,
    WatermarkConflictError,
    WatermarkNotFoundError,
    Watermarks,
    WatermarkSupersededError,
)

WHY = {"reason": "bad rows", "actor": "ada"}


def run(watermarks, job, run_id, high, source, cursor="id"):
    for window in watermarks.windows(job, run_id=run_id, cursor=cursor, source=source, high=high):
        assert window.source == source


def test_sources_move_and_are_read_apart(watermarks, job):
    run(watermarks, job, "jr_1", 10, "orders")
    run(watermarks, job, "jr_1", 7, "customers")
    run(watermarks, job, "jr_2", 20, "orders")

    assert watermarks.latest(job, source="orders").watermarks == {"id": 20}
    assert watermarks.latest(job, source="customers").watermarks == {"id": 7}
    assert watermarks.latest(job) is None
    assert watermarks.sources(job) == ["customers", "orders"]
    assert [e.run_id for e in watermarks.history(job, source="orders")] == ["jr_2", "jr_1"]
    assert len(watermarks.committed_windows(job, source="orders")) == 2
    assert len(watermarks.committed_windows(job, source="customers")) == 1


def test_a_dead_run_of_one_source_is_taken_over_and_cannot_commit(watermarks, job):
    request = {"cursor": "id", "source": "orders"}
    dead = watermarks.open_window(job, run_id="jr_1", high=10, **request)
    run(watermarks, job, "jr_1", 5, "customers")

    taken = watermarks.open_window(job, run_id="jr_2", high=99, **request)

    assert (taken.window_id, taken.high, taken.is_recovered) == (dead.window_id, 10, True)
    assert [w.run_id for w in watermarks.open_windows(job, source="orders")] == ["jr_2"]
    with pytest.raises(WatermarkSupersededError, match="source 'orders'"):
        watermarks.commit_window(dead)


def test_the_jobs_with_open_windows_are_found_in_one_scan(watermarks, job):
    request = {"run_id": "jr_1", "cursor": "id", "high": 10}
    window = watermarks.open_window(job, **request)
    watermarks.open_window(f"{job}-of-sources", source="orders", **request)
    run(watermarks, f"{job}-done", "jr_1", 10, "")
    before = watermarks.jobs_with_open_windows()
    watermarks.commit_window(window)

    assert {it for it in before if it.startswith(job)} == {job, f"{job}-of-sources"}
    assert {it for it in watermarks.jobs_with_open_windows() if it.startswith(job)} == {
        f"{job}-of-sources"
    }


def test_a_rewind_of_one_source_leaves_the_others(watermarks, job):
    for high in (10, 20):
        run(watermarks, job, f"jr_{high}", high, "orders")
        run(watermarks, job, f"jr_{high}", high, "customers")

    rewound = watermarks.rewind(job, to_run="jr_10", source="orders", **WHY)

    assert rewound.watermarks == {"id": 10}
    assert watermarks.latest(job, source="customers").watermarks == {"id": 20}
    assert len(watermarks.committed_windows(job, source="orders")) == 1
    assert len(watermarks.committed_windows(job, source="customers")) == 2
    kinds = [entry.kind for entry in watermarks.history(job, source="orders")]
    assert kinds == ["rewind", "commit", "commit"]
    assert watermarks.watermarks_of(job, "jr_20", source="orders") == {"id": 20}


def test_a_job_of_sources_only_says_which_one_to_rewind(watermarks, job):
    run(watermarks, job, "jr_1", 10, "orders")

    with pytest.raises(WatermarkNotFoundError, match="it has the sources orders: name one"):
        watermarks.rewind(job, to_run=None, **WHY)


def test_a_source_advances_without_windows(watermarks, job):
    base = watermarks.advance(job_id=job, run_id="jr_1", to={"id": 5}, base=None, source="orders")

    assert watermarks.latest(job, source="orders") == base
    with pytest.raises(ValueError, match="source is 'customers', and base is of 'orders'"):
        watermarks.advance(job_id=job, run_id="jr_2", to={"id": 6}, base=base, source="customers")


def test_a_job_that_is_renamed_takes_its_sources_along(watermarks, job):
    renamed = f"{job}-renamed"
    run(watermarks, job, "jr_1", 10, "orders")
    run(watermarks, job, "jr_1", 7, "customers")
    dead = watermarks.open_window(job, run_id="jr_2", cursor="id", source="orders", high=20)

    watermarks.rename_job(job, renamed)
    watermarks.rename_job(job, renamed)

    assert watermarks.sources(renamed) == ["customers", "orders"]
    taken = watermarks.open_window(renamed, run_id="jr_3", cursor="id", source="orders", high=99)
    assert (taken.low, taken.high, taken.is_recovered) == (10, 20, True)
    assert len(watermarks.committed_windows(renamed, source="customers")) == 1
    with pytest.raises(Exception, match="carried over to job"):
        watermarks.commit_window(dead)


def test_a_source_costs_the_same_beside_a_hundred(new_client, table_name, job):
    client = new_client()
    units: list[float] = []

    def note(parsed, **_):
        found = parsed.get("ConsumedCapacity", {})
        found = found if isinstance(found, list) else [found]
        units.extend(entry["CapacityUnits"] for entry in found)

    for name in ("GetItem", "UpdateItem", "TransactWriteItems"):
        client.meta.events.register(
            f"before-parameter-build.dynamodb.{name}",
            lambda params, **_: params.update(ReturnConsumedCapacity="TOTAL"),
        )
        client.meta.events.register(f"after-call.dynamodb.{name}", note)
    watermarks = Watermarks(table_name, client)
    for number in range(100):
        run(watermarks, job, "jr_1", 10, f"source{number}")
    units.clear()

    run(watermarks, job, "jr_2", 20, "source50")

    assert units == [1.0, 1.0, 4.0]


def test_sources_of_one_job_do_not_meet(client, table_name, job):
    admin = WatermarkAdmin(table_name, client, sleep=lambda _: None)

    def three_runs(source):
        for number in range(3):
            run(Watermarks(table_name, client), job, f"jr_{number}", number + 1, source)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(three_runs, [f"s{number}" for number in range(16)]))

    found = {source: admin.latest(job, source=source) for source in admin.sources(job)}
    assert {latest.version for latest in found.values()} == {3}
    assert len(found) == 16


def test_a_source_with_any_letters_is_listed_and_renamed(watermarks, job):
    for source in ("orders", "épices", "日本"):
        run(watermarks, job, "jr_1", 2, source)

    watermarks.rename_job(job, f"{job}-2")

    assert watermarks.sources(f"{job}-2") == ["orders", "épices", "日本"]
    for source in ("orders", "épices", "日本"):
        assert watermarks.latest(f"{job}-2", source=source).watermarks == {"id": 2}


def test_the_old_name_of_a_job_opens_no_source_whatever_it_is_called(watermarks, job):
    run(watermarks, job, "jr_1", 1, "orders")
    watermarks.rename_job(job, f"{job}-2")

    for call in (
        lambda: run(watermarks, job, "jr_2", 5, "customers"),
        lambda: watermarks.open_window(job, run_id="jr_2", cursor="id", high=5),
        lambda: watermarks.advance(
            job_id=job, run_id="jr_2", to={"id": 5}, base=None, source="items"
        ),
        lambda: watermarks.backfill(
            job, backfill_id="b", cursor="id", low=0, high=5, run_id="jr_2"
        ),
    ):
        with pytest.raises(WatermarkConflictError, match="carried over to job"):
            call()

    watermarks.rename_job(f"{job}-2", job)
    run(watermarks, job, "jr_3", 5, "customers")
    assert watermarks.sources(job) == ["customers", "orders"]


@pytest.mark.parametrize(
    "writes", [2, *(pytest.param(writes, marks=pytest.mark.nightly) for writes in (1, 3, 4))]
)
def test_a_rename_of_many_sources_that_dies_is_finished_by_doing_it_again(
    new_client, watermarks, job, writes
):
    sources = [f"s{number:03d}" for number in range(60)]
    for source in sources:
        run(watermarks, job, "jr_1", 10, source)
    client, left = new_client(), [writes]

    def die(**_):
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1

    for name in ("TransactWriteItems", "UpdateItem", "PutItem"):
        client.meta.events.register(f"before-call.dynamodb.{name}", die)
    with suppress(KeyboardInterrupt):
        WatermarkAdmin(watermarks.table_name, client).rename_job(job, f"{job}-2")

    lows = []
    for name in (job, f"{job}-2"):
        with suppress(WatermarkConflictError):
            window = watermarks.open_window(
                name, run_id="jr_2", cursor="id", source="s059", high=100
            )
            lows.append(window.low)
    watermarks.rename_job(job, f"{job}-2")

    assert lows == [10]
    assert watermarks.sources(f"{job}-2") == sources
    assert {watermarks.latest(f"{job}-2", source=s).watermarks["id"] for s in sources} == {10}
    run(watermarks, f"{job}-2", "jr_3", 5, "new")


def test_a_source_that_lost_its_head_is_not_started_from_the_first_row(
    watermarks, job, client, table_name
):
    run(watermarks, job, "jr_1", 10, "orders")
    key = {"jobName": {"S": job}, "runId": {"S": "~CURSOR#orders"}}
    client.delete_item(TableName=table_name, Key=key)

    with pytest.raises(AmbiguousWatermarkError, match="with source= for a source"):
        run(watermarks, job, "jr_2", 20, "orders")
    watermarks.adopt(job, "jr_1", source="orders", **WHY)

    assert (
        watermarks.open_window(job, run_id="jr_2", cursor="id", source="orders", high=20).low == 10
    )


@pytest.mark.parametrize("source", ["a.b", "a#b", "~a", 5, None, "x" * 300])
def test_a_source_that_cannot_be_a_key_is_refused(watermarks, job, rows, source):
    with pytest.raises(ValueError, match="source"):
        watermarks.open_window(job, run_id="jr_1", cursor="id", high=1, source=source)

    assert rows() == {}
