"""Sources of one job: each has watermarks, a history and rewinds of its own, at a flat cost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from watermarks import (
    WatermarkAdmin,
    WatermarkNotFoundError,
    Watermarks,
    WatermarkSupersededError,
    WatermarkValueError,
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


@pytest.mark.parametrize("source", ["a.b", "a#b", "~a", 5, None, "x" * 300])
def test_a_source_that_cannot_be_a_key_is_refused(watermarks, job, rows, source):
    with pytest.raises(ValueError, match="source"):
        watermarks.open_window(job, run_id="jr_1", cursor="id", high=1, source=source)

    assert rows() == {}


def put_dotted_head(client, job, windows=None):
    """Write the head as an earlier version kept a source: a dotted cursor in the job's own head."""
    item = {
        "jobName": {"S": job},
        "runId": {"S": "~HEAD"},
        "wmKind": {"S": "head"},
        "wmVersion": {"N": "4"},
        "wmRunId": {"S": "jr_4"},
        "wmLog": {"S": "jr_4"},
        "wmRegion": {"S": "eu-west-2"},
        "wmBounds": {"M": {"orders.id": {"S": "[)"}}},
        "watermarks": {"M": {"orders": {"M": {"id": {"N": "40"}}}}},
        "wmTypes": {"M": {"orders": {"M": {"id": {"S": "i"}}}}},
    }
    item |= {"wmWindows": {"M": windows}} if windows else {}
    client.put_item(TableName="glue-watermarks", Item=item)


def test_a_source_goes_on_from_the_dotted_cursor_of_an_earlier_version(watermarks, job, client):
    put_dotted_head(client, job)

    window = watermarks.open_window(
        job, run_id="jr_5", cursor="id", source="orders", high=50, bounds="[)"
    )

    assert (window.low, window.high, window.bounds) == (40, 50, "[)")
    assert watermarks.commit_window(window).watermarks == {"id": 50}
    assert watermarks.latest(job, source="orders").version == 1
    with pytest.raises(WatermarkValueError, match="whose windows were"):
        watermarks.open_window(job, run_id="jr_6", cursor="id", source="orders", high=60)


def test_a_window_of_a_dotted_cursor_must_be_finished_first(watermarks, job, client):
    text = '["0000000001-ab","orders.id","(]",null,[{"N":"50"},{"S":"i"}],"jr_5","ab"]'
    attribute = {"M": {"attempt": {"N": "1"}, "window": {"S": text}}}
    put_dotted_head(client, job, {"orders.id": attribute})

    with pytest.raises(WatermarkValueError, match=r"has left the window of 'orders\.id' open"):
        watermarks.open_window(job, run_id="jr_6", cursor="id", source="orders", high=60)
