"""What an earlier version of this library left in a table: dotted cursors in the job's own head."""

from __future__ import annotations

import pytest

from watermarks import WatermarkValueError

OPEN = '["0000000001-ab","orders.ts","(]",null,[{"N":"60"},{"S":"i"}],"jr_5","ab"]'


@pytest.fixture
def put_dotted(client, table_name, job):
    def put(**more):
        item = {
            "jobName": {"S": job},
            "runId": {"S": "~HEAD"},
            "wmKind": {"S": "head"},
            "wmVersion": {"N": "4"},
            "wmRunId": {"S": "jr_4"},
            "wmLog": {"S": "jr_4"},
            "wmRegion": {"S": "eu-west-2"},
            "wmBounds": {"M": {"orders.id": {"S": "[)"}, "orders.ts": {"S": "[)"}}},
            "watermarks": {"M": {"orders": {"M": {"id": {"N": "40"}, "ts": {"N": "50"}}}}},
            "wmTypes": {"M": {"orders": {"M": {"id": {"S": "i"}, "ts": {"S": "i"}}}}},
        }
        client.put_item(TableName=table_name, Item=item | more)

    return put


def test_a_source_goes_on_from_its_dotted_cursors(watermarks, job, put_dotted):
    put_dotted()
    request = {"source": "orders", "bounds": "[)"}

    window = watermarks.open_window(job, run_id="jr_5", cursor="id", high=50, **request)

    assert (window.low, window.high, window.bounds) == (40, 50, "[)")
    assert watermarks.commit_window(window).watermarks == {"id": 50, "ts": 50}
    assert watermarks.latest(job, source="orders").version == 1
    other = watermarks.open_window(job, run_id="jr_5", cursor="ts", high=60, **request)
    assert other.low == 50


def test_every_cursor_of_the_source_keeps_its_bounds(watermarks, job, put_dotted):
    put_dotted()
    watermarks.open_window(job, run_id="jr_5", cursor="id", source="orders", high=50, bounds="[)")

    with pytest.raises(WatermarkValueError, match="whose windows were"):
        watermarks.open_window(job, run_id="jr_6", cursor="ts", source="orders", high=60)


def test_what_was_kept_is_the_latest_and_the_base_of_an_advance(watermarks, job, put_dotted):
    put_dotted()

    base = watermarks.latest(job, source="orders")

    assert base.watermarks == {"id": 40, "ts": 50}
    with pytest.raises(WatermarkValueError, match="before the stored 40"):
        watermarks.advance(job_id=job, run_id="jr_5", to={"id": 3}, base=base, source="orders")
    stored = watermarks.advance(
        job_id=job, run_id="jr_5", to={"id": 41}, base=base, source="orders"
    )
    assert stored.watermarks == {"id": 41, "ts": 50}


@pytest.mark.parametrize("cursor", ["id", "ts"])
def test_a_window_of_any_of_its_dotted_cursors_must_be_finished_first(
    watermarks, job, put_dotted, cursor
):
    put_dotted(
        wmWindows={"M": {"orders.ts": {"M": {"attempt": {"N": "1"}, "window": {"S": OPEN}}}}}
    )

    with pytest.raises(WatermarkValueError, match="has left the window of 'orders.ts' open"):  # noqa: RUF043
        watermarks.open_window(job, run_id="jr_6", cursor=cursor, source="orders", high=60)
    other = watermarks.open_window(job, run_id="jr_6", cursor="id", source="customers", high=6)
    assert other.low is None


def test_a_cursor_of_three_names_says_how_to_continue(watermarks, job):
    with pytest.raises(WatermarkValueError, match=r"initial=.*latest\(job\)"):
        watermarks.open_window(job, run_id="jr_1", cursor="public.orders.id", high=5)
